import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bootId } from '../../base/boot-id.ts'
import { endOfCommit, positionsPerCommit, type Revision } from '../storage.ts'
import { AcknowledgedMark } from './acknowledged-mark.ts'
import { LogFile } from './log-file.ts'
import { expectAbsent } from './messages.ts'
import { ReadOnlyLog } from './read-only-log.ts'

const why = { code: 'unavailable', message: 'the disk is read-only' } as const
const revisionOf = (commit: number): number => commit * positionsPerCommit

let root: string
let directory: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-read-only-log-'))
  directory = join(root, 'store')
})
afterEach(() => rm(root, { recursive: true }))

const openLog = (): LogFile =>
  new LogFile({ directory, maxFileBytes: 0, reserveBytes: 0, lockTimeoutMs: 0, acceptLoss: false })

function put(log: LogFile, key: string, expected: number, value: string | undefined): void {
  const values = [value === undefined ? undefined : Buffer.from(value)]
  log.commit([{ ticket: 1, guards: 0, keys: [key], expects: [expected], values }], 1)
}

/** As a process leaves it that is killed: with its log. Commits 1 to 3 make /a, /b, /d; 4 to 6 change all of them. */
async function killedStore(): Promise<string> {
  const log = openLog()
  const [a, b, d] = ['/a', '/b', '/d'].map((key, i) => {
    put(log, key, expectAbsent, 'first')
    return revisionOf(i + 1)
  }) as [number, number, number]
  put(log, '/a', a, 'second')
  put(log, '/b', b, undefined)
  put(log, '/d', d, undefined)
  put(log, '/c', expectAbsent, 'first')
  const left = join(root, 'left')
  await cp(directory, left, { recursive: true })
  log.close()
  return left
}

async function setMark(store: string, revision: Revision, boot: string | undefined): Promise<void> {
  const path = join(store, 'acknowledged')
  await rm(path)
  new AcknowledgedMark(path, revision, undefined, boot)[Symbol.dispose]()
}

const keysOf = (log: ReadOnlyLog): unknown => [...log.keys()].flat()

describe('a store that can only be read', () => {
  it('is read whole, and takes nothing', async () => {
    const left = await killedStore()
    const log = new ReadOnlyLog({ directory: left }, why)
    expect(log.head).toBe(endOfCommit(revisionOf(7)))
    expect(keysOf(log)).toEqual([
      ['/a', revisionOf(4)],
      ['/c', revisionOf(7)],
    ])
    const message = 'the disk is read-only: the store is only read, and no more writes are taken until a restart'
    expect(log.unwritable).toBe(message)
    const write = { ticket: 1, guards: 0, keys: ['/e'], expects: [expectAbsent], values: [new Uint8Array(1)] }
    expect(log.commit([write, write])).toEqual([
      { code: 'readOnly', message },
      { code: 'readOnly', message },
    ])
    log.close()
  })

  it.skipIf(bootId() === undefined)('does not show what may not be on the disk', async () => {
    const left = await killedStore()
    const acknowledged = endOfCommit(revisionOf(3))
    await setMark(left, acknowledged, bootId())
    const log = new ReadOnlyLog({ directory: left }, why)
    expect(log.head).toBe(acknowledged)
    expect(keysOf(log)).toEqual(['/a', '/b', '/d'].map((key, i) => [key, revisionOf(i + 1)]))
    expect(log.history(log.head).changes.map(({ key }) => key)).toEqual(['/d', '/b', '/a'])
    expect(log.unwritable).toMatch(/; what its log has after revision 4095 was not acknowledged, nor is shown$/)
    log.close()
  })

  it('shows what an earlier run of the system left in the log, though the mark did not get so far', async () => {
    const left = await killedStore()
    await setMark(left, endOfCommit(revisionOf(3)), '00000000-0000-4000-8000-000000000000')
    const log = new ReadOnlyLog({ directory: left }, why)
    expect(log.head).toBe(endOfCommit(revisionOf(7)))
    log.close()
  })

  it('is shared with others that read it, and with no process that writes', async () => {
    openLog().close()
    const first = new ReadOnlyLog({ directory }, why)
    const second = new ReadOnlyLog({ directory }, why)
    expect(openLog).toThrow(`the store in ${directory} is in use by another process: stop that first`)
    first.close()
    second.close()
    const log = openLog()
    expect(() => new ReadOnlyLog({ directory }, why)).toThrow(
      `the store in ${directory} is in use by another process: stop that first`,
    )
    log.close()
  })

  it('that lacks what was acknowledged is refused as ever', async () => {
    const left = await killedStore()
    await rm(join(left, 'state.db-wal'))
    await rm(join(left, 'state.db-shm'))
    expect(() => new ReadOnlyLog({ directory: left }, why)).toThrow(/ends at revision \d+, but 8191 was acknowledged/)
  })

  it('of which there is none says what was wrong at first', async () => {
    expect(() => new ReadOnlyLog({ directory }, why)).toThrow(
      `the disk is read-only, and it can't be only read either: there is no store in ${directory}`,
    )
  })
})
