/** The console's server: what it gives out, what it passes on, and what it refuses, as any program sees it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Transport } from '../../src/client/transport.ts'
import { type Console, startConsole } from '../../src/console/console.ts'
import { ask, letIn, openLive, secretOf } from '../support/console-client.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
import { failure } from '../support/refusal.ts'

let world: ConsoleWorld
let served: Console
let known: Awaited<ReturnType<typeof letIn>>

beforeAll(async () => {
  world = await startConsoleWorld()
  served = await world.consoleFor('alice', ['system:masters'], (text) =>
    text.replace('  context:\n', '  context:\n    namespace: team-a\n'),
  )
  known = await letIn(served)
})
afterAll(() => world[Symbol.asyncDispose]())

describe('the page', () => {
  test.each(['/', '/namespaces', '/namespaces/team-a', '/templates/default'])('%s is the document', async (path) => {
    const { code, headers, text } = await ask(served, { path })
    expect({ code, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
      code: 200,
      type: 'text/html; charset=utf-8',
      cache: 'no-store',
    })
    expect(text).toContain('<div id="page"></div>')
  })

  test('what it names is there, and may be kept for ever', async () => {
    const { text } = await ask(served, { path: '/' })
    const named = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path = '']) => path)
    const [icon, font, style, main, ...others] = named.map((path) => /\.(\w+)$/.exec(path)?.[1])
    expect([icon, font, style, main]).toEqual(['svg', 'woff2', 'css', 'js'])
    // What else the first view takes is the bundler's choice.
    expect(new Set(others)).toEqual(new Set(['js']))
    for (const path of named) {
      const { code, headers } = await ask(served, { path })
      expect({ path, code, cache: headers['cache-control'] }).toEqual({
        path,
        code: 200,
        cache: 'public, max-age=31536000, immutable',
      })
    }
  })

  test('HEAD answers without a body', async () => {
    expect(await ask(served, { method: 'HEAD', path: '/' })).toMatchObject({ code: 200, text: '' })
  })

  test('a file that is not there is refused', async () => {
    const { code, body } = await ask(served, { path: '/assets/none.js' })
    const message = 'the console has no file /assets/none.js'
    expect(body).toEqual(failure({ message, reason: 'NotFound', code: 404 }))
    expect(code).toBe(404)
  })

  test('nothing can be written to it', async () => {
    const { code, body } = await ask(served, { method: 'POST', path: '/namespaces' })
    const message = 'the console has no POST /namespaces'
    expect(body).toEqual(failure({ message, reason: 'MethodNotAllowed', code: 405 }))
    expect(code).toBe(405)
  })
})

describe('a session', () => {
  test('says which cluster it is, and which namespaces the kubeconfig names', async () => {
    const { code, body } = await ask(served, { path: '/session', headers: known })
    expect({ code, body }).toEqual({
      code: 200,
      body: { server: world.plane.url, namespace: 'team-a', namespaces: ['team-a'] },
    })
  })

  test('the address has no secret once it was used', () => {
    expect(served.address).toBe(`${served.origin}/`)
  })

  test('a body that is no JSON is refused', async () => {
    const { body } = await ask(served, { method: 'POST', path: '/session', body: '{' })
    expect(body).toEqual(failure({ message: 'the body is no JSON', reason: 'BadRequest', code: 400 }))
  })

  test('a body that is too long is refused', async () => {
    const { body } = await ask(served, { method: 'POST', path: '/session', body: ' '.repeat(64 * 1024 + 1) })
    const message = 'the body is longer than 65536 bytes'
    expect(body).toEqual(failure({ message, reason: 'RequestEntityTooLarge', code: 413 }))
  })

  test('cannot be deleted', async () => {
    const { body } = await ask(served, { method: 'DELETE', path: '/session', headers: known })
    const message = 'the console has no DELETE /session'
    expect(body).toEqual(failure({ message, reason: 'MethodNotAllowed', code: 405 }))
  })
})

describe('the API', () => {
  test('is asked as the user of the kubeconfig, with warnings brought back', async () => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const sent = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' }
    const headers = { ...known, 'content-type': 'application/json' }
    const { code, body } = await ask(served, { method: 'POST', path, headers, body: JSON.stringify(sent) })
    expect(code).toBe(201)
    expect(body).toMatchObject({ status: { userInfo: { username: 'alice' } } })
    const asked = { method: 'POST', path: '/api/v1/namespaces?dryRun=All', headers }
    const warned = await ask(served, { ...asked, body: '{"metadata":{"name":"warned"},"other":1}' })
    expect(warned.headers['warning']).toBe('299 - "unknown field \\"other\\""')
  })

  test('a page cannot choose whom to act as', async () => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const headers = {
      ...known,
      'content-type': 'application/json',
      'impersonate-user': 'bob',
      authorization: 'Bearer x',
    }
    const body = JSON.stringify({ kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' })
    const answer = await ask(served, { method: 'POST', path, headers, body })
    expect(answer.body).toMatchObject({ status: { userInfo: { username: 'alice' } } })
  })

  test('refuses in its own words', async () => {
    const { code, body } = await ask(served, { path: '/api/v1/namespaces/none', headers: known })
    expect(code).toBe(404)
    expect(body).toMatchObject({ kind: 'Status', message: 'namespaces "none" not found' })
  })

  test.each([
    '/api/v1/namespaces/a/services/b/proxy/',
    '/api/v1/namespaces/a/pods/b/exec',
    '/api/v1/namespaces/a/services/b/%70roxy/x',
    '/api/v1/nodes/a/proxy/metrics',
    '/api/v1/proxy/namespaces/a/services/b/',
  ])('%s, which leads on to a program of a tenant, is not passed on', async (path) => {
    const { code, body } = await ask(served, { path, headers: known })
    expect(body).toEqual(failure({ message: `${path} is not passed on to the cluster`, reason: 'NotFound', code: 404 }))
    expect(code).toBe(404)
  })

  test.each([
    '/api/v1/namespaces/..%2f..%2fmetrics',
    '/api/v1/namespaces/a/pods/b%2fexec',
    '/api/v1//namespaces',
    '/api/v1/namespaces/%ff',
  ])('%s, which a server may read as another path, is not passed on', async (path) => {
    const { code, body } = await ask(served, { path, headers: known })
    expect(body).toEqual(failure({ message: `${path} is not passed on to the cluster`, reason: 'NotFound', code: 404 }))
    expect(code).toBe(404)
  })

  test.each(['proxy', 'exec', 'attach'])('a namespace %s, and what has that name in it, are shown', async (name) => {
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    await world.plane.client.create(namespaces, { metadata: { name } })
    await world.plane.client.create({ ...namespaces, resource: 'configmaps' }, { metadata: { namespace: name, name } })
    for (const path of [`/api/v1/namespaces/${name}`, `/api/v1/namespaces/${name}/configmaps/${name}`]) {
      expect((await ask(served, { path, headers: known })).body).toMatchObject({ metadata: { name } })
    }
  })

  test.each(['http://127.0.0.1:1/api/v1/namespaces', '//evil.example/api/v1/namespaces', '//', '/\\evil.example/api'])(
    'the target %s, which names another host, is refused',
    async (path) => {
      const { code, body } = await ask(served, { path, headers: { ...known, host: new URL(served.origin).host } })
      const message = `the console takes a path, ${path} is none`
      expect(body).toEqual(failure({ message, reason: 'BadRequest', code: 400 }))
      expect(code).toBe(400)
    },
  )

  test('nothing else of the server is passed on', async () => {
    const { headers } = await ask(served, { path: '/metrics', headers: known })
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
  })

  test('a body above what a server takes is refused', async () => {
    const body = 'x'.repeat(4 * 1024 * 1024 + 1)
    const answer = await ask(served, { method: 'POST', path: '/api/v1/namespaces', headers: known, body })
    const message = 'the body is longer than 4194304 bytes'
    expect(answer.body).toEqual(failure({ message, reason: 'RequestEntityTooLarge', code: 413 }))
  })
})

describe('one connection of many watches', () => {
  const namespaces = { path: '/api/v1/namespaces', query: 'fieldSelector=metadata.name=live' }

  test('brings the lines of each with its number, and none after it was closed', async () => {
    const live = await openLive(served, known)
    live.order({ open: 1, ...namespaces })
    expect(await live.next()).toEqual({ watch: 1, status: 200 })
    live.order({ open: 2, path: '/api/v1/configmaps', query: 'fieldSelector=metadata.name=greeting' })
    expect(await live.next()).toEqual({ watch: 2, status: 200 })
    await world.plane.client.create(
      { group: '', version: 'v1', resource: 'namespaces' },
      { metadata: { name: 'live' } },
    )
    expect(await live.next()).toMatchObject({
      watch: 1,
      event: { type: 'ADDED', object: { metadata: { name: 'live' } } },
    })
    live.order({ close: 1 })
    // Orders are followed in their order: this one is answered when the watch before it is closed.
    live.order({ open: 3, path: '/metrics' })
    expect(await live.next()).toMatchObject({ watch: 3 })
    const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
    await world.plane.client.delete({ group: '', version: 'v1', resource: 'namespaces' }, { name: 'live' })
    await world.plane.client.create(configMaps, { metadata: { name: 'greeting', namespace: 'default' } })
    expect(await live.next()).toMatchObject({ watch: 2, event: { type: 'ADDED' } })
    await live.leave()
  })

  test('brings what the server says to a watch that it refuses', async () => {
    const live = await openLive(served, known)
    live.order({ open: 1, path: '/apis/none.example.com/v1/things', query: '' })
    expect(await live.next()).toEqual({ watch: 1, status: 404, body: '404 page not found\n' })
    await live.leave()
  })

  test.each(['/metrics', '/api/v1/namespaces/a/pods/b/exec', '/api/../metrics', '/api/v1/nodes/a/pro\txy'])(
    '%j is not passed on to the cluster',
    async (path) => {
      const live = await openLive(served, known)
      live.order({ open: 1, path })
      expect(await live.next()).toEqual({ watch: 1, failed: `${path} is not passed on to the cluster` })
      // The others go on.
      live.order({ open: 2, ...namespaces })
      expect(await live.next()).toEqual({ watch: 2, status: 200 })
      await live.leave()
    },
  )

  test.each([
    { name: 'no JSON', orders: ['{'] },
    { name: 'nothing to do', orders: ['{}', 'null', '7', '{"open":"7"}'] },
    { name: 'a number that is taken', orders: ['{"open":7,"path":"/api/v1/namespaces"}'], before: true },
  ])('an order of $name ends the connection', async ({ orders, before = false }) => {
    for (const text of orders) {
      const live = await openLive(served, known)
      if (before) live.order(JSON.parse(text) as object)
      live.send(text)
      expect(await live.closed).toEqual({ code: 1008, reason: 'an order opens a new watch, or closes one' })
    }
  })

  test('a message that is too long ends it', async () => {
    const live = await openLive(served, known)
    live.send('x'.repeat(64 * 1024 + 1))
    expect((await live.closed).code).toBe(1009)
  })

  test('a page has so many watches and no more', async () => {
    const live = await openLive(served, known)
    for (let open = 1; open <= 200; open++) live.order({ open, ...namespaces })
    for (let open = 1; open <= 200; open++) expect(await live.next()).toMatchObject({ status: 200 })
    live.order({ open: 201, ...namespaces })
    expect(await live.next()).toEqual({ watch: 201, failed: 'a page has at most 200 watches' })
    await live.leave()
  })

  test('so many pages are open and no more; one that leaves makes room', async () => {
    const lives = await Promise.all(Array.from({ length: 200 }, () => openLive(served, known)))
    const message = '200 pages are open already: close one'
    expect(await (await openLive(served, known)).closed).toEqual({ code: 1013, reason: message })
    for (const live of lives) await live.leave()
    await expect
      .poll(async () => {
        const live = await openLive(served, known)
        live.order({ open: 1, ...namespaces })
        const line = await live.next().catch(() => undefined)
        await live.leave()
        return line
      })
      .toEqual({ watch: 1, status: 200 })
  })

  test('ends with the console', async () => {
    const own = await world.consoleFor('alice')
    const live = await openLive(own, await letIn(own))
    await own[Symbol.asyncDispose]()
    expect((await live.closed).code).toBe(1006)
  })
})

describe('objects without their contents', () => {
  const secrets = { group: '', version: 'v1', resource: 'secrets' }
  const applied = '{"data":{"password":"aHVudGVyMg=="}}'
  const make = (name: string) =>
    world.plane.client.create(secrets, {
      metadata: {
        namespace: 'default',
        name,
        labels: { of: 'contents' },
        annotations: { note: 'kept', 'kubectl.kubernetes.io/last-applied-configuration': applied },
      },
      stringData: { password: 'hunter2' },
    })
  const path = '/api/v1/namespaces/default/secrets'
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

  test('come without those that metadata tells of, listed and watched', async () => {
    await make('listed')
    const headers = { ...known, accept: accept.replace('Metadata;', 'MetadataList;') }
    const listed = await ask(served, { path: `${path}?labelSelector=of=contents`, headers })
    expect(listed.code).toBe(200)
    expect(listed.body).toMatchObject({ items: [{ metadata: { name: 'listed', annotations: { note: 'kept' } } }] })
    const live = await openLive(served, known)
    live.order({ open: 1, path, query: 'labelSelector=of=contents', accept })
    expect(await live.next()).toEqual({ watch: 1, status: 200 })
    expect(await live.next()).toMatchObject({ event: { object: { metadata: { name: 'listed' } } } })
    await make('watched')
    const told = await live.next()
    expect(told).toMatchObject({ event: { object: { metadata: { name: 'watched', annotations: { note: 'kept' } } } } })
    for (const text of [listed.text, JSON.stringify(told)])
      expect(text).not.toMatch(/password|aHVudGVyMg|managedFields/)
    await live.leave()
  })

  test('are whole where they are asked for whole', async () => {
    const { body } = await ask(served, { path: `${path}/listed`, headers: known })
    expect(body).toMatchObject({ data: { password: 'aHVudGVyMg==' } })
  })
})

describe('a cluster that is not reached', () => {
  const why = 'https://127.0.0.1:1 can’t be reached: connection refused'
  const transport: Transport = { send: () => Promise.reject(new Error(why)) }
  const remote = { transport, server: 'https://127.0.0.1:1', namespace: undefined, namespaces: [] }

  test('is told of, to requests and to watches', async () => {
    const client = {} as never
    await using alone = await startConsole({
      remote: { ...remote, client },
      clock: systemClock,
      listen: { host: '127.0.0.1', port: 0 },
    })
    const headers = await letIn(alone)
    const { code, body } = await ask(alone, { path: '/api/v1/namespaces', headers })
    expect(body).toEqual(failure({ message: why, reason: 'ServiceUnavailable', code: 503 }))
    expect(code).toBe(503)
    const live = await openLive(alone, headers)
    live.order({ open: 1, path: '/api/v1/namespaces' })
    expect(await live.next()).toEqual({ watch: 1, failed: why })
    await live.leave()
  })
})

test('the secret is 256 bits long, another one each time', async () => {
  const [one, two] = [await world.consoleFor('bob'), await world.consoleFor('bob')]
  expect(secretOf(one)).toMatch(/^[\w-]{43}$/)
  expect(secretOf(one)).not.toBe(secretOf(two))
})

test('an address that other machines reach is refused', async () => {
  const remote = {
    ...({} as never as Console),
    client: {} as never,
    transport: {} as never,
    server: '',
    namespace: undefined,
    namespaces: [],
  }
  await expect(startConsole({ remote, clock: systemClock, listen: { host: '0.0.0.0', port: 0 } })).rejects.toThrow(
    'the console listens on a loopback address (127.0.0.1, [::1], localhost), 0.0.0.0 is none',
  )
})
