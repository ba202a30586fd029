/**
 * Writes X.509 v3 certificates: EC P-256 keys, ECDSA with SHA-256, the few extensions that TLS needs, and nothing else.
 * Reading certificates is left to node:crypto.
 *
 * Why not a library: `@peculiar/x509` takes 120 ms to load and 20 ms for its first signature, which is a start-up
 * budget by itself; this is a page of DER around OpenSSL's signature.
 *
 * @see RFC 5280, RFC 5480 (EC keys), RFC 7093 (key identifiers), X.690 (DER)
 */
import { createPublicKey, generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { append } from '../base/append.ts'

export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export interface Subject {
  readonly commonName: string
  /** Each becomes an O of its own. */
  readonly organizations?: readonly string[]
}

export interface CertificateRequest {
  readonly subject: Subject
  readonly publicKey: KeyObject
  /** Whose name and key sign; the subject's own for a self-signed certificate. */
  readonly issuer: { readonly subject: Subject; readonly key: KeyPair }
  /** Milliseconds since the epoch; whole seconds are kept. */
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly usage: 'authority' | 'server' | 'client'
  /** DNS names and IP addresses of a server. */
  readonly names?: readonly string[]
}

export const generateKeyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' })

export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

export const keyPairOf = (privateKey: KeyObject): KeyPair => ({ privateKey, publicKey: createPublicKey(privateKey) })

/** DER of the SubjectPublicKeyInfo. */
export const publicKeyDer = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })

/** The certificate in PEM. */
export function issueCertificate(request: CertificateRequest): string {
  const { issuer } = request
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ecdsaWithSha256,
    distinguishedName(issuer.subject),
    sequence(time(request.notBeforeMs), time(request.notAfterMs)),
    distinguishedName(request.subject),
    publicKeyDer(request.publicKey),
    explicit(3, sequence(...extensions(request))),
  )
  const signature = sign('sha256', body, issuer.key.privateKey)
  return pem('CERTIFICATE', sequence(body, ecdsaWithSha256, bitString(0, signature)))
}

function extensions(request: CertificateRequest): Buffer[] {
  const authority = request.usage === 'authority'
  const list = [
    extension('2.5.29.19', true, authority ? sequence(boolean(true)) : sequence()),
    // Bits from the left: digitalSignature 0, keyCertSign 5, cRLSign 6.
    extension('2.5.29.15', true, authority ? bitString(1, Buffer.from([0x86])) : bitString(7, Buffer.from([0x80]))),
    extension('2.5.29.14', false, octetString(keyIdentifier(request.publicKey))),
    extension('2.5.29.35', false, sequence(tlv(0x80, keyIdentifier(request.issuer.key.publicKey)))),
  ]
  if (!authority) {
    const purpose = request.usage === 'server' ? '1.3.6.1.5.5.7.3.1' : '1.3.6.1.5.5.7.3.2'
    list.push(extension('2.5.29.37', false, sequence(oid(purpose))))
  }
  const names = request.names ?? []
  if (names.length > 0) list.push(extension('2.5.29.17', false, sequence(...names.map(generalName))))
  return list
}

const keyIdentifier = (key: KeyObject): Buffer =>
  Buffer.from(hash('sha256', publicKeyDer(key), 'buffer').subarray(0, 20))

const generalName = (name: string): Buffer => {
  const address = addressBytes(name)
  return address ? tlv(0x87, address) : tlv(0x82, Buffer.from(name, 'ascii'))
}

/** 4 or 16 bytes; undefined if the text is no IP address. */
export function addressBytes(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number))
  if (!isIPv6(text) || text.includes('%')) return undefined
  const words = (part: string): number[] =>
    part === ''
      ? []
      : part.split(':').flatMap((word) => {
          if (!word.includes('.')) return [Number.parseInt(word, 16)]
          const [a = 0, b = 0, c = 0, d = 0] = word.split('.').map(Number)
          return [a * 256 + b, c * 256 + d]
        })
  const [left = '', right] = text.split('::')
  const head = words(left)
  const tail = right === undefined ? [] : words(right)
  const all = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]))
}

function distinguishedName(subject: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer =>
    tlv(0x31, sequence(oid(type), tlv(0x0c, Buffer.from(value, 'utf8'))))
  return sequence(
    ...(subject.organizations ?? []).map((o) => attribute('2.5.4.10', o)),
    attribute('2.5.4.3', subject.commonName),
  )
}

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  critical ? sequence(oid(id), boolean(true), octetString(value)) : sequence(oid(id), octetString(value))

/** Tag, length, value. */
function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts)
  const size = value.length
  if (size < 0x80) return Buffer.concat([Buffer.from([tag, size]), value])
  const octets: number[] = []
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return Buffer.concat([Buffer.from([tag, 0x80 | octets.length, ...octets]), value])
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, ...parts)
const explicit = (tag: number, part: Uint8Array): Buffer => tlv(0xa0 | tag, part)
const octetString = (value: Uint8Array): Buffer => tlv(0x04, value)
const bitString = (unusedBits: number, value: Uint8Array): Buffer => tlv(0x03, Buffer.from([unusedBits]), value)
const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]))

/** Never negative, as short as DER demands. */
function integer(bytes: Buffer): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const value = bytes.subarray(start)
  return (value[0] ?? 0) & 0x80 ? tlv(0x02, Buffer.from([0]), value) : tlv(0x02, value)
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const octets: number[] = []
  for (const arc of [first * 40 + second, ...rest]) {
    const group = [arc & 0x7f]
    for (let more = arc >>> 7; more > 0; more >>>= 7) group.unshift((more & 0x7f) | 0x80)
    append(octets, group)
  }
  return tlv(0x06, Buffer.from(octets))
}

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 demands. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '')
  return digits < '2050' ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits))
}

const ecdsaWithSha256: Buffer = sequence(oid('1.2.840.10045.4.3.2'))

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
