/**
 * Which templates hold objects where, in numbers: what a status and the end of a template ask, whatever is recorded.
 */
import type { AppliedObject } from './applied-records.ts'

type Counter = Map<string, number>

interface Held {
  /** Objects per namespace. */
  readonly namespaces: Counter
  /** Objects per kind: `networking.k8s.io/v1/NetworkPolicy`. */
  readonly kinds: Counter
}

export class Holdings {
  readonly #byTemplate = new Map<string, Held>()
  readonly #onLeft: (template: string) => void

  /** `onLeft`: a template holds nothing any more in a namespace where it did. */
  constructor(onLeft: (template: string) => void) {
    this.#onLeft = onLeft
  }

  changed(namespace: string, next: readonly AppliedObject[], old: readonly AppliedObject[]): void {
    for (const object of next) this.#count(namespace, object, 1)
    for (const object of old) this.#count(namespace, object, -1)
    for (const template of new Set(old.map((o) => o.template))) {
      if (!this.holds(template, namespace)) this.#onLeft(template)
    }
  }

  namespacesOf(template: string): Iterable<string> {
    return this.#byTemplate.get(template)?.namespaces.keys() ?? []
  }

  countNamespaces(template: string): number {
    return this.#byTemplate.get(template)?.namespaces.size ?? 0
  }

  holds(template: string, namespace: string): boolean {
    return this.#byTemplate.get(template)?.namespaces.has(namespace) ?? false
  }

  kindsOf(template: string): Iterable<string> {
    return this.#byTemplate.get(template)?.kinds.keys() ?? []
  }

  #count(namespace: string, { template, apiVersion, kind }: AppliedObject, step: 1 | -1): void {
    const held: Held = this.#byTemplate.get(template) ?? { namespaces: new Map(), kinds: new Map() }
    this.#byTemplate.set(template, held)
    add(held.namespaces, namespace, step)
    add(held.kinds, `${apiVersion}/${kind}`, step)
    if (held.namespaces.size === 0) this.#byTemplate.delete(template)
  }
}

function add(counter: Counter, key: string, step: number): void {
  const n = (counter.get(key) ?? 0) + step
  if (n === 0) counter.delete(key)
  else counter.set(key, n)
}
