/** Who comes through a proxy, and who only says so: over real TLS. */
import { once } from 'node:events'
import { request } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type Server, serve } from '../../src/app/serve.ts'
import { proxyHeaders } from '../../src/authn/identity-config.ts'
import { generateKeyPair, issueCertificate, privateKeyPem } from '../../src/base/x509-certificate.ts'

interface Credential {
  readonly cert: string
  readonly key: string
}

const hourMs = 3_600_000
const dates = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs }
const authority = { subject: { commonName: 'proxy-ca' }, key: generateKeyPair() }
const proxyCa = issueCertificate({
  subject: authority.subject,
  publicKey: authority.key.publicKey,
  issuer: authority,
  ...dates,
  usage: 'authority',
})

function proxy(commonName: string, over = false): Credential {
  const key = generateKeyPair()
  const notAfterMs = over ? Date.now() - 1000 : dates.notAfterMs
  const subject = { commonName }
  const cert = issueCertificate({
    subject,
    publicKey: key.publicKey,
    issuer: authority,
    notBeforeMs: dates.notBeforeMs,
    notAfterMs,
    usage: 'client',
  })
  return { cert, key: privateKeyPem(key.privateKey) }
}

let served: Server
beforeAll(async () => {
  served = await serve({
    ...defaultConfig,
    listen: { host: '127.0.0.1', port: 0 },
    frontProxy: { ca: proxyCa, allowedNames: ['front'], ...proxyHeaders },
  })
})
afterAll(() => served[Symbol.asyncDispose]())

async function whoami(
  credential: Credential | undefined,
  headers: Record<string, string | string[]>,
): Promise<{ readonly status: number; readonly user?: unknown }> {
  const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  const sent = request({
    host: '127.0.0.1',
    port: served.port,
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ca: served.plane.pki.caCert,
    agent: false,
    ...credential,
  })
  sent.end(review)
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  const body = JSON.parse(Buffer.concat(await response.toArray()).toString()) as { status?: { userInfo?: unknown } }
  return { status: response.statusCode ?? 0, user: body.status?.userInfo }
}

const jane = {
  'X-Remote-User': 'jane',
  'X-Remote-Uid': 'u-1',
  'X-Remote-Group': ['dev', 'ops'],
  'X-Remote-Extra-acme.com%2Fteam': 'a',
}

describe('a proxy in front', () => {
  test('names the user, its uid, its groups and what else there is to say', async () => {
    expect(await whoami(proxy('front'), jane)).toEqual({
      status: 201,
      user: {
        username: 'jane',
        uid: 'u-1',
        groups: ['dev', 'ops', 'system:authenticated'],
        extra: { 'acme.com/team': ['a'] },
      },
    })
  })

  test.each<[string, () => Credential, Record<string, string>]>([
    ['a proxy that names nobody', () => proxy('front'), {}],
    ['attack: a certificate of that authority with another name', () => proxy('stranger'), { 'X-Remote-User': 'jane' }],
    ['attack: a proxy whose certificate has ended', () => proxy('front', true), { 'X-Remote-User': 'jane' }],
    ['attack: the name of a user on a certificate of that authority', () => proxy('kubernetes-admin'), {}],
  ])('%s is nobody', async (_, credential, headers) => {
    expect(await whoami(credential(), headers)).toMatchObject({ status: 401 })
  })

  test('attack: the headers of a user with a certificate of its own change nothing', async () => {
    const own = served.plane.pki.mintClientCertificate({ user: 'joe', groups: [], durationMs: hourMs })
    expect(await whoami(own, jane)).toMatchObject({ status: 201, user: { username: 'joe' } })
  })

  test('attack: headers without any certificate are those of nobody', async () => {
    expect((await whoami(undefined, jane)).status).toBe(403)
  })
})
