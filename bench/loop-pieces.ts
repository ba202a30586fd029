/**
 * The longest time for which one request held the event loop, form by form: a control plane in this process, on a store
 * in memory, is sent the largest bodies there are. One line of JSON per request:
 *
 *   node bench/loop-pieces.ts [ROUNDS [PATTERN]]
 *
 * A piece is what lies between two turns of the loop. It is counted in processor time of this thread without
 * collections. What `fetch` does for the client counts too; it is little.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import { startControlPlane, type TestControlPlane } from '../src/testing/index.ts'
import { bodies, openDefinition, reviews } from './loop-bodies.ts'
import { type Body, definitions, type Json } from './loop-values.ts'

export interface Piece {
  readonly what: string
  readonly status: number
  readonly longestMs: number
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string | Uint8Array
}

const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface Span {
  readonly from: number
  readonly to: number
  readonly workedMs: number
}

/** Shorter pieces are of no interest, and there are many while something is awaited. */
const toldMs = 1

const nothing: Span = { from: 0, to: 0, workedMs: 0 }

export class Pieces implements Disposable {
  readonly #collections: { readonly from: number; readonly to: number }[] = []
  readonly #observer = new PerformanceObserver((list) => this.#collected(list.getEntries()))
  readonly #threadMs: () => number

