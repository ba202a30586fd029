/**
 * A PKCS#10 request in PEM, as far as it must be understood: who asks for what key, and whether they have it. Node
 * reads certificates and keys, but not requests, so the few lengths around them are read here.
 * @see RFC 2986
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'

export interface RequestedCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly publicKey: KeyObject
}

/** What is wrong with a request, in upstream's words where it has some. */
export class CertificateRequestError extends Error {
  override readonly name = 'CertificateRequestError'
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----/
const wanted = 'CERTIFICATE REQUEST'
const commonNameOid = '2.5.4.3'
const organizationOid = '2.5.4.10'

/**
 * Of the signature algorithms that clients use. Null: the algorithm says it itself. SHA-1 is good enough here, as for
 * Go: the signature tells no more than that the sender has the key.
 */
const hashByOid: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
}

/** What Go says, by the kind of key. */
const wrongSignature: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}

/** @param encoded base64 of PEM, as in the API. @throws CertificateRequestError */
export function parseCertificateRequest(encoded: string): RequestedCertificate {
  const match = pemBlock.exec(Buffer.from(encoded, 'base64').toString('latin1'))
  if (match?.[1] !== wanted) throw new CertificateRequestError(`PEM block type must be ${wanted}`)
  const der = Buffer.from(match[2] ?? '', 'base64')
  try {
    return read(der)
  } catch (error) {
    if (error instanceof CertificateRequestError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new CertificateRequestError(`asn1: structure error: ${why}`, { cause: error })
  }
}

function read(der: Buffer): RequestedCertificate {
  const [request, ...rest] = elements(der)
  const [info, algorithm, signature, ...more] = elements(contentOf(request, sequence))
  if (rest.length + more.length > 0) throw new CertificateRequestError('asn1: syntax error: trailing data')
  const [, subject, key] = elements(contentOf(info, sequence))
  const oid = oidOf(contentOf(elements(contentOf(algorithm, sequence))[0], objectIdentifier))
  const hash = hashByOid[oid]
  if (hash === undefined) throw new CertificateRequestError('x509: cannot verify signature: algorithm unimplemented')
  const publicKey = createPublicKey({ key: wholeOf(key), format: 'der', type: 'spki' })
  const bits = contentOf(signature, bitString)
  // The first octet of a bit string counts unused bits: there are none.
  if (bits[0] !== 0) throw new CertificateRequestError('asn1: syntax error: invalid padding bits in BIT STRING')
  if (!verify(hash, wholeOf(info), publicKey, bits.subarray(1))) {
    throw new CertificateRequestError(wrongSignature[publicKey.asymmetricKeyType ?? ''] ?? 'x509: invalid signature')
  }
  const names = elements(contentOf(subject, sequence)).flatMap((set) => elements(set.content))
  const values = (wantedOid: string): string[] =>
    names.flatMap((pair) => {
      const [type, value] = elements(pair.content)
      return type && value && oidOf(type.content) === wantedOid ? [value.content.toString('utf8')] : []
    })
  return { commonName: values(commonNameOid)[0] ?? '', organizations: values(organizationOid), publicKey }
}

const bitString = 0x03
const objectIdentifier = 0x06
const sequence = 0x30

interface Element {
  readonly tag: number
  readonly content: Buffer
  /** With tag and length. */
  readonly whole: Buffer
}

const contentOf = (element: Element | undefined, tag: number): Buffer => present(element, tag).content
const wholeOf = (element: Element | undefined): Buffer => present(element, sequence).whole

function present(element: Element | undefined, tag: number): Element {
  if (element === undefined) throw new CertificateRequestError('asn1: syntax error: sequence truncated')
  if (element.tag !== tag) throw new CertificateRequestError('asn1: structure error: tags do not match')
  return element
}

/** The DER elements that stand one after the other. */
function elements(bytes: Buffer): Element[] {
  const found: Element[] = []
  let at = 0
  while (at < bytes.length) {
    let length = bytes[at + 1] ?? 0
    let start = at + 2
    if (length >= 0x80) {
      const octets = length & 0x7f
      if (octets === 0 || octets > 4) throw new CertificateRequestError('asn1: syntax error: bad length')
      length = bytes.readUIntBE(start, octets)
      start += octets
    }
    const end = start + length
    if (end > bytes.length) throw new CertificateRequestError('asn1: syntax error: data truncated')
    found.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) })
    at = end
  }
  return found
}

function oidOf(bytes: Buffer): string {
  const [first = 0, ...rest] = bytes
  const arcs = [Math.floor(first / 40), first % 40]
  let arc = 0
  for (const octet of rest) {
    arc = arc * 128 + (octet & 0x7f)
    if (octet < 0x80) {
      arcs.push(arc)
      arc = 0
    }
  }
  return arcs.join('.')
}
