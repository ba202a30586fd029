/**
 * From templates to objects for one namespace. Tokens are replaced inside string values only, never in keys, and what
 * they stand for is put in as text: a user's name can't change the structure of an object. Nor can it change the kind:
 * the rights of the author were checked for the kind that the template names.
 */
import { rbacGroup } from '../../kube/rbac.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type CloneProblem, type ResolveClone, resolveNameOnly } from './clones.ts'
import { Conditions } from './conditions.ts'
import { digestOf } from './digest.ts'
import { creatorOf, ownerOf } from './match.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import { type NamespaceTemplate, protectedByLabel, templateNameLabel } from './types.ts'

const creatorToken = '$(CREATOR)'
const ownerToken = '$(OWNER)'
const namespaceToken = '$(NAMESPACE)'
const tokens = [creatorToken, ownerToken, namespaceToken] as const

/** What each token stands for. */
type Meanings = Readonly<Record<(typeof tokens)[number], string>>

export interface Rendered {
  readonly template: NamespaceTemplate
  readonly object: KubeObject
  /** What the template says of it. */
  readonly held: TemplateObject
  /** A digest: equal ones, in one namespace, come of equal objects. */
  readonly config: string
  /** What it was made of, if it is the same in every namespace but for its place. */
  readonly source: JsonObject | undefined
}

export interface Skipped {
  readonly template: NamespaceTemplate
  /** `RoleBinding/admin` */
  readonly object: string
  readonly reason:
    | 'CreatorUnknown'
    | 'OwnerUnknown'
    | 'Conflict'
    | 'Malformed'
    | 'ConditionFailed'
    | 'RoleNotOurs'
    | CloneProblem['reason']
  readonly message: string
  /** What it is, as `identityOf` says; undefined = unknown. */
  readonly identity: string | undefined
  /** Where the template made it before, it is kept as it is here: whether it is wanted can't be told. */
  readonly kept?: Rendered
}

export interface Rendering {
  readonly objects: readonly Rendered[]
  readonly skipped: readonly Skipped[]
}

/** `RoleBinding/admin` */
export function titleOf(object: { readonly kind?: unknown; readonly metadata?: unknown }): string {
  const { name } = (object.metadata ?? {}) as { name?: unknown }
  return `${typeof object.kind === 'string' ? object.kind : '?'}/${typeof name === 'string' ? name : '?'}`
}

/** `rbac.authorization.k8s.io/Role/admin`: two versions of a kind are one object. */
export function identityOf({ apiVersion, kind, metadata }: Partial<KubeObject>): string {
  const version = textOf(apiVersion)
  return `${version.slice(0, Math.max(0, version.lastIndexOf('/')))}/${textOf(kind)}/${textOf(metadata?.name)}`
}

/** A client may have sent anything in the place of a text. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** What is the same of one source in every namespace. */
interface Source {
  readonly namesCreator: boolean
  readonly namesOwner: boolean
  readonly hasTokens: boolean
  readonly digest: string
}

/** Sources are never changed: an edit of their template brings others. */
const known = new WeakMap<JsonObject, Source>()

function sourceOf({ source, drift, protect }: TemplateObject, template: string): Source {
  const before = known.get(source)
  if (before !== undefined) return before
  const namesCreator = mentions(source, creatorToken)
  const namesOwner = mentions(source, ownerToken)
  const hasTokens = namesCreator || namesOwner || mentions(source, namespaceToken)
  // To become strict is a change: what was added before is looked for.
  const given = [template, source, ...(drift === 'Strict' ? [drift] : []), ...(protect ? ['protect'] : [])]
  const made = { namesCreator, namesOwner, hasTokens, digest: digestOf(given) }
  known.set(source, made)
  return made
}

