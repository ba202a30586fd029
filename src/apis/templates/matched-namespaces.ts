/**
 * How many namespaces each template counts as its own, kept true change by change: figures are wanted every second
 * while namespaces come and go, and counting all of them anew costs in proportion to the cluster.
 */
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { Matcher } from './match.ts'

/** Does a namespace count for a template as it is now? */
export type Counts = (version: Matcher, namespace: Namespace) => boolean

export class MatchedNamespaces {
  readonly #counts: Counts
  readonly #onChange: (template: string) => void
  readonly #byTemplate = new Map<string, { readonly version: Matcher; readonly namespaces: Set<string> }>()

  /** `onChange`: the figure of a template changed because of a namespace. No pass over it need tell of that. */
  constructor(counts: Counts, onChange: (template: string) => void) {
    this.#counts = counts
    this.#onChange = onChange
  }

  counted(template: string): number {
    return this.#byTemplate.get(template)?.namespaces.size ?? 0
  }

  /** None is counted for this version yet: each that there is must be told, by `count` or because it changes. */
  countAnew(version: Matcher): void {
    this.#byTemplate.set(nameOf(version.template.metadata), { version, namespaces: new Set() })
  }

  /** Without a word of it: who counts all of them knows when it is done. */
  count(version: Matcher, namespace: Namespace): void {
    const name = nameOf(namespace.metadata)
    const counted = this.#byTemplate.get(nameOf(version.template.metadata))
    if (counted?.version === version && this.#counts(version, namespace)) counted.namespaces.add(name)
  }

  templateGone(template: string): void {
    this.#byTemplate.delete(template)
  }

  /** Also to be told when what `Counts` answers changed for another reason. */
  namespaceChanged(namespace: Namespace): void {
    const name = nameOf(namespace.metadata)
    for (const [template, { version, namespaces }] of this.#byTemplate) {
      const before = namespaces.size
      if (this.#counts(version, namespace)) namespaces.add(name)
      else namespaces.delete(name)
      if (namespaces.size !== before) this.#onChange(template)
    }
  }

  namespaceGone(name: string): void {
    for (const [template, { namespaces }] of this.#byTemplate) if (namespaces.delete(name)) this.#onChange(template)
  }
}
