/**
 * The value of provider kms: an `EncryptedObject` of upstream's, which carries the seed that its key was derived from,
 * encrypted by the plugin. The derived key is used once: the seed, expanded (HKDF, SHA-256, without extraction) with 32
 * random bytes that stand in front of what it encrypted.
 * @see k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2 v0.36, encrypt/aes/aes_extended_nonce.go
 */
import { createHmac, randomBytes } from 'node:crypto'
import { ProtoReader, ProtoWriter } from '../base/protobuf.ts'
import { isDns1123Subdomain } from '../kube/names.ts'
import { type KmsCiphertext, onOneLine, readAnnotation, writeAnnotations } from './kms-client.ts'
import { EncryptionError, openGcm, sealGcm } from './provider.ts'

export interface Envelope {
  readonly data: Uint8Array
  readonly source: KmsCiphertext
  /** The source is a seed, as in all that is written here; else the key itself, of older upstream versions. */
  readonly isSeed: boolean
}

const typeOfSeed = 1
const infoBytes = 32
const maxKeyIdBytes = 1024
const maxSourceBytes = 1024
const maxAnnotationBytes = 32 * 1024

export function encodeEnvelope(data: Uint8Array, source: KmsCiphertext, head: Uint8Array): Uint8Array {
  const writer = new ProtoWriter(data.byteLength + source.ciphertext.byteLength + 512)
  writer.bytes(1, data)
  writer.bytes(2, Buffer.from(source.keyId))
  writer.bytes(3, source.ciphertext)
  writeAnnotations(writer, 4, source.annotations)
  writer.varint(5, typeOfSeed)
  return Buffer.concat([head, writer.finish()])
}

/** @throws EncryptionError */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  let data: Uint8Array = new Uint8Array(0)
  let ciphertext: Uint8Array = new Uint8Array(0)
  let keyId = ''
  let type = 0
  const annotations = new Map<string, Uint8Array>()
  try {
    const reader = new ProtoReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    while (reader.next()) {
      if (reader.field === 1) data = reader.bytes()
      else if (reader.field === 2) keyId = reader.text()
      else if (reader.field === 3) ciphertext = reader.bytes()
      else if (reader.field === 4) annotations.set(...readAnnotation(reader.message()))
      else if (reader.field === 5) type = reader.int()
      else reader.skip()
    }
  } catch (cause) {
    throw new EncryptionError('its envelope is unreadable', { cause })
  }
  const source = { ciphertext, keyId, annotations }
  const problem = problemOf(source)
  if (problem !== undefined) throw new EncryptionError(`its envelope is not sound: ${problem}`)
  if (data.byteLength === 0) throw new EncryptionError('its envelope is empty')
  if (type !== 0 && type !== typeOfSeed) throw new EncryptionError(`its envelope is of an unknown type, ${type}`)
  return { data, source, isSeed: type === typeOfSeed }
}

/** What is wrong with what a plugin gave; undefined: nothing. */
export function problemOf({ ciphertext, keyId, annotations }: KmsCiphertext): string | undefined {
  if (ciphertext.byteLength === 0) return 'encrypted DEK source is empty'
  if (ciphertext.byteLength > maxSourceBytes) return `encrypted DEK source has more than ${maxSourceBytes} bytes`
  const problem = keyIdProblem(keyId)
  if (problem !== undefined) return problem
  let bytes = 0
  for (const [name, value] of annotations) {
    bytes += Buffer.byteLength(name) + value.byteLength
    if (!isFullyQualified(name))
      return `the name of an annotation is not fully qualified: ${onOneLine(name).slice(0, 100)}`
  }
  return bytes > maxAnnotationBytes ? `annotations have more than ${maxAnnotationBytes} bytes` : undefined
}

export function keyIdProblem(keyId: string): string | undefined {
  if (keyId === '') return 'keyID is empty'
  return Buffer.byteLength(keyId) > maxKeyIdBytes ? `keyID has more than ${maxKeyIdBytes} bytes` : undefined
}

function isFullyQualified(name: string): boolean {
  const labels = name.endsWith('.') ? name.slice(0, -1) : name
  return labels.includes('.') && isDns1123Subdomain(labels).length === 0
}

const noHead = new Uint8Array(0)

export function sealWithSeed(seed: Uint8Array, key: string, value: Uint8Array): Uint8Array {
  const info = randomBytes(infoBytes)
  return Buffer.concat([info, sealGcm(derive(seed, info), key, value, noHead)])
}

/** @throws EncryptionError */
export function openEnvelope(
  { data, isSeed }: Pick<Envelope, 'data' | 'isSeed'>,
  source: Uint8Array,
  key: string,
): Uint8Array {
  if (!isSeed) return openGcm(source, key, data)
  if (data.byteLength < infoBytes) throw new EncryptionError('it is too short to be encrypted')
  return openGcm(derive(source, data.subarray(0, infoBytes)), key, data.subarray(infoBytes))
}

/** The first block of an expansion is all that a key of 32 bytes takes. */
const derive = (seed: Uint8Array, info: Uint8Array): Uint8Array =>
  createHmac('sha256', seed).update(info).update(Uint8Array.of(1)).digest()
