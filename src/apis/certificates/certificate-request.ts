/**
 * A PKCS#10 request in PEM, as far as it must be understood: who asks for what key, and whether they have it. Node
 * reads certificates and keys, but not requests.
 * @see RFC 2986
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { DerError, derTags, elementsIn, elementsOf, expectElement, oidText } from '../../base/der.ts'
import { readSubject, type SubjectName } from '../../base/subject-name.ts'

export interface RequestedCertificate extends SubjectName {
  readonly publicKey: KeyObject
}

/** What is wrong with a request, in upstream's words where it has some. */
export class CertificateRequestError extends Error {
  override readonly name = 'CertificateRequestError'
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----/
const wanted = 'CERTIFICATE REQUEST'

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
    if (error instanceof DerError) throw new CertificateRequestError(error.message, { cause: error })
    const why = error instanceof Error ? error.message : String(error)
    throw new CertificateRequestError(`asn1: structure error: ${why}`, { cause: error })
  }
}

function read(der: Buffer): RequestedCertificate {
  const [request, ...rest] = elementsOf(der)
  const [info, algorithm, signature, ...more] = elementsIn(request)
  if (rest.length + more.length > 0) throw new CertificateRequestError('asn1: syntax error: trailing data')
  const [, subject, key] = elementsIn(info)
  const oid = oidText(expectElement(elementsIn(algorithm)[0], derTags.objectIdentifier).content)
  const hash = hashByOid[oid]
  if (hash === undefined) throw new CertificateRequestError('x509: cannot verify signature: algorithm unimplemented')
  const publicKey = createPublicKey({ key: expectElement(key, derTags.sequence).whole, format: 'der', type: 'spki' })
  const bits = expectElement(signature, derTags.bitString).content
  // The first octet of a bit string counts unused bits: there are none.
  if (bits[0] !== 0) throw new CertificateRequestError('asn1: syntax error: invalid padding bits in BIT STRING')
  if (!verify(hash, expectElement(info, derTags.sequence).whole, publicKey, bits.subarray(1))) {
    throw new CertificateRequestError(wrongSignature[publicKey.asymmetricKeyType ?? ''] ?? 'x509: invalid signature')
  }
  return { ...readSubject(subject), publicKey }
}
