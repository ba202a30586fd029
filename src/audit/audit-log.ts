/**
 * The audit log as a file: JSON lines, rotated by size, kept in a bounded number.
 *
 *   record ──▶ waiting lines (bounded in bytes) ──▶ one writer ──▶ FILE ──▶ FILE.1 ──▶ … ──▶ FILE.<keep>
 *
 * Requests never wait for the disk. A disk that is slow fills the buffer; what comes then is dropped and counted. A
 * disk that refuses (full, gone) costs what was being written, is reported once per spell of trouble, and is tried
 * again with the next lines. Our choice: kube-apiserver's default holds the request up instead.
 */
import type { AuditEvent, AuditSink } from './audit.ts'

/** The files of the log; faults are the caller's to report, so every method may reject. */
export interface AuditFiles {
  /** Opens for appending, readable by the owner alone. */
  open(path: string): Promise<AuditFile>
  /** Replaces `to`. A missing `from` is no fault. */
  rename(from: string, to: string): Promise<void>
}

export interface AuditFile {
  readonly sizeBytes: number
  /** All of it or a rejection, after which part of it may be there. */
  append(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export interface AuditLogOptions {
  readonly path: string
  readonly files: AuditFiles
  /** A file is not made larger than this, unless a single event is. */
  readonly maxBytes: number
  /** How many rotated files stay beside the current one; at least 1. */
  readonly keep: number
  /** Called at the beginning of a spell of trouble, and with undefined at its end: then so many events were lost. */
  readonly onTrouble: (error: unknown, lost: number) => void
  readonly maxWaitingBytes?: number
}

export interface AuditCounts {
  readonly written: number
  readonly dropped: number
}

const defaultMaxWaitingBytes = 16 * 1024 * 1024
const maxBatchBytes = 256 * 1024
const newline = Buffer.from('\n')

export class AuditLog implements AuditSink, AsyncDisposable {
  readonly #options: AuditLogOptions
  readonly #maxWaitingBytes: number
  #file: AuditFile
  #sizeBytes: number
  #lines: Buffer[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  #troubled = false
  /** The last write may have left half a line. */
  #torn = false
  #closed = false
  #written = 0
  #dropped = 0
  /** Dropped before the present spell of trouble. */
  #droppedBefore = 0

  private constructor(options: AuditLogOptions, file: AuditFile) {
    this.#options = options
    this.#maxWaitingBytes = options.maxWaitingBytes ?? defaultMaxWaitingBytes
    this.#file = file
    this.#sizeBytes = file.sizeBytes
  }

  /** Rejects if the file can't be opened: who asks for an audit log does not want to run without one. */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    return new AuditLog(options, await options.files.open(options.path))
  }

  get counts(): AuditCounts {
    return { written: this.#written, dropped: this.#dropped }
  }

  record(event: AuditEvent): void {
    this.recordLine(JSON.stringify(event))
  }

  recordLine(text: string): void {
    const line = Buffer.from(`${text}\n`)
    if (this.#closed || this.#waitingBytes + line.length > this.#maxWaitingBytes) {
      this.#dropped++
      this.#trouble(new Error(`more than ${this.#maxWaitingBytes} bytes wait to be written`))
      return
    }
    this.#lines.push(line)
    this.#waitingBytes += line.length
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes what waits, then closes. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#writing
    await this.#file.close()
  }

  async #writeAll(): Promise<void> {
    // Lines that come in the same turn share a write.
    await Promise.resolve()
    while (this.#lines.length > 0) {
      const batch = this.#takeBatch()
      try {
        await this.#append(Buffer.concat(batch))
        this.#written += batch.length
        this.#recovered()
      } catch (error) {
        this.#dropped += batch.length
        this.#torn = true
        this.#trouble(error)
      } finally {
        for (const line of batch) this.#waitingBytes -= line.length
      }
    }
  }

  #takeBatch(): Buffer[] {
    let count = 0
    let size = 0
    for (const line of this.#lines) {
      if (count > 0 && size + line.length > Math.min(maxBatchBytes, this.#options.maxBytes)) break
      count++
      size += line.length
    }
    return this.#lines.splice(0, count)
  }

  async #append(bytes: Buffer): Promise<void> {
    if (this.#sizeBytes > 0 && this.#sizeBytes + bytes.length > this.#options.maxBytes) await this.#rotate()
    const whole = this.#torn && this.#sizeBytes > 0 ? Buffer.concat([newline, bytes]) : bytes
    await this.#file.append(whole)
    this.#sizeBytes += whole.length
    this.#torn = false
  }

  /** The new file is open before the old one is let go: a failure leaves a file to write to. */
  async #rotate(): Promise<void> {
    const { files, path, keep } = this.#options
    for (let i = keep; i > 1; i--) await files.rename(`${path}.${i - 1}`, `${path}.${i}`)
    await files.rename(path, `${path}.1`)
    const next = await files.open(path)
    const last = this.#file
    this.#file = next
    this.#sizeBytes = next.sizeBytes
    this.#torn = false
    await last.close()
  }

  #trouble(error: unknown): void {
    if (this.#troubled) return
    this.#troubled = true
    this.#options.onTrouble(error, 0)
  }

  #recovered(): void {
    if (!this.#troubled || this.#lines.length > 0) return
    this.#troubled = false
    this.#options.onTrouble(undefined, this.#dropped - this.#droppedBefore)
    this.#droppedBefore = this.#dropped
  }
}