  constructor(clock: () => number = threadMs) {
    this.#threadMs = clock
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  [Symbol.dispose](): void {
    this.#observer.disconnect()
  }

  /** The longest piece while `work` is done, and what comes of it. */
  async of<T>(work: () => Promise<T>): Promise<Span & { readonly result: T }> {
    this.#collections.length = 0
    const spans: Span[] = []
    let isOver = false
    let from = performance.now()
    let worked = this.#threadMs()
    const look = (): void => {
      const [now, all] = [performance.now(), this.#threadMs()]
      if (all - worked >= toldMs) spans.push({ from, to: now, workedMs: all - worked })
      ;[from, worked] = [now, all]
      if (!isOver) setImmediate(look).unref()
    }
    // Without a reference it is called in each turn, and does not make the loop turn while all wait.
    setImmediate(look).unref()
    let result: T
    try {
      result = await work()
    } finally {
      isOver = true
    }
    // Node tells of a collection a moment after it.
    for (let i = 0; i < 5; i++) await turn()
    this.#collected(this.#observer.takeRecords())
    const net = spans.map((span) => ({ ...span, workedMs: span.workedMs - this.#collectedIn(span) }))
    const longest = net.reduce((most, span) => (span.workedMs > most.workedMs ? span : most), nothing)
    return { ...longest, result }
  }

  #collected(entries: readonly PerformanceEntry[]): void {
    for (const { startTime, duration } of entries) {
      this.#collections.push({ from: startTime, to: startTime + duration })
    }
  }

  #collectedIn({ from, to }: Span): number {
    const within = this.#collections.filter((c) => c.from >= from && c.to <= to)
    return within.reduce((sum, c) => sum + c.to - c.from, 0)
  }
}

interface Step {
  readonly what: string
  readonly request: Sent
}

const json = 'application/json'
const yaml = 'application/yaml'
const protobuf = 'application/vnd.kubernetes.protobuf'
const formOf = (kind: string): string => `${json};as=${kind};v=v1;g=meta.k8s.io`

const withLabel = (object: Record<string, Json>): Record<string, Json> => {
  const metadata = object['metadata'] as Record<string, Json>
  const labels = metadata['labels'] as Record<string, Json> | undefined
  return { ...object, metadata: { ...metadata, labels: { ...labels, more: 'yes' } } }
}

/** All that may be done with a body, and with what it leaves. */
function stepsOf({ path, object }: Body): readonly Step[] {
  const made = object('a')
  const name = (made['metadata'] as { name: string }).name
  const one = `${path}/${name}`
  const text = (value: string): string => JSON.stringify(object(value))
  const { kind: _k, apiVersion: _v, metadata: _m, ...content } = object('e')
  const steps: [string, Sent][] = [
    ['create, dry run', { method: 'POST', path: `${path}?dryRun=All`, type: json, body: text('a') }],
    [
      'create, strict',
      { method: 'POST', path: `${path}?dryRun=All&fieldValidation=Strict`, type: json, body: text('a') },
    ],
    ['create in YAML', { method: 'POST', path: `${path}?dryRun=All`, type: yaml, body: text('a') }],
    ['create', { method: 'POST', path, type: json, body: text('a') }],
    ['update', { method: 'PUT', path: one, type: json, body: text('b') }],
    ['update, same', { method: 'PUT', path: one, type: json, body: text('b') }],
    ['merge patch', { method: 'PATCH', path: one, type: 'application/merge-patch+json', body: text('c') }],
    [
      'strategic patch',
      { method: 'PATCH', path: one, type: 'application/strategic-merge-patch+json', body: text('d') },
    ],
    [
      'JSON patch of all',
      {
        method: 'PATCH',
        path: one,
        type: 'application/json-patch+json',
        body: JSON.stringify(Object.entries(content).map(([k, value]) => ({ op: 'add', path: `/${k}`, value }))),
      },
    ],
    [
      'small patch',
      {
        method: 'PATCH',
        path: one,
        type: 'application/merge-patch+json',
        body: '{"metadata":{"annotations":{"small":"patch"}}}',
      },
    ],
    [
      'apply',
      {
        method: 'PATCH',
        path: `${one}?fieldManager=one&force=true`,
        type: 'application/apply-patch+yaml',
        body: text('f'),
      },
    ],
    [
      'apply by another',
      {
        method: 'PATCH',
        path: `${one}?fieldManager=two&force=true`,
        type: 'application/apply-patch+yaml',
        body: text('g'),
      },
    ],
    [
      'conflict',
      { method: 'PATCH', path: `${one}?fieldManager=three`, type: 'application/apply-patch+yaml', body: text('h') },
    ],
    [
      'apply of one more',
      {
        method: 'PATCH',
        path: `${one}?fieldManager=two&force=true`,
        type: 'application/apply-patch+yaml',
        body: JSON.stringify(withLabel(object('g'))),
      },
    ],
    [
      'apply of one less',
      {
        method: 'PATCH',
        path: `${one}?fieldManager=two&force=true`,
        type: 'application/apply-patch+yaml',
        body: text('g'),
      },
    ],
    ['get', { method: 'GET', path: one }],
    ['get as YAML', { method: 'GET', path: one, accept: yaml }],
    ['get as a Table', { method: 'GET', path: one, accept: formOf('Table') }],
    ['get metadata', { method: 'GET', path: one, accept: formOf('PartialObjectMetadata') }],
    ['get as protobuf', { method: 'GET', path: one, accept: protobuf }],
    ['list as protobuf', { method: 'GET', path, accept: protobuf }],
    ['list by label', { method: 'GET', path: `${path}?labelSelector=a!=b` }],
    ['delete', { method: 'DELETE', path: one }],
    [
      'delete of what finalizers hold',
      { method: 'PATCH', path: one, type: 'application/merge-patch+json', body: '{"metadata":{"finalizers":null}}' },
    ],
  ]
  return steps.map(([what, request]) => ({ what, request }))
}

export async function send(plane: TestControlPlane, { method, path, type, accept, body }: Sent): Promise<number> {
  const response = await plane.fetch(path, {
    method,
    headers: { ...(type ? { 'content-type': type } : {}), ...(accept ? { accept } : {}) },
    ...(body === undefined ? {} : { body }),
  })
  // Read as a socket is: to put 50 MB together is the client's work.
  if (response.body !== null) for await (const _ of response.body);
  return response.status
}

async function prepared(plane: TestControlPlane): Promise<void> {
  const post = async (path: string, body: unknown): Promise<void> => {
    const status = await send(plane, { method: 'POST', path, type: json, body: JSON.stringify(body) })
    if (status !== 201) throw new Error(`POST ${path}: ${status}`)
  }
  await post('/api/v1/namespaces', { metadata: { name: 'loop' } })
  await post(definitions, openDefinition)
  while ((await send(plane, { method: 'GET', path: '/apis/loop.example/v1/namespaces/loop/opens' })) !== 200)
    await turn()
}

const documents = ['/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1', '/openapi/v3/apis/apps/v1', '/apis']

export async function* measured(
  rounds: number,
  chosen: (what: string) => boolean,
): AsyncGenerator<Piece & { span: Span }> {
  const pieces = new Pieces()
  for (let round = 0; round < rounds; round++) {
    await using plane = await startControlPlane({ population: true })
    await prepared(plane)
    const piece = async (what: string, request: Sent): Promise<Piece & { span: Span }> => {
      let status = 0
      const span = await pieces.of(async () => {
        status = await send(plane, request)
      })
      // What controllers do with it is another piece.
      await turn()
      return { what, status, longestMs: span.workedMs, span }
    }
    for (const path of documents) {
      const what = `GET ${path}, the first`
      if (chosen(what)) yield await piece(what, { method: 'GET', path })
    }
    for (const { what, path, body } of reviews) {
      if (chosen(what)) yield await piece(what, { method: 'POST', path, type: json, body: JSON.stringify(body) })
    }
    for (const body of bodies) {
      for (const { what, request } of stepsOf(body)) {
        const name = `${body.what}: ${what}`
        if (!chosen(name)) continue
        yield await piece(name, request)
      }
    }
  }
}

if (import.meta.main) {
  const [rounds = '1', pattern = ''] = process.argv.slice(2)
  const chosen = (what: string): boolean => new RegExp(pattern).test(what)
  for await (const { what, status, longestMs } of measured(Number(rounds), chosen)) {
    process.stdout.write(`${JSON.stringify({ what, status, longestMs: Math.round(longestMs * 10) / 10 })}\n`)
  }
}
