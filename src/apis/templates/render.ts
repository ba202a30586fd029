/**
 * From templates to objects for one namespace. What tokens stand for can't change the kind of an object: the rights of
 * the author were checked for the kind that the template names.
 */
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { digestOf } from './digest.ts'
import { creatorOf, ownerOf } from './match.ts'
import { evaluateParameters, noParameters, type ParameterFault } from './parameters.ts'
import { hasToken, type Meanings, replaceTokens, substituteIn, textsIn, tokensIn } from './tokens.ts'
import { type NamespaceTemplate, templateNameLabel } from './types.ts'

export interface Rendered {
  readonly template: NamespaceTemplate
  readonly object: KubeObject
  /** A digest: equal ones, in one namespace, come of equal objects. */
  readonly config: string
  /** What it was made of, if it is the same in every namespace but for its place. */
  readonly source: JsonObject | undefined
}

export const parameterReasons = ['ParameterMissing', 'ParameterInvalid'] as const
type ParameterReason = (typeof parameterReasons)[number]

export interface Skipped {
  readonly template: NamespaceTemplate
  /** `RoleBinding/admin`; `parameter size` where nothing of the template can be rendered. */
  readonly object: string
  readonly reason: 'CreatorUnknown' | 'OwnerUnknown' | 'Conflict' | 'Malformed' | ParameterReason
  readonly message: string
  /** What it is, as `identityOf` says; undefined = unknown. */
  readonly identity: string | undefined
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
}

/** Sources are never changed: an edit of their template brings others. */
const known = new WeakMap<JsonObject, Source>()

function sourceOf(source: JsonObject, template: string): Source {
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
  const made = { tokens, hasEscapes, digest: digestOf([template, source]) }
  known.set(source, made)
  return made
}

/** What one template comes to in a namespace. */
interface Scope {
  readonly template: NamespaceTemplate
  readonly meanings: Meanings
  /** Of its parameters. */
  readonly values: ReadonlyMap<string, string>
  readonly creator: string | undefined
  readonly owner: string | undefined
}

/** `templates` in the order in which they apply; where two hold the same object the first keeps it. */
export function render(templates: readonly NamespaceTemplate[], namespace: Pick<Namespace, 'metadata'>): Rendering {
  const objects: Rendered[] = []
  const skipped: Skipped[] = []
  const holders = new Map<string, string>()
  for (const template of templates) {
    const { values, faults } = template.spec?.parameters ? evaluateParameters(template, namespace) : noParameters
    for (const fault of faults) skipped.push(skippedFor(template, fault))
    const meanings = meaningsIn(namespace, values)
    const scope = { template, meanings, values, creator: creatorOf(namespace), owner: ownerOf(namespace) }
    for (const source of template.spec?.templates ?? []) {
      if (faults.length > 0) {
        // What was applied last stays the template's.
        const identity = identityOf(source)
        if (!hasToken(identity) && !holders.has(identity)) holders.set(identity, template.metadata.name ?? '')
        continue
      }
      const made = renderOne(source, scope, holders, namespace)
      if ('reason' in made) skipped.push(made)
      else objects.push(made)
    }
  }
  return { objects, skipped }
}

/** A template can't be rendered for want of a value that may stand in it. */
export const skippedFor = (
  template: NamespaceTemplate,
  { parameter, field, value, wrong }: ParameterFault,
): Skipped => ({
  template,
  object: `parameter ${parameter}`,
  reason: value === undefined ? 'ParameterMissing' : 'ParameterInvalid',
  message: `${field} of the namespace ${wrong}`,
  identity: undefined,
})

function renderOne(
  source: JsonObject,
  { template, meanings, values, creator, owner }: Scope,
  holders: Map<string, string>,
  namespace: Pick<Namespace, 'metadata'>,
): Rendered | Skipped {
  const templateName = template.metadata.name ?? ''
  const { tokens, hasEscapes, digest } = sourceOf(source, templateName)
  const namesCreator = tokens.has('CREATOR')
  const namesOwner = tokens.has('OWNER')
  const title = titleOf(source)
  const unknown =
    namesCreator && creator === undefined ? 'CREATOR' : namesOwner && owner === undefined ? 'OWNER' : undefined
  if (unknown !== undefined) {
    const message = `it names $(${unknown}), and none is recorded of this namespace`
    const isNamed = !title.includes('$(CREATOR)') && !title.includes('$(OWNER)')
    const identity = isNamed ? identityOf(substituteIn(source, meanings)) : undefined
    const reason = unknown === 'CREATOR' ? 'CreatorUnknown' : 'OwnerUnknown'
    return { template, object: title, reason, message, identity }
  }
  let hasTokens = hasEscapes
  for (const token of tokens) hasTokens ||= meanings.has(token)
  const object = (hasTokens ? substituteIn(source, meanings) : source) as KubeObject
  const problem = findMalformed(object)
  if (problem !== undefined) {
    return { template, object: title, reason: 'Malformed', message: problem, identity: undefined }
  }
  const key = identityOf(object)
  const first = holders.get(key)
  if (first !== undefined) {
    const message = `template ${JSON.stringify(first)} holds the same object and comes first`
    return { template, object: title, reason: 'Conflict', message, identity: key }
  }
  holders.set(key, templateName)
  const people = [...(namesCreator ? [creator] : []), ...(namesOwner ? ['owner', owner] : [])]
  const said: unknown[] = [...people]
  for (const [name, value] of values) if (tokens.has(name)) said.push('parameter', name, value)
  const config = said.length > 0 ? digestOf([digest, ...said]) : digest
  const labelled = addLabels(object, namespace, templateName)
  return { template, object: labelled, config, source: hasTokens ? undefined : source }
}

function findMalformed(object: KubeObject): string | undefined {
  if (typeof object.apiVersion !== 'string' || object.apiVersion === '') return 'apiVersion is missing'
  if (typeof object.kind !== 'string' || object.kind === '') return 'kind is missing'
  if (typeof object.metadata?.name !== 'string' || object.metadata.name === '') return 'metadata.name is missing'
  return undefined
}

function addLabels(object: KubeObject, namespace: Namespace, template: string): KubeObject {
  return {
    ...object,
    metadata: {
      ...object.metadata,
      namespace: namespace.metadata.name ?? '',
      labels: { ...object.metadata.labels, [templateNameLabel]: template },
    },
  }
}

/** What an object of a template is in a namespace, as `identityOf` says. */
export function identityIn(template: NamespaceTemplate, source: Partial<KubeObject>, namespace: Namespace): string {
  const { values } = evaluateParameters(template, namespace)
  return replaceTokens(identityOf(source), meaningsIn(namespace, values))
}

export function meaningsIn(namespace: Pick<Namespace, 'metadata'>, parameters: ReadonlyMap<string, string>): Meanings {
  const meanings = new Map(parameters)
  meanings.set('CREATOR', creatorOf(namespace) ?? '')
  meanings.set('OWNER', ownerOf(namespace) ?? '')
  return meanings.set('NAMESPACE', namespace.metadata.name ?? '')
}

/** An object with the tokens standing for these; `user` created the namespace, and owns it. */
export const templateValues = (
  source: JsonObject,
  namespace: string,
  user: string,
  parameters: ReadonlyMap<string, string> = new Map(),
): JsonObject =>
  substituteIn(source, new Map([...parameters, ['CREATOR', user], ['OWNER', user], ['NAMESPACE', namespace]]))
