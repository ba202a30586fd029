/**
 * Protected objects whose place another template would take. Of two templates that hold the same object the first by
 * name gives it, so an author who may not write a protected object could give another in its place by a template of an
 * earlier name.
 */
import type { Authorizer } from '../../authz/authz.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { Lack } from './author-rights.ts'
import type { Matcher } from './match.ts'
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
  const lacks: Lack[] = []
  for (const { template: other } of matchers()) {
    const { name = '' } = other.metadata
    if (!comesFirst(template, other) || areApart(template, other)) continue
    for (const shielded of objectsOf(other)) {
      if (shielded.protect !== true) continue
      const own = objectsOf(template).find((one) => mayBeSame(one, shielded))
      if (own === undefined || mayDo(authorizer, user, 'bypass', name)) continue
      const what = `${titleOf(shielded.source)} of template ${JSON.stringify(name)}`
      const message = `takes the place of ${what}, which protects it: needs "bypass" on that template`
      lacks.push({ field: own.field, message })
    }
  }
  return lacks
}

/** A template that is switched off is on again one day; one that is deleted goes. */
const comesFirst = ({ metadata: a }: NamespaceTemplate, { metadata: b }: NamespaceTemplate): boolean =>
  (a.name ?? '') < (b.name ?? '') && b.deletionTimestamp === undefined

/** No namespace is selected by both: they want another value of one label. */
function areApart(a: NamespaceTemplate, b: NamespaceTemplate): boolean {
  const [ours, theirs] = [a, b].map(({ spec }) => spec?.namespaces?.labelSelector?.matchLabels ?? {})
  return Object.entries(ours ?? {}).some(([key, value]) => theirs?.[key] !== undefined && theirs[key] !== value)
}

/** What a name with a token comes to is not known yet. */
function mayBeSame({ source: a }: TemplateObject, { source: b }: TemplateObject): boolean {
  const [one, other] = [a, b].map((source) => ({ ...source, metadata: { name: '' } }))
  const names = [a, b].map((source) => String((source as Partial<KubeObject>).metadata?.name))
  return identityOf(one ?? {}) === identityOf(other ?? {}) && (names[0] === names[1] || names.some(hasToken))
}
