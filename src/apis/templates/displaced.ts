/**
 * Objects whose place another template takes. Of two templates that hold the same object the first by name gives it,
 * whichever was there first: its author is told. And an author who may not write a protected object could give another
 * in its place by a template of an earlier name: that takes a right.
 */
import type { Authorizer } from '../../authz/authz.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { Lack } from './author-rights.ts'
import { isDisabled, type Matcher, templatesIn } from './match.ts'
import { mayDo } from './may-do.ts'
import { identityOf, titleOf } from './render.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import type { NamespaceTemplate } from './types.ts'

/** What its author lacks to take the place of what others protect; empty = nothing. */
export function missingBypass(
  { authorizer, matchers }: { readonly authorizer: Authorizer; matchers(): Iterable<Matcher> },
  user: UserInfo,
  template: NamespaceTemplate,
): Lack[] {
  const lacks = new Map<string, Lack>()
  // While a change of the other is stopped, namespaces hold what the version in force protects.
  for (const other of [...matchers()].flatMap(templatesIn)) {
    const name = nameOf(other.metadata)
    for (const { own, theirs } of placesTaken(template, other)) {
      if (theirs.protect !== true || mayDo(authorizer, user, 'bypass', name)) continue
      const what = `${titleOf(theirs.source)} of template ${JSON.stringify(name)}`
      const message = `takes the place of ${what}, which protects it: needs "bypass" on that template`
      lacks.set(`${own.field} ${what}`, { field: own.field, message })
    }
  }
  return [...lacks.values()]
}

/** An object of one template in the place of another's, as far as their names and labels tell. */
export interface PlaceTaken {
  readonly own: TemplateObject
  readonly theirs: TemplateObject
}

/** Where both are in force, and select the same namespace. */
export function placesTaken(template: NamespaceTemplate, other: NamespaceTemplate): PlaceTaken[] {
  if (!comesFirst(template, other) || areApart(template, other)) return []
  const held = objectsOf(template)
  return objectsOf(other).flatMap((theirs) => {
    const own = held.find((one) => mayBeSame(one, theirs))
    return own === undefined ? [] : [{ own, theirs }]
  })
}

export interface DisplacedObject {
  readonly object: string
  readonly template: string
  /** That both select. */
  readonly namespaces: number
}

/** What other templates lose to it in these namespaces, which it selects. */
export function displacedBy(
  { template }: Matcher,
  matchers: Iterable<Matcher>,
  selected: readonly Pick<KubeObject, 'metadata'>[],
): DisplacedObject[] {
  return [...matchers].flatMap((other) => {
    const taken = isDisabled(other.template) ? [] : placesTaken(template, other.template)
    const namespaces = taken.length === 0 ? 0 : selected.filter((n) => other.selects(n)).length
    if (namespaces === 0) return []
    const name = nameOf(other.template.metadata)
    return taken.map(({ theirs }) => ({ object: titleOf(theirs.source), template: name, namespaces }))
  })
}

/** Told one by one before it says how many more there are. */
const mostTold = 10

/** What its author may not know: that another template loses an object to it. */
export function displacedWarnings(
  { matchers }: { matchers(): Iterable<Matcher> },
  template: NamespaceTemplate,
): string[] {
  if (isDisabled(template)) return []
  const all = new Set<string>()
  for (const other of [...matchers()].flatMap(templatesIn)) {
    if (isDisabled(other)) continue
    for (const { own, theirs } of placesTaken(template, other)) {
      all.add(
        `${own.field}: where template ${JSON.stringify(other.metadata.name)} selects a namespace too, ` +
          `${titleOf(theirs.source)} comes from this one and no more from that: the first by name gives it`,
      )
    }
  }
  const told = [...all]
  const more = told.length - mostTold
  return more <= 0 ? told : [...told.slice(0, mostTold), `and ${more} more objects in the place of others`]
}

/** A template that is switched off is on again one day; one that is deleted goes. */
const comesFirst = ({ metadata: a }: NamespaceTemplate, { metadata: b }: NamespaceTemplate): boolean =>
  nameOf(a) < nameOf(b) && b.deletionTimestamp === undefined

/** No namespace is selected by both: they want another value of one label. */
function areApart(a: NamespaceTemplate, b: NamespaceTemplate): boolean {
  const wantedBy = ({ spec }: NamespaceTemplate): Partial<Record<string, string>> =>
    spec?.namespaces?.labelSelector?.matchLabels ?? {}
  const theirs = wantedBy(b)
  return Object.entries(wantedBy(a)).some(([key, value]) => theirs[key] !== undefined && theirs[key] !== value)
}

/** What a name with a token comes to is not known yet. */
function mayBeSame({ source: a }: TemplateObject, { source: b }: TemplateObject): boolean {
  const [one, other] = [a, b].map((source) => ({ ...source, metadata: { name: '' } }))
  const names = [a, b].map((source) => String((source as Partial<KubeObject>).metadata?.name))
  return identityOf(one ?? {}) === identityOf(other ?? {}) && (names[0] === names[1] || names.some(hasToken))
}
