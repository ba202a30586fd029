/**
 * A server one of whose flushes fails, then a stop, a start and a failure of power, as clients see it: what was
 * acknowledged is there each time, and so is whatever the second server showed: nothing is believed that is not on the
 * disk. Where the second one can't flush either, it shows what was acknowledged alone, and says so.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DiskServer } from './disk-server.ts'
import { DiskShim, type ShimOptions } from './disk-shim.ts'

const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of servers after a failed flush are skipped: ${shim}`)

const readOnly = 30
const log = 'state.db-wal'
const mark = 'store/acknowledged'
const file = 'store/state.db$'
const stopped = 'no more writes are taken until a restart'

let root: string
let memory: string
let disk: string
let trigger: string
let servers: DiskServer[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'borough-flush-'))
  memory = join(root, 'files')
  disk = join(root, 'disk')
  trigger = join(root, 'now')
  mkdirSync(memory)
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
  const options = { root: memory, image: disk, ...(fail === undefined ? {} : { fail }) }
  const server = await DiskServer.start(memory, shim.environment(options))
  servers.push(server)
  return server
}

/** What the disk holds is all that is left. */
async function namesAfterPowerFailed(): Promise<readonly string[]> {
  for (const server of servers) await server.end('SIGKILL')
  const server = await DiskServer.start(disk)
  servers.push(server)
  expect(await server.create('on-the-disk')).toBe(201)
  return server.names()
}

/** Until one is refused. Answers those that were acknowledged. */
async function createUntilRefused(server: DiskServer): Promise<readonly string[]> {
  const acknowledged: string[] = []
  const create = async (name: string): Promise<number> => {
    const code = await server.create(name)
    if (code === 201) acknowledged.push(name)
    return code
  }
  for (const name of ['a', 'b', 'c']) expect(await create(name)).toBe(201)
  await expect.poll(() => server.names()).toContain('kube-root-ca.crt')
  writeFileSync(trigger, '')
  let i = 0
  await expect.poll(() => create(`while-${i++}`)).toBe(503)
  rmSync(trigger)
  return acknowledged
}

const faults = [
  { name: 'of its log', file: log, signal: 'SIGTERM' },
  { name: 'of its log', file: log, signal: 'SIGKILL' },
  { name: 'of the mark of what was acknowledged', file: mark, signal: 'SIGKILL' },
] as const

describe.skipIf(typeof shim === 'string')('a server with a flush that failed', { timeout: 120_000 }, () => {
  it.each(faults)(
    '$name is started anew after $signal, and shows nothing that a failure of power takes',
    async (fault) => {
      const first = await start({ call: 'fsync', file: fault.file, trigger, times: 1 })
      const acknowledged = await createUntilRefused(first)
      expect(await first.create('after')).toBe(503)
      expect(await first.names()).toEqual([...acknowledged, 'kube-root-ca.crt'].toSorted())
      await first.end(fault.signal)

      const second = await start()
      const shown = await second.names()
      expect(shown).toEqual(expect.arrayContaining([...acknowledged]))
      expect(await second.create('later')).toBe(201)
      expect(await namesAfterPowerFailed()).toEqual(expect.arrayContaining([...shown, 'later']))
    },
  )

  it.each([
    { name: 'it is flushed in vain again', fail: { call: 'fsync', file: log } },
    { name: 'the file system has become read-only', fail: { call: 'write', file: log, errno: readOnly } },
  ] as const)('of its log only reads what was acknowledged, and says so, where $name', async ({ fail }) => {
    const first = await start({ call: 'fsync', file: log, trigger })
    const acknowledged = await createUntilRefused(first)
    await first.end('SIGKILL')

    const second = await start(fail)
    const shown = [...acknowledged, 'kube-root-ca.crt'].toSorted()
    expect(await second.names()).toEqual(shown)
    expect(await second.create('new')).toBe(503)
    const unknown = '; what its log has after revision \\d+ was not acknowledged, nor is shown'
    const told = new RegExp(`: the store is only read, and ${stopped}${unknown}$`, 'm')
    expect(await second.page('/readyz?verbose')).toMatch(told)
    expect(await second.page('/readyz')).toBe('ok')
    expect(second.log()).toMatch(new RegExp(`: the store is only read, and ${stopped}${unknown}"`))
    await second.end('SIGTERM')

    const third = await start()
    expect(await third.names()).toEqual(expect.arrayContaining(shown))
    expect(await third.create('later')).toBe(201)
    expect(await namesAfterPowerFailed()).toEqual(expect.arrayContaining([...shown, 'later']))
  })

  it('of its file, as it is stopped, loses nothing', async () => {
    const first = await start({ call: 'fsync', file, trigger })
    for (const name of ['a', 'b', 'c']) expect(await first.create(name)).toBe(201)
    writeFileSync(trigger, '')
    await first.end('SIGTERM')
    const shown = await (await start()).names()
    expect(shown).toEqual(expect.arrayContaining(['a', 'b', 'c']))
    expect(await namesAfterPowerFailed()).toEqual(expect.arrayContaining(shown))
  })
})
