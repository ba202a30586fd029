/**
 * Where a whole installation can lie, to copy it from one to the other: a data directory with its SQLite store, or an
 * etcd. The keys of the certificate authority and of service accounts go along: in a directory they are files, in an
 * etcd and in a backup they are entries under `/borough/pki/`.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ReportProgress } from '../base/progress.ts'
import { openDataDir } from '../datadir/data-dir.ts'
import { type Encryption, encryptedMarker } from '../encryption/encryption.ts'
import { formatTime } from '../kube/time.ts'
import { directoryPkiStore, isOwn, sharedPkiPrefix } from '../pki/pki.ts'
import { beginAtNewestLevel } from '../storage/format-level.ts'
import { beginStoreAfter, openStorage, snapshotOf, storeFolder } from '../storage/open-storage.ts'
import { openServedStorage } from '../storage/served-storage.ts'
import { type PendingCommit, prefixSpan, type Storage } from '../storage/storage.ts'
import type { EtcdChoice } from '../storage/storage-choice.ts'
import {
  checkDirectory,
  checkStore,
  markDirectory,
  markStore,
  type UnfinishedCopy,
  unfinishedKey,
  unmarkDirectory,
  unmarkStore,
} from '../storage/unfinished-copy.ts'
import { requireInClear } from './key-entries.ts'
import { type Contents, CopyError, type Pair, type Source, type Target } from './store-copy.ts'

export type StorePlace = { readonly dataDir: string } | { readonly etcd: EtcdChoice }

export interface PlaceOptions {
  readonly clock: Clock
  readonly log: Log
  /** Absent: values are copied as they are, and no keys need to be encrypted or decrypted. */
  readonly encryption?: Encryption
  /** Told of what takes long. */
  readonly report?: ReportProgress
}

/** Everything of ours: keys begin with a slash. */
const everything = prefixSpan('/')
const pageLength = 1000
/** As many as one transaction takes, and as many bytes. */
const maxWrites = 100
const maxBytes = 900_000
/** Transactions on their way at a time. */
const maxPending = 8

export const placeName = (place: StorePlace): string =>
  'dataDir' in place ? place.dataDir : `etcd://${place.etcd.endpoints.join(',')}${place.etcd.prefix}`

