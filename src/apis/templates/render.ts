/**
 * From templates to objects for one namespace. What tokens stand for can't change the kind of an object: the rights of
 * the author were checked for the kind that the template names.
 */
import { BoundedCache } from '../../base/bounded-cache.ts'
import { nameOf } from '../../kube/metadata.ts'
import { rbacGroup } from '../../kube/rbac.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type CloneContent, type CloneProblem, type ResolveClone, resolveNameOnly } from './clones.ts'
import { Conditions } from './conditions.ts'
import { digestOf } from './digest.ts'
import { creatorOf, findBeyond, ownerOf } from './match.ts'
import { evaluateParameters, noParameters, type ParameterFault } from './parameters.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import { hasToken, type Meanings, substituteIn, textsIn, tokensIn } from './tokens.ts'
import { type NamespaceTemplate, protectedByLabel, templateNameLabel } from './types.ts'

/** It says where it belongs. */
export interface RenderedObject extends KubeObject {
  apiVersion: string
  kind: string
  metadata: KubeObject['metadata'] & { name: string; namespace: string }
}

export interface Rendered {
  readonly template: NamespaceTemplate
  readonly object: RenderedObject
  /** What the template says of it. */
  readonly held: TemplateObject
  /** A digest: equal ones, in one namespace, come of equal objects. */
  readonly config: string
  /** What it was made of, if it is the same in every namespace but for its place. */
  readonly source: JsonObject | undefined
}

/** Nothing of the template can be rendered. */
export const wholeReasons = ['ParameterMissing', 'ParameterInvalid', 'NewerTemplate'] as const
type WholeReason = (typeof wholeReasons)[number]

export interface Skipped {
  readonly template: NamespaceTemplate
  /** `RoleBinding/admin`; `parameter size` or `template` where nothing of the template can be rendered. */
  readonly object: string
  readonly reason:
    | 'CreatorUnknown'
    | 'OwnerUnknown'
    | 'Conflict'
    | 'Malformed'
    | 'ConditionFailed'
    | 'RoleNotOurs'
    | WholeReason
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
  /** Tokens in its values, known or not. */
  readonly tokens: ReadonlySet<string>
  readonly hasEscapes: boolean
  readonly digest: string
  /** Of its text. */
  readonly size: number
}

/** Sources are never changed: an edit of their template brings others. */
const known = new WeakMap<JsonObject, Source>()

function sourceOf({ source, drift, protect }: TemplateObject, template: string): Source {
  const before = known.get(source)
  if (before !== undefined) return before
  const tokens = new Set<string>()
  let hasEscapes = false
  for (const { text, isKey } of textsIn(source)) {
    if (isKey || !text.includes('$(')) continue
    for (const { name, isEscaped } of tokensIn(text)) {
      if (isEscaped) hasEscapes = true
      else tokens.add(name)
    }
  }
  // To become strict is a change: what was added before is looked for.
  const given = [template, source, ...(drift === 'Strict' ? [drift] : []), ...(protect ? ['protect'] : [])]
  const made = { tokens, hasEscapes, digest: digestOf(given), size: JSON.stringify(source).length }
  known.set(source, made)
  return made
}

/** What is the same for all templates of one namespace. */
interface Pass {
  readonly namespace: Pick<Namespace, 'metadata'>
  readonly clones: ResolveClone
  readonly conditions: Conditions
  readonly creator: string | undefined
  readonly owner: string | undefined
  /** Names of templates, by the identities of what they hold. */
  readonly holders: Map<string, string>
}

/** What one template comes to in a namespace. */
interface Scope {
  readonly template: NamespaceTemplate
  readonly meanings: Meanings
  /** Of its parameters. */
  readonly values: ReadonlyMap<string, string>
}

/**
 * `templates` in the order in which they apply; where two hold the same object the first keeps it. `conditions`: of
 * this namespace, where more is asked of it than this.
 */
export function render(
  templates: readonly NamespaceTemplate[],
  namespace: Pick<Namespace, 'metadata'>,
  clones: ResolveClone,
  conditions: Conditions = new Conditions(namespace),
): Rendering {
  const objects: Rendered[] = []
  const skipped: Skipped[] = []
  const people = { creator: creatorOf(namespace), owner: ownerOf(namespace) }
  const pass: Pass = { namespace, clones, conditions, ...people, holders: new Map() }
  for (const template of templates) {
    const { values, faults } =
      template.spec?.parameters || findBeyond(template) ? evaluateParameters(template, namespace) : noParameters
    if (faults.length > 0) {
      for (const fault of faults) skipped.push(skippedFor(template, fault))
      holdAsApplied(template, pass)
      continue
    }
    const scope = { template, meanings: meaningsIn(namespace, values), values }
    const made: Rendered[] = []
    for (const held of objectsOf(template)) {
      const one = renderOne(held, scope, pass)
      if (one === undefined) continue
      if ('reason' in one) skipped.push(one)
      else made.push(one)
    }
    for (const one of made) {
      const withoutRole = findWithoutRole(one, made, scope)
      if (withoutRole === undefined) objects.push(one)
      else skipped.push(withoutRole)
    }
  }
  return { objects, skipped }
}

