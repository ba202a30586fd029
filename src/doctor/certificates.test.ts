/** What the dates of certificates mean to an operator. */
import { describe, expect, it } from 'vitest'
import { generateKeyPair, issueCertificate } from '../base/x509-certificate.ts'
import { examineCertificates } from './certificates.ts'

const dayMs = 86_400_000
const nowMs = Date.parse('2026-06-15T12:00:00Z')

function certificate(beginDays: number, endDays: number): string {
  const key = generateKeyPair()
  const subject = { commonName: 'a' }
  return issueCertificate({
    ...{ subject, publicKey: key.publicKey, issuer: { subject, key }, usage: 'authority' },
    ...{ notBeforeMs: nowMs + beginDays * dayMs, notAfterMs: nowMs + endDays * dayMs },
  })
}

const rows: readonly { name: string; pem: string; want: object }[] = [
  { name: 'long', pem: certificate(-1, 400), want: { status: 'ok', message: 'valid until 2027-07-20' } },
  {
    name: 'not for long',
    pem: certificate(-1, 20),
    want: { status: 'warn', message: 'it ends on 2026-07-05, in 20 days', remedy: 'renew it' },
  },
  {
    name: 'no more',
    pem: certificate(-20, -10),
    want: { status: 'fail', message: 'it ended on 2026-06-05: it is refused', remedy: 'renew it' },
  },
  {
    name: 'not yet',
    pem: certificate(2, 400),
    want: {
      status: 'fail',
      message: 'it is not valid before 2026-06-17T12:00:00.000Z',
      remedy: "set this machine's clock, or make another certificate",
    },
  },
  {
    name: 'by the one of several that ends first',
    pem: `${certificate(-1, 400)}\n${certificate(-20, -10)}`,
    want: { status: 'fail', message: 'it ended on 2026-06-05: it is refused', remedy: 'renew it' },
  },
  {
    name: 'in no text',
    pem: 'hunter2',
    want: { status: 'fail', message: 'there is no certificate in it', remedy: 'renew it' },
  },
  {
    name: 'in nothing that is damaged',
    pem: '-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----',
    want: { status: 'fail', message: 'it is no certificate', remedy: 'renew it' },
  },
]

describe('a certificate holds', () => {
  it.each(rows)('$name', ({ pem, want }) => {
    expect(examineCertificates('it', pem, nowMs, 'renew it')).toEqual({ check: 'it', ...want })
  })
})
