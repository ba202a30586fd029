/** What TLS has let through, and time has not. Over real TLS: `test/access/front-proxy.test.ts`. */
import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { thrown, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { generateKeyPair, issueCertificate } from '../base/x509-certificate.ts'
import { FrontProxyAuthenticator } from './front-proxy.ts'
import { proxyHeaders } from './identity-config.ts'

const hourMs = 3_600_000

const clock = new FakeClock()
const dates = { notBeforeMs: clock.now() - hourMs, notAfterMs: clock.now() + hourMs }
const authority = (commonName: string) => {
  const issuer = { subject: { commonName }, key: generateKeyPair() }
  const { publicKey } = issuer.key
  const ca = issueCertificate({ subject: issuer.subject, publicKey, issuer, ...dates, usage: 'authority' })
  return { issuer, ca }
}
const { issuer, ca } = authority('proxy-ca')
const certificateOf = (commonName: string, more: { usage?: 'client' | 'server'; of?: typeof issuer } = {}): Buffer => {
  const { usage = 'client', of = issuer } = more
  const { publicKey } = generateKeyPair()
  const names = usage === 'server' ? { names: ['front.example'] } : {}
  const made = issueCertificate({ subject: { commonName }, publicKey, issuer: of, ...dates, ...names, usage } as never)
  return new X509Certificate(made).raw
}
const front = certificateOf('front')

function sending(clientCertificate: Buffer | undefined, headers: Record<string, string | string[]>) {
  const headerValues = (name: string): string[] => [headers[name] ?? []].flat()
  const flat = Object.fromEntries(Object.keys(headers).map((name) => [name, headerValues(name).join(', ')]))
  return { ...(clientCertificate && { clientCertificate }), headers: { headers: flat, headerValues } }
}

test.each<[string, Record<string, string | string[]>, object | undefined]>([
  ['its name', { 'x-remote-user': 'jane' }, { username: 'jane', groups: [] }],
  ['nothing, and is left to others', {}, undefined],
  ['an empty name, likewise', { 'x-remote-user': '' }, undefined],
  [
    'all that there is',
    {
      ...{ 'x-remote-user': ['jane', 'joe'], 'x-remote-uid': 'u', 'x-remote-group': ['devs', '', 'ops'] },
      ...{ 'x-remote-extra-team': ['a', 'b'], 'x-remote-extra-acme.io%2fkey': 'c', 'x-other-extra-d': 'e' },
    },
    { username: 'jane', uid: 'u', groups: ['devs', 'ops'], extra: { team: ['a', 'b'], 'acme.io/key': ['c'] } },
  ],
])('a proxy says of a user %s', (_, headers, user) => {
  const authenticator = new FrontProxyAuthenticator({ ca, allowedNames: ['front'], ...proxyHeaders }, clock)
  expect(authenticator.authenticate(sending(front, headers))).toEqual(user)
})

test.each<[string, Buffer | undefined, readonly string[]]>([
  ['shows no certificate', undefined, []],
  ['shows one of another authority', certificateOf('front', { of: authority('proxy-ca').issuer }), []],
  ['shows one for servers', certificateOf('front', { usage: 'server' }), []],
  ['has another name', certificateOf('back'), ['front']],
  ['shows what is none', Buffer.from('none'), []],
])('a client that %s is not believed', (_, certificate, allowedNames) => {
  const authenticator = new FrontProxyAuthenticator({ ca, allowedNames, ...proxyHeaders }, clock)
  expect(authenticator.authenticate(sending(certificate, { 'x-remote-user': 'jane' }))).toBeUndefined()
})

test('the certificate of a proxy ends during a connection', async () => {
  const authenticator = new FrontProxyAuthenticator({ ca, allowedNames: [], ...proxyHeaders }, clock)
  const sent = sending(front, { 'x-remote-user': 'jane' })
  expect(authenticator.authenticate(sent)).toEqual({ username: 'jane', groups: [] })
  await clock.advance(hourMs)
  expect(authenticator.authenticate(sent)).toEqual({ username: 'jane', groups: [] })
  await clock.advance(1)
  expect(thrown(() => authenticator.authenticate(sent))).toEqual(unauthorized)
})

test('a file of authorities without one is refused', () => {
  const without = { ca: 'none', allowedNames: [], ...proxyHeaders }
  expect(() => new FrontProxyAuthenticator(without, clock)).toThrow('it holds no certificate')
})

test('nor is one believed whose certificate is not good yet', () => {
  const early = new FrontProxyAuthenticator(
    { ca, allowedNames: [], ...proxyHeaders },
    new FakeClock(dates.notBeforeMs - 1),
  )
  expect(thrown(() => early.authenticate(sending(front, { 'x-remote-user': 'jane' })))).toEqual(unauthorized)
  const atOnce = new FrontProxyAuthenticator(
    { ca, allowedNames: [], ...proxyHeaders },
    new FakeClock(dates.notBeforeMs),
  )
  expect(atOnce.authenticate(sending(front, { 'x-remote-user': 'jane' }))).toEqual({ username: 'jane', groups: [] })
})
