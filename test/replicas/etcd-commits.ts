/**
 * Every commit of an etcd, whole and in order, as etcd's JSON gateway tells it: no code of Borough's between. What a
 * value says behind its header is read here by hand (docs/storage-format.md).
 */

export interface RawChange {
  readonly key: string
  /** undefined = the key is gone. */
  readonly object: StoredObject | undefined
}

export interface RawCommit {
  /** etcd's. */
  readonly revision: number
  readonly changes: readonly RawChange[]
}

export interface StoredObject {
  readonly metadata: {
    readonly name?: string
    readonly uid?: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
  readonly [member: string]: unknown
}

interface RawKeyValue {
  readonly key: string
  readonly value?: string
  readonly mod_revision: string
}

interface WatchAnswer {
  readonly result?: {
    readonly canceled?: boolean
    readonly compact_revision?: string
    readonly events?: readonly { readonly type?: 'DELETE'; readonly kv: RawKeyValue }[]
  }
  readonly error?: unknown
}

/** In base64, one zero byte: from the first key, to the last. */
const all = { key: 'AA==', range_end: 'AA==' }
const objectsRoot = '/registry/'
const retryMs = 100

/** What is there now. */
export async function readObjects(endpoint: string): Promise<RawCommit> {
  const answer = (await (await ask(endpoint, 'kv/range', all)).json()) as {
    readonly header: { readonly revision: string }
    readonly kvs?: readonly RawKeyValue[]
  }
  const changes = (answer.kvs ?? []).flatMap((kv) => changeOf(kv, false))
  return { revision: Number(answer.header.revision), changes }
}

/** History before this revision goes. */
export async function compactAt(endpoint: string, revision: number): Promise<void> {
  await (await ask(endpoint, 'kv/compaction', { revision: String(revision), physical: true })).arrayBuffer()
}

/** Calls `each` for every commit after `after`, until the signal aborts. etcd may end and come back meanwhile. */
export async function followCommits(
  endpoint: string,
  after: number,
  each: (commit: RawCommit) => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = after
  while (!signal.aborted) {
    try {
      const request = { create_request: { ...all, start_revision: String(seen + 1) } }
      const { body } = await ask(endpoint, 'watch', request, signal)
      for await (const line of linesOf(body)) {
        for (const commit of commitsOf(line)) {
          if (commit.revision <= seen) throw new Error(`commit ${commit.revision} came after ${seen}`)
          each(commit)
          seen = commit.revision
        }
      }
    } catch (error) {
      if (!signal.aborted && !isBroken(error)) throw error
    }
    // A connection that broke loses nothing: it is taken up where it ended.
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

/** It may be there again soon. */
class Broken extends Error {}

/** As `fetch` says it of a connection. */
const isBroken = (error: unknown): boolean =>
  error instanceof Broken || (error instanceof TypeError && /^(?:fetch failed|terminated)$/.test(error.message))

async function ask(endpoint: string, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(`${endpoint}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  if (!answer.ok) throw new Broken(`${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

async function* linesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  for await (const piece of body ?? []) {
    const [first = '', ...more] = decoder.decode(piece, { stream: true }).split('\n')
    parts.push(first)
    for (const next of more) {
      yield parts.join('')
      parts = [next]
    }
  }
}

/** etcd never parts the events of one revision where it was not asked to. */
function commitsOf(line: string): RawCommit[] {
  const { result, error } = JSON.parse(line) as WatchAnswer
  if (error !== undefined) throw new Broken(`a watch of etcd: ${JSON.stringify(error)}`)
  if (result?.compact_revision !== undefined && result.compact_revision !== '0')
    throw new Error(`history before ${result.compact_revision} is gone`)
  if (result?.canceled) throw new Broken('etcd canceled a watch')
  const commits: { revision: number; changes: RawChange[] }[] = []
  for (const { type, kv } of result?.events ?? []) {
    const revision = Number(kv.mod_revision)
    let commit = commits.at(-1)
    if (commit?.revision !== revision) commits.push((commit = { revision, changes: [] }))
    commit.changes.push(...changeOf(kv, type === 'DELETE'))
  }
  return commits
}

/** Only objects and what the server keeps beside them. */
function changeOf({ key, value = '' }: RawKeyValue, isGone: boolean): RawChange[] {
  const name = Buffer.from(key, 'base64').toString()
  if (!name.startsWith(objectsRoot)) return []
  return [{ key: name.slice(objectsRoot.length), object: isGone ? undefined : objectIn(Buffer.from(value, 'base64')) }]
}

/** 0xff, two bytes, the form: 0 ends there, 1 says its length in the two bytes from 6 on. */
function objectIn(value: Buffer): StoredObject {
  const start = value[0] !== 0xff ? 0 : value[3] === 0 ? 4 : value.readUInt16BE(6)
  return JSON.parse(value.toString('utf8', start)) as StoredObject
}
