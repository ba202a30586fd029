/**
 * Faults that the simulation (`test/simulation`) must find: the counterparts of those in etcd's table of robustness
 * (tests/robustness/README.md of etcd, by the number of the issue), and some of our own past. Each is found by the
 * seed that stands with it.
 */
import type { Plant } from './plants.ts'

export interface SimulationPlant extends Plant {
  /** That finds it. */
  readonly seed: number
}

const suites = ['test/simulation/found.test.ts']

export const simulationPlants: readonly SimulationPlant[] = [
  {
    seed: 2,
    why: 'simulated: a commit is acknowledged before it is flushed (etcd 14370)',
    suites,
    file: 'src/storage/sqlite/file-format.ts',
    find: "database.exec('PRAGMA synchronous = FULL')",
    replace: "database.exec('PRAGMA synchronous = NORMAL')",
  },
  {
    seed: 2,
    why: 'simulated: the head of the store is not written with the commit (etcd 13766)',
    suites,
    file: 'src/storage/sqlite/log-file.ts',
    find: '        else this.#describe.run(...metaValues(this.#meta))\n',
    replace: '',
  },
  {
    seed: 65,
    why: 'simulated: a store opens without what its mark tells of',
    suites,
    file: 'src/storage/sqlite/loss.ts',
    find: "if (typeof mark === 'number' && mark <= head) return",
    replace: "if (typeof mark === 'number') return",
  },
  {
    seed: 5,
    why: 'simulated: the mark is written before what it marks',
    suites,
    file: 'src/storage/sqlite/log-file.ts',
    find: 'const headBefore = this.head\n',
    replace: `const headBefore = this.head
    this.#mark.write(endOfCommit(headBefore + 1))
`,
  },
  {
    seed: 71,
    why: 'simulated: free pages of the file are no room',
    suites,
    file: 'src/storage/sqlite/store-room.ts',
    find: "heldBytes: pagesBytes - Number(pragma(database, 'freelist_count')) * pageBytes,",
    replace: 'heldBytes: pagesBytes,',
  },
  {
    seed: 2,
    why: 'simulated: the relay gives up a ticket too early',
    suites,
    file: 'src/storage/relay/relay-storage.ts',
    find: 'const settled = (this.#unsettled.values().next().value ?? id) - 1',
    replace: 'const settled = (this.#unsettled.values().next().value ?? id)',
  },
  {
    seed: 15,
    why: "simulated: changes are taken to reach as far as the answer's header says (etcd 15220)",
    suites,
    file: 'src/storage/etcd/change-reader.ts',
    find: 'keySpace)), through }',
    replace: 'keySpace)), through: Math.max(through, response.revision) }',
  },
  {
    seed: 7,
    why: 'simulated: the feed is taken up too far back (etcd 15271)',
    suites,
    file: 'src/storage/etcd/change-feed.ts',
    find: 'this.#origin.read(modRevisionOf(this.#head) + 1, until)',
    replace: 'this.#origin.read(Math.max(1, modRevisionOf(this.#head) - 2), until)',
  },
  {
    seed: 11,
    why: 'simulated: the head of the store is taken from the newest row of the log (etcd 17780)',
    suites,
    file: 'src/storage/sqlite/log-file.ts',
    find: '      this.#meta = readMeta(this.#database, this.path)\n',
    replace: `      this.#meta = readMeta(this.#database, this.path)
      const newest = Number(this.#database.prepare('SELECT max(revision) AS newest FROM log').get()?.['newest'] ?? 0)
      this.#meta = { ...this.#meta, head: endOfCommit(newest) }
`,
  },
  {
    seed: 118,
    why: 'simulated: the feed does not ask whether deletes were dropped (etcd 18089, 19179)',
    suites,
    file: 'src/storage/etcd/change-feed.ts',
    find: 'if (before >= 1) await this.#origin.checkReadable(before, signal)',
    replace: 'if (before < 0) await this.#origin.checkReadable(before, signal)',
  },
  {
    seed: 22,
    why: 'simulated: a watch of the future begins where the server is (etcd 20221)',
    suites,
    file: 'src/http/stages/catch-up.ts',
    find: '      await refresh()\n',
    replace: "      if (info.verb !== 'watch') await refresh()\n",
    also: [
      {
        file: 'src/registry/watch.ts',
        find: `  else if (!cache.reached(after)) {
    await cache.refresh()
    if (!cache.reached(after)) return failingStream(watchOfTheFuture(after, cache.revision))
  }
`,
        replace: '',
      },
      {
        file: 'src/watch/open-watch.ts',
        find: 'after: Math.max(after, cache.revision), backlog',
        replace: 'after: cache.revision, backlog',
      },
    ],
  },
  {
    seed: 10,
    why: 'simulated: requests do not catch up with the store (etcd 21385, 21423, 20418)',
    suites,
    file: 'src/http/stages/catch-up.ts',
    find: '      await refresh()\n',
    replace: '      void refresh\n',
  },
  {
    seed: 10,
    why: 'simulated: a transaction is sent again when its connection breaks',
    suites,
    file: 'src/storage/etcd/connection.ts',
    find: 'const mayRepeat = options.repeatable && another',
    replace: 'const mayRepeat = another',
  },
  {
    seed: 46,
    why: 'simulated: sessions go on when the cache is read anew',
    suites,
    file: 'src/watch/watch-cache.ts',
    find: 'for (const session of [...cache.watchers.all()]) session.close(gone)',
    replace: 'for (const session of [...cache.watchers.all()]) void [session, gone]',
  },
  {
    seed: 22,
    why: 'simulated: a create does not guard its namespace',
    suites,
    file: 'src/apis/namespaces/admission.ts',
    find: 'return { guards: [{ key: seen.key, expect: seen.expect }] }',
    replace: 'return {}',
  },
  {
    seed: 1401,
    why: 'simulated: an account is charged without its counter, which a queued write removes',
    suites,
    file: 'src/apis/clusterquotas/charges.ts',
    find: '      else guards.push({ key: seen.key, expect: seen.expect })\n',
    replace: '',
  },
  {
    seed: 407,
    why: 'simulated: the relay reads replaced values while it sends them',
    suites,
    file: 'src/storage/relay/relay-holder.ts',
    find: 'previous: previous && withValue(previous)',
    replace: 'previous',
  },
  {
    seed: 6,
    why: 'simulated: the answer of an etcd that is full is taken for success',
    suites,
    file: 'src/storage/etcd/etcd-storage.ts',
    find: "if (isStorageError(error, 'full')) this.#isFull = true",
    replace: "if (isStorageError(error, 'full')) return { term: 0, revision: 2, succeeded: true, responses: [] }",
  },
  {
    seed: 90,
    why: 'simulated: a damaged value is read as absent',
    suites,
    file: 'src/storage/etcd/etcd-storage.ts',
    find: 'if (!this.#keySpace.isInternal(key)) entries.push(toEntry(key, kv))',
    replace:
      'if (!this.#keySpace.isInternal(key) && toEntry(key, kv).value[0] !== 0xff) entries.push(toEntry(key, kv))',
  },
  {
    seed: 84,
    why: 'simulated: a key of the KMS is given up when it is rotated',
    suites,
    file: 'src/encryption/kms-provider.ts',
    find: '    const known = this.#seeds.get(id)\n    if (known === undefined) throw',
    replace: `    if (this.#current?.source.keyId !== envelope.source.keyId) throw new EncryptionError('rotated')
    const known = this.#seeds.get(id)
    if (known === undefined) throw`,
  },
  {
    seed: 222,
    why: 'simulated: a member of etcd answers by what it knows itself, and was replaced',
    suites,
    file: 'src/storage/etcd/messages.ts',
    find: '  w.bool(9, request.countOnly ?? false)',
    replace: '  w.bool(7, true)\n  w.bool(9, request.countOnly ?? false)',
  },
]
