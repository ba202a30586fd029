/** Attacks on a console by bytes: what no browser and no client library would send. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Console } from '../../src/console/console.ts'
import { ask, letIn, openAnswer } from '../support/console-client.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'

let world: ConsoleWorld
let served: Console
let known: Awaited<ReturnType<typeof letIn>>
let host: string
let port: number
const target = '/api/v1/namespaces'

beforeAll(async () => {
  world = await startConsoleWorld()
  served = await world.consoleFor('alice', ['system:masters'])
  known = await letIn(served)
  ;({ host } = new URL(served.origin))
  port = Number(new URL(served.origin).port)
})
afterAll(() => world[Symbol.asyncDispose]())

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Everything that is answered until the console closes the connection, which each of these has it do. */
async function send(lines: readonly string[], body = ''): Promise<string> {
  const socket = await open()
  const said: Buffer[] = []
  socket.on('data', (chunk: Buffer) => said.push(chunk))
  // Also by a reset: what was sent is no longer read.
  const closed = new Promise((resolve) => {
    socket.once('close', resolve)
  })
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  await closed
  return Buffer.concat(said).toString()
}

const statusesIn = (said: string): string[] => [...said.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, code = '']) => code)
const tokens = (): string[] => Object.entries(known).map(([name, value]) => `${name}: ${value}`)
const oneAnswer = 'connection: close'

describe('another word for where it was sent', () => {
  test.each([
    ...['127.0.0.1.:PORT', '127.1:PORT', '2130706433:PORT', '0x7f.0.0.1:PORT', '0177.0.0.1:PORT', '127.0.0.1:0PORT'],
    ...['[::1]:PORT', '[::ffff:127.0.0.1]:PORT', '[::ffff:7f00:1]:PORT', 'LOCALHOST:PORT', 'localhost.:PORT'],
    ...['alice@127.0.0.1:PORT', '127.0.0.1:PORT@evil.example', '127.0.0.1:PORT, evil.example', ''],
  ])('Host: %j is refused, even with the tokens', async (name) => {
    const said = await send([
      `GET ${target} HTTP/1.1`,
      `host: ${name.replace('PORT', `${port}`)}`,
      oneAnswer,
      ...tokens(),
    ])
    expect(statusesIn(said)).toEqual(['421'])
  })

  test('two of them, or none, are refused', async () => {
    const twice = [`GET ${target} HTTP/1.1`, `host: ${host}`, 'host: evil.example', oneAnswer, ...tokens()]
    expect(statusesIn(await send(twice))).toEqual(['421'])
    expect(statusesIn(await send([`GET ${target} HTTP/1.1`, oneAnswer, ...tokens()]))).toEqual(['400'])
    expect(statusesIn(await send([`GET ${target} HTTP/1.0`, ...tokens()]))).toEqual(['421'])
  })

  test.each(['http://HOST/api/v1/namespaces', 'http://evil.example/api/v1/namespaces', '*', 'HOST'])(
    'the target %s is refused',
    async (asked) => {
      const line = `GET ${asked.replace('HOST', host)} HTTP/1.1`
      expect(statusesIn(await send([line, `host: ${host}`, oneAnswer, ...tokens()]))).toEqual(['400'])
    },
  )
})

describe('methods', () => {
  test.each(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])(
    '%s without the tokens reaches nothing, and no origin is allowed anything',
    async (method) => {
      for (const path of [target, '/session']) {
        const headers = {
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-borough-console',
        }
        const answer = await openAnswer(served, { method, path, headers })
        answer.resume()
        expect({ path, code: answer.statusCode }).toEqual({ path, code: 401 })
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    },
  )

  test('the page is had by GET and HEAD alone', async () => {
    for (const method of ['OPTIONS', 'TRACE', 'PUT', 'DELETE']) {
      expect((await ask(served, { method, path: '/' })).code).toBe(405)
    }
  })

  test('no tunnel is opened, and no protocol changed', async () => {
    expect(statusesIn(await send([`CONNECT ${host} HTTP/1.1`, `host: ${host}`, ...tokens()]))).not.toContain('200')
    const upgrade = [
      'upgrade: websocket',
      'connection: upgrade, close',
      'sec-websocket-version: 13',
      'sec-websocket-key: eA==',
    ]
    for (const [path, code] of Object.entries({ '/live': '403', [target]: '404' })) {
      expect(statusesIn(await send([`GET ${path} HTTP/1.1`, `host: ${host}`, ...upgrade]))).toEqual([code])
      expect(statusesIn(await send([`GET ${path} HTTP/1.1`, `host: ${host}`, ...upgrade, ...tokens()]))).toEqual([code])
    }
  })
})

