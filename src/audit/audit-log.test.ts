import { expect, test } from 'vitest'
import type { AuditEvent } from './audit.ts'
import { type AuditFiles, AuditLog, type AuditLogOptions } from './audit-log.ts'

/** Files in memory, on a disk that can be made to wait or to refuse. */
class Disk implements AuditFiles {
  readonly content = new Map<string, { text: string }>()
  full = false
  slow: Promise<void> | undefined

  async open(path: string) {
    const held = this.content.get(path) ?? { text: '' }
    this.content.set(path, held)
    return {
      sizeBytes: held.text.length,
      append: async (bytes: Uint8Array) => {
        await this.slow
        const text = Buffer.from(bytes).toString()
        // As a real disk: what fits is there.
        held.text += this.full ? text.slice(0, 10) : text
        if (this.full) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      },
      close: async () => undefined,
    }
  }

  async rename(from: string, to: string) {
    const held = this.content.get(from)
    if (held === undefined) return
    this.content.set(to, held)
    this.content.delete(from)
  }

  ids(path: string): string[] {
    const lines = (this.content.get(path)?.text ?? '').split('\n').slice(0, -1)
    return lines.map((line) => {
      try {
        return (JSON.parse(line) as AuditEvent).auditID
      } catch {
        return 'torn'
      }
    })
  }
}

const event = (auditID: string): AuditEvent => ({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Metadata',
  auditID,
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  requestReceivedTimestamp: '',
  stageTimestamp: '',
})
const lineBytes = JSON.stringify(event('0')).length + 1

async function opened(more: Partial<AuditLogOptions> = {}) {
  const disk = new Disk()
  const troubles: unknown[] = []
  const told: number[] = []
  const log = await AuditLog.open({
    path: 'log',
    files: disk,
    maxBytes: 1e6,
    keep: 2,
    onTrouble(error, lost) {
      troubles.push(error)
      if (error === undefined) told.push(lost)
    },
    ...more,
  })
  return { disk, log, troubles, told }
}

/** Everything recorded so far has been written or given up. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('events come out as lines, in order, all of them by the time it is closed', async () => {
  const { disk, log } = await opened()
  for (let i = 0; i < 5; i++) log.record(event(String(i)))
  await log[Symbol.asyncDispose]()
  expect(disk.ids('log')).toEqual(['0', '1', '2', '3', '4'])
  expect(log.counts).toEqual({ written: 5, dropped: 0 })
})

test('a full file is rotated between lines, and no more than asked for are kept', async () => {
  const { disk, log } = await opened({ maxBytes: 2 * lineBytes })
  for (let i = 0; i < 9; i++) log.record(event(String(i)))
  await log[Symbol.asyncDispose]()
  expect(Object.fromEntries([...disk.content.keys()].map((path) => [path, disk.ids(path)]))).toEqual({
    log: ['8'],
    'log.1': ['6', '7'],
    'log.2': ['4', '5'],
  })
})

test('a disk that is slow makes nobody wait: what does not fit the buffer is dropped and counted', async () => {
  const { disk, log, troubles } = await opened({ maxWaitingBytes: 3 * lineBytes })
  let release = (): void => undefined
  disk.slow = new Promise((resolve) => {
    release = resolve
  })
  for (let i = 0; i < 8; i++) log.record(event(String(i)))
  expect(log.counts.dropped).toBe(5)
  expect(troubles).toHaveLength(1)
  release()
  await settled()
  log.record(event('8'))
  await log[Symbol.asyncDispose]()
  expect(disk.ids('log')).toEqual(['0', '1', '2', '8'])
  expect(troubles.at(-1)).toBeUndefined()
})

test('a disk that is full costs what it refused; afterwards lines are whole again', async () => {
  const { disk, log, troubles, told } = await opened()
  log.record(event('0'))
  await settled()
  disk.full = true
  log.record(event('1'))
  await settled()
  log.record(event('2'))
  await settled()
  disk.full = false
  log.record(event('3'))
  await log[Symbol.asyncDispose]()
  expect(disk.ids('log').filter((id) => id !== 'torn')).toEqual(['0', '3'])
  expect(log.counts).toEqual({ written: 2, dropped: 2 })
  expect(troubles.map((t) => (t === undefined ? 'over' : 'begins'))).toEqual(['begins', 'over'])
  expect(told).toEqual([2])
})

test('a log goes on where the last process left it', async () => {
  const { disk, log } = await opened({ maxBytes: 2 * lineBytes })
  log.record(event('0'))
  await log[Symbol.asyncDispose]()
  const next = await AuditLog.open({ path: 'log', files: disk, maxBytes: 2 * lineBytes, keep: 2, onTrouble() {} })
  next.record(event('1'))
  await settled()
  next.record(event('2'))
  await next[Symbol.asyncDispose]()
  expect(disk.ids('log.1')).toEqual(['0', '1'])
  expect(disk.ids('log')).toEqual(['2'])
})
