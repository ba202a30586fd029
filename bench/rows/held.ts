/**
 * Ten thousand creates of namespaces, held at once by one process until their initializer is released: what each costs
 * in memory, whether anything polls meanwhile, and how soon all are answered.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Connection, connect, type Endpoint, type Protocol } from '../load/connection.ts'
import type { Reply } from '../load/http1-answers.ts'
import { type Row, spread } from '../report.ts'
import { create, endpointOf } from '../target.ts'
import { type Bench, cpuMsOf } from './rows.ts'

const configurations = '/apis/admissionregistration.k8s.io/v1alpha1/namespaceinitializerconfigurations'
const goalKiB: Record<Protocol, number> = { h2: 50, 'http/1.1': 90 }
const goalMs = 5000
/** Below the server's own bound of streams per connection. */
const streamsPerConnection = 1000
/** Creates under way that are not held yet: the server takes 200 writes at once, and held ones do not count. */
const maxUnderWay = 100
const opened = 50
const idleMs = 2000

interface HeldServer extends AsyncDisposable {
  readonly endpoint: Endpoint
  readonly pid: number
  /** Creates that wait. */
  held(): Promise<number>
  /** Of the process after a collection. */
  residentBytes(): Promise<number>
}

async function startHeldServer(dataDir: string): Promise<HeldServer> {
  const script = fileURLToPath(new URL('../held-server.mjs', import.meta.url))
  const child: ChildProcess = fork(script, [dataDir], { execArgv: ['--expose-gc'] })
  const ended = once(child, 'exit')
  const answer = async (): Promise<unknown> => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
    ])) as [{ readonly answer: unknown }]
    return message.answer
  }
  const ask = async (what: string): Promise<number> => {
    child.send(what)
    return Number(await answer())
  }
  const endpoint = endpointOf(String(await answer()))
  const admin = await connect(endpoint, 'http/1.1')
  return {
    endpoint,
    pid: child.pid ?? 0,
    held: () => heldOf(admin),
    residentBytes: () => ask('memory'),
    async [Symbol.asyncDispose]() {
      admin.close()
      child.disconnect()
      await ended
    },
  }
}

/** @throws Error if the server does not count them */
async function heldOf(admin: Connection): Promise<number> {
  const { chunks } = await admin.send({ method: 'GET', path: '/metrics' })
  const [, count] = /^borough_held_namespace_creates (\d+)$/m.exec(Buffer.concat(chunks).toString()) ?? []
  if (count === undefined) throw new Error('no metric says how many creates are held')
  return Number(count)
}

interface Held {
  readonly connections: readonly Connection[]
  readonly answers: readonly Promise<Reply>[]
}

async function hold(server: HeldServer, protocol: Protocol, prefix: string, count: number): Promise<Held> {
  const connections: Connection[] = []
  const answers: Promise<Reply>[] = []
  let early: Reply | undefined
  const waitUntilHeld = async (least: number): Promise<void> => {
    while (early === undefined && (await server.held()) < least) await sleep(20)
    if (early !== undefined) throw new Error(`not held: ${early.status} ${Buffer.concat(early.chunks).toString()}`)
  }
  while (answers.length < count) {
    const next = Math.min(opened, count - answers.length)
    if (protocol === 'h2') {
      if (answers.length % streamsPerConnection === 0) connections.push(await connect(server.endpoint, 'h2'))
    } else {
      connections.push(...(await Promise.all(Array.from({ length: next }, () => connect(server.endpoint, protocol)))))
    }
    for (let i = 0; i < next; i++) {
      const connection = connections[protocol === 'h2' ? connections.length - 1 : answers.length] as Connection
      const body = JSON.stringify({ metadata: { name: `${prefix}-${answers.length}` } })
      const answer = connection.send({ method: 'POST', path: '/api/v1/namespaces?timeout=10m', body })
      void answer.then((reply) => {
        early ??= reply
      })
      answers.push(answer)
    }
    await waitUntilHeld(answers.length - maxUnderWay)
  }
  await waitUntilHeld(count)
  return { connections, answers }
}

/**
 * Deletes the configuration, so that whatever waits for its initializer goes on. Milliseconds until the last is
 * answered.
 */