export function storeSource(place: StorePlace, options: PlaceOptions): Source {
  const name = placeName(place)
  if ('dataDir' in place) {
    return {
      name,
      async read() {
        await checkDirectory(place.dataDir)
        const contents = await readDirectory(place.dataDir)
        return options.encryption === undefined ? withoutClearKeys(contents, name) : contents
      },
    }
  }
  return {
    name,
    async read() {
      const storage = await openServedStorage({ ...options, storage: place.etcd })
      return { ...(await readStorage(storage)), [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() }
    },
  }
}

/** No other process may serve it meanwhile: a data directory is locked. */
export async function storeTarget(place: StorePlace, options: PlaceOptions): Promise<Target> {
  return 'dataDir' in place ? directoryTarget(place.dataDir, options) : etcdTarget(place.etcd, options)
}

/** Of the authority and of service accounts, as they lie in a data directory. */
export async function keysOf(dataDir: string): Promise<readonly Pair[]> {
  const files = await directoryPkiStore(join(dataDir, 'pki')).read()
  return [...files]
    .filter(([name]) => !isOwn(name))
    .map(([name, text]) => ({ key: sharedPkiPrefix + name, value: Buffer.from(text) }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
}

async function readDirectory(dataDir: string): Promise<Contents> {
  const keys = await keysOf(dataDir)
  const snapshot = await snapshotOf(dataDir)
  return {
    revision: snapshot.revision,
    size: snapshot.size + keys.length,
    async *pairs() {
      let isBefore = true
      for (const entry of snapshot.entries()) {
        if (isBefore && entry.key > sharedPkiPrefix) {
          yield* keys
          isBefore = false
        }
        yield entry
      }
      if (isBefore) yield* keys
    },
    async [Symbol.asyncDispose]() {
      snapshot[Symbol.dispose]()
    },
  }
}

export const keysInClear = (name: string): CopyError =>
  new CopyError(`${name} is encrypted, and its keys are not: --encryption-provider-config <file>`)

/** What is encrypted must not lie beside keys in clear. The mark comes before all that is encrypted. */
function withoutClearKeys(contents: Contents, name: string): Contents {
  return {
    ...contents,
    async *pairs() {
      for await (const pair of contents.pairs()) {
        if (pair.key === encryptedMarker) {
          throw keysInClear(name)
        }
        yield pair
      }
    },
  }
}

async function readStorage(storage: Storage): Promise<Pick<Contents, 'revision' | 'size' | 'pairs'>> {
  const first = await storage.range(everything, { limit: pageLength })
  const { revision } = first
  const size = await storage.count?.(everything)
  async function* pairs(): AsyncGenerator<Pair> {
    for (let page = first; ; ) {
      for (const entry of page.entries) if (entry.key !== unfinishedKey) yield entry
      const last = page.entries.at(-1)
      if (!page.more || !last) return
      page = await storage.range({ start: `${last.key}\0`, end: everything.end }, { at: revision, limit: pageLength })
    }
  }
  return { revision, pairs, ...(size === undefined ? {} : { size }) }
}

async function directoryTarget(dataDir: string, options: PlaceOptions): Promise<Target> {
  await using opening = new AsyncDisposableStack()
  opening.use(await openDataDir(dataDir))
  const pki = directoryPkiStore(join(dataDir, 'pki'))
  const keys = new Map<string, string>()
  let writer: StorageWriter | undefined
  const opened = opening.move()
  return {
    name: dataDir,
    async isEmpty() {
      await checkDirectory(dataDir)
      const files = await readdir(join(dataDir, storeFolder)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      })
      return files.length === 0 && (await pki.read()).size === 0
    },
    accept: (pair) => {
      if (pair.key.startsWith(sharedPkiPrefix)) requireInClear(pair)
    },
    async begin(revision, from) {
      await markDirectory(dataDir, copyOf(from, options))
      // What a store that is gone had come to is known: the copy goes on above it.
      const place = { ...options, storage: { engine: 'sqlite' }, dataDir, acceptLoss: true } as const
      await (await openStorage(place))[Symbol.asyncDispose]()
      // Before anything is written: objects have resourceVersions that no client can hold of what they were before.
      await beginStoreAfter(dataDir, revision)
      writer = new StorageWriter(await openStorage(place), dataDir)
      opened.use(writer)
    },
    async write(pair) {
      if (!pair.key.startsWith(sharedPkiPrefix)) return writer?.write(pair)
      requireInClear(pair)
      keys.set(pair.key.slice(sharedPkiPrefix.length), Buffer.from(pair.value).toString('utf8'))
    },
    async finish() {
      await writer?.finish()
      await writer?.[Symbol.asyncDispose]()
      // Without a past: watches of the store that it was copied from begin anew.
      await beginStoreAfter(dataDir, 0)
      if (keys.size > 0) await pki.write(keys)
    },
    read: () => readDirectory(dataDir),
    seal: () => unmarkDirectory(dataDir),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function etcdTarget(etcd: EtcdChoice, options: PlaceOptions): Promise<Target> {
  const name = placeName({ etcd })
  const storage = await openStorage({ ...options, storage: etcd })
  const writer = new StorageWriter(storage, name)
  return {
    name,
    async isEmpty() {
      await checkStore(storage, name)
      return (await storage.range(everything, { limit: 1 })).entries.length === 0
    },
    async begin(_revision, from) {
      if (!(await markStore(storage, copyOf(from, options)))) throw new CopyError(`${name}: somebody else fills it`)
      await beginAtNewestLevel(storage)
    },
    write: (pair) => writer.write(pair),
    async finish() {
      await writer.finish()
      // Watches of the store that it was copied from can't resume here: they are told so, as far back as can be told.
      await storage.compact(await storage.currentRevision())
    },
    async read() {
      return { ...(await readStorage(storage)), [Symbol.asyncDispose]: () => Promise.resolve() }
    },
    seal: () => unmarkStore(storage),
    [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
  }
}

const copyOf = (from: string, { clock }: PlaceOptions): UnfinishedCopy => ({ from, since: formatTime(clock.now()) })

/** Writes pairs as full transactions, several on their way, each expecting that nothing is there. */
class StorageWriter implements AsyncDisposable {
  readonly #storage: Storage
  readonly #name: string
  #pairs: Pair[] = []
  #bytes = 0
  #pending: Promise<void>[] = []

  constructor(storage: Storage, name: string) {
    this.#storage = storage
    this.#name = name
  }

  async write(pair: Pair): Promise<void> {
    if (this.#pairs.length === maxWrites || this.#bytes + pair.value.byteLength > maxBytes) await this.#send()
    this.#pairs.push(pair)
    this.#bytes += pair.value.byteLength
  }

  async finish(): Promise<void> {
    await this.#send()
    await Promise.all(this.#pending.splice(0))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storage[Symbol.asyncDispose]()
  }

  async #send(): Promise<void> {
    if (this.#pairs.length === 0) return
    const writes = this.#pairs.map(({ key, value }) => ({ key, value, expect: 'absent' as const }))
    this.#pairs = []
    this.#bytes = 0
    const sent = this.#settled(this.#storage.commit({ guards: [], writes }))
    // Heard of where it is awaited; not to be called unhandled before.
    sent.catch(() => undefined)
    this.#pending.push(sent)
    if (this.#pending.length >= maxPending) await this.#pending.shift()
  }

  async #settled({ done }: PendingCommit): Promise<void> {
    const commit = await done
    if (commit.ok) return
    const [key] = commit.current.keys()
    throw new CopyError(`${this.#name}: somebody else writes to it (${key}). Do not use it: empty it and begin again`)
  }
}
