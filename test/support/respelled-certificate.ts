/**
 * A client certificate whose common name is any bytes, as a string of any type, signed by an authority that is trusted.
 */
import { sign, X509Certificate } from 'node:crypto'
import { elementsOf } from '../../src/base/der.ts'
import {
  type CertificateRequest,
  generateKeyPair,
  issueCertificate,
  privateKeyPem,
} from '../../src/base/x509-certificate.ts'

/** Types of strings by their tags. */
export const stringTags = { utf8: 12, printable: 19, t61: 20, ia5: 22, universal: 28, bmp: 30 } as const

export const bmpBytes = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()

/** @param bytes 1 to 100 of them */
export function respelledCertificate(
  issuer: CertificateRequest['issuer'],
  tag: number,
  bytes: Uint8Array,
): { readonly cert: string; readonly key: string } {
  const key = generateKeyPair()
  // As long as what replaces it, so that no length changes.
  const placeholder = '~'.repeat(bytes.length)
  const pem = issueCertificate({
    subject: { commonName: placeholder, organizations: ['devs'] },
    publicKey: key.publicKey,
    issuer,
    notBeforeMs: Date.now() - 3_600_000,
    notAfterMs: Date.now() + 3_600_000,
    usage: 'client',
  })
  const der = Buffer.from(new X509Certificate(pem).raw)
  const at = der.lastIndexOf(placeholder)
  der[at - 2] = tag
  der.set(bytes, at)
  const [certificate] = elementsOf(der)
  const [body, algorithm] = elementsOf(certificate?.content ?? Buffer.alloc(0)).map(({ whole }) => whole)
  if (body === undefined || algorithm === undefined) throw new Error('no certificate')
  const signature = sign('sha256', body, issuer.key.privateKey)
  const bits = Buffer.from([0x03, signature.length + 1, 0, ...signature])
  const content = Buffer.concat([body, algorithm, bits])
  const head = Buffer.from([0x30, 0x82, content.length >> 8, content.length & 0xff])
  const cert = Buffer.concat([head, content]).toString('base64')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
    key: privateKeyPem(key.privateKey),
  }
}
