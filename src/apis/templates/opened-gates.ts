/**
 * Gates that this process opened, until its watch tells of it. Till then its picture shows a namespace as new that
 * clients use already, and what is new is given the newest version at once: past the rollout and its `maxPrune`, and
 * while all templates are paused.
 */
import type { Namespace } from '../namespaces/types.ts'
import { isGateShut } from './gate.ts'

export class OpenedGates {
  /** Name → uid. */
  readonly #opened = new Map<string, string>()

  isShut(namespace: Namespace): boolean {
    const { name = '', uid } = namespace.metadata
    return isGateShut(namespace) && this.#opened.get(name) !== uid
  }

  /** `seen`: as the picture has it after the gate was opened. */
  opened({ name = '', uid = '' }: Namespace['metadata'], seen: Namespace | undefined): void {
    if (seen?.metadata.uid === uid && isGateShut(seen)) this.#opened.set(name, uid)
  }

  /** The picture has changed. */
  changed(name: string, next: Namespace | undefined): void {
    if (next === undefined || !isGateShut(next) || next.metadata.uid !== this.#opened.get(name))
      this.#opened.delete(name)
  }
}
