/** Reads of one turn share one reading of the file, and neither miss a head nor outlast the turn. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endOfCommit, type Revision } from '../storage.ts'
import { FilePresent } from './file-present.ts'
import { LogFile } from './log-file.ts'
import { expectAbsent } from './messages.ts'

let directory: string
let log: LogFile

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'borough-held-'))
  log = new LogFile({ directory, maxFileBytes: 0, reserveBytes: 0, lockTimeoutMs: 1000, acceptLoss: false })
})

afterEach(() => {
  log.close()
  rmSync(directory, { recursive: true, force: true })
})

let tickets = 0

function create(key: string): Revision {
  const values = [Buffer.from(key)]
  const [revision] = log.commit([{ ticket: ++tickets, guards: 0, keys: [key], expects: [expectAbsent], values }], 0)
  return revision as Revision
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

/** True = no reader needs anything of the writer's log. */
function isTakenUp(): boolean {
  using writer = new DatabaseSync(log.path)
  return writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
}

it('a commit that is told in the turn of an earlier read is read in that turn', () => {
  const first = create('/a')
  let head = endOfCommit(first)
  using present = new FilePresent(log.path, () => head)
  expect(text(present.valueAt('/a', first))).toBe('/a')
  const second = create('/b')
  expect(present.get('/b')).toBeUndefined()
  head = endOfCommit(second)
  expect(text(present.get('/b')?.value)).toBe('/b')
  expect(text(present.valueAt('/b', second))).toBe('/b')
})

it('what is read later in a turn is of the state that was read first, whatever the writer has done', () => {
  const first = create('/a')
  using present = new FilePresent(log.path, () => endOfCommit(first))
  expect(text(present.valueAt('/a', first))).toBe('/a')
  const { bytes } = present.fileRoom()
  for (let i = 0; i < 200; i++) create(`/much/${i}`)
  expect(present.fileRoom().bytes).toBe(bytes)
})

it('the writer can take its log up into the file once the turn is over', async () => {
  const first = create('/a')
  using present = new FilePresent(log.path, () => endOfCommit(first))
  present.valueAt('/a', first)
  create('/b')
  expect(isTakenUp()).toBe(false)
  await nextTurn()
  expect(isTakenUp()).toBe(true)
})

it('a reader that fails leaves no reading behind', async () => {
  const first = create('/a')
  using present = new FilePresent(log.path, () => {
    return endOfCommit(first)
  })
  expect(() =>
    present.walk({ start: '/', end: '0' }, () => {
      throw new Error('the reader gave up')
    }),
  ).toThrow('the reader gave up')
  create('/b')
  await nextTurn()
  expect(isTakenUp()).toBe(true)
  expect(text(present.valueAt('/a', first))).toBe('/a')
})
