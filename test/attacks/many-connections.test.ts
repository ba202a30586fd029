/** Connections: how many an address, a user and all together may have, and that others still get in. */
import { once } from 'node:events'
import http2 from 'node:http2'
import type { Readable } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { failure } from '../support/refusal.ts'
import { answerIn, everything, type GivenLimits, type Listening, largeBytes, startListening } from './listening.ts'

let world: Listening
afterEach(() => world[Symbol.asyncDispose]())

const start = async (connections: NonNullable<GivenLimits['connections']>): Promise<void> => {
  world = await startListening({ connections })
}
const counts = (): Record<string, number> => Object.fromEntries(world.overload.incidents.counts)
const asUser = (user: string): string => `x-user: ${user}\r\n`

/** Asks once and stays. */
async function stay(user: string): ReturnType<Listening['tls']> {
  const socket = await world.tls()
  socket.write(`GET /ok HTTP/1.1\r\nhost: x\r\n${asUser(user)}\r\n`)
  await once(socket.resume(), 'data')
  return socket
}

test('attack: silent connections of one address: those beyond its share are closed before TLS', async () => {
  await start({ all: 10, perAddress: 3, perUser: 10 })
  const kept = [await world.tcp(), await world.tls(), await world.tls()]
  const beyond = await Promise.all([world.tcp(), world.tcp()])
  await expect.poll(() => beyond.every(({ closed }) => closed)).toBe(true)
  expect(kept.some(({ closed }) => closed)).toBe(false)
  expect([counts(), world.lines]).toEqual([
    { address_connections: 2 },
    [{ bound: 'address_connections', flow: 'address 127.0.0.1', times: 1 }],
  ])
})

test('users behind one address do not stand in each other’s way once they are known', async () => {
  await start({ all: 20, perAddress: 2, perUser: 3 })
  const users = ['ann', 'bob', 'eve', 'dan', 'fay']
  for (const user of users) for (let i = 0; i < 2; i++) await stay(user)
  expect(await world.get('/ok', asUser('ann'))).toEqual([200, 'ok'])
  await expect.poll(() => world.connections()).toBe(10)
  expect(counts()).toEqual({})
})

describe('attack: one user opens connections', () => {
  const tooMany = failure({
    message: 'You have too many connections, please close some or try again later.',
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
    code: 429,
  })

  test('a connection beyond the share is refused and closed over HTTP/1.1; others come in', async () => {
    await start({ all: 20, perAddress: 10, perUser: 2 })
    const [first] = [await stay('eve'), await stay('eve')]
    const [status, body] = await world.get('/ok', asUser('eve'))
    expect([status, JSON.parse(body)]).toEqual([429, tooMany])
    expect(await world.get('/ok', asUser('ann'))).toEqual([200, 'ok'])
    first.destroy()
    await expect.poll(() => world.connections()).toBe(1)
    expect(await world.get('/ok', asUser('eve'))).toEqual([200, 'ok'])
    expect(world.lines).toEqual([{ bound: 'user_connections', flow: 'user eve', times: 1 }])
  })

  test('as the accounts of a namespace', async () => {
    await start({ all: 20, perAddress: 10, perUser: 2 })
    const first = await stay('system:serviceaccount:team-a:a')
    await stay('system:serviceaccount:team-a:b')
    expect((await world.get('/ok', asUser('system:serviceaccount:team-a:c')))[0]).toBe(429)
    first.destroy()
    await expect.poll(() => world.connections()).toBe(1)
    expect((await world.get('/ok', asUser('system:serviceaccount:team-a:c')))[0]).toBe(200)
  })

  test('a connection beyond the share is refused and ended over HTTP/2', async () => {
    await start({ all: 20, perAddress: 10, perUser: 1 })
    await stay('eve')
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
    const goaway = once(session, 'goaway')
    const refused = session.request({ ':path': '/ok', 'x-user': 'eve' })
    const [headers] = (await once(refused, 'response')) as [Record<string, unknown>]
    expect([headers[':status'], JSON.parse(String(Buffer.concat(await refused.toArray())))]).toEqual([429, tooMany])
    await goaway
  })
})

