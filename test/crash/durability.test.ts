/**
 * No acknowledgement precedes its flush, seen from outside: the system calls of a process that commits one transaction
 * after the other. And what a failed flush or a full disk does, with the system made to fail.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan } from '../../src/storage/storage.ts'
import { readAll } from '../contract/storage-reader.ts'
import { runTraced, strace } from './traced.ts'

const missing = strace()
if (missing !== undefined) console.warn(`durability tests are skipped: ${missing}`)

const directories: string[] = []
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})

async function place(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'borough-durability-'))
  directories.push(directory)
  return directory
}

type Call = { readonly at: 'try' | 'ack'; readonly n: number } | { readonly at: 'write' | 'flush' }

/** The calls that matter, in the order they *ended*; a call that another thread interrupts takes two lines. */
function callsOf(trace: string): Call[] {
  const calls: Call[] = []
  const unfinished = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, rest)
      continue
    }
    const call = rest.startsWith('<...') ? `${unfinished.get(thread)} ${rest}` : rest
    const said = /^write\(1<.*?>, "(try|ack) (\d+)/.exec(call)
    if (said) calls.push({ at: said[1] as 'try' | 'ack', n: Number(said[2]) })
    else if (/^(pwrite64|write)\(\d+<[^>]*state\.db-wal>/.test(call)) calls.push({ at: 'write' })
    else if (/^f(data)?sync\(\d+<[^>]*state\.db-wal>/.test(call) && call.endsWith('= 0')) calls.push({ at: 'flush' })
  }
  return calls
}

describe.skipIf(missing !== undefined)('durability', () => {
  it('every acknowledgement comes after the log was written and flushed', { timeout: 120_000 }, async () => {
    const directory = await place()
    const trace = join(directory, 'trace')
    const filter = 'trace=write,pwrite64,fsync,fdatasync'
    await runTraced(['-o', trace, '-e', filter], 'load.ts', [join(directory, 'store'), '0', '1', '30'])
    const calls = callsOf(await readFile(trace, 'utf8'))
    let acknowledged = 0
    let since: ('write' | 'flush')[] = []
    for (const call of calls) {
      if (call.at === 'try') since = []
      else if (call.at !== 'ack') since.push(call.at)
      else {
        expect(since, `commit ${call.n}`).toContain('write')
        expect(since.at(-1), `commit ${call.n}: the last that happened to the log`).toBe('flush')
        acknowledged++
      }
    }
    expect(acknowledged).toBe(30)
  })

  const faults: { name: string; inject: string; code: string; goesOn: boolean }[] = [
    { name: 'a flush that fails', inject: 'fsync,fdatasync:error=EIO', code: 'unavailable', goesOn: false },
    { name: 'a write that fails', inject: 'pwrite64:error=EIO', code: 'unavailable', goesOn: false },
    { name: 'a disk that is full', inject: 'pwrite64:error=ENOSPC', code: 'full', goesOn: true },
  ]
  it.each(faults)(
    '$name acknowledges nothing, and reads go on',
    { timeout: 120_000 },
    async ({ inject, code, goesOn }) => {
      const directory = await place()
      const store = join(directory, 'store')
      await (await SqliteStorage.open({ directory: store }))[Symbol.asyncDispose]()
      const options = ['-o', '/dev/null', '-e', `inject=${inject}:when=${goesOn ? '40..44' : '40+'}`]
      const { stdout } = await runTraced(options, 'fault.ts', [store])
      const { outcomes, readable } = JSON.parse(stdout) as { outcomes: string[]; readable: number }
      const acknowledged = outcomes.filter((outcome) => outcome === 'ok').length
      expect(acknowledged).toBeGreaterThan(0)
      expect(outcomes.find((outcome) => outcome !== 'ok')).toBe(code)
      // What readers of the faulty process saw is what was acknowledged, no more.
      expect(readable).toBe(acknowledged)
      if (goesOn) expect(outcomes.at(-1)).toBe('ok')
      else expect(outcomes.slice(outcomes.indexOf(code))).not.toContain('ok')
      await using storage = await SqliteStorage.open({ directory: store })
      const kept = new Set((await readAll(storage, prefixSpan('/'))).map((e) => e.key))
      for (const [i, outcome] of outcomes.entries()) if (outcome === 'ok') expect(kept).toContain(`/k${i}`)
    },
  )
})
