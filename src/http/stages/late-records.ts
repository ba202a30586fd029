/**
 * Events of the audit log with long bodies: parsed and printed one after the other, in slices, when their requests have
 * been answered. A MiB of YAML takes a second, and the policy may want the bodies of each request, refused ones too.
 *
 * What waits is bounded. Beyond that events are recorded without bodies, which they say, and which is counted and told.
 */
import type { AuditEvent, AuditSink } from '../../audit/audit.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Slice, Turns } from '../../base/turns.ts'
import { printingJson } from '../../kube/printing-json.ts'
import type { RequestContext } from '../api.ts'
import type { Incidents } from '../incidents.ts'

export interface LateRecord {
  /** Of the bodies. */
  readonly sizeBytes: number
  readonly flow: string
  readonly context: RequestContext
  make(slice: Slice): Promise<AuditEvent>
}

export interface LateRecordsOptions {
  readonly turns: Turns
  readonly sink: AuditSink
  readonly incidents: Pick<Incidents, 'happened'>
  /** Something is wrong with our own code: an event is lost. */
  readonly onFault: (error: unknown) => void
}

/** Bytes of bodies that wait. */
export const maxWaitingBytes: number = 16 * 1024 * 1024

export class LateRecords implements AsyncDisposable {
  readonly #options: LateRecordsOptions
  readonly #waiting: LateRecord[] = []
  #waitingBytes = 0
  #running: Promise<void> | undefined

  constructor(options: LateRecordsOptions) {
    this.#options = options
  }

  /** False: there is no room, which is counted. */
  add(record: LateRecord): boolean {
    if (this.#waitingBytes + record.sizeBytes > maxWaitingBytes) {
      this.#options.incidents.happened('audit_bodies', record.flow)
      return false
    }
    this.#waiting.push(record)
    this.#waitingBytes += record.sizeBytes
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return true
  }

  /** Until all is recorded. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    const { turns, sink, onFault } = this.#options
    for (let record = this.#waiting.shift(); record !== undefined; record = this.#waiting.shift()) {
      try {
        const slice = await turns.begin(record.context)
        const event = await record.make(slice)
        const bytes = await runInSlices(printingJson({ ...event }), slice)
        sink.recordLine(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
      } catch (error) {
        onFault(error)
      } finally {
        this.#waitingBytes -= record.sizeBytes
      }
    }
  }
}