/** What was applied last stays the template's. */
function holdAsApplied(template: NamespaceTemplate, { holders }: Pass): void {
  for (const { source } of objectsOf(template)) {
    const identity = identityOf(source)
    if (!hasToken(identity) && !holders.has(identity)) holders.set(identity, nameOf(template.metadata))
  }
}

/**
 * A RoleBinding whose Role the template holds under a condition that is not true here. Its author was asked for the
 * rules of that Role and of no other, so what another client puts in its place is not bound.
 */
function findWithoutRole(
  { template, object }: Rendered,
  made: readonly Rendered[],
  { meanings }: Scope,
): Skipped | undefined {
  const { kind, name } = (object['roleRef'] ?? {}) as { readonly kind?: unknown; readonly name?: unknown }
  if (object.kind !== 'RoleBinding' || kind !== 'Role' || typeof name !== 'string') return undefined
  const role = `${rbacGroup}/Role/${name}`
  if (made.some((o) => identityOf(o.object) === role)) return undefined
  const isHeld = objectsOf(template).some(
    ({ when, source }) => when !== undefined && identityOf(substituteIn(source, meanings)) === role,
  )
  if (!isHeld) return undefined
  const message = `Role/${name}, which it binds, is held by its template under a condition that is not true here`
  return { template, object: titleOf(object), reason: 'RoleNotOurs', message, identity: identityOf(object) }
}

/**
 * What these templates hold for the namespace, as `identityOf` says it: made or not, and what can't be judged too. A
 * mistake in a condition takes nothing away.
 */
export function wantedIn(
  templates: readonly NamespaceTemplate[],
  namespace: Pick<Namespace, 'metadata'>,
  conditions?: Conditions,
): Set<string> {
  const { objects, skipped } = render(templates, namespace, resolveNameOnly, conditions)
  return new Set([...objects.map((o) => identityOf(o.object)), ...skipped.flatMap((s) => s.identity ?? [])])
}

/** A template can't be rendered for want of a value that may stand in it, or this version does not understand it. */
export const skippedFor = (
  template: NamespaceTemplate,
  { parameter, field, value, wrong }: ParameterFault,
): Skipped => ({
  template,
  ...(parameter === undefined
    ? { object: 'template', reason: 'NewerTemplate', message: `the template ${wrong}` }
    : {
        object: `parameter ${parameter}`,
        reason: value === undefined ? 'ParameterMissing' : 'ParameterInvalid',
        message: `${field} of the namespace ${wrong}`,
      }),
  identity: undefined,
})

/** undefined = it is not for this namespace. */
function renderOne(held: TemplateObject, scope: Scope, pass: Pass): Rendered | Skipped | undefined {
  const { template } = scope
  const { namespace, clones, conditions, holders } = pass
  const { source, when, cloneFrom } = held
  const verdict = when === undefined || conditions.judge(template, held, when)
  // The namespace of a source has it already.
  if (verdict === false || cloneFrom?.namespace === namespace.metadata.name) return undefined
  const templateName = nameOf(template.metadata)
  const { tokens } = sourceOf(held, templateName)
  const unknown = findUnknown(tokens, pass)
  if (unknown !== undefined) return skippedUnknown(held, scope, unknown)
  const title = titleOf(source)
  const clone = cloneFrom && clones(cloneFrom, namespace)
  if (clone !== undefined && 'reason' in clone) {
    return { template, object: title, identity: identityOf(source), ...clone }
  }
  const filled = fill(held, { scope, pass, clone })
  const object = filled.object as KubeObject
  const problem = findMalformed(object)
  if (problem !== undefined) {
    return { template, object: title, reason: 'Malformed', message: problem, identity: undefined }
  }
  const key = identityOf(object)
  const first = holders.get(key)
  if (first !== undefined) {
    const message =
      first === templateName
        ? 'the template holds it twice, under conditions that are both true: the first keeps it'
        : `template ${JSON.stringify(first)} holds the same object and comes first`
    return { template, object: title, reason: 'Conflict', message, identity: key }
  }
  holders.set(key, templateName)
  if ((object.metadata.ownerReferences ?? []).length > 0)
    return { template, object: title, reason: 'Malformed', message: owned, identity: key }
  const rendered: Rendered = {
    template,
    held,
    object: addLabels(object as RenderedObject, namespace, templateName, held.protect),
    config: filled.config,
    source: filled.source,
  }
  if (verdict === true) return rendered
  return { template, object: title, reason: 'ConditionFailed', message: verdict, identity: key, kept: rendered }
}

/** An object with everything put in but its place. */
interface Filled {
  readonly object: JsonObject
  readonly config: string
  /** What is the same in every namespace that gives the same; absent where it is this one's alone. */
  readonly source: JsonObject | undefined
}

/**
 * Most namespaces of an owner are given the same, and so are those that choose the same parameters: what was put
 * together for one serves the others, and so does what is known by it (`appliedOnce`). Never changed.
 */
