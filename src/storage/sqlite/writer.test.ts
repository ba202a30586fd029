import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { type Outcome, outcomesOf } from './groups.ts'
import { expectAbsent, type FromWriter, type ToWriter, type WriterOptions } from './messages.ts'

/** A group of one transaction that writes one byte under /n. */
function group(ticket: number, expected: number, settledThrough: number): ToWriter {
  const numbers = Float64Array.of(ticket, 0, 1, expected, 1)
  return { type: 'commit', settledThrough, numbers, keys: ['/n'], values: Uint8Array.of(ticket) }
}

/** Everything the writer answers to what is waiting for it when it starts, which it takes in one go. */
async function answersTo(messages: readonly ToWriter[]): Promise<Outcome[]> {
  const root = await mkdtemp(join(tmpdir(), 'borough-writer-'))
  const workerData: WriterOptions = {
    directory: join(root, 'store'),
    maxFileBytes: 0,
    reserveBytes: 0,
    lockTimeoutMs: 0,
    acceptLoss: false,
  }
  const worker = new Worker(new URL('./writer.ts', import.meta.url), { workerData, execArgv: [] })
  const outcomes: Outcome[] = []
  const ended = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromWriter) => {
      if (message.type === 'outcomes') outcomes.push(...outcomesOf(message))
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
  for (const message of messages) worker.postMessage(message)
  worker.postMessage({ type: 'close' })
  await ended
  await rm(root, { recursive: true, force: true })
  return outcomes
}

it('a follower packed before its leader was settled is committed beside one packed after', async () => {
  const follows = (ticket: number): number => -1 - ticket
  const outcomes = await answersTo([
    group(1, expectAbsent, 0),
    // Ends the first group, so that the next two are gathered into one.
    { type: 'history', base: 0 },
    group(2, follows(1), 0),
    group(3, follows(2), 1),
  ])
  expect(outcomes.map(({ type }) => type)).toEqual(['committed', 'committed', 'committed'])
})
