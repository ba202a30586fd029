/**
 * What admission does about the labels and annotations that templates set on a namespace: sets them when it is created
 * and when a change brings it to a template or gives a parameter another value, and refuses every write that takes one
 * away or changes it. Putting it back afterwards would be too late: a privileged pod would have got in.
 *
 * A write is judged by what it comes to and not by its client. The population controller, which brings namespaces to
 * an edit of a template, sends what the template says, and what any client may send.
 */
import type { Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { nameOf } from '../../kube/metadata.ts'
import { conflict, forbidden, invalid } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceResource } from '../namespaces/types.ts'
import { isDisabled, isOptedOut, type Matcher, selectTemplates, templatesIn, versionFor } from './match.ts'
import {
  type Holders,
  holdersOf,
  keysHeld,
  olderStandards,
  parseObject,
  placeOfKey,
  setsMetadata,
  titleOfKey,
  valueOf,
  type WantedKey,
  type WantedMetadata,
  wantedMetadata,
  withHolders,
  withKeys,
} from './namespace-metadata.ts'
import { metadataVersionsAnnotation, type NamespaceTemplate } from './types.ts'

type Named = Pick<KubeObject, 'metadata'>
type Matchers = () => Iterable<Matcher>
type Told = Pick<Attributes, 'warn'>
type Written = Pick<Attributes, 'type' | 'name'>

/** In `mutate`: the namespace as its templates want it. */
export function settleNew<T extends Named>(a: Told, given: T, matchers: Matchers): T {
  const namespace = withoutVersions(given)
  const { keys } = wantedFor(namespace, [...matchers()].filter(isOfKnownName(namespace)))
  for (const wanted of keys) {
    const is = valueOf(namespace, wanted)
    if (is === undefined || is === wanted.value) continue
    a.warn(`${titleOfKey(wanted)} is not ${JSON.stringify(is)} here: ${setBy(wanted)}`)
  }
  return withHolders(withKeys(namespace, keys), new Map(keys.map(holding)))
}

/**
 * In `mutate`: what is new to it is set, and what is recorded follows.
 * @throws StatusError Conflict, if it is made of other versions of templates than there are
 */
export function settleChanged<T extends Named>(a: Written, given: T, old: Named, matchers: Matchers): T {
  if (!isTold(given, old)) return given
  const all = [...matchers()]
  refuseOutdated(a, given, all)
  const next = withoutVersions(given)
  const before = new Map(wantedFor(old, all).keys.map((k) => [placeOfKey(k.part, k.key), k.value]))
  const { keys } = wantedFor(next, all)
  const settled = withKeys(
    next,
    keys.filter((k) => before.get(placeOfKey(k.part, k.key)) !== k.value),
  )
  return withHolders(settled, holdersAfter(settled, old, keys, all))
}

/**
 * In `validate`. `mayTakeAway`: what a template set and says no more.
 * @throws StatusError Forbidden, or Invalid
 */
export function checkMetadata(a: Attributes, matchers: Matchers, mayTakeAway: () => boolean): void {
  const namespace = objectOf(namespaceResource, a)
  const old = a.oldObject
  if (old !== undefined && !isTold(namespace, old)) return
  const all = [...matchers()]
  const { keys, unsettable } = wantedFor(namespace, all)
  refuseIllegal(a, unsettable, old === undefined ? [] : wantedFor(old, all).unsettable)
  for (const wanted of keys) {
    const is = valueOf(namespace, wanted)
    if (is === wanted.value || (old !== undefined && is === valueOf(old, wanted))) continue
    if (old === undefined)
      throw forbidden(a.type, a.name, `${titleOfKey(wanted)} is not as it must be: ${notSet(wanted)}`)
    throw forbidden(a.type, a.name, `${titleOfKey(wanted)}: ${setBy(wanted)}; ${cannotMake(a, is)}`)
  }
  if (keys.length > 0) refuseOlderStandards(a, keys, old === undefined ? [] : wantedFor(old, all).keys)
  if (old !== undefined) checkLeft(a, old, keys, all, mayTakeAway)
}

/**
 * Who brings a level of Pod Security to the template brings no older version with it. `before`: what templates wanted
 * already. One that stood there when an edit brought the level is the population controller's to take away.
 * @throws StatusError Forbidden
 */
function refuseOlderStandards(a: Attributes, keys: readonly WantedKey[], before: readonly WantedKey[]): void {
  for (const { level, version, is } of olderStandards(keys, objectOf(namespaceResource, a))) {
    if (a.oldObject !== undefined && is === valueOf(a.oldObject, version) && isAmong(before, level)) continue
    const why = `template ${JSON.stringify(level.template.metadata.name)} sets ${level.key}, and no version of it`
    throw forbidden(a.type, a.name, `${titleOfKey(version)}: ${why}; ${cannotMake(a, is)}`)
  }
}

const isAmong = (keys: readonly WantedKey[], { part, key }: WantedKey): boolean =>
  keys.some((one) => one.part === part && one.key === key)

/**
 * What a template set and says no more stays until the controller takes it away: an edit that is not confirmed, or a
 * deletion, must not leave namespaces to their tenants meanwhile. @throws StatusError Forbidden
 */
