/**
 * One name is one user, however it comes: in a header of HTTP/1.1 or HTTP/2, from a proxy, in a certificate, in the
 * token file. Over real TLS, with bytes as clients in Go send them.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type Server, serve } from '../../src/app/serve.ts'
import { proxyHeaders } from '../../src/authn/identity-config.ts'
import { headerOfText } from '../../src/base/header-bytes.ts'
import {
  type CertificateRequest,
  generateKeyPair,
  issueCertificate,
  keyPairOf,
} from '../../src/base/x509-certificate.ts'
import { badRequest, unauthorized } from '../support/refusal.ts'
import { bmpBytes, respelledCertificate, stringTags } from '../support/respelled-certificate.ts'

interface Credential {
  readonly cert: string
  readonly key: string
}
/** Values with one character for each byte, as they go over the wire. */
type Headers = Readonly<Record<string, string | string[]>>
interface Answer {
  readonly code: number
  readonly body: unknown
}

const name = 'ünï→😀'
const hourMs = 3_600_000
const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const review = '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}'

const proxyAuthority = { subject: { commonName: 'proxy-ca' }, key: generateKeyPair() }
let folder: string
let served: Server
let authority: CertificateRequest['issuer']
let admin: Credential
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-names-'))
  const tokenFile = join(folder, 'tokens.csv')
  await writeFile(tokenFile, `tökén,${name},7,"grüppe,ops"\n`, { mode: 0o600 })
  const ca = issueCertificate({
    subject: proxyAuthority.subject,
    publicKey: proxyAuthority.key.publicKey,
    issuer: proxyAuthority,
    notBeforeMs: Date.now() - hourMs,
    notAfterMs: Date.now() + hourMs,
    usage: 'authority',
  })
  const dataDir = join(folder, 'data')
  served = await serve({
    ...defaultConfig,
    population: false,
    dataDir,
    tokenFile,
    listen: { host: '127.0.0.1', port: 0 },
    frontProxy: { ca, allowedNames: ['frönt'], ...proxyHeaders },
  })
  const { pki } = served.plane
  const caName = /CN=(.*)/.exec(new X509Certificate(pki.caCert).subject)?.[1] ?? ''
  const key = createPrivateKey(await readFile(join(dataDir, 'pki', 'ca.key'), 'utf8'))
  authority = { subject: { commonName: caName }, key: keyPairOf(key) }
  admin = pki.mintClientCertificate({ user: 'root', groups: ['system:masters'], durationMs: hourMs })
}, 120_000)
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function overHttp1(headers: Headers, credential: Credential | undefined): Promise<Answer> {
  const sent = request({
    host: '127.0.0.1',
    port: served.port,
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ca: served.plane.pki.caCert,
    agent: false,
    ...credential,
  })
  // A string would take its headers along into UTF-8.
  sent.end(Buffer.from(review))
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  return {
    code: response.statusCode ?? 0,
    body: JSON.parse(Buffer.concat(await response.toArray()).toString()) as unknown,
  }
}

async function overHttp2(headers: Headers, credential: Credential | undefined): Promise<Answer> {
  const session = connect(`https://127.0.0.1:${served.port}`, { ca: served.plane.pki.caCert, ...credential })
  const sent = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json', ...headers })
  sent.end(review)
  const [head] = (await once(sent, 'response')) as [Record<string, unknown>]
  const body = JSON.parse(Buffer.concat(await sent.toArray()).toString()) as unknown
  session.close()
  return { code: Number(head[':status']), body }
}

const userIn = ({ code, body }: Answer): unknown =>
  code === 201 ? (body as { status: { userInfo: unknown } }).status.userInfo : body