async function release(server: HeldServer, { answers }: Held): Promise<number> {
  const admin = await connect(server.endpoint, 'http/1.1')
  const began = performance.now()
  const { status } = await admin.send({ method: 'DELETE', path: `${configurations}/bench` })
  if (status !== 200) throw new Error(`DELETE ${configurations}/bench: ${status}`)
  const replies = await Promise.all(answers)
  const tookMs = performance.now() - began
  admin.close()
  for (const { status: got, chunks } of replies) {
    const text = Buffer.concat(chunks).toString()
    if (got !== 201 || !text.includes('"phase":"Active"')) throw new Error(`a held create was answered ${got} ${text}`)
  }
  return tookMs
}

async function configure(server: HeldServer): Promise<void> {
  const admin = await connect(server.endpoint, 'http/1.1')
  await create(admin, configurations, { metadata: { name: 'bench' }, initializers: [{ name: 'bench.example.com' }] })
  admin.close()
}

/** Ready to be measured: what the first ones need is code and caches, not theirs alone. */
async function warmUp(server: HeldServer, protocol: Protocol): Promise<void> {
  await configure(server)
  const first = await hold(server, protocol, 'first', 300)
  await release(server, first)
  for (const connection of first.connections) connection.close()
  await configure(server)
  await sleep(idleMs)
}

/** Of a namespace that waits while nobody holds its create: it is there either way. */
async function namespaceKiB(bench: Bench, count: number): Promise<number> {
  await using server = await startHeldServer(await bench.tempDir())
  await warmUp(server, 'h2')
  const before = await server.residentBytes()
  const connection = await connect(server.endpoint, 'h2')
  for (let from = 0; from < count; from += opened) {
    const names = Array.from({ length: Math.min(opened, count - from) }, (_, i) => `plain-${from + i}`)
    const path = '/api/v1/namespaces?includeUninitialized=true'
    await Promise.all(names.map((name) => create(connection, path, { metadata: { name } })))
  }
  const after = await server.residentBytes()
  connection.close()
  return (after - before) / count / 1024
}

async function rowsOf(bench: Bench, protocol: Protocol, count: number, ownKiB: number): Promise<Row[]> {
  await using server = await startHeldServer(await bench.tempDir())
  await warmUp(server, protocol)
  const before = await server.residentBytes()
  const held = await hold(server, protocol, 'held', count)
  const kiB = ((await server.residentBytes()) - before) / count / 1024 - ownKiB
  const cpuBefore = cpuMsOf(server.pid)
  await sleep(idleMs)
  const cpuAtRelease = cpuMsOf(server.pid)
  const releasedMs = await release(server, held)
  const cpuAfter = cpuMsOf(server.pid)
  for (const connection of held.connections) connection.close()

  const where = protocol === 'h2' ? 'h2, 1,000 a connection' : 'http/1.1, each on a connection of its own'
  const all = `${count.toLocaleString('en-US')} creates held at once (${where})`
  const row = (what: string, unit: string, value: number, goal: number, why = ''): Row => ({
    what: `${all}: ${what}`,
    unit,
    ours: spread([value]),
    goal: `< ${goal.toLocaleString('en-US')} ${unit}${why}`,
    met: value < goal,
  })
  const memory = `resident memory each, beyond the ${ownKiB.toFixed(1)} KiB of the namespace`
  const rows = [
    row(memory, 'KiB', kiB, goalKiB[protocol]),
    row('until all are answered, once released', 'ms', releasedMs, goalMs),
  ]
  if (cpuBefore === undefined || cpuAtRelease === undefined || cpuAfter === undefined) return rows
  return [
    ...rows,
    row('CPU time of the server for that', 'ms', cpuAfter - cpuAtRelease, goalMs),
    row(
      'CPU time of the server while they wait',
      'ms/s',
      (cpuAtRelease - cpuBefore) / (idleMs / 1000),
      50,
      ', nothing polls',
    ),
  ]
}

export async function* heldRows(bench: Bench): AsyncGenerator<Row> {
  const count = bench.quick ? 1000 : 10_000
  const ownKiB = await namespaceKiB(bench, count)
  yield* await rowsOf(bench, 'h2', count, ownKiB)
  yield* await rowsOf(bench, 'http/1.1', count, ownKiB)
}
