/**
 * Kinds of templates that are not served yet: a definition or an aggregated API is to come. Discovery has no watch, and
 * a definition that is established may not be served for a moment. So while there are such kinds discovery is asked
 * for their group versions, which needs no right that every client does not have.
 */
import { aborted } from '../../base/aborted.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import type { ServedKind } from '../../client/client.ts'

export interface AwaitedKindsDeps {
  readonly clock: Clock
  /** Of `networking.k8s.io/v1/NetworkPolicy`; 'refused' = the server did not say. */
  readonly find: (kind: string) => Promise<ServedKind | 'refused' | undefined>
  readonly isWanted: (kind: string) => boolean
  readonly onServed: (kind: string) => void
}

/** Between two questions about one kind. */
const intervalMs = 500

export class AwaitedKinds {
  readonly #deps: AwaitedKindsDeps
  readonly #awaited = new Set<string>()
  #wake: () => void = () => {}

  constructor(deps: AwaitedKindsDeps) {
    this.#deps = deps
  }

  add(kind: string): void {
    this.#awaited.add(kind)
    this.#wake()
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = aborted(signal)
    while (!signal.aborted) {
      if (this.#awaited.size === 0) {
        await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), stopped])
        continue
      }
      await sleep(this.#deps.clock, intervalMs, signal)
      if (!signal.aborted) await Promise.all([...this.#awaited].map((kind) => this.#ask(kind)))
    }
  }

  async #ask(kind: string): Promise<void> {
    const { find, isWanted, onServed } = this.#deps
    if (!isWanted(kind)) {
      this.#awaited.delete(kind)
      return
    }
    const served = await find(kind)
    if (served === undefined || served === 'refused') return
    this.#awaited.delete(kind)
    onServed(kind)
  }
}