const filledBefore = new BoundedCache<string, Filled>(1000)
/** Of the text of an object: a thousand of them stay small. */
const mostShared = 4096
/** Copies, as long as their source is what it is. */
const copiesOf = new WeakMap<CloneContent, WeakMap<JsonObject, Filled>>()

function fill(
  held: TemplateObject,
  { scope, pass, clone }: { readonly scope: Scope; readonly pass: Pass; readonly clone: CloneContent | undefined },
): Filled {
  const { source } = held
  const { tokens, hasEscapes, digest, size } = sourceOf(held, nameOf(scope.template.metadata))
  let hasTokens = hasEscapes
  for (const token of tokens) hasTokens ||= scope.meanings.has(token)
  if (clone !== undefined && !hasTokens) return copyOf(source, clone, digest)
  if (!hasTokens) return { object: source, config: digest, source }
  const said: unknown[] = tokens.has('CREATOR') ? [pass.creator] : []
  if (tokens.has('OWNER')) said.push('owner', pass.owner)
  for (const [name, value] of scope.values) if (tokens.has(name)) said.push('parameter', name, value)
  if (clone !== undefined) said.push(clone.digest)
  const isShared = clone === undefined && size <= mostShared && !tokens.has('NAMESPACE')
  const key = isShared ? digest + JSON.stringify(said) : ''
  const before = isShared ? filledBefore.get(key) : undefined
  if (before !== undefined) return before
  const object = substituteIn(clone === undefined ? source : { ...source, ...clone.content }, scope.meanings)
  const config = said.length > 0 ? digestOf([digest, ...said]) : digest
  const filled = { object, config, source: isShared ? object : undefined }
  if (isShared) filledBefore.set(key, filled)
  return filled
}

function copyOf(source: JsonObject, clone: CloneContent, digest: string): Filled {
  const copies = copiesOf.get(clone) ?? new WeakMap<JsonObject, Filled>()
  const before = copies.get(source)
  if (before !== undefined) return before
  const object = { ...source, ...clone.content }
  const filled = { object, config: digestOf([digest, clone.digest]), source: object }
  copies.set(source, filled)
  copiesOf.set(clone, copies)
  return filled
}

function findUnknown(tokens: ReadonlySet<string>, { creator, owner }: Pass): 'CREATOR' | 'OWNER' | undefined {
  if (tokens.has('CREATOR') && creator === undefined) return 'CREATOR'
  return tokens.has('OWNER') && owner === undefined ? 'OWNER' : undefined
}

function skippedUnknown(
  { source }: TemplateObject,
  { template, meanings }: Scope,
  unknown: 'CREATOR' | 'OWNER',
): Skipped {
  const title = titleOf(source)
  const message = `it names $(${unknown}), and none is recorded of this namespace`
  const isNamed = !title.includes('$(CREATOR)') && !title.includes('$(OWNER)')
  const identity = isNamed ? identityOf(substituteIn(source, meanings)) : undefined
  const reason = unknown === 'CREATOR' ? 'CreatorUnknown' : 'OwnerUnknown'
  return { template, object: title, reason, message, identity }
}

function findMalformed(object: KubeObject): string | undefined {
  if (typeof object.apiVersion !== 'string' || object.apiVersion === '') return 'apiVersion is missing'
  if (typeof object.kind !== 'string' || object.kind === '') return 'kind is missing'
  if (typeof object.metadata?.name !== 'string' || object.metadata.name === '') return 'metadata.name is missing'
  return undefined
}

/**
 * Refused when it is written; where no webhook answered then, it is stored. Its owner may not be there, and what
 * garbage collection deletes would be made again without an end.
 */
const owned = 'metadata.ownerReferences must be empty: a template owns what it makes'

function addLabels(object: RenderedObject, namespace: Namespace, template: string, protect = false): RenderedObject {
  // What the server sets is refused when a template is written; stored before, it would refuse each apply.
  const { uid: _, resourceVersion: _r, managedFields: _m, ...metadata } = object.metadata
  // Nor is an object protected for having been copied from one that is.
  const { [protectedByLabel]: _p, ...labels } = metadata.labels ?? {}
  return {
    ...object,
    metadata: {
      ...metadata,
      namespace: nameOf(namespace.metadata),
      labels: {
        ...labels,
        [templateNameLabel]: template,
        ...(protect ? { [protectedByLabel]: template } : {}),
      },
    },
  }
}

export function meaningsIn(namespace: Pick<Namespace, 'metadata'>, parameters: ReadonlyMap<string, string>): Meanings {
  const meanings = new Map(parameters)
  meanings.set('CREATOR', creatorOf(namespace) ?? '')
  meanings.set('OWNER', ownerOf(namespace) ?? '')
  return meanings.set('NAMESPACE', nameOf(namespace.metadata))
}

/** An object with the tokens standing for these; `user` created the namespace, and owns it. */
export const templateValues = (
  source: JsonObject,
  namespace: string,
  user: string,
  parameters: ReadonlyMap<string, string> = new Map(),
): JsonObject =>
  substituteIn(source, new Map([...parameters, ['CREATOR', user], ['OWNER', user], ['NAMESPACE', namespace]]))
