/**
 * A served store whose disk fails below SQLite, at the system calls: nothing is acknowledged that is not on the disk,
 * the server says what is wrong in `/readyz?verbose`, in a metric and in its log, reads go on, and the next start has
 * all that was acknowledged.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { markName } from '../../src/storage/sqlite/loss.ts'
import { endProcess, isRunning, startServing } from '../interop/serving-process.ts'
import { clientOf, pageOf } from '../replicas/kubeconfig-client.ts'
import { freePort } from '../support/free-port.ts'
import { DiskShim, type ShimOptions } from './disk-shim.ts'

const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of faulty disks are skipped: ${shim}`)

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'default'
const readOnly = 30
const quotaExceeded = 122
const fileTooLarge = 27
const noSpace = 28
const tooManyFiles = 24

let root: string
let children: ChildProcess[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'borough-faulty-'))
  children = []
})
afterEach(async () => {
  for (const child of children) if (isRunning(child)) await endProcess(child, 'SIGKILL')
  rmSync(root, { recursive: true, force: true })
})
afterAll(() => {
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

interface Server {
  readonly client: Client
  page(path: string): Promise<string>
  log(): string
  kill(): Promise<void>
}

async function start(fail?: ShimOptions['fail']): Promise<Server> {
  if (typeof shim === 'string') throw new Error(shim)
  const listen = `127.0.0.1:${await freePort()}`
  const args = ['up', '--data-dir', join(root, 'data'), '--listen', listen, '--output', 'json', '--log-level', 'warn']
  const env = fail === undefined ? {} : shim.environment({ root, fail })
  const { child, ready } = await startServing<{ kubeconfig: string }>(args, env)
  children.push(child)
  let log = ''
  child.stderr?.on('data', (text: string) => {
    log += text
  })
  const kubeconfig = await readFile(ready.kubeconfig, 'utf8')
  return {
    client: clientOf(kubeconfig, { listen }),
    page: (path) => pageOf(kubeconfig, { listen }, path),
    log: () => log,
    kill: async () => void (await endProcess(child, 'SIGKILL')),
  }
}

/** The code of the answer. */
async function create({ client }: Server, name: string, bytes = 10): Promise<number> {
  try {
    await client.create(configMaps, { metadata: { name, namespace }, data: { text: 'x'.repeat(bytes) } })
    return 201
  } catch (error) {
    return findStatusError(error)?.code ?? 0
  }
}

const names = async ({ client }: Server): Promise<string[]> =>
  (await client.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name ?? '')

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
    for (let i = 0; i < 5; i++) if ((await create(server, `before-${i}`)) === 201) acknowledged.push(`before-${i}`)
    expect(acknowledged).toHaveLength(5)
    writeFileSync(trigger, '')
    expect(await create(server, 'while')).toBe(fault.code)
    expect(await create(server, 'while-again')).toBe(fault.code)
    expect(await names(server)).toEqual(expect.arrayContaining(acknowledged))
    expect(await names(server)).not.toContain('while')
    const warned = new RegExp(`\\[\\+\\]storage-room ok, with 1 warnings\\nwarn: ${fault.warning}\\n`)
    await expect.poll(() => server.page('/readyz?verbose')).toMatch(warned)
    expect(await server.page('/readyz')).toBe('ok')
    expect(await server.page('/metrics')).toContain('\nborough_storage_writes_limited 1\n')
    await expect.poll(() => server.log()).toMatch(fault.code === 507 ? /"the store is full/ : new RegExp(stopped))
    rmSync(trigger)
    // What the system holds of the file is not believed, though the disk is well again.
    if (fault.code === 503) expect(await create(server, 'after')).toBe(503)
    await server.kill()
    const next = await start()
    expect(await names(next)).toEqual(expect.arrayContaining(acknowledged))
    expect(await create(next, 'later')).toBe(201)
  })

  it('a mark that finds no room is written with the reserve, and writes go on', async () => {
    const trigger = join(root, 'now')
    const server = await start({ call: 'write', file: markName, errno: noSpace, times: 1, trigger })
    writeFileSync(trigger, '')
    // A write of the server's own may be the one that meets it; this one then finds the store full.
    expect([201, 507]).toContain(await create(server, 'a'))
    await expect.poll(() => server.log()).toMatch(/"the store is full/)
    await expect.poll(() => create(server, 'b'), { timeout: 10_000 }).toBe(201)
    await server.kill()
    expect(await names(await start())).toContain('b')
  })

  it.each([
    { name: 'no more files may be open', errno: tooManyFiles },
    { name: 'no more files may be made', errno: noSpace },
    { name: 'the disk can not be read', errno: 5 },
  ])('does not start where $name, says so in one line, and starts when it is over', async ({ errno }) => {
    const before = await start()
    expect(await create(before, 'a')).toBe(201)
    await before.kill()
    const refused = await start({ call: 'open', file: 'state.db', errno }).then(
      () => 'it serves',
      (error: unknown) => String(error),
    )
    expect(refused).toMatch(/borough up ended with 1:\nborough: [^\n]*state\.db[^\n]*\n?$/)
    expect(await names(await start())).toContain('a')
  })
})
