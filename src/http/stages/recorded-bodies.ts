/** Bodies as the audit log parses them. */
import { parseJson } from '../../kube/strict-json.ts'
import { parseYaml } from '../../kube/yaml-body.ts'
import { protobufMediaType } from '../negotiate.ts'

/** @throws Error for what is no object in that form */
export function recordedBodies(
  decodeProtobuf: (bytes: Uint8Array) => { readonly object: object },
): (bytes: Uint8Array, mediaType: string) => unknown {
  return (bytes, mediaType) => {
    if (mediaType === protobufMediaType) return decodeProtobuf(bytes).object
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return /yaml/.test(mediaType) ? parseYaml(text).value : parseJson(text).value
  }
}
