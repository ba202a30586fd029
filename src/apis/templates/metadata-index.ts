/** On which namespaces each template set labels or annotations, by what is recorded there. */
import type { Namespace } from '../namespaces/types.ts'
import { holdersOf } from './namespace-metadata.ts'

export class MetadataIndex {
  readonly #byTemplate = new Map<string, Set<string>>()
  readonly #byNamespace = new Map<string, ReadonlySet<string>>()
  readonly #onLeft: (template: string) => void

  /** `onLeft`: a template sets nothing any more on a namespace where it did. */
  constructor(onLeft: (template: string) => void) {
    this.#onLeft = onLeft
  }

  changed(name: string, next: Namespace | undefined): void {
    const after = new Set(next === undefined ? [] : holdersOf(next).values())
    const before = this.#byNamespace.get(name)
    if (after.size === 0) this.#byNamespace.delete(name)
    else this.#byNamespace.set(name, after)
    for (const template of after) {
      const namespaces = this.#byTemplate.get(template) ?? new Set<string>()
      this.#byTemplate.set(template, namespaces.add(name))
    }
    for (const template of before ?? []) if (!after.has(template)) this.#left(template, name)
  }

  namespacesOf(template: string): ReadonlySet<string> {
    return this.#byTemplate.get(template) ?? nowhere
  }

  holds(template: string, namespace: string): boolean {
    return this.namespacesOf(template).has(namespace)
  }

  #left(template: string, namespace: string): void {
    const namespaces = this.#byTemplate.get(template)
    namespaces?.delete(namespace)
    if (namespaces?.size === 0) this.#byTemplate.delete(template)
    this.#onLeft(template)
  }
}

const nowhere: ReadonlySet<string> = new Set()
