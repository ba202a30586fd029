/**
 * Versions of templates that were applied before this process began. A namespace that lacks a value which its template
 * requires now is kept as it was applied last: the record of the namespace says by which generation, and the revisions
 * of the template what that generation said.
 */
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { evaluateParameters } from './parameters.ts'
import type { PopulationState } from './population-state.ts'
import { revisionsOf } from './revisions.ts'
import type { NamespaceTemplate } from './types.ts'

/** By generation. */
type Versions = ReadonlyMap<number, Matcher>

export class FormerVersions {
  readonly #client: Client
  readonly #state: PopulationState
  /** By the uid of the template: what was kept of it at this generation. */
  readonly #read = new Map<string, { readonly generation: number | undefined; readonly versions: Versions }>()

  constructor(client: Client, state: PopulationState) {
    this.#client = client
    this.#state = state
  }

  /** By the name of the template: each that can't be rendered in the namespace, and what was applied there before. */
  async of(namespace: Namespace, signal: AbortSignal): Promise<ReadonlyMap<string, Matcher>> {
    const found = new Map<string, Matcher>()
    for (const { template } of this.#state.matchers()) {
      const generation = this.#wantedOf(template, namespace)
      if (generation === 0) continue
      const version = (await this.#versionsOf(template, signal)).get(generation)
      if (version !== undefined) found.set(nameOf(template.metadata), version)
    }
    return found
  }

  /** The generation to be restored; 0 = none. */
  #wantedOf(template: NamespaceTemplate, namespace: Namespace): number {
    if (template.spec?.parameters === undefined) return 0
    const { ledger, index } = this.#state
    const { name = '' } = namespace.metadata
    const templateName = nameOf(template.metadata)
    if (ledger.find(templateName, name) !== undefined) return 0
    if (evaluateParameters(template, namespace).faults.length === 0) return 0
    return newest(index.claimsIn(name).filter((claim) => claim.template === templateName))
  }

  async #versionsOf(template: NamespaceTemplate, signal: AbortSignal): Promise<Versions> {
    const { uid = '', generation } = template.metadata
    const known = this.#read.get(uid)
    if (known?.generation === generation && known !== undefined) return known.versions
    const versions = new Map<number, Matcher>()
    for (const revision of await revisionsOf(this.#client, template, signal)) {
      const metadata = { ...template.metadata, generation: revision.generation }
      versions.set(revision.generation, compileMatcher({ ...template, metadata, spec: revision.spec }))
    }
    const present = new Set([...this.#state.matchers()].map((m) => m.template.metadata.uid))
    for (const other of this.#read.keys()) if (!present.has(other)) this.#read.delete(other)
    this.#read.set(uid, { generation, versions })
    return versions
  }
}

/** An object that a later generation left as it was is recorded by the earlier one. */
const newest = (claims: readonly AppliedObject[]): number =>
  claims.reduce((generation, claim) => Math.max(generation, claim.generation), 0)
