/**
 * The envelope around every protobuf object: four magic bytes, then a message runtime.Unknown
 * {1: {1: apiVersion, 2: kind}, 2: the object, 3: contentEncoding, 4: contentType}.
 * @see k8s.io/apimachinery/pkg/runtime/serializer/protobuf v0.36
 */
import { readFields } from './special-codec.ts'
import { DecodeError, WireReader } from './wire-reader.ts'
import type { WireWriter } from './wire-writer.ts'

/** `k8s\0` */
const magic = [0x6b, 0x38, 0x73, 0x00] as const

const typeMetaTag = 0x0a
const rawTag = 0x12
const contentEncodingTag = 0x1a
const contentTypeTag = 0x22
const apiVersionTag = 0x0a
const kindTag = 0x12

export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

export interface Envelope extends TypeMeta {
  /** The object's own message: a view into the bytes given. */
  readonly raw: Uint8Array
}

export function hasMagic(bytes: Uint8Array): boolean {
  return magic.every((byte, i) => bytes[i] === byte)
}

/** @throws DecodeError */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (!hasMagic(bytes)) {
    throw new DecodeError(
      `provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`,
    )
  }
  const reader = new WireReader(bytes.subarray(magic.length))
  let apiVersion = ''
  let kind = ''
  let raw: Uint8Array = new Uint8Array()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === typeMetaTag) {
      readFields(reader, (inner) => {
        if (inner === apiVersionTag) apiVersion = reader.string()
        else if (inner === kindTag) kind = reader.string()
        else return false
        return true
      })
    } else if (tag === rawTag) raw = reader.bytes()
    else if (tag === contentEncodingTag) {
      const encoding = reader.string()
      if (encoding !== '') throw new DecodeError(`content encoding ${JSON.stringify(encoding)} is not supported`)
    } else reader.skip(tag & 7)
  }
  return { apiVersion, kind, raw }
}

/** Puts an envelope around what `body` writes. */
export function writeEnvelope(writer: WireWriter, type: TypeMeta, body: () => void): void {
  writer.bytes(envelopeTail())
  const before = writer.length
  body()
  writeEnvelopeHead(writer, type, writer.length - before)
}

/** What follows the object: contentEncoding and contentType, both empty. */
export function envelopeTail(): Uint8Array {
  return Uint8Array.of(contentEncodingTag, 0, contentTypeTag, 0)
}

/** What precedes an object of `sizeBytes`. */
export function writeEnvelopeHead(writer: WireWriter, type: TypeMeta, sizeBytes: number): void {
  writer.unsigned(sizeBytes)
  writer.unsigned(rawTag)
  const before = writer.length
  writer.string(type.kind)
  writer.unsigned(kindTag)
  writer.string(type.apiVersion)
  writer.unsigned(apiVersionTag)
  writer.unsigned(writer.length - before)
  writer.unsigned(typeMetaTag)
  writer.bytes(magic)
}
