/**
 * Back in time: sets of backups, full and of what changed, and stores restored from them to any point. A store is
 * written by a random history; what it held at each moment is compared with what is restored.
 */
import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RestorePoint } from '../../src/backup/backup.ts'
import {
  BackupLedger,
  BackupSchedule,
  backUpInto,
  copyStore,
  forgetOld,
  rebuildIndexAt,
  sourceAt,
  targetAt,
  verifyStoreAt,
} from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { type Log, silentLog } from '../../src/base/log.ts'
import { formatTime } from '../../src/kube/time.ts'
import { LogFile } from '../../src/storage/sqlite/log-file.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { aesgcm, writeConfiguration } from '../encryption/configurations.ts'
import { type ServedStore, serveStore } from '../encryption/served-store.ts'
import { main } from '../interop/serving-process.ts'

let folder: string
let dataDir: string
let set: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-drills-'))
  dataDir = join(folder, 'data')
  set = join(folder, 'set')
  for (const path of [dataDir, set]) await mkdir(path, { mode: 0o700 })
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

const options = { clock: systemClock, log: silentLog }
const everything = prefixSpan('/')
const open = (at = dataDir) => SqliteStorage.open({ directory: join(at, 'store') })

let restores = 0
async function restore(point?: RestorePoint): Promise<string> {
  const to = join(folder, `restored-${++restores}`)
  const source = sourceAt({ folder: set, point }, options)
  await using target = await targetAt({ dataDir: to }, options)
  await copyStore(source, target, () => undefined)
  return to
}

async function stateOf(storage: Storage): Promise<Record<string, string>> {
  const { entries } = await storage.range(everything)
  return Object.fromEntries(entries.map(({ key, value }) => [key, Buffer.from(value).toString()]))
}

async function restoredState(point?: RestorePoint): Promise<Record<string, string>> {
  await using storage = await open(await restore(point))
  return await stateOf(storage)
}

async function put(storage: Storage, key: string, value: string | undefined): Promise<number> {
  const { entry } = await storage.get(key)
  if (value === undefined && entry === undefined) return await storage.currentRevision()
  const write = {
    key,
    value: value === undefined ? undefined : Buffer.from(value),
    expect: entry?.revision ?? ('absent' as const),
  }
  await storage.commit({ guards: [], writes: [write] }).done
  return await storage.currentRevision()
}