describe.each([
  { protocol: 'HTTP/1.1', send: overHttp1 },
  { protocol: 'HTTP/2', send: overHttp2 },
])('over $protocol', ({ send }) => {
  const whoami = async (headers: Headers, credential?: Credential): Promise<unknown> =>
    userIn(await send(headers, credential))

  test('whom an administrator impersonates is named by UTF-8, in each header', async () => {
    const headers = {
      'impersonate-user': headerOfText(name),
      'impersonate-uid': headerOfText('ü-1'),
      'impersonate-group': [headerOfText('grüppe'), headerOfText('日本')],
      'impersonate-extra-ex.io%2fsch%c3%bcssel': headerOfText('wért'),
    }
    expect(await whoami(headers, admin)).toEqual({
      username: name,
      uid: 'ü-1',
      groups: ['grüppe', '日本', 'system:authenticated'],
      extra: { 'ex.io/schüssel': ['wért'] },
    })
  })

  test('whom a proxy names is named by UTF-8, and so is the proxy', async () => {
    const proxy = respelledCertificate(proxyAuthority, stringTags.utf8, Buffer.from('frönt'))
    const headers = {
      'x-remote-user': headerOfText(name),
      'x-remote-uid': headerOfText('ü-1'),
      'x-remote-group': [headerOfText('grüppe'), headerOfText('日本')],
      'x-remote-extra-sch%c3%bcssel': headerOfText('wért'),
      // Spelt in another way, and no property of the object that holds the keys.
      'x-remote-extra-%73ch%c3%bcssel': 'more',
      'x-remote-extra-__proto__': 'x',
    }
    expect(JSON.stringify(await whoami(headers, proxy))).toEqual(
      JSON.stringify({
        username: name,
        uid: 'ü-1',
        groups: ['grüppe', '日本', 'system:authenticated'],
        extra: Object.fromEntries([
          ['schüssel', ['wért', 'more']],
          ['__proto__', ['x']],
        ]),
      }),
    )
  })

  test('a token of the token file may be any text, and names the same user', async () => {
    const user = { username: name, uid: '7', groups: ['grüppe', 'ops', 'system:authenticated'] }
    expect(await whoami({ authorization: headerOfText('Bearer tökén') })).toEqual(user)
  })

  test.each([
    { header: 'impersonate-user', shown: 'Impersonate-User', part: 'value' },
    { header: 'impersonate-uid', shown: 'Impersonate-Uid', part: 'value' },
    { header: 'impersonate-group', shown: 'Impersonate-Group', part: 'value' },
    { header: 'impersonate-extra-scopes', shown: 'Impersonate-Extra-Scopes', part: 'value' },
    { header: 'impersonate-extra-%ff', shown: 'Impersonate-Extra-%ff', part: 'key' },
  ])(
    'attack: $header with bytes that are no UTF-8, which could be read as another name',
    async ({ header, shown, part }) => {
      for (const bytes of [part === 'key' ? 'x' : '\xfc', part === 'key' ? 'x' : 'system:admin\xff']) {
        const answer = await send({ 'impersonate-user': 'jane', [header]: bytes }, admin)
        expect(answer).toEqual({ code: 400, body: badRequest(`header ${shown}: the ${part} must be UTF-8`) })
      }
    },
  )

  test('attack: a proxy that passes on bytes that are no UTF-8', async () => {
    const proxy = respelledCertificate(proxyAuthority, stringTags.utf8, Buffer.from('frönt'))
    const headers = { 'x-remote-user': 'jane', 'x-remote-group': 'ops\xe9' }
    const answer = await send(headers, proxy)
    expect(answer).toEqual({ code: 400, body: badRequest('header X-Remote-Group: the value must be UTF-8') })
  })

  test('attack: the bytes of a token in Latin-1 are not the token', async () => {
    expect(await send({ authorization: 'Bearer tökén' }, undefined)).toEqual({ code: 401, body: unauthorized })
  })

  test('attack: a second name behind the first is not looked at', async () => {
    const headers = { 'impersonate-user': ['jane', 'root'] }
    expect(await whoami(headers, admin)).toMatchObject({ username: 'jane' })
  })

  test.each([
    { name: 'composed and decomposed', names: ['\u00e9', 'e\u0301'] },
    { name: 'with a byte order mark and without', names: ['jane', '\ufeffjane'] },
    { name: 'in Latin letters and in Cyrillic ones', names: ['admin', '\u0430dmin'] },
  ])('names that only look alike are different users: $name', async ({ names }) => {
    const users = await Promise.all(names.map((n) => whoami({ 'impersonate-user': headerOfText(n) }, admin)))
    expect(users).toMatchObject(names.map((username) => ({ username })))
  })

  test.each([
    { type: 'UTF8String', tag: stringTags.utf8, bytes: Buffer.from('ünï') },
    { type: 'BMPString', tag: stringTags.bmp, bytes: bmpBytes('ünï') },
    { type: 'T61String', tag: stringTags.t61, bytes: Buffer.from('ünï', 'latin1') },
  ])('a certificate names the same user as $type', async ({ tag, bytes }) => {
    expect(await whoami({}, respelledCertificate(authority, tag, bytes))).toMatchObject({
      username: 'ünï',
      groups: ['devs', 'system:authenticated'],
    })
  })

  test.each([
    {
      type: 'a PrintableString with bytes beyond ASCII',
      tag: stringTags.printable,
      bytes: Buffer.from('ünï', 'latin1'),
    },
    { type: 'an IA5String with bytes beyond ASCII', tag: stringTags.ia5, bytes: Buffer.from('ünï', 'latin1') },
    { type: 'a UniversalString', tag: stringTags.universal, bytes: Buffer.from([0, 0, 0, 0x41]) },
  ])('attack: a certificate that names its user by $type is refused', async ({ tag, bytes }) => {
    const answer = await send({}, respelledCertificate(authority, tag, bytes))
    expect(answer).toEqual({ code: 401, body: unauthorized })
  })
})

describe.each([
  // The parser of HTTP/1.1 takes the blanks for padding, as that of Go does.
  { protocol: 'HTTP/1.1', send: overHttp1, given: (value: string) => value.trim() },
  { protocol: 'HTTP/2', send: overHttp2, given: (value: string) => value },
])('attack: over $protocol, a header that vanishes because a blank stands at its end', ({ send, given }) => {
  test.each(['dora ', 'dora\t', ' dora'])('%j is impersonated, and not who impersonates', async (value) => {
    const headers = { 'impersonate-user': value, 'impersonate-group': value }
    expect(userIn(await send(headers, admin))).toEqual({
      username: given(value),
      groups: [given(value), 'system:authenticated'],
    })
  })

  test.each(['dora ', 'dora\t', ' dora'])('a proxy names %j', async (value) => {
    const proxy = respelledCertificate(proxyAuthority, stringTags.utf8, Buffer.from('frönt'))
    const headers = { 'x-remote-user': value, 'x-remote-group': value }
    expect(userIn(await send(headers, proxy))).toEqual({
      username: given(value),
      groups: [given(value), 'system:authenticated'],
    })
  })

  test('the token may be followed by blanks', async () => {
    expect(userIn(await send({ authorization: headerOfText('Bearer tökén \t') }, undefined))).toMatchObject({
      username: name,
    })
  })
})
