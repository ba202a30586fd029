/**
 * The process of an ordinary user, who reads and patches in a namespace of its own, a few requests at a time. Told to
 * begin and to stop by its parent.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Call, type Connection, connect, type Endpoint } from '../load/connection.ts'
import { timesOf } from '../load/tasks.ts'

export interface VictimTask {
  readonly endpoint: Endpoint
  readonly namespace: string
  readonly durationMs: number
}

export interface VictimResult {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly requests: number
  /** What went wrong, and how often. */
  readonly failures: Readonly<Record<string, number>>
}

const clients = 4
const pauseMs = 10
/** Then a user gives up. */
const patienceMs = 15_000

function callsOf(namespace: string): readonly Call[] {
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const contentType = 'application/merge-patch+json'
  return [
    { method: 'GET', path: `${path}/mine` },
    { method: 'PATCH', path: `${path}/mine`, contentType, body: '{"data":{"at":"{n}"}}' },
    { method: 'GET', path },
  ]
}

async function live({ endpoint, namespace, durationMs }: VictimTask): Promise<VictimResult> {
  const calls = callsOf(namespace)
  const latencies: number[] = []
  const failures: Record<string, number> = {}
  const until = performance.now() + durationMs
  const failed = (why: string): void => {
    failures[why] = (failures[why] ?? 0) + 1
  }
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      let connection: Connection | undefined
      for (let n = client; performance.now() < until; n++) {
        const call = calls[n % calls.length] as Call
        const began = performance.now()
        try {
          connection ??= await within(connect(endpoint, 'http/1.1'))
          const { status } = await within(
            connection.send({ ...call, ...(call.body ? { body: fill(call.body, n) } : {}) }),
          )
          if (status > 299) failed(String(status))
        } catch (error) {
          failed(error instanceof Error ? error.message : String(error))
          connection?.close()
          connection = undefined
        }
        latencies.push(performance.now() - began)
        await sleep(pauseMs)
      }
      connection?.close()
    }),
  )
  return { ...timesOf(latencies, latencies.length, durationMs), requests: latencies.length, failures }
}

const fill = (text: string, n: number): string => text.replace('{n}', `${n}-${performance.now()}`)

async function within<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController()
  try {
    return await Promise.race([
      work,
      sleep(patienceMs, undefined, { signal: late.signal }).then(() => Promise.reject(new Error('no answer'))),
    ])
  } finally {
    late.abort()
  }
}

process.on('message', (task: VictimTask) => {
  live(task).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
