/**
 * Who may use which names. Within a group the plural, singular and short names of all definitions share one set, kinds
 * and list kinds another; who has a name accepted keeps it until it goes.
 * @see k8s.io/apiextensions-apiserver/pkg/controller/status/naming_controller.go v0.36
 */
import { aggregate } from '../../kube/aggregate.ts'
import {
  badAuthorityOf,
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionNames,
  findCondition,
  isEstablished,
} from './types.ts'

export interface NamingOutcome {
  readonly acceptedNames: DefinitionNames
  readonly conditions: readonly DefinitionCondition[]
}

const noNames: DefinitionNames = { plural: '', kind: '' }

/** `others`: the other definitions of the group. */
export function decideNames(
  definition: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
): NamingOutcome {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const other of others) {
    const { plural, singular, shortNames, kind, listKind } = other.status?.acceptedNames ?? noNames
    for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  const wanted = definition.spec.names
  const accepted = definition.status?.acceptedNames ?? noNames
  const next: DefinitionNames = { ...accepted }
  let conflict: { reason: string; message: string } | undefined

  const take = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    used: ReadonlySet<string>,
    reason: string,
  ): void => {
    const name = wanted[field] ?? ''
    if (name !== (accepted[field] ?? '') && used.has(name)) conflict = { reason, message: inUse(name) }
    else next[field] = name
  }
  take('plural', resources, 'PluralConflict')
  take('singular', resources, 'SingularConflict')
  const before = new Set(accepted.shortNames)
  const taken = [...new Set(wanted.shortNames)].filter((name) => !before.has(name) && resources.has(name))
  if (taken.length > 0) conflict = { reason: 'ShortNamesConflict', message: aggregate(taken.map(inUse)) }
  else setList(next, 'shortNames', wanted.shortNames)
  take('kind', kinds, 'KindConflict')
  take('listKind', kinds, 'ListKindConflict')
  setList(next, 'categories', wanted.categories)
  return { acceptedNames: next, conditions: conditionsOf(definition, conflict) }
}

function setList(names: DefinitionNames, field: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value === undefined || value.length === 0) delete names[field]
  else names[field] = [...value]
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`

/** Established is for ever. One process serves at once what it establishes, so nothing lies between the two. */
function conditionsOf(
  definition: CustomResourceDefinition,
  conflict: { readonly reason: string; readonly message: string } | undefined,
): DefinitionCondition[] {
  const names: DefinitionCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  const before = findCondition(definition, 'Established')
  if (before !== undefined && isEstablished(definition)) return [names, before]
  return [names, { type: 'Established', ...establishment(definition, conflict !== undefined) }]
}

function establishment(definition: CustomResourceDefinition, hasConflict: boolean): Omit<DefinitionCondition, 'type'> {
  if (hasConflict) return { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  if (badAuthorityOf(definition.spec.conversion) !== undefined) {
    return { status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' }
  }
  return { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
}
