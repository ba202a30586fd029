/** `borough storage verify` and `borough storage repair`, on stores that were damaged behind the server's back. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import type { Revision, Storage } from '../../src/storage/storage.ts'
import { main } from '../interop/serving-process.ts'

interface Result {
  readonly code: number
  readonly out: string
  readonly err: string
}

const key = '/registry/configmaps/team-a/c'
let dataDir: string
let first: Revision
let second: Revision

function borough(...args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args, '--data-dir', dataDir], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

const store = (): string => join(dataDir, 'store')
const open = (): Promise<SqliteStorage> => SqliteStorage.open({ directory: store() })

async function write(storage: Storage, value: string, expected: Revision | 'absent'): Promise<Revision> {
  const commit = await storage.commit({ guards: [], writes: [{ key, value: Buffer.from(value), expect: expected }] })
    .done
  if (!commit.ok) throw new Error('lost')
  return commit.revision
}

async function valueNow(): Promise<string | undefined> {
  await using storage = await open()
  const { entry } = await storage.get(key)
  return entry && Buffer.from(entry.value).toString()
}

function change(sql: string, ...values: (string | number)[]): void {
  const database = new DatabaseSync(join(store(), 'state.db'))
  database.prepare(sql).run(...values)
  database.close()
}

const damageValue = (): void => change("UPDATE log SET value = CAST('second!' AS BLOB) WHERE revision = ?", second)
const damage = (): RegExp =>
  new RegExp(`^the stored value of ${key} at revision ${second} is damaged: its checksum is \\w{8}, \\w{8} was written`)

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-repair-'))
  await using storage = await open()
  first = await write(storage, 'first', 'absent')
  second = await write(storage, 'second', first)
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

describe('verify', () => {
  it('says what is sound, while the store is open too', async () => {
    await using storage = await open()
    await write(storage, 'third', second)
    expect(await borough('storage', 'verify')).toEqual({
      code: 0,
      out: '1 entries, 3 changes at revision 4095: all is sound\n',
      err: '',
    })
  })

  it.each([
    {
      name: 'a value',
      sql: "UPDATE log SET value = CAST('x' AS BLOB) WHERE revision = 2048",
      finding: /is damaged: its checksum/,
    },
    {
      name: 'a header',
      sql: 'UPDATE log SET header = NULL WHERE revision = 1024',
      finding: /at revision 1024 is damaged: its header is missing/,
    },
    {
      name: 'a row of the log',
      sql: 'DELETE FROM log WHERE revision = 1024',
      finding: /revisions 1024 to 2047 are missing in the log/,
    },
    {
      name: 'a link of the log',
      sql: 'UPDATE log SET previous = NULL WHERE revision = 2048',
      finding: /at revision 2048 replaced null, not 1024/,
    },
    {
      name: 'a row of the index',
      sql: 'DELETE FROM present',
      finding: new RegExp(`the index lacks ${key}, which the log has at revision 2048`),
    },
    {
      name: 'a revision of the index',
      sql: 'UPDATE present SET revision = 1024',
      finding: /the index has .* at revision 1024, the log at 2048/,
    },
  ])('names damage of $name', async ({ sql, finding }) => {
    change(sql)
    const { code, out } = await borough('storage', 'verify', '-o', 'json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ findings: expect.arrayContaining([expect.stringMatching(finding)]) })
  })
})

describe('what was repaired', () => {
  it('is named until history is over, as nothing to repair', async () => {
    damageValue()
    await borough('storage', 'repair', '--key', key, '--with', 'previous', '--yes')
    const { code, out } = await borough('storage', 'verify')
    expect(code).toBe(1)
    const what = 'it was replaced or removed since, so nothing is to be repaired: it goes with history'
    expect(out).toMatch(new RegExp(`${damage().source} with it; ${what}\\n1 entries, .*: 1 findings\\n$`))
    const doctor = JSON.parse((await borough('doctor', '-o', 'json')).out) as { findings: { check: string }[] }
    expect(doctor.findings.find(({ check }) => check === 'data directory: store')).toEqual({
      check: 'data directory: store',
      status: 'warn',
      message: expect.stringMatching(`^1 findings in history alone, the first: .*; ${what}$`),
      remedy: 'nothing is to be done',
    })
  })
})

describe('repair', () => {
  it('lets an incremental backup go on, with one of everything', async () => {
    const set = join(dataDir, '..', `${basename(dataDir)}-set`)
    await borough('backup', '--incremental', '--to', set)
    await using later = await open()
    second = await write(later, 'third', second)
    await later[Symbol.asyncDispose]()
    change("UPDATE log SET value = CAST('third!' AS BLOB) WHERE revision = ?", second)
    const refused = await borough('backup', '--incremental', '--to', set)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toMatch(
      new RegExp(
        `^borough: the stored value of ${key} at revision ${second} is damaged: its checksum is \\w{8}, \\w{8} was ` +
          'written with it\\. Repair it first: borough storage repair\\n$',
      ),
    )
    await borough('storage', 'repair', '--key', key, '--with', 'removal', '--yes')
    const { code, out } = await borough('backup', '--incremental', '--to', set)
    expect([code, out]).toEqual([0, expect.stringContaining(': everything, 0 entries, at revision ')])
    const next = await borough('backup', '--incremental', '--to', set)
    expect([next.code, next.out]).toEqual([0, expect.stringContaining(': 0 changes, at revision ')])
    await rm(set, { recursive: true })
  })

  it('lists what is damaged and what can be done, and changes nothing', async () => {
    damageValue()
    const { code, out } = await borough('storage', 'repair')
    expect(code).toBe(0)
    expect(out).toMatch(damage())
    expect(out).toContain(`\n  --key ${key} --with previous    (revision ${first})\n  --key ${key} --with removal\n`)
    expect(out).toMatch(/\nwith --from <backup> it says what that holds of them, too\n$/)
    expect(await borough('storage', 'repair', '--key', key, '--with', 'previous')).toMatchObject({
      code: 1,
      err: 'borough: nothing was changed: say --yes to do it (borough storage repair --help shows what there is)\n',
    })
    expect((await borough('storage', 'verify')).code).toBe(1)
  })

  it('brings back the version before', async () => {
    damageValue()
    expect(await borough('storage', 'repair', '--key', key, '--with', 'previous', '--yes')).toEqual({
      code: 0,
      out: `${key} was repaired with previous, at revision ${second + 1024}\n`,
      err: '',
    })
    expect(await valueNow()).toBe('first')
  })

  it('takes the version of a backup', async () => {
    const file = join(dataDir, 'monday')
    expect(await borough('backup', '--to', file)).toMatchObject({ code: 0 })
    damageValue()
    expect((await borough('backup', '--to', `${file}-2`)).err).toMatch(
      /is damaged: .*Repair it first: borough storage repair/,
    )
    const { out } = await borough('storage', 'repair', '--from', file)
    expect(out).toContain(`  --key ${key} --with backup\n`)
    const repaired = await borough('storage', 'repair', '--key', key, '--with', 'backup', '--from', file, '--yes')
    expect(repaired).toMatchObject({ code: 0 })
    expect(await valueNow()).toBe('second')
  })

  it('takes the version of the newest backup of a folder, with what changed after the full one', async () => {
    const set = join(dataDir, 'set')
    await mkdir(set, { mode: 0o700 })
    expect(await borough('backup', '--incremental', '--to', set)).toMatchObject({ code: 0 })
    {
      await using storage = await open()
      second = await write(storage, 'third', second)
    }
    expect(await borough('backup', '--incremental', '--to', set)).toMatchObject({ code: 0 })
    damageValue()
    const { out } = await borough('storage', 'repair', '--from', set)
    expect(out).toContain(`  --key ${key} --with backup\n`)
    const repaired = await borough('storage', 'repair', '--key', key, '--with', 'backup', '--from', set, '--yes')
    expect(repaired).toMatchObject({ code: 0, err: '' })
    expect(await valueNow()).toBe('third')
  })

  it('removes what nothing is left of', async () => {
    damageValue()
    expect(await borough('storage', 'repair', '--key', key, '--with', 'removal', '--yes')).toMatchObject({ code: 0 })
    expect(await valueNow()).toBeUndefined()
  })

  it.each([
    { args: ['--key', '/registry/none', '--with', 'removal', '--yes'], message: '/registry/none does not exist' },
    { args: ['--key', key, '--with', 'removal', '--yes'], message: `${key} is not damaged` },
    {
      args: ['--key', key, '--yes'],
      message: '--key and --with go together (borough storage repair --help shows what there is)',
    },
    {
      args: ['--key', key, '--with', 'backup', '--yes'],
      message: '--with backup needs --from <file> (borough storage repair --help shows what there is)',
    },
  ])('refuses $args', async ({ args, message }) => {
    expect(await borough('storage', 'repair', ...args)).toEqual({ code: 1, out: '', err: `borough: ${message}\n` })
  })

  it('makes a damaged index anew from the log', async () => {
    change('DELETE FROM present')
    await expect(open()).rejects.toMatchObject({ code: 'corrupt' })
    expect(await borough('storage', 'repair', '--index', '--yes')).toEqual({
      code: 0,
      out: `the index was made anew from the log: 1 keys, at revision ${second + 1023}\n`,
      err: '',
    })
    expect(await valueNow()).toBe('second')
    expect((await borough('storage', 'verify')).code).toBe(0)
  })

  it('makes no index from a log that is damaged too', async () => {
    change('DELETE FROM present')
    damageValue()
    const { code, err } = await borough('storage', 'repair', '--index', '--yes')
    expect(code).toBe(1)
    expect(err).toMatch(/^borough: the stored value of .* is damaged/)
  })

  it('leaves a store alone that is served', async () => {
    damageValue()
    await using _ = await open()
    expect(await borough('storage', 'repair')).toMatchObject({
      code: 1,
      err: expect.stringContaining('in use by another process'),
    })
  })
})

it('a copy of the file alone, without the mark, opens', async () => {
  const copy = join(dataDir, 'copy')
  await cp(join(store(), 'state.db'), join(copy, 'state.db'))
  await using storage = await SqliteStorage.open({ directory: copy })
  expect((await storage.get(key)).entry?.revision).toBe(second)
})
