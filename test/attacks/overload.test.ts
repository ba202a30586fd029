/** One tenant tries to take from the others what the server has: places, memory, connections. */
import { once } from 'node:events'
import http2 from 'node:http2'
import { request } from 'node:https'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type CustomResourceDefinition, definitionResource, findCondition } from '../../src/apis/crds/types.ts'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { roleBindingsResource } from '../../src/kube/rbac.ts'
import { adminUser } from '../../src/kube/user.ts'
import { until } from '../support/definitions.ts'
import { roleBinding, user } from '../support/fake-rbac-source.ts'
import { failure } from '../support/refusal.ts'
import { type ConversionServer, startConversionServer } from '../support/webhook-server.ts'
import { type BesiegedServer, bearer, doraToken, emilToken, startBesieged } from './besieged-server.ts'

const mib = 1024 * 1024
let world: BesiegedServer
afterEach(() => world[Symbol.asyncDispose]())

const start = async (load: Partial<Config['load']>, more: Partial<Config> = {}): Promise<void> => {
  world = await startBesieged({ ...more, load: { ...defaultConfig.load, ...load } })
}
const sessionOf = (): http2.ClientHttp2Session =>
  http2.connect(`https://127.0.0.1:${world.server.port}`, { ca: world.server.plane.pki.caCert }).on('error', () => {})
const json = { 'content-type': 'application/json' }
const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
const tooMuch = failure({
  message: 'Your requests and answers under way take too much memory, please try again later.',
  reason: 'TooManyRequests',
  details: { retryAfterSeconds: 1 },
  code: 429,
})

describe('attack: requests that wait, where each priority level has one seat', () => {
  const serverSeats = 1
  const create = (name: string): Promise<{ code: number }> =>
    world.send(configMaps('theirs'), {
      method: 'POST',
      headers: { ...bearer(emilToken), ...json },
      body: JSON.stringify({ metadata: { name } }),
    })

  test('reviews whose bodies do not end hold no place: others write', async () => {
    await start({ serverSeats })
    const session = sessionOf()
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const waiting = Array.from({ length: 50 }, () => {
      const post = session.request({ ':path': path, ':method': 'POST', ...bearer(doraToken), ...json })
      post.on('error', () => {}).write('{"spec":')
      return post
    })
    // Behind them on the same connection: by now they have begun.
    await session.request({ ':path': '/version' }).toArray()
    for (let i = 0; i < 5; i++) expect((await create(`victim-${i}`)).code).toBe(201)
    // One that ends its body is answered all the same.
    const [first] = waiting
    first?.end('{"nonResourceAttributes":{"path":"/","verb":"get"}}}')
    const [headers] = first === undefined ? [] : ((await once(first, 'response')) as [Record<string, unknown>])
    expect(headers?.[':status']).toBe(201)
    session.destroy()
  })

  test('reads of a revision that does not exist yet hold no place: others read', async () => {
    await start({ serverSeats })
    const session = sessionOf()
    const future = Number.MAX_SAFE_INTEGER
    const waiting = ['', '/db', '&watch=1'].flatMap((what) =>
      Array.from({ length: 20 }, () => {
        const [name, more] = what.startsWith('&') ? ['', what] : [what, '']
        const fresh = `resourceVersion=${future}&resourceVersionMatch=NotOlderThan`
        const path = `/api/v1/namespaces/mine/secrets${name}?${fresh}${more}`
        const asked = name === '' ? path : `/api/v1/namespaces/mine/secrets/db?resourceVersion=${future}`
        const events = more === '' ? asked : `${asked}&sendInitialEvents=true&allowWatchBookmarks=true`
        return session.request({ ':path': events, ...bearer(doraToken) }).on('error', () => {})
      }),
    )
    await session.request({ ':path': '/version' }).toArray()
    for (let i = 0; i < 5; i++) {
      const { code } = await world.send('/api/v1/namespaces/theirs/secrets/db', { headers: bearer(emilToken) })
      expect(code).toBe(200)
    }
    for (const asked of waiting) asked.destroy()
    session.destroy()
  })
})