/** `templates` in the order in which they apply; where two hold the same object the first keeps it. */
export function render(
  templates: readonly NamespaceTemplate[],
  namespace: Pick<Namespace, 'metadata'>,
  clones: ResolveClone,
): Rendering {
  const objects: Rendered[] = []
  const skipped: Skipped[] = []
  const holders = new Map<string, string>()
  const creator = creatorOf(namespace)
  const owner = ownerOf(namespace)
  const meanings = meaningsIn(namespace)
  let conditions: Conditions | undefined
  for (const template of templates) {
    const templateName = template.metadata.name ?? ''
    for (const held of objectsOf(template)) {
      const { source } = held
      const verdict =
        held.when === undefined || (conditions ??= new Conditions(namespace)).judge(template, held, held.when)
      // The namespace of a source has it already.
      if (verdict === false || held.cloneFrom?.namespace === namespace.metadata.name) continue
      const { namesCreator, namesOwner, hasTokens, digest } = sourceOf(held, templateName)
      const unknown =
        namesCreator && creator === undefined
          ? creatorToken
          : namesOwner && owner === undefined
            ? ownerToken
            : undefined
      if (unknown !== undefined) {
        const title = titleOf(source)
        const message = `it names ${unknown}, and none is recorded of this namespace`
        const isNamed = !title.includes(creatorToken) && !title.includes(ownerToken)
        const identity = isNamed ? identityOf(substituteIn(source, meanings)) : undefined
        const reason = unknown === creatorToken ? 'CreatorUnknown' : 'OwnerUnknown'
        skipped.push({ template, object: title, reason, message, identity })
        continue
      }
      const clone = held.cloneFrom && clones(held.cloneFrom, namespace)
      if (clone !== undefined && 'reason' in clone) {
        skipped.push({ template, object: titleOf(source), identity: identityOf(source), ...clone })
        continue
      }
      const plain = clone === undefined ? source : { ...source, ...clone.content }
      const object = (hasTokens ? substituteIn(source, meanings) : plain) as KubeObject
      const problem = findMalformed(object)
      if (problem !== undefined) {
        skipped.push({ template, object: titleOf(source), reason: 'Malformed', message: problem, identity: undefined })
        continue
      }
      const key = identityOf(object)
      const first = holders.get(key)
      if (first !== undefined) {
        const message =
          first === templateName
            ? 'the template holds it twice, under conditions that are both true: the first keeps it'
            : `template ${JSON.stringify(first)} holds the same object and comes first`
        skipped.push({ template, object: titleOf(source), reason: 'Conflict', message, identity: key })
        continue
      }
      holders.set(key, templateName)
      const people = [...(namesCreator ? [creator] : []), ...(namesOwner ? ['owner', owner] : [])]
      const more = clone === undefined ? people : [...people, clone.digest]
      const config = more.length > 0 ? digestOf([digest, ...more]) : digest
      const labelled = { template, held, object: addLabels(object, namespace, templateName, held.protect), config }
      const rendered = { ...labelled, source: hasTokens || clone !== undefined ? undefined : source }
      if (verdict === true) objects.push(rendered)
      else {
        const title = titleOf(source)
        skipped.push({
          ...{ template, object: title, reason: 'ConditionFailed', message: verdict },
          ...{ identity: key, kept: rendered },
        })
      }
    }
  }
  return { objects: objects.filter((o) => !isWithoutRole(o, objects, meanings, skipped)), skipped }
}

/**
 * A RoleBinding whose Role the template holds under a condition that is not true here. Its author was asked for the
 * rules of that Role and of no other, so what another client puts in its place is not bound.
 */
function isWithoutRole(
  { template, object }: Rendered,
  objects: readonly Rendered[],
  meanings: Meanings,
  skipped: Skipped[],
): boolean {
  const { kind, name } = (object['roleRef'] ?? {}) as { readonly kind?: unknown; readonly name?: unknown }
  if (object.kind !== 'RoleBinding' || kind !== 'Role' || typeof name !== 'string') return false
  const role = `${rbacGroup}/Role/${name}`
  if (objects.some((o) => o.template === template && identityOf(o.object) === role)) return false
  const isHeld = objectsOf(template).some(
    ({ when, source }) => when !== undefined && identityOf(substituteIn(source, meanings)) === role,
  )
  if (!isHeld) return false
  const message = `Role/${name}, which it binds, is held by its template under a condition that is not true here`
  const title = titleOf(object)
  skipped.push({ template, object: title, reason: 'RoleNotOurs', message, identity: identityOf(object) })
  return true
}

