/** What `spec.namespaceMetadata` may hold, judged when a template is written. */
import { type FieldError, fieldForbidden, fieldInvalid } from '../../kube/field-error.ts'
import { member } from '../../kube/json-value.ts'
import { isLabelValue, isQualifiedName } from '../../kube/names.ts'
import { levelOf, levelProblem, modeLabels, parseVersion, versionProblem } from '../pods/security/pod-policy.ts'
import { isDisabled, type Matcher } from './match.ts'
import { type MetadataPart, metadataParts } from './namespace-metadata.ts'
import { samplesOf } from './parameter-rules.ts'
import { isKeyOfKubernetes, isKeyOfOurs, unknownToken } from './token-rules.ts'
import { hasToken, namedTokens, replaceTokens, tokensIn } from './tokens.ts'
import { creatorKey, type NamespaceTemplate, type TemplateParameter } from './types.ts'

const serverKeys: ReadonlySet<string> = new Set([creatorKey, 'kubernetes.io/metadata.name'])

const podSecurityLabels = (['enforce', 'audit', 'warn'] as const).map(modeLabels)

export function metadataErrors({ spec }: NamespaceTemplate): FieldError[] {
  return metadataParts.flatMap((part) =>
    Object.entries(spec?.namespaceMetadata?.[part] ?? {}).flatMap(([key, value]) =>
      keyErrors(part, key, value, spec?.parameters ?? []),
    ),
  )
}

const fieldOfKey = (part: MetadataPart, key: string): string => `spec.namespaceMetadata.${part}[${key}]`

function keyErrors(
  part: MetadataPart,
  key: string,
  value: string,
  parameters: readonly TemplateParameter[],
): FieldError[] {
  const field = fieldOfKey(part, key)
  const illegal = isQualifiedName(key)
  if (illegal.length > 0) return illegal.map((why) => fieldInvalid(field, key, why))
  // They say what templates, limits and the server itself know of a namespace.
  if (serverKeys.has(key) || isKeyOfOurs(key)) {
    return [fieldForbidden(field, 'templates may not set keys of borough.dev or policy, or keys that the server sets')]
  }
  for (const { name, isEscaped } of tokensIn(value)) {
    const isKnown = (namedTokens as readonly string[]).includes(name) || parameters.some((p) => p.name === name)
    if (!isEscaped && !isKnown) return [fieldInvalid(field, value, unknownToken(name, parameters))]
  }
  if (isKeyOfKubernetes(key) && hasToken(value)) {
    const why = 'a token can not stand here: Kubernetes acts upon this key, and its value would be a user’s choice'
    return [fieldForbidden(field, why)]
  }
  if (part !== 'labels') return []
  const problem = podSecurityProblem(key, value)
  return problem === undefined ? labelErrors(field, value, parameters) : [fieldInvalid(field, value, problem)]
}

/** What PodSecurity refuses of a namespace: a level that is none would let no namespace of the template be created. */
function podSecurityProblem(key: string, value: string): string | undefined {
  for (const [level, version] of podSecurityLabels) {
    if (key === level) return levelOf(value) === undefined ? levelProblem : undefined
    if (key === version) return parseVersion(value) === undefined ? versionProblem : undefined
  }
  return undefined
}

/** As far as it can be known: what the names of users and namespaces make of it shows when one is created. */
function labelErrors(field: string, value: string, parameters: readonly TemplateParameter[]): FieldError[] {
  const named = parameters.filter(({ name }) => tokensIn(value).some((token) => token.name === name))
  for (const sample of samplesOf(named).samples) {
    const text = replaceTokens(value, new Map([...sample, ...namedTokens.map((name) => [name, 'a'] as const)]))
    const [why] = isLabelValue(text)
    if (why !== undefined) return [fieldInvalid(field, text, why)]
  }
  return []
}

interface KeysRead {
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
}

/** By which labels and annotations a template selects and is given values, each with the field that reads it. */
function keysRead({ spec }: NamespaceTemplate): KeysRead {
  const { matchLabels = {}, matchExpressions = [] } = spec?.namespaces?.labelSelector ?? {}
  const labels = new Map<string, string>()
  const annotations = new Map<string, string>()
  const selector = 'spec.namespaces.labelSelector'
  for (const key of Object.keys(matchLabels)) labels.set(key, `${selector}.matchLabels`)
  for (const [i, { key }] of matchExpressions.entries()) labels.set(key, `${selector}.matchExpressions[${i}].key`)
  for (const [i, { fromLabel, fromAnnotation }] of (spec?.parameters ?? []).entries()) {
    if (fromLabel !== undefined) labels.set(fromLabel, `spec.parameters[${i}].fromLabel`)
    if (fromAnnotation !== undefined) annotations.set(fromAnnotation, `spec.parameters[${i}].fromAnnotation`)
  }
  return { labels, annotations }
}

/**
 * Selectors and parameters read what a namespace says of itself: they are judged before anything is set. So no
 * template may read what another sets; and of two that certainly select the same namespaces, one sets a key.
 */
export function metadataClashes(
  template: NamespaceTemplate,
  others: Iterable<Matcher>,
  selectsSame: (other: NamespaceTemplate) => boolean,
): FieldError[] {
  const errors = clashesBetween(template, template, 'this template')
  for (const { template: other } of others) {
    const { name, deletionTimestamp } = other.metadata
    if (name === template.metadata.name || isDisabled(other) || deletionTimestamp !== undefined) continue
    const told = `template ${JSON.stringify(name)}`
    for (const error of clashesBetween(template, other, told)) errors.push(error)
    for (const error of readsOfSet(template, other, told)) errors.push(error)
    if (!selectsSame(other)) continue
    for (const part of metadataParts) {
      for (const [key, value] of Object.entries(template.spec?.namespaceMetadata?.[part] ?? {})) {
        const theirs = member(other.spec?.namespaceMetadata?.[part] ?? {}, key)
        if (theirs === undefined || theirs === value) continue
        const why = `${told} sets it to ${JSON.stringify(theirs)} on the same namespaces`
        errors.push(fieldInvalid(fieldOfKey(part, key), value, why))
      }
    }
  }
  return errors
}

/** Keys that `setter` sets and `reader` reads. */
function clashesBetween(setter: NamespaceTemplate, reader: NamespaceTemplate, told: string): FieldError[] {
  const read = keysRead(reader)
  return metadataParts.flatMap((part) =>
    Object.keys(setter.spec?.namespaceMetadata?.[part] ?? {}).flatMap((key) => {
      const field = read[part].get(key)
      if (field === undefined) return []
      return [fieldForbidden(fieldOfKey(part, key), `${told} reads it from the namespace, by ${field}`)]
    }),
  )
}

function readsOfSet(reader: NamespaceTemplate, setter: NamespaceTemplate, told: string): FieldError[] {
  const read = keysRead(reader)
  return metadataParts.flatMap((part) =>
    Object.keys(setter.spec?.namespaceMetadata?.[part] ?? {}).flatMap((key) => {
      const field = read[part].get(key)
      return field === undefined
        ? []
        : [fieldForbidden(field, `${told} sets ${part.slice(0, -1)} ${key}, which no template may read`)]
    }),
  )
}