describe('attack: conversion webhooks that do not answer, where each priority level has one seat', () => {
  const versions = ['v1', 'v2'].map((name) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }))
  const at = (version: string, name = ''): string => `/apis/ex.io/${version}/namespaces/mine/routes${name}`

  /** Answers the version of the last object. */
  const prepare = async (hook: ConversionServer): Promise<string> => {
    await start({ serverSeats: 1 })
    const admin = world.server.plane.client()
    const rights = roleBinding('mine', 'routes', 'ClusterRole/cluster-admin', user('dora'))
    await admin.create(roleBindingsResource, rights)
    const clientConfig = { url: `${hook.url}/convert`, caBundle: hook.caBundle }
    const webhook = { conversionReviewVersions: ['v1'], clientConfig }
    const spec = {
      group: 'ex.io',
      names: { kind: 'Route', plural: 'routes' },
      scope: 'Namespaced',
      versions,
      conversion: { strategy: 'Webhook', webhook },
    }
    await admin.create(definitionResource, { metadata: { name: 'routes.ex.io' }, spec } as CustomResourceDefinition)
    const isServed = (now?: CustomResourceDefinition): boolean =>
      now !== undefined && findCondition(now, 'Established')?.status === 'True'
    await until({ client: admin }, 'routes.ex.io', isServed)
    let version = ''
    for (const name of ['one', 'three', 'two']) {
      const object = { apiVersion: 'ex.io/v1', kind: 'Route', metadata: { name, namespace: 'mine' } }
      const { metadata } = await admin.create({ group: 'ex.io', version: 'v1', resource: 'routes' }, object)
      version = metadata.resourceVersion ?? ''
    }
    return version
  }

  const route = (name: string, resourceVersion?: string): string =>
    JSON.stringify({ apiVersion: 'ex.io/v2', kind: 'Route', metadata: { name, resourceVersion }, host: 'h' })
  const merge = { 'content-type': 'application/merge-patch+json' }

  const requests: readonly [http2.OutgoingHttpHeaders, ((version: string) => string)?][] = [
    // What was converted is remembered: each asks about an object that none before has asked about, or writes one.
    [{ ':path': at('v2', '/one') }],
    [{ ':path': at('v2', '/three'), ':method': 'DELETE' }],
    [{ ':path': at('v2') }],
    [{ ':path': at('v2'), ':method': 'POST', ...json }, () => route('new')],
    [{ ':path': at('v2', '/two'), ':method': 'PUT', ...json }, (version) => route('two', version)],
    [{ ':path': at('v2', '/one'), ':method': 'PATCH', ...merge }, () => '{"host":"i"}'],
  ]

  test('no verb holds a place meanwhile: others read and write', async () => {
    await using hook = await startConversionServer((object, apiVersion) => ({ ...object, apiVersion }))
    const version = await prepare(hook)
    const session = sessionOf()
    for (const [i, [headers, bodyOf]] of requests.entries()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      hook.wait = promise
      hook.received.length = 0
      const asked = session.request({ ...headers, ...bearer(doraToken) }, { endStream: bodyOf === undefined })
      if (bodyOf !== undefined) asked.end(bodyOf(version))
      while (hook.received.length === 0) await setImmediate()
      const theirs = { headers: { ...bearer(emilToken), ...json } }
      const create = { ...theirs, method: 'POST', body: JSON.stringify({ metadata: { name: `victim-${i}` } }) }
      expect((await world.send(configMaps('theirs'), create)).code).toBe(201)
      expect((await world.send('/api/v1/namespaces/theirs/secrets/db', theirs)).code).toBe(200)
      resolve()
      const [answer] = (await once(asked, 'response')) as [Record<string, unknown>]
      expect([200, 201]).toContain(answer[':status'])
      await asked.toArray()
    }
    session.destroy()
  })
})

