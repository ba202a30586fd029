/**
 * The audit log of a group of workers: each hands its events, as lines, to the primary, which alone writes and rotates
 * the file. So lines of different workers never mix, and are in the order in which the primary heard of them.
 *
 * As everywhere in the audit log nothing waits for the disk: the primary takes what it is given, and drops and counts
 * what its own buffer does not hold. A worker drops and counts what the primary has not taken.
 */

import type { RelayPort } from '../base/relay-port.ts'
import type { AuditEvent, AuditSink } from './audit.ts'
import type { AuditCounts, AuditLog } from './audit-log.ts'

const maxWaitingBytes = 16 * 1024 * 1024

/** In the primary: until the worker is gone. */
export function keepFor(port: RelayPort, log: Pick<AuditLog, 'recordLine'>): void {
  port.onMessage((lines) => {
    for (const line of lines as readonly string[]) log.recordLine(line)
    port.send((lines as readonly string[]).length)
  })
}

export class RelayedAudit implements AuditSink, AsyncDisposable {
  readonly #port: RelayPort
  readonly #onTrouble: (error: unknown) => void
  readonly #gone = Promise.withResolvers<void>()
  #lines: string[] = []
  /** Sizes of the lines that were sent and not taken yet, in order. */
  #sent: number[] = []
  #waitingBytes = 0
  #dropped = 0
  #troubled = false
  #idle: (() => void) | undefined

  /** `onTrouble`: at the beginning of a spell of trouble, and with undefined at its end. */
  constructor(port: RelayPort, onTrouble: (error: unknown) => void) {
    this.#port = port
    this.#onTrouble = onTrouble
    port.onMessage((count) => this.#taken(count as number))
    port.onClose(() => this.#gone.resolve())
  }

  /** What is written, the primary counts. */
  get counts(): AuditCounts {
    return { written: 0, dropped: this.#dropped }
  }

  record(event: AuditEvent): void {
    this.recordLine(JSON.stringify(event))
  }

  recordLine(line: string): void {
    if (this.#waitingBytes + line.length > maxWaitingBytes) {
      this.#dropped++
      if (!this.#troubled) this.#onTrouble(new Error('the primary does not take what is recorded'))
      this.#troubled = true
      return
    }
    this.#waitingBytes += line.length
    this.#lines.push(line)
    if (this.#lines.length === 1) queueMicrotask(() => this.#send())
  }

  /** Waits until the primary has everything, or is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#send()
    if (this.#sent.length === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve
    })
    await Promise.race([idle, this.#gone.promise])
  }

  #send(): void {
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    for (const { length } of lines) this.#sent.push(length)
    this.#port.send(lines)
  }

  #taken(count: number): void {
    for (const length of this.#sent.splice(0, count)) this.#waitingBytes -= length
    if (this.#sent.length > 0) return
    this.#idle?.()
    if (!this.#troubled) return
    this.#troubled = false
    this.#onTrouble(undefined)
  }
}
