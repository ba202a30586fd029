/** Attacks on a console from beside it: another page, another user of the machine, another console. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Console } from '../../src/console/console.ts'
import { ask, letIn, liveProtocolsOf, refusedLive, secretOf } from '../support/console-client.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
import { failure } from '../support/refusal.ts'

let world: ConsoleWorld
let served: Console
let known: Awaited<ReturnType<typeof letIn>>
const target = '/api/v1/namespaces'

beforeAll(async () => {
  world = await startConsoleWorld()
  served = await world.consoleFor('alice', ['system:masters'])
  known = await letIn(served)
})
afterAll(() => world[Symbol.asyncDispose]())

const notKnown = failure({
  message: 'this browser is not known here: open the address that borough console printed',
  reason: 'Unauthorized',
  code: 401,
})
const otherPage = failure({
  message: 'this console answers requests of its own page only',
  reason: 'Forbidden',
  code: 403,
})
const usedBefore = failure({
  message: 'this address was used before, or is of another console: start borough console again',
  reason: 'Unauthorized',
  code: 401,
})

describe('DNS rebinding', () => {
  test.each(['evil.example', 'localhost', '127.0.0.1', 'evil.example:PORT', '127.0.0.1.nip.io:PORT'])(
    'a request to %j, which leads to this address, is refused, even with the tokens',
    async (name) => {
      const host = name.replace('PORT', new URL(served.origin).port)
      for (const path of [target, '/', '/session', '/live']) {
        const { code, body } = await ask(served, { path, headers: { ...known, host } })
        const message = `this console is ${served.origin}, it does not answer as ${host}`
        expect(body).toEqual(failure({ message, code: 421 }))
        expect(code).toBe(421)
      }
      const live = { protocols: liveProtocolsOf(known), headers: { cookie: known.cookie, origin: served.origin, host } }
      expect((await refusedLive(served, live)).code).toBe(421)
    },
  )
})

describe('forgery by another page', () => {
  test.each([
    { headers: { origin: 'https://evil.example' } },
    { headers: { origin: 'null' } },
    { headers: { origin: 'http://127.0.0.1:1' } },
    { headers: { 'sec-fetch-site': 'cross-site' } },
    { headers: { 'sec-fetch-site': 'same-site' } },
    { headers: { 'sec-fetch-site': 'none' } },
  ])('a request with $headers is refused, even with the tokens', async ({ headers }) => {
    const body = '{"metadata":{"name":"forged"}}'
    const answer = await ask(served, { method: 'POST', path: target, headers: { ...known, ...headers }, body })
    expect(answer.body).toEqual(otherPage)
    expect(answer.code).toBe(403)
  })

  test.each([
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'SERVED', 'sec-fetch-site': 'cross-site' },
  ])('a WebSocket of a page with %j is refused, even with the tokens', async (given) => {
    const headers: Record<string, string> = { cookie: known.cookie, ...given }
    if (headers['origin'] === 'SERVED') headers['origin'] = served.origin
    const { code, body } = await refusedLive(served, { protocols: liveProtocolsOf(known), headers })
    expect({ code, body }).toEqual({ code: 403, body: otherPage })
  })

  test('a WebSocket is had at one path', async () => {
    const headers = { cookie: known.cookie, origin: served.origin }
    const protocols = liveProtocolsOf(known)
    const { code, body } = await refusedLive(served, { path: target, protocols, headers })
    const message = `the console has no WebSocket ${target}`
    expect({ code, body }).toEqual({ code: 404, body: failure({ message, reason: 'NotFound', code: 404 }) })
  })

  test('what a browser adds by itself, the cookie, opens nothing', async () => {
    const body = '{"metadata":{"name":"forged"}}'
    const answer = await ask(served, { method: 'POST', path: target, headers: { cookie: known.cookie }, body })
    expect({ code: answer.code, body: answer.body }).toEqual({ code: 401, body: notKnown })
  })

  test('a cookie that another port of this host set for a longer path locks no user out', async () => {
    const [name = ''] = known.cookie.split('=')
    const headers = { ...known, cookie: `${name}=forged; ${known.cookie}; ${name}=` }
    expect((await ask(served, { path: target, headers })).code).toBe(200)
    const forged = await ask(served, { path: target, headers: { ...known, cookie: `${name}=forged; ${name}=` } })
    expect({ code: forged.code, body: forged.body }).toEqual({ code: 401, body: notKnown })
  })

  test('no answer can be read by another origin, and none is framed', async () => {
    for (const path of ['/', target]) {
      const { headers } = await ask(served, { path, headers: known })
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      })
    }
  })

  test('the page runs no code but its own: none inline, none from elsewhere', async () => {
    const { headers, text } = await ask(served, { path: '/' })
    const directives = new Map(
      headers['content-security-policy']
        ?.toString()
        .split('; ')
        .map((d) => d.split(/ (.*)/, 2) as [string, string]),
    )
    expect(Object.fromEntries(directives)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self'",
      'font-src': "'self'",
      'connect-src': "'self'",
      'worker-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    })
    expect(text).not.toMatch(/<style|<script>|\son\w+=|https?:\/\//)
  })

  test('an answer of the cluster is data, whatever it says of itself', async () => {
    const { headers } = await ask(served, { path: `${target}?x=<script>`, headers: known })
    expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
    expect(headers['content-type']).toBe('application/json')
  })
})

describe('another user of the machine', () => {
  test.each([
    { given: 'nothing', headers: () => ({}) },
    { given: 'the cookie alone, which goes to every port', headers: () => ({ cookie: known.cookie }) },
    { given: 'the key alone', headers: () => ({ 'x-borough-console': known['x-borough-console'] }) },
    { given: 'wrong ones', headers: () => ({ cookie: `${known.cookie}x`, 'x-borough-console': 'x' }) },
    {
      given: 'the cookie in the place of the key',
      headers: () => ({ cookie: known.cookie, 'x-borough-console': known.cookie.split('=')[1] ?? '' }),
    },
  ])('with $given reaches neither the API nor the session nor a watch', async ({ headers }) => {
    for (const [method, path] of [
      ['GET', target],
      ['GET', '/session'],
      ['GET', '/apis/../api/v1/secrets'],
    ] as const) {
      const { code, body } = await ask(served, { method, path, headers: headers() })
      expect({ path, code, body }).toEqual({ path, code: 401, body: notKnown })
    }
    const { cookie, 'x-borough-console': key } = headers() as Partial<typeof known>
    const own = { origin: served.origin, ...(cookie === undefined ? {} : { cookie }) }
    for (const protocols of [['borough-console'], ['borough-console', `key.${key ?? ''}`], [`key.${key ?? ''}`]]) {
      const { code, body } = await refusedLive(served, { protocols, headers: own })
      expect({ protocols, code, body }).toEqual({ protocols, code: 401, body: notKnown })
    }
  })

  test('a guessed secret is refused, and a secret is good for one browser', async () => {
    const own = await world.consoleFor('alice')
    const exchange = (secret: unknown) =>
      ask(own, { method: 'POST', path: '/session', body: JSON.stringify({ secret }) })
    const secret = secretOf(own)
    for (const guess of ['', 'undefined', null, undefined, `${secret}=`, secret.slice(1), secretOf(served)]) {
      const { code, body } = await exchange(guess)
      expect({ guess, code, body }).toEqual({ guess, code: 401, body: usedBefore })
    }
    const first = await exchange(secret)
    expect(first.code).toBe(200)
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(/^borough-console-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/),
    ])
    const second = await exchange(secret)
    expect({ code: second.code, body: second.body }).toEqual({ code: 401, body: usedBefore })
  })

  test('the tokens of one console open no other', async () => {
    const other = await world.consoleFor('bob')
    await letIn(other)
    const cookie = known.cookie.replace(/^[^=]+/, `borough-console-${new URL(other.origin).port}`)
    const { code, body } = await ask(other, { path: target, headers: { ...known, cookie } })
    expect({ code, body }).toEqual({ code: 401, body: notKnown })
  })
})
