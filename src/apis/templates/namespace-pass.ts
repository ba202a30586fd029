/** What one pass over a namespace does with which template. */
import { append } from '../../base/append.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { ResolveClone } from './clones.ts'
import type { Conditions } from './conditions.ts'
import { isGateShut } from './gate.ts'
import { isInForce } from './held-version.ts'
import type { Attempt } from './ledger.ts'
import { findBeyond, isDisabled, type Matcher } from './match.ts'
import { evaluateParameters, type ParameterFault } from './parameters.ts'
import { isPopulated } from './populate.ts'
import type { PopulationState } from './population-state.ts'
import { type Skipped, skippedFor } from './render.ts'
import type { Release } from './rollout.ts'
import type { NamespaceTemplate } from './types.ts'

export interface NamespacePass {
  /** In the order in which they apply. */
  readonly wanted: NamespaceTemplate[]
  /** By template. */
  readonly attempts: Map<string, Attempt>
  /** Every template as it was when the pass was planned, by name. */
  readonly planned: ReadonlyMap<string, NamespaceTemplate>
  /** Templates whose turn has not come: nothing of theirs is pruned. */
  readonly waiting: Set<string>
  /** Of them, those of which the version in force is for the namespace, and the newest is not. */
  readonly held: Set<string>
  /** Templates that can't be rendered here, and so are kept at what was applied last. */
  readonly unrendered: Skipped[]
  /** Places in rollouts that it holds until its outcome is in the ledger. */
  readonly places: Release[]
}

export interface PassInput {
  /** Of the namespace. */
  readonly conditions: Conditions
  readonly clones: ResolveClone
  /** By template: what was applied here before this process began, where the newest may not be applied now. */
  readonly former: ReadonlyMap<string, Matcher>
}

export function planPass(state: PopulationState, namespace: Namespace, input: PassInput): NamespacePass {
  const versions = [...state.matchers()]
  const planned = new Map(versions.map(({ template }) => [nameOf(template.metadata), template]))
  const pass: NamespacePass = {
    ...{ wanted: [], attempts: new Map(), planned },
    ...{ waiting: new Set(), held: new Set(), unrendered: [], places: [] },
  }
  for (const version of versions) planTemplate(state, namespace, version, { ...input, pass })
  pass.wanted.sort((a, b) => (nameOf(a.metadata) < nameOf(b.metadata) ? -1 : 1))
  return pass
}

interface Planned extends PassInput {
  readonly pass: NamespacePass
}

function planTemplate(
  state: PopulationState,
  namespace: Namespace,
  version: Matcher,
  { pass, clones, conditions, former }: Planned,
): void {
  const { ledger, index, rollouts } = state
  const { template } = version
  const isDeleted = template.metadata.deletionTimestamp !== undefined
  if (isDisabled(template) && !isDeleted) return
  const name = nameOf(namespace.metadata)
  const templateName = nameOf(template.metadata)
  const isSelected = !isDeleted && version.selects(namespace)
  const isThere = index.holdings.holds(templateName, name) || state.metadata.holds(templateName, name)
  const found = former.get(templateName)
  // What was in force may be so no more since it was looked for.
  const before = found !== undefined && (isThere || isInForce(found, template)) ? found : undefined
  const known = ledger.findHeld(version, name)
  const isLeft = known !== undefined && !known.version.selects(namespace)
  const held = before !== undefined && (known === undefined || isLeft) ? { version: before, isSelected: true } : known
  if (!isSelected && held === undefined && !isThere) {
    if (rollouts.leave(templateName, name)) state.requestStatus([templateName])
    return
  }
  // Nor can it be told which namespaces it is for.
  if (!isSelected && !isDeleted && findBeyond(template) !== undefined) return
  const { faults } = isSelected ? evaluateParameters(template, namespace) : { faults: [] }
  if (faults.length > 0) {
    keepAsApplied(version, namespace, faults, held, pass)
    return
  }
  const isDone = (): boolean => {
    const claims = index.claimsIn(name).filter((claim) => claim.template === templateName)
    return isSelected && isPopulated([template], claims, { index, clones, conditions })
  }
  // A client that waits for a new namespace does not wait for a rollout as well.
  const isNew = isGateShut(namespace)
  const isHeld =
    !isSelected && held !== undefined && isInForce(held.version, template) && held.version.selects(namespace)
  const place =
    isNew && !isHeld
      ? () => {}
      : isSelected
        ? rollouts.begin(version, name, isDone)
        : rollouts.beginLeaving(version, name)
  if (place !== undefined) {
    pass.places.push(place)
    // Nothing of it is wanted any more: what is there is pruned.
    if (isDeleted) return
    pass.attempts.set(templateName, { version, isSelected, ...(isNew ? { isNew } : {}) })
    if (isSelected) pass.wanted.push(template)
    return
  }
  pass.waiting.add(templateName)
  if (isHeld) pass.held.add(templateName)
  if (held === undefined) return
  // Until its turn comes it is kept at what it has.
  pass.attempts.set(templateName, held)
  if (held.isSelected && held.version.selects(namespace)) pass.wanted.push(held.version.template)
}

/** Its turn does not come, and it takes no place of the namespaces whose turn it is. */
function keepAsApplied(
  version: Matcher,
  namespace: Namespace,
  faults: readonly ParameterFault[],
  held: Attempt | undefined,
  pass: NamespacePass,
): void {
  const { template } = version
  const isKept =
    held?.isSelected === true &&
    held.version.selects(namespace) &&
    evaluateParameters(held.version.template, namespace).faults.length === 0
  const kept = isKept ? held.version : version
  pass.attempts.set(nameOf(template.metadata), { version: kept, isSelected: true, isUnrendered: true })
  pass.wanted.push(kept.template)
  // A version that can't be rendered says so itself.
  if (isKept)
    append(
      pass.unrendered,
      faults.map((fault) => skippedFor(template, fault)),
    )
}
