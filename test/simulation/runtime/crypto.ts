/**
 * Stands in for `node:crypto`, of which it is all but what draws random numbers. Signatures are real ones, of keys and
 * with a nonce that the seed gives: certificates lie in the store, and must be the same bytes in every run.
 */
import { createECDH, createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { simulated } from './simulated-process.ts'

export * from 'node:crypto'

export function randomFillSync<T extends NodeJS.ArrayBufferView>(target: T): T {
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
  for (let i = 0; i < bytes.length; i++) bytes[i] = simulated.random.below(256)
  return target
}

export const randomBytes = (length: number): Buffer => randomFillSync(Buffer.alloc(length))
export const randomInt = (end: number): number => simulated.random.below(end)

export function randomUUID(): string {
  const hex = randomBytes(16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const scalarBytes = 32

/** P-256, the only kind that the server makes. */
export function generateKeyPairSync(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const scalar = toBytes(1n + (toNumber(randomBytes(scalarBytes)) % (order - 1n)))
  const { x, y } = pointOf(scalar)
  const parts = { d: scalar, x, y }
  const text = Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, bytes.toString('base64url')]))
  const privateKey = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', ...text }, format: 'jwk' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

/** ECDSA with SHA-256 in DER, as Node's. */
export function sign(_algorithm: 'sha256', body: Uint8Array, key: KeyObject): Buffer {
  const secret = Buffer.from(String(key.export({ format: 'jwk' }).d), 'base64url')
  const digest = createHash('sha256').update(body).digest()
  const nonce = 1n + (toNumber(createHash('sha256').update(secret).update(digest).digest()) % (order - 1n))
  const r = toNumber(pointOf(toBytes(nonce)).x) % order
  const s = (inverse(nonce) * ((toNumber(digest) + r * toNumber(secret)) % order)) % order
  const both = Buffer.concat([derInteger(r), derInteger(s)])
  return Buffer.concat([Buffer.from([0x30, both.length]), both])
}

function pointOf(scalar: Buffer): { readonly x: Buffer; readonly y: Buffer } {
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(scalar)
  const point = curve.getPublicKey()
  return { x: point.subarray(1, 1 + scalarBytes), y: point.subarray(1 + scalarBytes) }
}

/** By Fermat: the order is a prime. */
function inverse(n: bigint): bigint {
  let result = 1n
  let base = n
  for (let power = order - 2n; power > 0n; power >>= 1n) {
    if ((power & 1n) === 1n) result = (result * base) % order
    base = (base * base) % order
  }
  return result
}

const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
const toBytes = (n: bigint): Buffer => Buffer.from(n.toString(16).padStart(2 * scalarBytes, '0'), 'hex')

function derInteger(n: bigint): Buffer {
  const hex = n.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  const sound = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  return Buffer.concat([Buffer.from([2, sound.length]), sound])
}