describe('a set of backups', () => {
  it('any moment of a random history can be restored from it', async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ key: fc.nat(9), value: fc.option(fc.nat(999), { nil: undefined }) }) },
      { weight: 2, arbitrary: fc.constant('backup' as const) },
      { weight: 1, arbitrary: fc.constant('compact' as const) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        for (const path of [dataDir, set]) {
          await rm(path, { recursive: true })
          await mkdir(path, { mode: 0o700 })
        }
        const states: { readonly revision: number; readonly state: Record<string, string> }[] = []
        let backedUp = 0
        {
          await using storage = await open()
          await backUpInto(set, dataDir, options)
          for (const each of [...steps, 'backup' as const]) {
            if (each === 'backup') backedUp = (await backUpInto(set, dataDir, options)).revision
            else if (each === 'compact') await storage.compact(await storage.currentRevision())
            else {
              const revision = await put(
                storage,
                `/k${each.key}`,
                each.value === undefined ? undefined : `v${each.value}`,
              )
              states.push({ revision, state: await stateOf(storage) })
            }
          }
        }
        const files = await readdir(set)
        // Compaction waits for the mark: one full backup is enough.
        expect(files.filter((name) => name.startsWith('full-'))).toHaveLength(1)
        const known = states.filter(({ revision }) => revision <= backedUp)
        for (const at of [0, Math.floor(known.length / 2), known.length - 1]) {
          const { revision, state } = known[at] ?? { revision: 0, state: {} }
          if (revision > 0) expect(await restoredState({ revision })).toEqual(state)
        }
        expect(await restoredState()).toEqual(known.at(-1)?.state ?? {})
      }),
      { numRuns: 8 },
    )
  })

  it('a revision within a commit names the whole of it', async () => {
    await using storage = await open()
    await backUpInto(set, dataDir, options)
    const writes = ['/a', '/b', '/c'].map((key) => ({ key, value: Buffer.from('v'), expect: 'absent' as const }))
    const commit = await storage.commit({ guards: [], writes }).done
    const revision = commit.ok ? commit.revision : 0
    await put(storage, '/later', 'v')
    await backUpInto(set, dataDir, options)
    for (const each of [revision, revision + 1]) {
      expect(await restoredState({ revision: each })).toEqual({ '/a': 'v', '/b': 'v', '/c': 'v' })
    }
  })

  it('a moment is named by its time, too', async () => {
    const now = { ms: Date.UTC(2026, 0, 1) }
    const log = new LogFile(
      { directory: join(dataDir, 'store'), maxFileBytes: 0, reserveBytes: 0, lockTimeoutMs: 0, acceptLoss: false },
      undefined,
      () => now.ms,
    )
    const write = (ticket: number, key: string): void => {
      now.ms += 60_000
      log.commit([{ ticket, guards: 0, keys: [key], expects: [0], values: [Buffer.from(key)] }], 0)
    }
    const clock = new FakeClock(now.ms)
    await backUpInto(set, dataDir, { clock, log: silentLog })
    for (const [i, key] of ['/a', '/b', '/c'].entries()) write(i + 1, key)
    await clock.advance(now.ms - clock.now())
    await backUpInto(set, dataDir, { clock, log: silentLog })
    log.close()
    const at = (minutes: number): RestorePoint => ({ timeMs: Date.UTC(2026, 0, 1) + minutes * 60_000 })
    expect(Object.keys(await restoredState(at(2)))).toEqual(['/a', '/b'])
    expect(Object.keys(await restoredState(at(2.5)))).toEqual(['/a', '/b'])
    expect(Object.keys(await restoredState(at(3)))).toEqual(['/a', '/b', '/c'])
    await expect(restore(at(60))).rejects.toThrow(
      /^what was then is not known: the newest backup ends at revision \d+, of/,
    )
    await expect(restore(at(-1))).rejects.toThrow(
      `${set} has no full backup of then or before: the oldest is ${set}/full-`,
    )
  })

  it('a time that the clock came to twice is not chosen among: the revisions are named', async () => {
    const startMs = Date.UTC(2026, 0, 1)
    const minuteMs = 60_000
    const now = { ms: startMs }
    const log = new LogFile(
      { directory: join(dataDir, 'store'), maxFileBytes: 0, reserveBytes: 0, lockTimeoutMs: 0, acceptLoss: false },
      undefined,
      () => now.ms,
    )
    let ticket = 0
    const write = (minutes: number): number => {
      now.ms = startMs + minutes * minuteMs
      const key = `/${String(++ticket)}`
      log.commit([{ ticket, guards: 0, keys: [key], expects: [0], values: [Buffer.from(key)] }], 0)
      return log.head
    }
    const backUp = (fullAfterMs?: number) =>
      backUpInto(set, dataDir, {
        clock: new FakeClock(now.ms),
        log: silentLog,
        ...(fullAfterMs === undefined ? {} : { fullAfterMs }),
      })
    const at = (minutes: number): RestorePoint => ({ timeMs: startMs + minutes * minuteMs })
    const keys = async (point: RestorePoint): Promise<string> => Object.keys(await restoredState(point)).join('')
    const refusal = (time: string, ...revisions: number[]): string =>
      `2026-01-01T${time}:00Z was more than once, since the clock of the server was set back: ` +
      `at revision ${revisions.join(', ')}. Say which is meant: --to <revision>`
    await backUp()
    const ten = write(10)
    // A day ahead for a while, within one file of changes.
    write(24 * 60 + 11)
    write(12)
    const back = write(13)
    await backUp()
    write(20)
    const atTwenty = (await backUp()).revision
    await expect(restore(at(15))).rejects.toThrow(refusal('00:15', ten, back))
    expect(await keys(at(10))).toBe('/1')
    expect(await keys({ revision: ten })).toBe('/1')
    expect(await keys({ revision: back })).toBe('/1/2/3/4')
    // An hour back; one of everything follows at once.
    now.ms = startMs - 40 * minuteMs
    const full = await backUp(0)
    expect(full).toMatchObject({ full: true, revision: atTwenty })
    write(-39)
    const again = write(14)
    write(30)
    await backUp()
    await expect(restore(at(15))).rejects.toThrow(refusal('00:15', ten, back, again))
    expect(await keys(at(-39))).toBe('/1/2/3/4/5/6')
    log.close()
  })

  it('a full backup is not what was earlier in its second', async () => {
    const start = Date.UTC(2026, 0, 1)
    const now = { ms: start + 100 }
    const clock = { ...systemClock, now: () => now.ms }
    const log = new LogFile(
      { directory: join(dataDir, 'store'), maxFileBytes: 0, reserveBytes: 0, lockTimeoutMs: 0, acceptLoss: false },
      undefined,
      clock.now,
    )
    await backUpInto(set, dataDir, { clock, log: silentLog })
    for (const [i, key] of ['/a', '/b'].entries()) {
      now.ms = start + 200 * (i + 1)
      log.commit([{ ticket: i + 1, guards: 0, keys: [key], expects: [0], values: [Buffer.from(key)] }], 0)
    }
    now.ms = start + 600
    expect((await backUpInto(set, dataDir, { clock, log: silentLog, fullAfterMs: 0 })).full).toBe(true)
    log.close()
    expect(Object.keys(await restoredState({ timeMs: start + 300 }))).toEqual(['/a'])
    expect(Object.keys(await restoredState())).toEqual(['/a', '/b'])
    await expect(restore({ timeMs: start + 50 })).rejects.toThrow(/ of 2026-01-01T00:00:01Z$/)
  })

  it('the command writes all of it before its process ends', async () => {
    {
      await using storage = await open()
      for (let i = 0; i < 130; i++) await put(storage, `/k${i}`, 'v')
    }
    const args = [main, 'backup', '--data-dir', dataDir, '--incremental', '--to', set, '-o', 'json']
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ full: true, entries: 130 })
  })

  it('where the changes since are not kept any more, the next one is full', async () => {
    await using storage = await open()
    await put(storage, '/a', 'one')
    await backUpInto(set, dataDir, options)
    await put(storage, '/a', 'two')
    await rm(join(dataDir, 'store', 'backup-mark'))
    await storage.compact(await storage.currentRevision())
    const { full, revision } = await backUpInto(set, dataDir, options)
    expect({ full, revision }).toEqual({ full: true, revision: await storage.currentRevision() })
    expect(await restoredState()).toEqual({ '/a': 'two' })
  })

  it('another store that backs up into the folder follows nothing there: everything of it is written', async () => {
    const other = join(folder, 'other')
    await mkdir(other, { mode: 0o700 })
    await using storage = await open()
    await put(storage, '/a', 'of the first')
    const first = await backUpInto(set, dataDir, options)
    await using second = await open(other)
    // It has come by the revision of the first, and kept everything since.
    for (const key of ['/b', '/c', '/d']) await put(second, key, 'of the second')
    const { full, revision } = await backUpInto(set, other, options)
    expect({ full, isLater: revision > first.revision }).toEqual({ full: true, isLater: true })
    expect(await restoredState()).toEqual({ '/b': 'of the second', '/c': 'of the second', '/d': 'of the second' })
    expect(await restoredState({ revision: first.revision })).toEqual({ '/a': 'of the first' })
  })

  it('follows each of several folders', async () => {
    const sets = [set, join(folder, 'set-2')]
    await mkdir(sets[1] ?? '', { mode: 0o700 })
    await using storage = await open()
    const fulls: boolean[] = []
    for (let i = 0; i < 3; i++) {
      await put(storage, `/${i}`, 'v')
      for (const each of sets) fulls.push((await backUpInto(each, dataDir, options)).full)
    }
    expect(fulls).toEqual([true, true, false, false, false, false])
  })

  it('one at a time: another one is refused while one is under way, and taken afterwards', async () => {
    await using storage = await open()
    for (let i = 0; i < 65; i++) await put(storage, `/${i}`, 'v')
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const rest = async (): Promise<void> => {
      begun.resolve()
      await goOn.promise
    }
    const slow = backUpInto(set, dataDir, { ...options, rest })
    await begun.promise
    await expect(backUpInto(set, dataDir, options)).rejects.toThrow(
      `another backup of ${dataDir} is under way: wait for its end`,
    )
    goOn.resolve()
    expect(await slow).toMatchObject({ full: true, entries: 65 })
    expect(await backUpInto(set, dataDir, options)).toMatchObject({ full: false, entries: 0 })
  })

  it('a restored store goes on above every revision that can have been given out', async () => {
    let last = 0
    {
      await using storage = await open()
      await put(storage, '/a', 'one')
      await backUpInto(set, dataDir, options)
      for (let i = 0; i < 50; i++) last = await put(storage, '/a', `after ${i}`)
    }
    await using restored = await open(await restore())
    expect(await restored.currentRevision()).toBeGreaterThan(last)
    await expect(restored.get('/a', { at: last })).rejects.toMatchObject({ code: 'compacted' })
  })

  it('nothing has a revision again that a client may hold of what was there before the restore', async () => {
    const held: number[] = []
    for (let from = dataDir, i = 0; i < 3; i++) {
      {
        await using storage = await open(from)
        const before = (await storage.get('/a')).entry?.revision
        if (i === 0) await put(storage, '/a', 'first')
        else expect(held).not.toContain(before)
        if (before !== undefined) held.push(before)
        await put(storage, '/a', `later ${i}`)
        held.push((await storage.get('/a')).entry?.revision ?? 0)
        await rm(set, { recursive: true })
        await mkdir(set, { mode: 0o700 })
        await backUpInto(set, from, options)
      }
      from = await restore()
      await using restored = await open(from)
      const [first = 0] = held
      const stale = { key: '/a', value: Buffer.from('of before'), expect: first }
      expect((await restored.commit({ guards: [], writes: [stale] }).done).ok).toBe(false)
      expect((await restored.get('/a')).entry?.revision).toBeGreaterThan(Math.max(...held))
    }
  })

  it('what was restored only in part is not sound to those who look, nor made whole by a new index', async () => {
    const part = join(folder, 'part')
    {
      await using target = await targetAt({ dataDir: part }, options)
      await target.begin(4096, 'the old one')
      await target.write({ key: '/registry/configmaps/default/c', value: Buffer.from('{}') })
      await target.finish()
    }
    // As a copy of the folder may have it.
    await chmod(join(part, 'unfinished-copy'), 0o644)
    const want = `${part} holds only a part: a copy of the old one that began at `
    await expect(verifyStoreAt({ dataDir: part }, options)).rejects.toThrow(want)
    await expect(rebuildIndexAt(part)).rejects.toThrow(want)
  })

  it('keeps as many full ones as are wanted, with what follows them', async () => {
    await using storage = await open()
    for (let i = 0; i < 4; i++) {
      await put(storage, '/a', `${i}`)
      await backUpInto(set, dataDir, { ...options, fullAfterMs: 0 })
      await put(storage, '/a', `${i} changed`)
      await backUpInto(set, dataDir, options)
    }
    expect(await forgetOld(set, 2)).toBe(6)
    const names = (await readdir(set)).toSorted()
    expect(names.map((name) => name.replaceAll(/\d+/g, 'n'))).toEqual([
      'changes-n-n',
      'changes-n-n',
      'changes-n-n',
      'full-n',
      'full-n',
    ])
    expect(await restoredState()).toEqual({ '/a': '3 changed' })
  })

  it('each moment around a full backup can be restored, too', async () => {
    const moments: { readonly revision: number; readonly state: Record<string, string> }[] = []
    {
      await using storage = await open()
      for (let i = 0; i < 9; i++) {
        const revision = await put(storage, `/${i % 4}`, i % 4 === 3 ? undefined : `${i}`)
        moments.push({ revision, state: await stateOf(storage) })
        if (i % 2 === 0) await backUpInto(set, dataDir, i % 4 === 0 ? { ...options, fullAfterMs: 0 } : options)
      }
    }
    expect((await readdir(set)).filter((name) => name.startsWith('full-'))).toHaveLength(3)
    for (const [i, { revision, state }] of moments.entries()) {
      expect(await restoredState({ revision })).toEqual(state)
      // Not its end: its first change. Of the first commit that lies before all backups.
      if (i > 0) expect(await restoredState({ revision: revision - 1023 })).toEqual(state)
    }
  })

  it('what is not known is not restored: where a file is missing in between, beyond the newest', async () => {
    const ends: number[] = []
    {
      await using storage = await open()
      for (const key of ['/a', '/b', '/c']) {
        await put(storage, key, key)
        ends.push((await backUpInto(set, dataDir, options)).revision)
      }
    }
    const [first = 0, second = 0, third = 0] = ends
    await expect(restore({ revision: third + 1 })).rejects.toThrow(`the newest backup ends at revision ${third}, of`)
    const name = (await readdir(set)).find((each) => each.endsWith(`-${String(second).padStart(16, '0')}`)) ?? ''
    await rm(join(set, name))
    for (const point of [undefined, { revision: second }, { revision: third }, { timeMs: Date.now() + 5000 }]) {
      await expect(restore(point)).rejects.toThrow(`what follows revision ${first}, of`)
    }
    expect(await restoredState({ revision: first })).toEqual({ '/a': '/a' })
  })

  const damages: readonly { readonly name: string; readonly of: string; spoil(text: string): string; says: RegExp }[] =
    [
      {
        name: 'a changed value of a full backup',
        of: 'full',
        spoil: (text) => text.replace('first', 'fIrst'),
        says: /full-\d+ is damaged: \/a is not what was written/,
      },
      ...(['revision', 'time', 'until'] as const).map((member) => ({
        name: `a changed ${member} of a full backup`,
        of: 'full',
        spoil: (text: string) => text.replace(new RegExp(`("${member}":"?)\\d`), '$19'),
        says: /full-\d+ is damaged: its first line is not what was written/,
      })),
      {
        name: 'a changed value of what changed',
        of: 'changes',
        spoil: (text) => text.replace('second', 'sEcond'),
        says: /changes-\d+-\d+ is damaged: \/b is not what was written/,
      },
      {
        name: 'a change that is missing',
        of: 'changes',
        spoil: (text) => text.split('\n').toSpliced(1, 1).join('\n'),
        says: /changes-\d+-\d+ is damaged: what it holds is not what was written/,
      },
      {
        name: 'an end that is missing',
        of: 'changes',
        spoil: (text) => text.split('\n').slice(0, -2).join('\n'),
        says: /changes-\d+-\d+ is cut off: its last line is missing/,
      },
      {
        name: 'another file in its place',
        of: 'changes',
        spoil: () => '{"format":"something"}\n',
        says: /changes-\d+-\d+ is no file of changes/,
      },
      {
        name: 'a file of a later version',
        of: 'changes',
        spoil: (text) => text.replace('"version":1', '"version":9'),
        says: /changes-\d+-\d+ has format version 9, this version reads 1/,
      },
      {
        name: 'a line that is no JSON',
        of: 'changes',
        spoil: (text) => text.replace('{"revision"', '{revision'),
        says: /changes-\d+-\d+ is damaged: a line is not JSON/,
      },
    ]
  it.each(damages)('$name is found before anything is restored', async ({ of, spoil, says }) => {
    {
      await using storage = await open()
      await put(storage, '/a', 'first')
      await backUpInto(set, dataDir, options)
      await put(storage, '/b', 'second')
      await backUpInto(set, dataDir, options)
    }
    const name = (await readdir(set)).find((each) => each.startsWith(of)) ?? ''
    const path = join(set, name)
    const text = await readFile(path, 'utf8')
    expect(spoil(text)).not.toBe(text)
    await writeFile(path, spoil(text))
    await expect(restore()).rejects.toThrow(says)
    expect(await readdir(join(folder, `restored-${restores}`))).not.toContain('unfinished-copy')
  })

  it('a full backup under the name of another revision is not restored', async () => {
    {
      await using storage = await open()
      await put(storage, '/a', 'first')
      await backUpInto(set, dataDir, options)
    }
    const path = join(set, 'full-0000000000001023')
    await rename(join(set, 'full-0000000000002047'), path)
    await expect(restore()).rejects.toThrow(`${path} is of revision 2047, not of the one that its name says`)
  })

  it('a file of changes of another store does not follow', async () => {
    const other = join(folder, 'other')
    const sets = [set, join(folder, 'other-set')]
    for (const path of [other, sets[1] ?? '']) await mkdir(path, { mode: 0o700 })
    for (const [i, at] of [dataDir, other].entries()) {
      await using storage = await open(at)
      await put(storage, '/a', `first of ${i}`)
      await backUpInto(sets[i] ?? '', at, options)
      await put(storage, '/b', 'second')
      await backUpInto(sets[i] ?? '', at, options)
    }
    const name = (await readdir(set)).find((each) => each.startsWith('changes')) ?? ''
    await copyFile(join(sets[1] ?? '', name), join(set, name))
    await expect(restore()).rejects.toThrow(`${join(set, name)} does not follow what is there before it`)
  })
})

