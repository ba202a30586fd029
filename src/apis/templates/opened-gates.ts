/**
 * Gates that this process opened, until its watch tells of it. Till then its picture shows a namespace as new that
 * clients use already. What is new is given the newest version at once: past the rollout and its `maxPrune`, while all
 * templates are paused, and without a look at whose Roles are there.
 */
import type { Namespace } from '../namespaces/types.ts'
import { isGateShut, openedGate } from './gate.ts'

export class OpenedGates {
  /** Name → uid. */
  readonly #opened = new Map<string, string>()

  /** The namespace, at least as open as it was left. */
  asLeft(namespace: Namespace): Namespace {
    const { name = '', uid } = namespace.metadata
    const isKnown = isGateShut(namespace) && this.#opened.get(name) === uid
    return isKnown ? openedGate(namespace) : namespace
  }

  /** `seen`: the picture of it after the gate was opened. */
  opened({ name = '', uid = '' }: Namespace['metadata'], seen: Namespace | undefined): void {
    if (seen?.metadata.uid === uid && isGateShut(seen)) this.#opened.set(name, uid)
  }

  /** The picture has changed. */
  changed(name: string, next: Namespace | undefined): void {
    const isAwaited = next !== undefined && isGateShut(next) && next.metadata.uid === this.#opened.get(name)
    if (!isAwaited) this.#opened.delete(name)
  }
}