describe('a request within a request', () => {
  const inner = `POST ${target} HTTP/1.1\r\nhost: x\r\ncontent-length: 34\r\n\r\n{"metadata":{"name":"smuggled-in"}}`
  const post = (): string[] => [
    `POST ${target}?dryRun=All HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    ...tokens(),
  ]

  test.each([
    { name: 'a length and chunks', lines: ['content-length: 5', 'transfer-encoding: chunked'] },
    { name: 'two lengths', lines: ['content-length: 5', 'content-length: 200'] },
    { name: 'chunks by another name', lines: ['transfer-encoding: xchunked'] },
    { name: 'chunks twice', lines: ['transfer-encoding: chunked, identity'] },
    { name: 'a space before the colon', lines: ['transfer-encoding : chunked'] },
    { name: 'a folded line', lines: ['x: y', ' transfer-encoding: chunked', 'content-length: x'] },
    { name: 'a length with a sign', lines: ['content-length: +5'] },
  ])('by $name is refused, and the connection ends', async ({ lines }) => {
    const said = await send([...post(), ...lines], `0\r\n\r\n${inner}`)
    expect(statusesIn(said)).toEqual(['400'])
  })

  test('in a chunk, or in its extension, is body to the cluster too', async () => {
    const size = Buffer.byteLength(inner).toString(16)
    for (const extension of ['', ';x=y']) {
      const body = `${size}${extension}\r\n${inner}\r\n0\r\n\r\n`
      const said = await send([...post(), 'transfer-encoding: chunked', oneAnswer], body)
      expect(statusesIn(said)).toEqual(['400'])
      expect(said).toMatch(/"kind":\s*"Status"/)
    }
  })

  test('none of them was carried out', async () => {
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    await expect(world.plane.client.get(namespaces, { name: 'smuggled-in' })).rejects.toThrow('not found')
  })
})

describe('more than a console has', () => {
  test('headers without end are refused, and the console goes on', async () => {
    const giant = [`GET ${target} HTTP/1.1`, `host: ${host}`, ...tokens(), `x-fill: ${'x'.repeat(64 * 1024)}`]
    expect(statusesIn(await send(giant))).toEqual(['431'])
    const many = Array.from({ length: 5000 }, (_, i) => `x-${i}: y`)
    expect(statusesIn(await send([`GET ${target} HTTP/1.1`, `host: ${host}`, ...many]))).toEqual(['431'])
    expect((await ask(served, { path: target, headers: known })).code).toBe(200)
  })

  test('clients that say half a request, or read no answer, keep no other waiting', async () => {
    const slow = await Promise.all(Array.from({ length: 150 }, open))
    for (const [i, socket] of slow.entries()) {
      const begun = [`POST ${target} HTTP/1.1`, `host: ${host}`, ...tokens()].join('\r\n')
      socket.pause()
      if (i % 3 === 0) socket.write(begun)
      else if (i % 3 === 1) socket.write(`${begun}\r\ncontent-length: 1000\r\n\r\n{`)
      else socket.write(`${begun.replace('POST', 'GET')}\r\n\r\n`.repeat(20))
    }
    expect((await ask(served, { path: target, headers: known })).code).toBe(200)
    for (const socket of slow) socket.destroy()
    expect((await ask(served, { path: '/' })).code).toBe(200)
  })
})
