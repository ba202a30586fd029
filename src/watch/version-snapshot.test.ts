/** Lists of the present whose reader takes its time, of a store that was opened again: no value is in memory yet. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { objectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts'
import type { ObjectVersion } from './stored-object.ts'
import { spanOf } from './type-cache.ts'
import type { Versions } from './version-snapshot.ts'
import { WatchCache } from './watch-cache.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-snapshot-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** More than are noted, and so few that they are made at once. */
const counts = [600, 60]
const nameOf = (n: number): string => `n${String(n).padStart(4, '0')}`
const textOf = (name: string, turn: number): string => `{"metadata":{"name":"${name}"},"turn":${turn}}`

async function write(storage: SqliteStorage, n: number, turn: number | undefined): Promise<number> {
  const key = objectKey('configmaps', 'team', nameOf(n))
  const { entry } = await storage.get(key)
  if (entry === undefined && turn === undefined) return storage.currentRevision()
  const value = turn === undefined ? undefined : Buffer.from(textOf(nameOf(n), turn))
  const commit = await storage.commit({ guards: [], writes: [{ key, value, expect: entry?.revision ?? 'absent' }] })
    .done
  return commit.ok ? commit.revision : 0
}

const shown = (version: ObjectVersion): string => `${version.key} ${Buffer.from(version.bytes).toString()}`

const stepsOn = (count: number) =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), n: fc.nat(count + 20) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), n: fc.nat(count - 1) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('note' as const), n: fc.nat(count) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('parse' as const), n: fc.nat(count) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), n: fc.nat(200) }) },
    ),
    { minLength: 20, maxLength: 60 },
  )

const configMaps = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps' } as ResourceType

it.each(counts)(
  'of %d shows what there was when it was made, however late each version is asked for',
  async (count) => {
    {
      await using storage = await SqliteStorage.open({ directory })
      const writes = Array.from({ length: count }, (_, n) => write(storage, n, 0))
      await Promise.all(writes)
    }
    await fc.assert(
      fc.asyncProperty(stepsOn(count), async (script) => {
        await using storage = await SqliteStorage.open({ directory })
        await using cache = await WatchCache.start({
          storage,
          clock: new FakeClock(),
          log: silentLog,
          parsedBytes: 2000,
        })
        const maps = cache.type('configmaps')
        const reading: { readonly values: Versions; readonly expected: readonly string[]; at: number }[] = []
        const readOn = (each: (typeof reading)[number], most: number): void => {
          for (let i = 0; i < most && each.at < each.values.length; i++, each.at++) {
            expect(shown(each.values.at(each.at) as ObjectVersion)).toBe(each.expected[each.at])
          }
        }
        for (const [turn, step] of script.entries()) {
          if (step.do === 'write') await cache.applied(await write(storage, step.n, turn + 1))
          else if (step.do === 'remove') await cache.applied(await write(storage, step.n, undefined))
          else if (step.do === 'parse') expect(maps.find('team', nameOf(step.n))?.as(configMaps).object).not.toBeNull()
          else if (step.do === 'note') {
            const { entries } = await storage.range({ start: '/registry/configmaps/', end: '/registry/configmaps0' })
            const expected = entries.map(
              ({ key, value }) => `${key.slice('/registry/configmaps/'.length)} ${Buffer.from(value).toString()}`,
            )
            reading.push({ values: maps.snapshot(spanOf('')).values, expected, at: 0 })
          } else for (const each of reading) readOn(each, step.n)
        }
        for (const each of reading) {
          expect(each.values.length).toBe(each.expected.length)
          readOn(each, Number.POSITIVE_INFINITY)
          expect([...each.values].map(shown)).toEqual(each.expected)
        }
      }),
      { numRuns: 15 },
    )
  },
)

it('notes the same few versions for the same question, until one of them changes', async () => {
  await using storage = await SqliteStorage.open({ directory })
  for (let n = 0; n < 40; n++) await write(storage, n, 0)
  await using cache = await WatchCache.start({ storage, clock: new FakeClock(), log: silentLog, parsedBytes: 2000 })
  const maps = cache.type('configmaps')
  const first = maps.snapshot(spanOf('team')).values
  expect(maps.snapshot(spanOf('team')).values).toBe(first)
  expect(maps.snapshot(spanOf('team'), 20).values).not.toBe(first)
  await cache.applied(await write(storage, 7, 1))
  const second = maps.snapshot(spanOf('team')).values
  expect(second).not.toBe(first)
  expect([first, second].map((values) => shown(values.at(7) as ObjectVersion))).toEqual([
    `team/${nameOf(7)} ${textOf(nameOf(7), 0)}`,
    `team/${nameOf(7)} ${textOf(nameOf(7), 1)}`,
  ])
})
