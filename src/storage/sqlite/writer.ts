/**
 * The writer's thread: takes what the main thread sends, in order, and answers in the same order. While one group is
 * being flushed the next ones arrive; all that has arrived is committed together.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { append } from '../../base/append.ts'
import type { Revision } from '../storage.ts'
import type { LogChange, LogOutcome, LogTransaction, WriterLog } from './log-entries.ts'
import { LogFile } from './log-file.ts'
import {
  type FromWriter,
  type PackedGroup,
  type ToWriter,
  ValuePacker,
  type WriterCondition,
  type WriterOptions,
} from './messages.ts'
import { ReadOnlyLog } from './read-only-log.ts'
import { giveUpReserve } from './reserve-files.ts'
import { type Fault, faultOf } from './sqlite-faults.ts'

/** Transactions and bytes in one group: a flush must not keep the first of them waiting for too long. */
const maxGroup = 1024
const maxGroupBytes = 8 * 1024 * 1024

function run(port: MessagePort, options: WriterOptions): void {
  const send = (message: FromWriter, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)
  let log: WriterLog
  try {
    log = openLog(options, (condition) => send({ type: 'condition', ...condition }))
  } catch (error) {
    return refuse(error)
  }
  try {
    const { head, compacted, committedMs, unwritable } = log
    send({ type: 'opened', head, compacted, committedMs, unwritable })
    sendKeys(log, send)
    send({ type: 'loaded' })
  } catch (error) {
    log.close()
    return refuse(error)
  }
  function refuse(error: unknown): void {
    send({ type: 'refused', fault: faultOf(error, options.directory) })
    port.close()
  }

  /** Taken from the port while a group was being gathered, not yet done. */
  let next: ToWriter | undefined
  let sweeping = false

  const receive = (): ToWriter | undefined => {
    if (next) {
      const message = next
      next = undefined
      return message
    }
    return (receiveMessageOnPort(port) as { readonly message: ToWriter } | undefined)?.message
  }

  const work = (first: ToWriter): void => {
    for (let message: ToWriter | undefined = first; message; message = receive()) handle(message)
  }

  function handle(message: ToWriter): void {
    switch (message.type) {
      case 'commit':
        return commit(message)
      case 'history':
        return history(message.base)
      case 'compact':
        return compact(message.before)
      case 'close':
        return close()
    }
  }

  function commit(first: PackedGroup): void {
    const transactions = unpackGroup(first)
    let bytes = first.values.byteLength
    while (transactions.length < maxGroup && bytes < maxGroupBytes) {
      const more = receive()
      if (more?.type !== 'commit') {
        next = more
        break
      }
      for (const transaction of unpackGroup(more)) transactions.push(transaction)
      bytes += more.values.byteLength
    }
    // Not what the last group knows: the first was packed before it, and may follow tickets settled in between.
    const { numbers, faults } = packOutcomes(log.commit(transactions, first.settledThrough))
    send({ type: 'outcomes', numbers, faults }, [numbers.buffer])
  }

  function history(base: Revision): void {
    try {
      const found = log.history(base)
      sendHistory(found.changes, found.base, send)
    } catch (error) {
      send({ type: 'historyFailed', fault: faultOf(error, log.path) })
    }
  }

  function compact(before: Revision): void {
    try {
      log.compact(before)
    } catch (error) {
      return send({ type: 'compacted', through: log.compacted, fault: faultOf(error, log.path) })
    }
    if (!sweeping) {
      sweeping = true
      setImmediate(sweepOn)
    }
  }

  /** One step per turn, so that commits that have arrived meanwhile go first. */
  function sweepOn(): void {
    try {
      if (sweeping && !log.sweep()) {
        setImmediate(sweepOn)
        return
      }
      if (sweeping) send({ type: 'compacted', through: log.compacted, fault: undefined })
    } catch (error) {
      send({ type: 'compacted', through: log.compacted, fault: faultOf(error, log.path) })
    }
    sweeping = false
  }

  function close(): void {
    sweeping = false
    let fault: Fault | undefined
    try {
      log.close()
    } catch (error) {
      fault = faultOf(error, log.path)
    }
    send({ type: 'closed', fault })
    port.close()
  }

  port.on('message', work)
}

/** Without room even for what an opened store needs, the reserve is given up for that; at last it is only read. */
function openLog(options: WriterOptions, onCondition: (condition: WriterCondition) => void): WriterLog {
  for (;;) {
    try {
      return new LogFile(options, onCondition)
    } catch (error) {
      const fault = faultOf(error, options.directory)
      if (fault.code !== 'full' && fault.code !== 'unavailable') throw error
      if (!giveUpReserve(options.directory)) return new ReadOnlyLog(options, fault)
    }
  }
}

function unpackGroup({ numbers, keys, values }: PackedGroup): LogTransaction[] {
  const transactions: LogTransaction[] = []
  let n = 0
  let k = 0
  let offset = 0
  const take = (): number => numbers[n++] as number
  while (n < numbers.length) {
    const ticket = take()
    const guards = take()
    const writes = take()
    const expects: number[] = []
    const contents: (Uint8Array | undefined)[] = []
    for (let i = 0; i < guards; i++) expects.push(take())
    for (let i = 0; i < writes; i++) {
      expects.push(take())
      const length = take()
      contents.push(length < 0 ? undefined : values.subarray(offset, offset + length))
      offset += Math.max(length, 0)
    }
    transactions.push({ ticket, guards, keys: keys.slice(k, k + guards + writes), expects, values: contents })
    k += guards + writes
  }
  return transactions
}

function packOutcomes(outcomes: readonly LogOutcome[]): { numbers: Float64Array<ArrayBuffer>; faults: Fault[] } {
  const numbers: number[] = []
  const faults: Fault[] = []
  for (const outcome of outcomes) {
    if (typeof outcome === 'number') numbers.push(outcome)
    else if ('code' in outcome) {
      if (faults.at(-1) !== outcome) faults.push(outcome)
      numbers.push(-1, faults.length - 1)
    } else {
      numbers.push(0, outcome.length)
      append(numbers, outcome)
    }
  }
  return { numbers: Float64Array.from(numbers), faults }
}

type Send = (message: FromWriter, transfer?: ArrayBuffer[]) => void

function sendKeys(log: WriterLog, send: Send): void {
  for (const page of log.keys()) {
    const longest = page.reduce((sum, [key]) => sum + key.length * 3, 0)
    const keys = Buffer.allocUnsafeSlow(longest)
    const numbers = new Float64Array(page.length * 2)
    let used = 0
    for (const [i, [key, revision]] of page.entries()) {
      used += keys.write(key, used, 'utf8')
      numbers[i * 2] = revision
      numbers[i * 2 + 1] = used
    }
    const packed = Uint8Array.from(keys.subarray(0, used))
    send({ type: 'keys', keys: packed, numbers }, [packed.buffer, numbers.buffer])
  }
}

function sendHistory(changes: readonly LogChange[], base: Revision, send: Send): void {
  const keys: string[] = []
  const numbers: number[] = []
  const values = new ValuePacker(64 * 1024)
  for (const { key, revision, previous, previousValue, deleted } of changes) {
    keys.push(key)
    numbers.push(revision, previous ?? 0, previousValue?.byteLength ?? 0, deleted ? 1 : 0)
    if (previousValue) values.add(previousValue)
  }
  const packed = Float64Array.from(numbers)
  const bytes = values.take()
  send({ type: 'history', base, keys, numbers: packed, values: bytes }, [packed.buffer, bytes.buffer])
}

if (!parentPort) throw new Error('the writer runs in a worker thread only')
run(parentPort, workerData as WriterOptions)