describe('attack: memory', () => {
  /** Two thirds of what all may take together, in two halves by label. */
  const fill = async (namespace: string, count: number): Promise<void> => {
    const admin = world.server.plane.client()
    const resource = { group: '', version: 'v1', resource: 'configmaps' }
    for (let i = 0; i < count; i++) {
      const labels = { half: String(i % 2) }
      const object = { metadata: { name: `c${i}`, namespace, labels }, data: { value: 'x'.repeat(500_000) } }
      await admin.create(resource, object)
    }
  }
  // 12.8 MiB for all, of them 4.2 for a user.
  const load = { maxMemoryBytes: 32 * mib }

  test('lists that are not read: their user is told, others list, and what was read is free again', async () => {
    await start(load)
    await fill('mine', 12)
    await fill('theirs', 4)
    const session = sessionOf()
    const list = (query: string, token = doraToken, namespace = 'mine') =>
      session.request({ ':path': `${configMaps(namespace)}${query}`, ...bearer(token) }).on('error', () => {})
    const unread = list('')
    await once(unread, 'response')
    // The same objects are the same bytes, which are there already.
    const same = list('')
    const [shared] = (await once(same, 'response')) as [Record<string, unknown>]
    expect(shared[':status']).toBe(200)
    const { code, text } = await world.send(`${configMaps('mine')}?labelSelector=half=0`, {
      headers: bearer(doraToken),
    })
    expect([code, JSON.parse(text)]).toEqual([429, tooMuch])
    const other = JSON.parse(String(Buffer.concat(await list('', emilToken, 'theirs').toArray())))
    expect(other.items).toHaveLength(5)
    for (const [asked, length] of [
      [unread, 13],
      [same, 13],
    ] as const) {
      expect(JSON.parse(String(Buffer.concat(await asked.toArray()))).items).toHaveLength(length)
    }
    const again = await world.send(`${configMaps('mine')}?labelSelector=half=0`, { headers: bearer(doraToken) })
    expect(JSON.parse(again.text).items).toHaveLength(6)
    session.destroy()
  })

  test('watches beyond a share: after a hundred refusals their user is told a second late', async () => {
    // 1.1 MiB for a user: 68 watches.
    await start({ maxMemoryBytes: 8 * mib })
    const session = sessionOf()
    const began = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 190 }, async () => {
        const watch = session.request({ ':path': `${configMaps('mine')}?watch=1`, ...bearer(doraToken) })
        const [headers] = (await once(
          watch.on('error', () => {}),
          'response',
        )) as [Record<string, unknown>]
        return headers[':status'] === 200 ? 'opened' : JSON.parse(String(Buffer.concat(await watch.toArray())))
      }),
    )
    const refused = answers.filter((answer) => answer !== 'opened')
    expect(refused).toEqual(Array.from({ length: 122 }, () => tooMuch))
    expect(performance.now() - began).toBeGreaterThan(1000)
    session.destroy()
  })

  test('a list that is longer than there is memory for all is sent in pieces', async () => {
    await start(load)
    await fill('mine', 28)
    for (const accept of ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']) {
      const { code, text } = await world.send(configMaps('mine'), { headers: { ...bearer(doraToken), accept } })
      expect([code, text.length > 28 * 500_000]).toEqual([200, true])
    }
  })

  test('a list that is copied and takes more than there is for all is refused, and its pages are not', async () => {
    // 3.2 MiB for all.
    await start({ maxMemoryBytes: 8 * mib })
    await fill('mine', 7)
    const { code, text } = await world.send(configMaps('mine'), { headers: bearer(doraToken) })
    expect(code).toBe(413)
    const { message, ...status } = JSON.parse(text) as { message: string }
    expect(status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'RequestEntityTooLarge',
      code: 413,
    })
    expect(message).toMatch(
      /^The answer would take \d+ bytes of memory, more than the 3355443 that all requests may take together: ask for less at a time, with limit and continue\.$/,
    )
    const page = await world.send(`${configMaps('mine')}?limit=5`, { headers: bearer(doraToken) })
    expect(JSON.parse(page.text).items).toHaveLength(5)
  })

  test('a watch that is not read and falls behind ends with ERROR, and is counted', async () => {
    await start(load)
    const session = sessionOf()
    const watch = (token: string) =>
      session
        .request({ ':path': `${configMaps('mine')}?watch=1&resourceVersion=0`, ...bearer(token) })
        .on('error', () => {})
    const unread = watch(doraToken)
    await once(unread, 'response')
    await fill('mine', 10)
    // What is in the way of the error has been sent before it.
    await expect
      .poll(async () => (await metric('borough_bounds_reached_total{bound="watch_memory"}')) ?? 0, { timeout: 30_000 })
      .toBe(1)
    const lines = String(Buffer.concat(await unread.toArray()))
      .trim()
      .split('\n')
    const { type, object } = JSON.parse(lines.at(-1) ?? '')
    expect(type).toBe('ERROR')
    const behind = /^the watch fell (\d+) events behind/.exec(object.message)?.[1]
    expect(object).toEqual(
      failure({
        message:
          `the watch fell ${behind} events behind and was cut off; ` +
          'go on from the resourceVersion that was seen last',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    )
    session.destroy()
  })

  async function metric(name: string): Promise<number | undefined> {
    const asAdmin = fetchAdapter(world.server.plane.serve, adminUser)
    const text = await (await asAdmin(new Request('https://borough.test/metrics'))).text()
    const value = text.split('\n').find((line) => line.startsWith(name))
    return value === undefined ? undefined : Number(value.split(' ').at(-1))
  }
})

