/**
 * When the turn of the initializer that a namespace waits for began. A turn lasts as long as the list stays as it is.
 */
import type { Clock } from '../../base/clock.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'

export interface Turn {
  /** Names the turn: another namespace of that name, or another list, is another turn. */
  readonly id: string
  readonly initializer: string
  readonly beganMs: number
}

export class Turns {
  readonly #clock: Clock
  readonly #byName = new Map<string, Turn>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  find(name: string): Turn | undefined {
    return this.#byName.get(name)
  }

  values(): Iterable<Turn> {
    return this.#byName.values()
  }

  seen(namespace: Namespace): void {
    const name = nameOf(namespace.metadata)
    const id = idOf(namespace)
    if (this.#byName.get(name)?.id === id) return
    const initializer = namespace.spec?.initializers?.pending?.[0]?.name ?? ''
    this.#byName.set(name, { id, initializer, beganMs: this.#began(namespace) })
  }

  end(name: string): void {
    this.#byName.delete(name)
  }

  beganMs(namespace: Namespace): number {
    const known = this.#byName.get(nameOf(namespace.metadata))
    return known?.id === idOf(namespace) ? known.beganMs : this.#began(namespace)
  }

  /** The condition has whole seconds: a turn that was seen to begin just now is given all of its time. */
  #began({ metadata, status }: Namespace): number {
    const condition = status?.conditions?.find((c) => c.type === 'Initializing')
    const written = Date.parse(condition?.lastTransitionTime ?? metadata.creationTimestamp ?? '')
    const now = this.#clock.now()
    return Number.isNaN(written) || Math.abs(now - written) < 1000 ? now : written
  }
}

const idOf = ({ metadata, spec }: Namespace): string =>
  `${metadata.uid} ${spec?.initializers?.pending?.map((p) => p.name).join()}`
