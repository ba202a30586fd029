import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../src/base/clock.ts'
import type { Ids } from '../../src/base/ids.ts'
import { generateKeyPair, issueCertificate, type Subject } from '../../src/base/x509-certificate.ts'
import { openPki, type Pki } from '../../src/pki/open-pki.ts'
import { memoryPkiStore } from '../../src/pki/pki-store.ts'

export const testPki = (clock: Clock): Promise<Pki> => openPki(memoryPkiStore(), { clock, names: ['localhost'] })

export const derOf = (pem: string): Uint8Array => new X509Certificate(pem).raw

/** `uid-1`, `uid-2`, ... */
export function countingIds(): Ids {
  let count = 0
  return { uid: () => `uid-${++count}`, nameSuffix: () => `s${++count}`.padStart(5, 'x') }
}

/** PEM, valid for a day. */
export function selfSignedClientCertificate(clock: Clock, subject: Subject): string {
  const key = generateKeyPair()
  const notBeforeMs = clock.now()
  const notAfterMs = notBeforeMs + 86_400_000
  return issueCertificate({
    subject,
    publicKey: key.publicKey,
    issuer: { subject, key },
    notBeforeMs,
    notAfterMs,
    usage: 'client',
  })
}