describe('a server', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const create = (server: ServedStore, name: string) => server.send('POST', configMaps, { metadata: { name } })

  it('that is encrypted is backed up while it runs, and restored to a moment, with its keys', async () => {
    const path = await writeConfiguration(folder, { resources: ['secrets', 'configmaps'], providers: [aesgcm(1)] })
    const encryption = { path, automaticReload: false }
    const { openCopyEncryption } = await import('../../src/backup/backup.ts')
    using keys = await openCopyEncryption(encryption, options)
    const encrypted = { ...options, encryption: keys }
    let moment = 0
    {
      await using server = await serveStore(dataDir, encryption)
      await create(server, 'before')
      await backUpInto(set, dataDir, encrypted)
      const created = await create(server, 'wanted')
      moment = Number((JSON.parse(created.text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion)
      await create(server, 'after')
      await expect(backUpInto(set, dataDir, options)).rejects.toThrow(
        `${dataDir} is encrypted, and its keys are not: --encryption-provider-config <file>`,
      )
      expect((await backUpInto(set, dataDir, encrypted)).full).toBe(false)
      await expect(backUpInto(join(folder, 'set'), dataDir, { ...options, fullAfterMs: 0 })).rejects.toThrow(
        `${dataDir} is encrypted, and its keys are not: --encryption-provider-config <file>`,
      )
    }
    for (const name of await readdir(set)) {
      const text = await readFile(join(set, name), 'utf8')
      expect(text.includes('name\\":\\"wanted')).toBe(false)
      expect(text.includes('PRIVATE KEY')).toBe(false)
    }
    const restored = join(folder, 'restored-server')
    {
      const source = sourceAt({ folder: set, point: { revision: moment } }, encrypted)
      await using target = await targetAt({ dataDir: restored }, encrypted)
      await copyStore(source, target, () => undefined)
    }
    await using server = await serveStore(restored, encryption)
    expect((await server.send('GET', `${configMaps}/wanted`)).status).toBe(200)
    expect((await server.send('GET', `${configMaps}/after`)).status).toBe(404)
    expect(await readFile(join(restored, 'pki', 'ca.key'))).toEqual(await readFile(join(dataDir, 'pki', 'ca.key')))
  })

  it('makes a full backup in time, however far its clock is set back', async () => {
    const clockAt = (ms: number) => ({ clock: new FakeClock(ms), log: silentLog, fullAfterMs: 86_400_000 })
    const begun = Date.UTC(2026, 5, 1)
    await using storage = await open()
    const isFull = async (ms: number): Promise<boolean> => {
      await put(storage, '/a', String(ms))
      return (await backUpInto(set, dataDir, clockAt(ms))).full
    }
    expect(await isFull(begun)).toBe(true)
    expect(await isFull(begun + 80_000_000)).toBe(false)
    expect(await isFull(begun - 30_000)).toBe(false)
    const yearBack = Date.UTC(2025, 5, 1)
    expect(await isFull(yearBack)).toBe(true)
    expect(await isFull(yearBack + 80_000_000)).toBe(false)
    expect(await isFull(yearBack + 86_400_000)).toBe(true)
  })

  it('makes backups by itself, and goes on after one that failed', async () => {
    const clock = new FakeClock()
    const told: string[] = []
    const log: Log = {
      ...silentLog,
      info: (_fields, message) => void told.push(message),
      error: (_fields, message) => void told.push(message),
    }
    await using storage = await open()
    await put(storage, '/a', 'one')
    const plan = { folder: set, everyMs: 1000, fullEveryMs: 86_400_000, keep: 2 }
    const ledger = new BackupLedger(clock, set, plan.everyMs)
    const none = { everyMs: 1000, successes: 0, failures: 0, warnings: [] }
    expect(ledger.report()).toEqual(none)
    const schedule = new BackupSchedule({ plan, dataDir, clock, log, ledger, options: async () => ({ clock, log }) })
    schedule.start()
    await expect.poll(() => told).toEqual(['backed up'])
    const first = clock.now()
    const sizeBytes = (await stat(join(set, (await readdir(set))[0] ?? ''))).size
    const done = { everyMs: 1000, successes: 1, failures: 0, lastMs: first, sizeBytes, durationMs: 0, warnings: [] }
    expect(ledger.report()).toEqual(done)
    // Nothing has changed: no file is written, and the backup is good all the same.
    const files = await readdir(set)
    await expect
      .poll(async () => {
        await clock.advance(1000)
        return told.length
      })
      .toBeGreaterThan(1)
    expect(await readdir(set)).toEqual(files)
    expect(ledger.report().lastMs).toBeGreaterThan(first)
    await put(storage, '/a', 'two')
    await chmod(set, 0o755)
    await expect
      .poll(async () => {
        await clock.advance(1000)
        return told.at(-1)
      })
      .toBe('a backup could not be made; the next one is tried in time')
    const { failures, warnings } = ledger.report()
    expect(failures).toBeGreaterThan(0)
    expect(warnings).toEqual([
      expect.stringMatching(/^the backup into \S+ at \S+ failed \(the last is of \S+\): \S+ is open/),
    ])
    await chmod(set, 0o700)
    await clock.advance(0)
    await expect
      .poll(async () => {
        await clock.advance(1000)
        return told.at(-1)
      })
      .toBe('backed up')
    await schedule[Symbol.asyncDispose]()
    const now = ledger.report()
    expect(now.warnings).toEqual([])
    await clock.advance(2001)
    const ended = formatTime(now.lastMs ?? 0)
    expect(ledger.report().warnings).toEqual([`no backup into ${set} has ended for a while (the last is of ${ended})`])
    expect((await readdir(set)).map((name) => name.replaceAll(/\d+/g, 'n')).toSorted()).toContain('changes-n-n')
    expect(await restoredState()).toEqual({ '/a': 'two' })
  })
})