/**
 * What these templates hold for the namespace, as `identityOf` says it: made or not, and what can't be judged too. A
 * mistake in a condition takes nothing away.
 */
export function wantedIn(templates: readonly NamespaceTemplate[], namespace: Pick<Namespace, 'metadata'>): Set<string> {
  const { objects, skipped } = render(templates, namespace, resolveNameOnly)
  return new Set([...objects.map((o) => identityOf(o.object)), ...skipped.flatMap((s) => s.identity ?? [])])
}

function findMalformed(object: KubeObject): string | undefined {
  if (typeof object.apiVersion !== 'string' || object.apiVersion === '') return 'apiVersion is missing'
  if (typeof object.kind !== 'string' || object.kind === '') return 'kind is missing'
  if (typeof object.metadata?.name !== 'string' || object.metadata.name === '') return 'metadata.name is missing'
  return undefined
}

function addLabels(object: KubeObject, namespace: Namespace, template: string, protect = false): KubeObject {
  return {
    ...object,
    metadata: {
      ...object.metadata,
      namespace: namespace.metadata.name ?? '',
      labels: {
        ...object.metadata.labels,
        [templateNameLabel]: template,
        ...(protect ? { [protectedByLabel]: template } : {}),
      },
    },
  }
}

export const hasToken = (text: string): boolean => tokens.some((token) => text.includes(token))

/** Keys that hold a token: nothing is replaced there, so it is a mistake. */
export function tokenKeys(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(tokenKeys)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, v]) => (hasToken(key) ? [key, ...tokenKeys(v)] : tokenKeys(v)))
}

function mentions(value: JsonValue, token: string): boolean {
  if (typeof value === 'string') return value.includes(token)
  if (Array.isArray(value)) return value.some((v) => mentions(v, token))
  if (typeof value === 'object' && value !== null) return Object.values(value).some((v) => mentions(v, token))
  return false
}

const meaningsIn = (namespace: Pick<Namespace, 'metadata'>): Meanings => ({
  [creatorToken]: creatorOf(namespace) ?? '',
  [ownerToken]: ownerOf(namespace) ?? '',
  [namespaceToken]: namespace.metadata.name ?? '',
})

/** An object with the tokens standing for these; `user` created the namespace, and owns it. */
export const templateValues = (source: JsonObject, namespace: string, user: string): JsonObject =>
  substituteIn(source, { [creatorToken]: user, [ownerToken]: user, [namespaceToken]: namespace })

/** Say of what kind an object is. Taken as they stand in the template. */
export const identifyingFields = ['apiVersion', 'kind'] as const

function substituteIn(source: JsonObject, meanings: Meanings): JsonObject {
  const object = substitute(source, meanings) as JsonObject
  for (const key of identifyingFields) if (source[key] !== undefined) object[key] = source[key]
  return object
}

/** Each token once, in one pass: what a token stands for is not looked at again. */
function substitute(value: JsonValue, meanings: Meanings): JsonValue {
  if (typeof value === 'string') {
    return value.includes('$(')
      ? value.replace(/\$\((?:CREATOR|OWNER|NAMESPACE)\)/g, (token) => meanings[token as keyof Meanings])
      : value
  }
  if (Array.isArray(value)) return value.map((v) => substitute(v, meanings))
  if (typeof value !== 'object' || value === null) return value
  const next: JsonObject = {}
  for (const [key, v] of Object.entries(value)) next[key] = substitute(v, meanings)
  return next
}