describe('attack: all connections are taken', () => {
  test('by clients without a user: the oldest makes room for the next', async () => {
    await start({ all: 3, perAddress: 10, perUser: 10 })
    const silent = [await world.tls(), await world.tls(), await world.tls()]
    expect(await world.get('/ok', asUser('ann'))).toEqual([200, 'ok'])
    expect(silent.map(({ closed }) => closed)).toEqual([true, false, false])
    expect(world.lines).toEqual([{ bound: 'connections', flow: 'address 127.0.0.1', times: 1 }])
  })

  test('by users: the next is closed, and no other', async () => {
    await start({ all: 3, perAddress: 10, perUser: 10 })
    const known = [await stay('ann'), await stay('bob'), await stay('eve')]
    const late = await world.tcp()
    await expect.poll(() => late.closed).toBe(true)
    expect(known.some(({ closed }) => closed)).toBe(false)
    expect(counts()).toEqual({ connections: 1 })
  })

  test('and one on which a stranger awaits an answer is left alone', async () => {
    await start({ all: 2, perAddress: 10, perUser: 10 })
    const held = await world.tls()
    held.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect.poll(() => world.asked).toEqual(['/held'])
    const silent = await world.tls()
    expect(await world.get('/ok')).toEqual([200, 'ok'])
    expect([held.closed, silent.closed]).toEqual([false, true])
  })
})

