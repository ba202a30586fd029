/** Bodies as the audit log parses them. */
import { afterPause, andThen, type Eventual } from '../../base/eventual.ts'
import type { Slice } from '../../base/turns.ts'
import { protobufMediaType } from '../negotiate.ts'
import { parseBodyText } from '../parse-body-text.ts'

/** Of one body. A MiB of what is meant has fewer; of what is refused it may have half a million. */
const mostValues = 200_000
/** From here on a body is parsed in slices. */
const longBytes = 64 * 1024
/** Two bytes of YAML can be a token, which takes 2 µs. */
const longYamlBytes = 8 * 1024

const isYaml = (mediaType: string): boolean => /yaml/.test(mediaType)

export const isLongBody = (sizeBytes: number, mediaType: string): boolean =>
  sizeBytes > (isYaml(mediaType) ? longYamlBytes : longBytes)

/** Without a slice at once. @throws Error for what is no object in that form, or has too many values */
export type DecodeRecorded = (bytes: Uint8Array, mediaType: string, slice?: Slice) => Eventual<unknown>

export function recordedBodies(decodeProtobuf: (bytes: Uint8Array) => { readonly object: object }): DecodeRecorded {
  return (bytes, mediaType, slice) => {
    if (mediaType === protobufMediaType) return afterPause(slice, () => decodeProtobuf(bytes).object)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const form = isYaml(mediaType) ? 'yaml' : 'json'
    const how = { form, duplicates: false, maxValues: mostValues, account: undefined } as const
    return andThen(parseBodyText(text, how, slice), ({ value }) => value)
  }
}
