/**
 * Clients at several replicas that read, create, replace and delete a few keys, and write down what they asked and what
 * they heard; others that follow watches from replica to replica; and the store's own history to judge them by.
 */
import type { Client } from '../../src/client/client.ts'
import { findStatusError, isNotFound } from '../../src/kube/status-error.ts'
import type { Change } from '../../src/storage/storage.ts'
import { type Operation, type Version, violations } from './linearizability.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const secrets = { group: '', version: 'v1', resource: 'secrets' }
const quotas = { group: '', version: 'v1', resource: 'resourcequotas' }

const contested = 'contested'
const limited = 'limited'
export const quotaLimit = 10
/** A client that hears nothing for so long gives up, and does not know. */
const patienceMs = 12_000
/** Between two operations of one client: so that the machine, not the load, is what is tested. */
const thinkMs = 8

export interface LoadOptions {
  /** One for each replica. */
  readonly clients: readonly Client[]
  readonly keys: number
  /** Clients that contest the keys, and as many for the quota as there are replicas. */
  readonly contenders: number
  /** From 0 to 1. */
  readonly random: () => number
  /** What the store says happened since the load began, of all keys below `recordedSpans`, in order. */
  readonly changes: () => readonly Change[]
}

interface SeenEvent {
  readonly type: string
  readonly name: string
  readonly revision: number
}

export const recordedSpans: readonly string[] = [
  `/registry/configmaps/${contested}/`,
  `/registry/secrets/${limited}/`,
  `/registry/resourcequotas/${limited}/`,
]

