/** What TLS has let through, and time has not. Over real TLS: `test/access/front-proxy.test.ts`. */
import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { thrown, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { generateKeyPair, issueCertificate } from '../base/x509-certificate.ts'
import { FrontProxyAuthenticator } from './front-proxy.ts'
import { proxyHeaders } from './identity-config.ts'

const hourMs = 3_600_000

test('the certificate of a proxy ends during a connection', async () => {
  const clock = new FakeClock()
  const dates = { notBeforeMs: clock.now() - hourMs, notAfterMs: clock.now() + hourMs }
  const issuer = { subject: { commonName: 'proxy-ca' }, key: generateKeyPair() }
  const ca = issueCertificate({
    subject: issuer.subject,
    publicKey: issuer.key.publicKey,
    issuer,
    ...dates,
    usage: 'authority',
  })
  const subject = { commonName: 'front' }
  const cert = issueCertificate({ subject, publicKey: generateKeyPair().publicKey, issuer, ...dates, usage: 'client' })
  const authenticator = new FrontProxyAuthenticator({ ca, allowedNames: [], ...proxyHeaders }, clock)
  const headers = {
    headers: { 'x-remote-user': 'jane' },
    headerValues: (name: string) => (name === 'x-remote-user' ? ['jane'] : []),
  }
  const sent = { clientCertificate: new X509Certificate(cert).raw, headers }
  expect(authenticator.authenticate(sent)).toEqual({ username: 'jane', groups: [] })
  await clock.advance(hourMs)
  expect(authenticator.authenticate(sent)).toEqual({ username: 'jane', groups: [] })
  await clock.advance(1)
  expect(thrown(() => authenticator.authenticate(sent))).toEqual(unauthorized)
})