function checkLeft(
  a: Attributes,
  old: Named,
  keys: readonly WantedKey[],
  matchers: readonly Matcher[],
  mayTakeAway: () => boolean,
): void {
  const namespace = objectOf(namespaceResource, a)
  if (isOptedOut(namespace)) return
  const wanted = new Set(keys.map(({ part, key }) => placeOfKey(part, key)))
  for (const { part, key, template } of keysHeld(holdersOf(old))) {
    const is = valueOf(namespace, { part, key })
    if (wanted.has(placeOfKey(part, key)) || is === valueOf(old, { part, key })) continue
    const holder = matchers.find((m) => m.template.metadata.name === template)?.template
    if (holder === undefined || isDisabled(holder) || isOrphaning(holder) || mayTakeAway()) continue
    const why = `template ${JSON.stringify(template)} set it, and its controller takes it away`
    throw forbidden(a.type, a.name, `${titleOfKey({ part, key })}: ${why}; ${cannotMake(a, is)}`)
  }
}

const isOrphaning = ({ spec }: NamespaceTemplate): boolean => spec?.deletionPolicy === 'Orphan'

function cannotMake({ user }: Attributes, is: string | undefined): string {
  const what = is === undefined ? 'take it away' : `change it to ${JSON.stringify(is)}`
  return `user ${JSON.stringify(user.username)} cannot ${what}`
}

/** @throws StatusError Conflict */
function refuseOutdated({ type, name }: Written, { metadata }: Named, matchers: readonly Matcher[]): void {
  const text = metadata.annotations?.[metadataVersionsAnnotation]
  if (text === undefined) return
  const now = Object.fromEntries(matchers.map((m) => [nameOf(m.template.metadata), generationFor(m, { metadata })]))
  const versions = parseObject(text)
  const outdated = Object.keys(versions).find((template) => versions[template] !== now[template])
  if (outdated === undefined) return
  throw conflict(type, name, `template ${JSON.stringify(outdated)} has another generation than this write is made of`)
}

const generationFor = (matcher: Matcher, namespace: Named): number | undefined =>
  (versionFor(matcher, namespace) ?? matcher).template.metadata.generation

function withoutVersions<T extends Named>(namespace: T): T {
  const { [metadataVersionsAnnotation]: versions, ...annotations } = namespace.metadata.annotations ?? {}
  return versions === undefined ? namespace : { ...namespace, metadata: { ...namespace.metadata, annotations } }
}

const setBy = ({ template, value }: WantedKey): string =>
  `template ${JSON.stringify(template.metadata.name)} sets it to ${JSON.stringify(value)}`

/** The name was not known when it was to be set, or a later webhook changed it. */
const notSet = (wanted: WantedKey): string =>
  `${setBy(wanted)}. A namespace with such a template is created by metadata.name, and webhooks leave it as it is`

/** An empty name is selected by every pattern, so that it waits; but nothing may be set because of that. */
const isOfKnownName =
  ({ metadata }: Named) =>
  (matcher: Matcher): boolean =>
    Boolean(metadata.name) ||
    templatesIn(matcher).every((t) => t.spec?.namespaces?.nameSelector === undefined && !namesNamespace(t))

const namesNamespace = ({ spec }: NamespaceTemplate): boolean =>
  JSON.stringify(spec?.namespaceMetadata ?? {}).includes('$(NAMESPACE)')

function wantedFor(namespace: Named, matchers: readonly Matcher[]): WantedMetadata {
  const setting = matchers.filter(
    ({ template, held }) => setsMetadata(template) || (held && setsMetadata(held.template)),
  )
  return wantedMetadata(setting.length === 0 ? [] : selectTemplates(setting, namespace), namespace)
}

const isTold = (next: Named, old: Named): boolean =>
  !jsonEqual(next.metadata.labels ?? {}, old.metadata.labels ?? {}) ||
  !jsonEqual(next.metadata.annotations ?? {}, old.metadata.annotations ?? {})

const holding = ({ part, key, template }: WantedKey): [string, string] => [
  placeOfKey(part, key),
  nameOf(template.metadata),
]

/** What templates hold there: what they want, and what they set and want no more, until it is taken away. */
function holdersAfter(next: Named, old: Named, keys: readonly WantedKey[], matchers: readonly Matcher[]): Holders {
  const holders = new Map<string, string>()
  const templates = new Map(matchers.map(({ template }) => [nameOf(template.metadata), template]))
  for (const { part, key, template } of keysHeld(holdersOf(old))) {
    const is = valueOf(next, { part, key })
    const holder = templates.get(template)
    const isLetGo = holder === undefined || isOrphaning(holder)
    // With another value it is the client's that gave it.
    if (is !== undefined && is === valueOf(old, { part, key }) && !isLetGo) {
      holders.set(placeOfKey(part, key), template)
    }
  }
  for (const wanted of keys) if (valueOf(next, wanted) === wanted.value) holders.set(...holding(wanted))
  return holders
}

/** @throws StatusError Invalid */
function refuseIllegal(
  { type, name }: Attributes,
  unsettable: WantedMetadata['unsettable'],
  before: WantedMetadata['unsettable'],
): void {
  const known = new Set(before.map((k) => `${k.template.metadata.name} ${placeOfKey(k.part, k.key)} ${k.message}`))
  const errors: FieldError[] = []
  for (const { part, key, value, template, reason, message } of unsettable) {
    if (reason !== 'Invalid' || known.has(`${template.metadata.name} ${placeOfKey(part, key)} ${message}`)) continue
    const why = `template ${JSON.stringify(template.metadata.name)} makes this of what the namespace gives: ${message}`
    errors.push(fieldInvalid(`metadata.${part}[${key}]`, value, why))
  }
  if (errors.length > 0) throw invalid(type, name, errors)
}