export class RecordedLoad {
  readonly #options: LoadOptions
  /** Ends the asking; the following ends later. */
  readonly #enough = new AbortController()
  readonly #stop = new AbortController()
  readonly #operations = new Map<string, Operation[]>()
  readonly #acknowledgedAt: { readonly at: number; readonly replica: number }[] = []
  readonly #watched: SeenEvent[][] = []
  readonly #asking: Promise<void>[] = []
  readonly #following: Promise<void>[] = []
  #changes: readonly Change[] = []
  #from = 0
  #ids = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { clients, contenders } = this.#options
    const [first] = clients
    if (!first) throw new Error('no clients')
    await first.create(namespaces, { metadata: { name: contested } })
    await first.create(namespaces, { metadata: { name: limited } })
    const quota = { metadata: { name: 'q', namespace: limited }, spec: { hard: { secrets: String(quotaLimit) } } }
    const { metadata } = await first.create(quotas, quota)
    this.#from = Number(metadata.resourceVersion)
    for (let i = 0; i < contenders; i++) this.#asking.push(this.#contend(i))
    for (let i = 0; i < clients.length; i++) {
      this.#asking.push(this.#fillQuota(i))
      this.#watched.push([])
      this.#following.push(this.#watch(i))
    }
  }

  /** Resolves when `count` more writes have been acknowledged, however long that takes. */
  async acknowledges(count: number): Promise<void> {
    const enough = this.#acknowledgedAt.length + count
    while (this.#acknowledgedAt.length < enough) await pause(20)
  }

  /** The longest time without an acknowledged write anywhere, since `since`; ms. */
  longestSilence(since: number): number {
    let last = since
    let longest = 0
    for (const { at } of this.#acknowledgedAt) {
      if (at < since) continue
      longest = Math.max(longest, at - last)
      last = at
    }
    return longest
  }

  /** Ends the load, and answers what was wrong and how much was checked. */
  async finish(allSeen: () => Promise<void>): Promise<{
    problems: string[]
    operations: number
    acknowledged: number
    unknown: number
    changes: number
  }> {
    const { clients } = this.#options
    this.#enough.abort()
    await Promise.all(this.#asking)
    // Everybody has seen everything when they have seen this.
    let marked: number | undefined
    for (let i = 0; marked === undefined; i = (i + 1) % clients.length) {
      const marker = { metadata: { name: `end-${i}-${this.#ids++}`, namespace: contested } }
      const made = await clients[i]
        ?.create(configMaps, marker, { signal: AbortSignal.timeout(patienceMs) })
        .catch(() => undefined)
      marked = made && Number(made.metadata.resourceVersion)
    }
    const mark = marked
    const reached = (revision: number | undefined): boolean => (revision ?? 0) >= mark
    const deadline = performance.now() + 60_000
    while (!this.#watched.every((w) => reached(w.at(-1)?.revision))) {
      if (performance.now() > deadline)
        return { ...this.#counts(), problems: ['a watch has not come to the end in 60 s'] }
      await pause(50)
    }
    this.#stop.abort()
    await Promise.all(this.#following)
    await allSeen()
    this.#changes = this.#options.changes().filter(({ revision }) => revision >= this.#from)
    const problems = [...this.#keyProblems(), ...this.#watchProblems(mark), ...quotaProblems(this.#changes)]
    return { ...this.#counts(), problems }
  }

  #counts(): { operations: number; acknowledged: number; unknown: number; changes: number } {
    const all = [...this.#operations.values()].flat()
    const outcomes = all.flatMap((o) => (o.type === 'read' ? [] : [o.outcome]))
    return {
      operations: all.length,
      acknowledged: outcomes.filter((o) => o === 'acknowledged').length,
      unknown: outcomes.filter((o) => o === 'unknown').length,
      changes: this.#changes.length,
    }
  }

  #keyProblems(): string[] {
    const problems: string[] = []
    for (const [name, operations] of this.#operations) {
      const key = `/registry/configmaps/${contested}/${name}`
      const history: Version[] = this.#changes
        .filter((change) => change.key === key)
        .map(({ revision, value }) => ({ revision, id: value && idOf(value) }))
      problems.push(...violations(history, operations).map((problem) => `${name}: ${problem}`))
    }
    return problems
  }

  #watchProblems(mark: number): string[] {
    const prefix = `/registry/configmaps/${contested}/`
    const want = this.#changes
      .filter(({ key, revision }) => key.startsWith(prefix) && revision <= mark)
      .map(({ key, revision, value, previous }) => {
        const type = value === undefined ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED'
        return `${revision} ${type} ${key.slice(prefix.length)}`
      })
    return this.#watched.flatMap((events, i) => {
      const got = events.filter((e) => e.revision <= mark).map((e) => `${e.revision} ${e.type} ${e.name}`)
      const at = want.findIndex((event, n) => got[n] !== event)
      if (at < 0 && got.length === want.length) return []
      return [
        `watch ${i}: after ${at} of ${want.length} events: ${got[at < 0 ? want.length : at]} instead of ${want[at]}`,
      ]
    })
  }

  async #watch(i: number): Promise<void> {
    const { clients } = this.#options
    const events = this.#watched[i] ?? []
    const { signal } = this.#stop
    for (let at = i; !signal.aborted; at++) {
      const client = clients[at % clients.length]
      const resourceVersion = String(events.at(-1)?.revision ?? this.#from)
      // A replica that is paused keeps its connections: moving on now and then is also what clients do.
      const own = AbortSignal.any([signal, AbortSignal.timeout(5_000)])
      try {
        for await (const { type, object } of client?.watch(configMaps, {
          namespace: contested,
          resourceVersion,
          signal: own,
        }) ?? [])
          events.push({ type, name: object.metadata.name ?? '', revision: Number(object.metadata.resourceVersion) })
      } catch (error) {
        // 410 would be a loss: the history window is minutes long.
        if (findStatusError(error)?.reason === 'Expired') throw error
        await pause(50)
      }
    }
  }

  /** Keeps to one replica as long as it answers, so that one that does not answer holds up its own clients only. */
  async #contend(start: number): Promise<void> {
    const { keys, random, clients } = this.#options
    let at = start % clients.length
    while (!this.#enough.signal.aborted) {
      const name = `k-${Math.floor(random() * keys)}`
      const seen = await this.#read(name, at)
      await pause(thinkMs * random())
      const writes = random() < 0.7
      const answered = seen !== undefined && (!writes || (await this.#write(name, seen, at, random() < 0.2)))
      if (!answered || random() < 0.01) at = Math.floor(random() * clients.length)
      await pause(thinkMs * random())
    }
  }

  #record(name: string, operation: Operation): void {
    const operations = this.#operations.get(name)
    if (operations) operations.push(operation)
    else this.#operations.set(name, [operation])
  }

  async #read(name: string, replica: number): Promise<number | 'absent' | undefined> {
    const began = performance.now()
    let revision: number | 'absent'
    try {
      const signal = AbortSignal.timeout(patienceMs)
      const found = await this.#options.clients[replica]?.get(configMaps, { namespace: contested, name }, { signal })
      revision = Number(found?.metadata.resourceVersion)
    } catch (error) {
      if (!isNotFound(error)) return undefined
      revision = 'absent'
    }
    this.#record(name, { type: 'read', revision, began, ended: performance.now() })
    return revision
  }

  /** False: it is not known whether it was done. */
  async #write(name: string, expected: number | 'absent', replica: number, remove: boolean): Promise<boolean> {
    const client = this.#options.clients[replica]
    if (!client) return false
    const id = `w-${++this.#ids}`
    const type = remove && expected !== 'absent' ? 'delete' : 'write'
    const began = performance.now()
    const signal = AbortSignal.timeout(patienceMs)
    const metadata = { name, namespace: contested }
    try {
      if (type === 'delete') {
        await client.delete(configMaps, metadata, { preconditions: { resourceVersion: String(expected) }, signal })
        this.#record(name, { type, id, expected, outcome: 'acknowledged', began, ended: performance.now() })
      } else {
        const made =
          expected === 'absent'
            ? await client.create(configMaps, { metadata, data: { id } }, { signal })
            : await client.update(
                configMaps,
                { metadata: { ...metadata, resourceVersion: String(expected) }, data: { id } },
                { signal },
              )
        const revision = Number(made.metadata.resourceVersion)
        this.#record(name, { type, id, expected, outcome: 'acknowledged', revision, began, ended: performance.now() })
      }
      this.#acknowledgedAt.push({ at: performance.now(), replica })
      return true
    } catch (error) {
      const refused = [404, 409].includes(findStatusError(error)?.code ?? 0)
      const outcome = refused ? 'refused' : 'unknown'
      this.#record(name, {
        type,
        id,
        expected,
        outcome,
        began,
        ended: refused ? performance.now() : Number.POSITIVE_INFINITY,
      })
      return refused
    }
  }

  /** Creates and deletes at the limit; refusals are expected, exactness is judged by the history. */
  async #fillQuota(replica: number): Promise<void> {
    const { clients, random } = this.#options
    while (!this.#enough.signal.aborted) {
      const client = clients[replica]
      const signal = AbortSignal.timeout(patienceMs)
      const metadata = { name: `s-${Math.floor(random() * quotaLimit * 1.5)}`, namespace: limited }
      try {
        if (random() < 0.6) await client?.create(secrets, { metadata }, { signal })
        else await client?.delete(secrets, metadata, { signal })
      } catch {
        // Refused, not there, cut off.
      }
      await pause(4 * thinkMs * random())
    }
  }
}

/** At the end of every commit each account says what is there, and it is never more than allowed. */
function quotaProblems(changes: readonly Change[]): string[] {
  const present = new Set<string>()
  let used: string | undefined
  const problems: string[] = []
  for (const [commit, batch] of Map.groupBy(changes, ({ revision }) => Math.floor(revision / 1024))) {
    for (const { key, value } of batch) {
      if (key.startsWith('/registry/secrets/')) {
        if (value) present.add(key)
        else present.delete(key)
      }
      if (value && key.startsWith('/registry/resourcequotas/')) {
        used = (JSON.parse(text(value)) as { status: { used: { secrets: string } } }).status.used.secrets
      }
    }
    if (used !== undefined && used !== String(present.size))
      problems.push(`quota: at ${commit} used ${used} of ${present.size}`)
    if (present.size > quotaLimit) problems.push(`quota: at ${commit} ${present.size} are there`)
  }
  return problems
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')
const idOf = (value: Uint8Array): string => (JSON.parse(text(value)) as { data?: { id?: string } }).data?.id ?? '?'
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Mulberry32: the same numbers for the same start. */
export function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
