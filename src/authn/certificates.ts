/** What the authenticators by certificate share: who issued one, and what it is for. */
import { X509Certificate } from 'node:crypto'

/** Extended key usage: proves a client. */
export const clientAuth = '1.3.6.1.5.5.7.3.2'

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** @throws Error for text without a certificate */
export function authoritiesIn(pem: string): readonly X509Certificate[] {
  const found = (pem.match(pemCertificate) ?? []).map((text) => new X509Certificate(text))
  if (found.length === 0) throw new Error('it holds no certificate')
  return found
}

export const isIssuedBy = (certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean =>
  authorities.some((a) => a.ca && certificate.checkIssued(a) && certificate.verify(a.publicKey))
