/** What features that follow all types see of the watch cache. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { objectKey } from '../kube/object-key.ts'
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { WatchCache } from '../watch/watch-cache.ts'
import { CacheStoreView } from './cache-store-view.ts'

async function put(storage: Storage, namespace: string, name: string): Promise<number> {
  const key = objectKey('configmaps', namespace, name)
  const value = Buffer.from(`{"metadata":{"name":"${name}"}}`)
  const commit = await storage.commit({ guards: [], writes: [{ key, value, expect: 'absent' }] }).done
  return commit.ok ? commit.revision : 0
}

test('a look at all of a type, or of one namespace, and whether something damaged was left out', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'borough-view-'))
  try {
    const revisions = new Map<string, number>()
    {
      await using first = await SqliteStorage.open({ directory })
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        revisions.set(name, await put(first, name < 'c' ? 'left' : 'right', name))
      }
    }
    await using storage = await SqliteStorage.open({ directory })
    await using cache = await WatchCache.start({ storage, clock: new FakeClock(), log: silentLog })
    const view = new CacheStoreView(cache)
    const glanced = (namespace?: string): string[][] =>
      [...view.glances('configmaps', 2, namespace)].map((step) => step.map(({ name }) => name))
    expect(glanced()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(glanced('right')).toEqual([['c', 'd'], ['e']])
    expect(glanced('lef')).toEqual([])
    view.checkSound('configmaps')

    // What is read in one turn of the loop is of one state of the file.
    await new Promise((resolve) => setImmediate(resolve))
    const other = new DatabaseSync(join(directory, 'state.db'))
    const revision = revisions.get('d') ?? 0
    other.prepare('DELETE FROM log WHERE revision = ?').run(revision)
    other.close()
    expect(glanced('right')).toEqual([['c'], ['e']])
    const damage = `the stored value of /registry/configmaps/right/d at revision ${revision} is damaged: it is missing`
    expect(() => view.checkSound('configmaps')).toThrow(damage)
    view.checkSound('secrets')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