describe('the address for administrators', () => {
  const load = { connections: { all: 2, perAddress: 2, perUser: 2 } }
  const adminListen = { host: '127.0.0.1', port: 0 }

  /** Asks there with the certificate of the administrator, or with a token. */
  function ask(path: string, token?: string): Promise<{ code: number; text: string }> {
    const { adminUrl, adminKubeconfig } = world.server
    const config = parse(adminKubeconfig)
    const [{ user }] = config.users
    const pem = (text: string): string => Buffer.from(text, 'base64').toString()
    const proof =
      token === undefined
        ? { cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) }
        : { headers: bearer(token) }
    return new Promise((resolve, reject) => {
      const asked = request(
        new URL(path, adminUrl),
        { ca: world.server.plane.pki.caCert, agent: false, ...proof },
        (response) => {
          response
            .toArray()
            .then(
              (chunks) => resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
              reject,
            )
        },
      )
      asked.once('error', reject).end()
    })
  }

  test('lets an operator in while clients have taken all connections of the other', async () => {
    await start(load, { adminListen })
    const sessions = [sessionOf(), sessionOf()]
    for (const session of sessions) {
      const refused = session.request({ ':path': '/api/v1/namespaces', ...bearer(doraToken) })
      const [headers] = (await once(refused, 'response')) as [Record<string, unknown>]
      expect(headers[':status']).toBe(403)
      refused.resume()
    }
    await expect(world.send('/api/v1/namespaces', { headers: bearer(emilToken) })).rejects.toThrow(
      /socket hang up|ECONNRESET|disconnected/,
    )
    const { code, text } = await ask('/api/v1/namespaces')
    expect([code, JSON.parse(text).kind]).toEqual([200, 'NamespaceList'])
    for (const session of sessions) session.destroy()
  })

  test('refuses other users', async () => {
    await start({}, { adminListen })
    const { code, text } = await ask('/api/v1/namespaces/mine/secrets', doraToken)
    expect([code, JSON.parse(text)]).toEqual([
      403,
      failure({
        message: 'This address is kept for group system:masters, and user "dora" is not in it.',
        reason: 'Forbidden',
        details: {},
        code: 403,
      }),
    ])
  })
})
