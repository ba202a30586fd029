/**
 * A served store whose disk fails below SQLite, at the system calls: nothing is acknowledged that is not on the disk,
 * the server says what is wrong in `/readyz?verbose`, in a metric and in its log, reads go on, and the next start has
 * all that was acknowledged.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markName } from '../../src/storage/sqlite/loss.ts'
import { DiskServer } from './disk-server.ts'
import { DiskShim, type ShimOptions } from './disk-shim.ts'

const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of faulty disks are skipped: ${shim}`)

const readOnly = 30
const quotaExceeded = 122
const fileTooLarge = 27
const noSpace = 28
const tooManyFiles = 24

let root: string
let servers: DiskServer[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'borough-faulty-'))
  servers = []
})
afterEach(async () => {
  for (const server of servers) await server.end('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})
afterAll(() => {
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

async function start(fail?: ShimOptions['fail']): Promise<DiskServer> {
  if (typeof shim === 'string') throw new Error(shim)
  const server = await DiskServer.start(root, fail === undefined ? {} : shim.environment({ root, fail }))
  servers.push(server)
  return server
}

interface Fault {
  readonly name: string
  readonly call: 'fsync' | 'write'
  readonly errno?: number
  readonly code: number
  readonly warning: string
}

const stopped = 'no more writes are taken until a restart'
const faults: readonly Fault[] = [
  {
    name: 'a flush that fails',
    call: 'fsync',
    code: 503,
    warning: `reading or writing \\S+state\\.db failed \\(disk I/O error, code 1034\\); ${stopped}`,
  },
  {
    name: 'a write that fails',
    call: 'write',
    code: 503,
    warning: `reading or writing \\S+state\\.db failed \\(disk I/O error, code 778\\); ${stopped}`,
  },
  {
    name: 'a file system that became read-only',
    call: 'write',
    errno: readOnly,
    code: 503,
    warning: `reading or writing \\S+state\\.db failed \\(disk I/O error, code 778\\); ${stopped}`,
  },
  {
    name: 'a quota that is used up',
    call: 'write',
    errno: quotaExceeded,
    code: 507,
    warning: 'the store in \\S+ is full: only deletes and small changes are taken until there is room',
  },
  {
    name: 'a file that may grow no more (ulimit -f)',
    call: 'write',
    errno: fileTooLarge,
    code: 503,
    warning: `reading or writing \\S+state\\.db failed \\(disk I/O error, code 778\\); ${stopped}`,
  },
  {
    name: 'a disk that is full',
    call: 'write',
    errno: noSpace,
    code: 507,
    warning: 'the store in \\S+ is full: only deletes and small changes are taken until there is room',
  },
]

describe.skipIf(typeof shim === 'string')('a served store on a faulty disk', { timeout: 100_000 }, () => {
  it.each(faults)('$name: it says so, reads go on, and what was acknowledged is kept', async (fault) => {
    const trigger = join(root, 'now')
    const { call, errno } = fault
    const fail = {
      call,
      file: 'state.db',
      trigger,
      ...(errno === undefined ? {} : { errno }),
    }
    const server = await start(fail)
    const acknowledged: string[] = []
    for (let i = 0; i < 5; i++) if ((await server.create(`before-${i}`)) === 201) acknowledged.push(`before-${i}`)
    expect(acknowledged).toHaveLength(5)
    writeFileSync(trigger, '')
    expect(await server.create('while')).toBe(fault.code)
    expect(await server.create('while-again')).toBe(fault.code)
    expect(await server.names()).toEqual(expect.arrayContaining(acknowledged))
    expect(await server.names()).not.toContain('while')
    const warned = new RegExp(`\\[\\+\\]storage-room ok, with 1 warnings\\nwarn: ${fault.warning}\\n`)
    await expect.poll(() => server.page('/readyz?verbose')).toMatch(warned)
    expect(await server.page('/readyz')).toBe('ok')
    expect(await server.page('/metrics')).toContain('\nborough_storage_writes_limited 1\n')
    await expect.poll(() => server.log()).toMatch(fault.code === 507 ? /"the store is full/ : new RegExp(stopped))
    rmSync(trigger)
    // What the system holds of the file is not believed, though the disk is well again.
    if (fault.code === 503) expect(await server.create('after')).toBe(503)
    await server.end('SIGKILL')
    const next = await start()
    expect(await next.names()).toEqual(expect.arrayContaining(acknowledged))
    expect(await next.create('later')).toBe(201)
  })

  it('a mark that finds no room is written with the reserve, and writes go on', async () => {
    const trigger = join(root, 'now')
    const server = await start({ call: 'write', file: markName, errno: noSpace, times: 1, trigger })
    writeFileSync(trigger, '')
    // A write of the server's own may be the one that meets it; this one then finds the store full.
    expect([201, 507]).toContain(await server.create('a'))
    await expect.poll(() => server.log()).toMatch(/"the store is full/)
    await expect.poll(() => server.create('b'), { timeout: 10_000 }).toBe(201)
    await server.end('SIGKILL')
    expect(await (await start()).names()).toContain('b')
  })

  it.each([
    { name: 'no more files may be open', errno: tooManyFiles },
    { name: 'no more files may be made', errno: noSpace },
    { name: 'the disk can not be read', errno: 5 },
  ])('does not start where $name, says so in one line, and starts when it is over', async ({ errno }) => {
    const before = await start()
    expect(await before.create('a')).toBe(201)
    await before.end('SIGKILL')
    const refused = await start({ call: 'open', file: 'state.db', errno }).then(
      () => 'it serves',
      (error: unknown) => String(error),
    )
    expect(refused).toMatch(/borough up ended with 1:\nborough: [^\n]*state\.db[^\n]*\n?$/)
    expect(await (await start()).names()).toContain('a')
  })
})