describe('attack: memory', () => {
  const mib = 1024 * 1024

  /** Asked for, begun, and left unread. */
  async function unreadAnswer(protocol: 'http/1.1' | 'h2', user: string): Promise<Readable> {
    if (protocol === 'http/1.1') {
      const socket = await world.tls()
      socket.pause()
      socket.write(`GET /large HTTP/1.1\r\nhost: x\r\n${asUser(user)}\r\n`)
      return socket
    }
    const options = { ca: world.ca, settings: { initialWindowSize: 0 } }
    const session = http2.connect(`https://127.0.0.1:${world.port}`, options).on('error', () => {})
    return session.request({ ':path': '/large', 'x-user': user }).on('error', () => {})
  }

  const body = (user: string, sizeBytes: number): string =>
    `POST /body HTTP/1.1\r\nhost: x\r\n${asUser(user)}content-length: ${3 * mib}\r\n\r\n${'x'.repeat(sizeBytes)}`

  test('bodies that are sent half and held back: their user is refused, others are not', async () => {
    world = await startListening({ budget: { totalBytes: 20 * mib, flowBytes: 4 * mib } })
    const sockets = [await world.tls(), await world.tls(), await world.tls()]
    for (const socket of sockets.slice(0, 2)) socket.write(body('eve', 2 * mib - 1000))
    await expect.poll(() => world.overload.budget.takenBytes).toBe(2 * (2 * mib - 1000))
    const [, , third] = sockets
    const said = third && everything(third)
    third?.write(body('eve', 100_000))
    const [status, text] = answerIn((await said) ?? '')
    expect([status, JSON.parse(text)]).toEqual([
      429,
      failure({
        message: 'Your requests and answers under way take too much memory, please try again later.',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    ])
    const other = await world.tls()
    other.write(`${body('ann', 100_000)}`)
    await expect.poll(() => world.overload.budget.takenBytesOf('user ann')).toBe(100_000)
    expect(world.lines).toEqual([{ bound: 'flow_memory', flow: 'user eve', times: 1 }])
    for (const socket of [...sockets, other]) socket.destroy()
    await expect.poll(() => world.overload.budget.takenBytes).toBe(0)
  })

  test('the accounts of one namespace have one share together, however many their tenant makes', async () => {
    world = await startListening({ budget: { totalBytes: 20 * mib, flowBytes: 4 * mib } })
    const holding = await Promise.all([world.tls(), world.tls()])
    for (const [i, socket] of holding.entries()) {
      socket.write(body(`system:serviceaccount:team-a:a${i}`, 2 * mib - 1000))
    }
    const flow = 'service accounts of team-a'
    await expect.poll(() => world.overload.budget.takenBytesOf(flow)).toBe(2 * (2 * mib - 1000))
    const third = await world.tls()
    const said = everything(third)
    third.write(body('system:serviceaccount:team-a:a2', 100_000))
    expect(answerIn(await said)[0]).toBe(429)
    const other = await world.tls()
    other.write(body('system:serviceaccount:team-b:a2', 100_000))
    await expect.poll(() => world.overload.budget.takenBytesOf('service accounts of team-b')).toBe(100_000)
    expect(world.lines).toEqual([{ bound: 'flow_memory', flow, times: 1 }])
    for (const socket of [...holding, third, other]) socket.destroy()
    await expect.poll(() => world.overload.budget.takenBytes).toBe(0)
  })

  test('all of it is taken by bodies that do not end: the flow that has most is told, and no other', async () => {
    world = await startListening({ budget: { totalBytes: 8 * mib, flowBytes: 4 * mib } })
    const [mine, first, second, third, last] = await Promise.all(Array.from({ length: 5 }, () => world.tls()))
    mine?.write(body('ann', mib))
    first?.write(body('eve', 2 * mib))
    second?.write(body('eve', 1.75 * mib))
    third?.write(body('bob', 2.5 * mib))
    await expect.poll(() => world.overload.budget.takenBytes).toBe(7.25 * mib)
    const said = first && everything(first)
    last?.write(body('dan', 1.5 * mib))
    const [status, text] = answerIn((await said) ?? '')
    expect([status, JSON.parse(text)]).toEqual([
      429,
      failure({
        message: 'Memory is short, and your requests and answers under way take most of it, please try again later.',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    ])
    await expect.poll(() => world.overload.budget.takenBytesOf('user dan')).toBe(1.5 * mib)
    expect(['ann', 'eve', 'bob'].map((user) => world.overload.budget.takenBytesOf(`user ${user}`) / mib)).toEqual([
      1, 1.75, 2.5,
    ])
    expect(world.lines).toEqual([{ bound: 'largest_flow', flow: 'user eve', times: 1 }])
  })

  test.each(['http/1.1', 'h2'] as const)(
    'and by answers that are not read, over %s: of the flow that has most one is cut off',
    async (protocol) => {
      world = await startListening({ budget: { totalBytes: largeBytes + 2 * mib, flowBytes: largeBytes } })
      const unread = await unreadAnswer(protocol, 'eve')
      await expect.poll(() => world.overload.budget.takenBytesOf('user eve')).toBeGreaterThan(largeBytes)
      const other = await world.tls()
      other.write(body('ann', 2 * mib))
      await expect.poll(() => world.overload.budget.takenBytesOf('user ann')).toBe(2 * mib)
      expect(world.overload.budget.takenBytesOf('user eve')).toBe(0)
      // Only a client that reads sees the end of its connection.
      unread.resume()
      await expect.poll(() => unread.closed).toBe(true)
      expect(world.lines).toEqual([{ bound: 'largest_flow', flow: 'user eve', times: 1 }])
    },
  )

  test('many small answers that are not read: the connections that hold most are cut', async () => {
    world = await startListening({ budget: { totalBytes: 20 * mib, flowBytes: mib } })
    const session = http2.connect(`https://127.0.0.1:${world.port}`, {
      ca: world.ca,
      settings: { initialWindowSize: 0 },
    })
    session.on('error', () => {})
    const unread = Array.from({ length: 200 }, () =>
      session.request({ ':path': '/small', 'x-user': 'eve' }).on('error', () => {}),
    )
    await expect.poll(() => world.asked.length).toBe(200)
    const reader = await stay('ann')
    await expect
      .poll(async () => {
        await world.clock.advance(1000)
        return unread.every(({ closed }) => closed)
      })
      .toBe(true)
    expect([...world.lines]).toEqual([{ bound: 'unread_memory', flow: 'user eve', times: 1 }])
    expect(reader.closed).toBe(false)
  })

  test('hundreds of them on one connection are cut a few in each turn of the loop', async () => {
    world = await startListening({ budget: { totalBytes: 20 * mib, flowBytes: mib } })
    const options = { ca: world.ca, settings: { initialWindowSize: 0 } }
    const session = http2.connect(`https://127.0.0.1:${world.port}`, options).on('error', () => {})
    for (let i = 0; i < 200; i++) session.request({ ':path': '/small', 'x-user': 'eve' }).on('error', () => {})
    await expect.poll(() => world.asked.length).toBe(200)
    // A stream more takes a millisecond more.
    let ms = 0
    using _ = vi.spyOn(performance, 'now').mockImplementation(() => ms++)
    const cut = (): number => world.overload.incidents.counts.get('unread_memory') ?? 0
    const inTurns = [cut()]
    await expect
      .poll(async () => {
        await world.clock.advance(1000)
        for (let turn = 0; turn < 100; turn++) {
          await new Promise((resolve) => setImmediate(resolve))
          inTurns.push(cut())
        }
        return cut()
      })
      .toBe(200)
    const mostInOne = Math.max(...inTurns.map((all, i) => all - (inTurns[i - 1] ?? 0)))
    expect(mostInOne).toBeLessThan(50)
    session.destroy()
  })
})
