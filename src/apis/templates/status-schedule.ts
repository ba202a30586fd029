/**
 * When the status of a template is written: changes of its figures are gathered for a moment, and a template is summed
 * up once a second at most, however many namespaces come and go.
 */
import { aborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { ObjectKey, Source } from '../../controller/controller.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { TemplateStatus } from './types.ts'

/** How long changes are gathered. */
const delayMs = 200
/** Between two writes of one status. */
const spacingMs = 1000

/** In whatever order their fields stand: kube-apiserver sorts those of a custom resource. */
export const isSameStatus = (a: TemplateStatus | undefined, b: TemplateStatus | undefined): boolean => jsonEqual(a, b)

export class StatusSchedule implements Source {
  readonly #clock: Clock
  readonly #isComplete: () => boolean
  /** template → when it was enqueued last, on the monotonic clock. */
  readonly #enqueuedMs = new Map<string, number>()
  readonly #due = new Set<string>()
  #enqueue: ((key: ObjectKey) => void) | undefined

  /** `isComplete`: all that exists is known. Till then nothing is summed up, and what is deleted is not let go. */
  constructor(clock: Clock, isComplete: () => boolean) {
    this.#clock = clock
    this.#isComplete = isComplete
  }

  /**
   * Its figures may have changed. Without effect while the controller does not run, or not all is known: when it is,
   * the watches bring all.
   */
  request(template: string): void {
    if (this.#enqueue === undefined || !this.#isComplete() || this.#due.has(template)) return
    this.#due.add(template)
    const lastMs = this.#enqueuedMs.get(template) ?? Number.NEGATIVE_INFINITY
    this.#clock.after(Math.max(delayMs, lastMs + spacingMs - this.#clock.monotonic()), () => {
      this.#due.delete(template)
      if (this.#enqueue === undefined || !this.#isComplete()) return
      this.#enqueuedMs.set(template, this.#clock.monotonic())
      this.#enqueue({ namespace: '', name: template })
    })
  }

  forget(template: string): void {
    this.#enqueuedMs.delete(template)
  }

  async run(enqueue: (key: ObjectKey) => void, signal: AbortSignal): Promise<void> {
    this.#enqueue = enqueue
    await aborted(signal)
    this.#enqueue = undefined
  }
}
