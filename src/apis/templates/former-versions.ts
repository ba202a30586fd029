/**
 * Versions of templates that were applied before this process began. A namespace that waits for its turn in a rollout,
 * or that lacks a value which its template requires now, is kept as it was applied last: the record of the namespace
 * says what was applied, and the revisions of the template which version of it said so.
 */
import type { Client } from '../../client/client.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedObject, identityOfApplied } from './applied-records.ts'
import type { ResolveClone } from './clones.ts'
import type { Conditions } from './conditions.ts'
import { heldGeneration, isInForce, versionOf } from './held-version.ts'
import { generationOf } from './ledger.ts'
import { findBeyond, isDisabled, type Matcher } from './match.ts'
import { evaluateParameters } from './parameters.ts'
import type { PopulationState } from './population-state.ts'
import { identityOf, render } from './render.ts'
import { revisionsOf } from './revisions.ts'
import type { NamespaceTemplate } from './types.ts'

export class FormerVersions {
  readonly #client: Client
  readonly #state: PopulationState
  readonly #clones: ResolveClone
  /** By the uid of the template: its versions when it and what is in force were of these generations, newest first. */
  readonly #read = new Map<string, { readonly at: string; readonly versions: readonly Matcher[] }>()

  constructor(client: Client, state: PopulationState, clones: ResolveClone) {
    this.#client = client
    this.#state = state
    this.#clones = clones
  }

  /** All versions that are in force in place of their newest ones. */
  async inForce(signal: AbortSignal): Promise<readonly Matcher[]> {
    const found: Matcher[] = []
    for (const { template } of this.#state.matchers()) {
      if (heldGeneration(template) === undefined || isDisabled(template) || findBeyond(template) !== undefined) continue
      const held = (await this.#versionsOf(template, signal)).find((v) => isInForce(v, template))
      if (held !== undefined) found.push(held)
    }
    return found
  }

  /** As far as it has been read. */
  knownInForce(template: NamespaceTemplate): Matcher | undefined {
    return this.#read.get(uidOf(template.metadata))?.versions.find((v) => isInForce(v, template))
  }

  /**
   * By the name of the template: what was applied of those whose newest version may not be applied here now, or what
   * is in force where that is not for the namespace.
   */
  async of(namespace: Namespace, conditions: Conditions, signal: AbortSignal): Promise<ReadonlyMap<string, Matcher>> {
    const found = new Map<string, Matcher>()
    for (const version of this.#state.matchers()) {
      const name = nameOf(version.template.metadata)
      const wants = this.#wants(version, namespace)
      if (!wants.applied && !wants.held) continue
      const all = this.#state.index.claimsIn(nameOf(namespace.metadata))
      const claims = wants.applied ? all.filter((claim) => claim.template === name) : []
      if (claims.length === 0 && !wants.held) continue
      // One that does not select it holds nothing here: it would count as reached, and what is there be pruned.
      const versions = (await this.#versionsOf(version.template, signal)).filter((v) => v.selects(namespace))
      const former =
        claims.length > 0
          ? this.#findApplied(versions, conditions, claims, all)
          : versions.find((v) => isInForce(v, version.template))
      if (former !== undefined) found.set(name, former)
    }
    return found
  }

  #wants(version: Matcher, namespace: Namespace): { readonly applied: boolean; readonly held: boolean } {
    const { template } = version
    if (isDisabled(template) || findBeyond(template) !== undefined) return { applied: false, held: false }
    const { ledger, rollouts } = this.#state
    const entry = ledger.find(nameOf(template.metadata), nameOf(namespace.metadata))
    const isDue = (): boolean =>
      !rollouts.isSettled(version) || evaluateParameters(template, namespace).faults.length > 0
    return {
      applied: entry === undefined && isDue(),
      held: heldGeneration(template) !== undefined && entry?.version.selects(namespace) !== true,
    }
  }

  #findApplied(
    versions: readonly Matcher[],
    conditions: Conditions,
    claims: readonly AppliedObject[],
    all: readonly AppliedObject[],
  ): Matcher | undefined {
    const [{ template: name } = { template: '' }] = claims
    const others = new Set(all.filter((claim) => claim.template !== name).map(identityOfApplied))
    return (
      versions.find(({ template }) => this.#says(template, conditions, claims, others)) ??
      versions.find((v) => generationOf(v) === newest(claims))
    )
  }

  /** Just what is recorded; where templates hold the same object, one of them made it. */
  #says(
    template: NamespaceTemplate,
    conditions: Conditions,
    claims: readonly AppliedObject[],
    others: ReadonlySet<string>,
  ): boolean {
    const { objects, skipped } = render([template], conditions.namespace, this.#clones, conditions)
    if (skipped.length > 0) return false
    const said = new Map(objects.map(({ object, config }) => [identityOf(object), config]))
    for (const claim of claims) {
      const identity = identityOfApplied(claim)
      if (said.get(identity) !== claim.digest) return false
      said.delete(identity)
    }
    for (const identity of said.keys()) if (!others.has(identity)) return false
    return true
  }

  async #versionsOf(template: NamespaceTemplate, signal: AbortSignal): Promise<readonly Matcher[]> {
    const { generation } = template.metadata
    const uid = uidOf(template.metadata)
    const known = this.#read.get(uid)
    // What is in force has a revision when the status names it, and perhaps not before.
    const at = `${generation} ${heldGeneration(template)}`
    if (known?.at === at) return known.versions
    const revisions = (await revisionsOf(this.#client, template, signal)).filter((r) => r.generation !== generation)
    const versions = revisions.map((revision) => versionOf(template, revision.generation, revision.spec))
    // To be deleted is a generation too, which nothing is applied by: what it says was said by one before it.
    const isDeleted = template.metadata.deletionTimestamp !== undefined
    if (isDeleted) versions.push(versionOf(template, 0, template.spec ?? {}))
    else versions.unshift(versionOf(template, generation ?? 0, template.spec ?? {}))
    const present = new Set([...this.#state.matchers()].map((m) => m.template.metadata.uid))
    for (const other of this.#read.keys()) if (!present.has(other)) this.#read.delete(other)
    this.#read.set(uid, { at, versions })
    return versions
  }
}

/** An object that a later generation left as it was is recorded by the earlier one. */
const newest = (claims: readonly AppliedObject[]): number =>
  claims.reduce((generation, claim) => Math.max(generation, claim.generation), 0)
