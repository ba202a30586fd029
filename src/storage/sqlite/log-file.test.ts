import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { positionsPerCommit } from '../storage.ts'
import type { LogTransaction } from './log-entries.ts'
import { LogFile } from './log-file.ts'
import { expectAbsent } from './messages.ts'

let directory: string
let log: LogFile
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-log-'))
  log = new LogFile({ directory, maxFileBytes: 200_000, reserveBytes: 0, lockTimeoutMs: 0, acceptLoss: false })
})
afterEach(async () => {
  log.close()
  await rm(directory, { recursive: true })
})

function write(ticket: number, key: string, expected: number = expectAbsent, sizeBytes = 10): LogTransaction {
  return { ticket, guards: 0, keys: [key], expects: [expected], values: [new Uint8Array(sizeBytes)] }
}
const leftBy = (ticket: number): number => -1 - ticket

describe('LogFile', () => {
  it('remembers what a transaction left behind until its sender knows the outcome', () => {
    const first = positionsPerCommit
    expect(log.commit([write(1, '/a')], 0)).toEqual([first])
    expect(log.commit([write(2, '/a', leftBy(1))], 0)).toEqual([first + positionsPerCommit])
    expect(log.commit([write(3, '/a', leftBy(2))], 2)).toEqual([[0]])
  })

  it('a follower in the same group sees what its predecessor left, and fails with it', () => {
    const group = [write(1, '/a'), write(2, '/a', leftBy(1)), write(3, '/a'), write(4, '/a', leftBy(3))]
    expect(log.commit(group, 0)).toEqual([positionsPerCommit, 2 * positionsPerCommit, [0], [0]])
  })

  it('what a transaction of the group changed is not what the next one finds', () => {
    const [first, second] = [positionsPerCommit, 2 * positionsPerCommit]
    const guarded = (ticket: number, key: string, expected: number): LogTransaction => {
      return { ticket, guards: 1, keys: ['/a', key], expects: [expected, expectAbsent], values: [new Uint8Array(1)] }
    }
    const removed: LogTransaction = { ticket: 4, guards: 0, keys: ['/a'], expects: [second], values: [undefined] }
    log.commit([write(1, '/a')], 0)
    const group = [guarded(2, '/b', first), write(3, '/a', first), guarded(5, '/c', first), removed, write(6, '/a')]
    expect(log.commit(group, 1)).toEqual([second, 3 * positionsPerCommit, [0], [0], [0]])
    expect(log.commit([guarded(7, '/d', 3 * positionsPerCommit), guarded(8, '/e', first)], 6)).toEqual([
      4 * positionsPerCommit,
      [0],
    ])
  })

  it('where there is no room for a group, those that fit are committed, with no revision lost', () => {
    const outcomes = log.commit([write(1, '/small'), write(2, '/large', expectAbsent, 500_000), write(3, '/little')], 0)
    expect(outcomes).toEqual([positionsPerCommit, expect.objectContaining({ code: 'full' }), 2 * positionsPerCommit])
    expect([...log.keys()].flat().map(([key]) => key)).toEqual(['/little', '/small'])
  })
})
