/**
 * Labels and annotations that templates set on the namespace itself. They are set in the write that creates it or
 * brings it to a template, so that whatever reads the namespace (Pod Security, a webhook's selector) finds them there,
 * and no later write may take them away.
 *
 * Which template set what is kept on the namespace, in an annotation that follows from the write alone: only admission
 * writes it. Pure.
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { isLabelValue } from '../../kube/names.ts'
import type { KubeObject } from '../../kube/types.ts'
import { evaluateParameters } from './parameters.ts'
import { meaningsIn } from './render.ts'
import { replaceTokens, tokensIn } from './tokens.ts'
import { metadataHoldersAnnotation, type NamespaceTemplate } from './types.ts'

export const metadataParts = ['labels', 'annotations'] as const
export type MetadataPart = (typeof metadataParts)[number]

type Named = Pick<KubeObject, 'metadata'>

/** A label or an annotation, as a template wants it. */
export interface WantedKey {
  readonly part: MetadataPart
  readonly key: string
  readonly value: string
  readonly template: NamespaceTemplate
}

/** It can't be set as its template says. */
export interface UnsettableKey extends WantedKey {
  readonly reason: 'Conflict' | 'Invalid' | 'CreatorUnknown' | 'OwnerUnknown'
  readonly message: string
}

export interface WantedMetadata {
  readonly keys: readonly WantedKey[]
  readonly unsettable: readonly UnsettableKey[]
}

const nothing: WantedMetadata = { keys: [], unsettable: [] }

/** Part and key → the template that set it. */
export type Holders = ReadonlyMap<string, string>

export const placeOfKey = (part: MetadataPart, key: string): string => `${part} ${key}`
/** `label example.com/size` */
export const titleOfKey = ({ part, key }: Pick<WantedKey, 'part' | 'key'>): string => `${part.slice(0, -1)} ${key}`

export const setsMetadata = ({ spec }: NamespaceTemplate): boolean =>
  metadataParts.some((part) => Object.keys(spec?.namespaceMetadata?.[part] ?? {}).length > 0)

/** What `templates`, in the order in which they apply, want on a namespace; of two that want one key, the first. */
export function wantedMetadata(templates: readonly NamespaceTemplate[], namespace: Named): WantedMetadata {
  const setting = templates.filter(setsMetadata)
  if (setting.length === 0) return nothing
  const keys = new Map<string, WantedKey>()
  const unsettable: UnsettableKey[] = []
  for (const template of setting) {
    const { values, faults } = evaluateParameters(template, namespace)
    // A refusal of its own tells of them.
    if (faults.length > 0) continue
    const meanings = meaningsIn(namespace, values)
    for (const part of metadataParts) {
      for (const [key, text] of Object.entries(template.spec?.namespaceMetadata?.[part] ?? {})) {
        const wanted = { part, key, value: replaceTokens(text, meanings), template }
        const first = keys.get(placeOfKey(part, key))
        const wrong = findUnknown(text, meanings) ?? findIllegal(wanted) ?? findConflict(wanted, first)
        if (wrong !== undefined) unsettable.push({ ...wanted, ...wrong })
        else if (first === undefined) keys.set(placeOfKey(part, key), wanted)
      }
    }
  }
  return { keys: [...keys.values()], unsettable }
}

const podSecurityLevel = /^pod-security\.kubernetes\.io\/(?:enforce|audit|warn)$/

export interface OlderStandard {
  /** What the template sets. */
  readonly level: WantedKey
  /** The label of its version. */
  readonly version: Pick<WantedKey, 'part' | 'key'>
  readonly is: string
}

/**
 * A level of Pod Security says what it does only together with its version: `restricted` of v1.0 allows privilege
 * escalation. Where a template sets the level and no version, the namespace may ask for the latest and no other.
 */
export function olderStandards(keys: readonly WantedKey[], namespace: Named): readonly OlderStandard[] {
  const older: OlderStandard[] = []
  for (const level of keys) {
    if (level.part !== 'labels' || !podSecurityLevel.test(level.key)) continue
    const version = { part: level.part, key: `${level.key}-version` }
    const is = valueOf(namespace, version)
    if (is === undefined || is === 'latest' || keys.some(({ key }) => key === version.key)) continue
    older.push({ level, version, is })
  }
  return older
}

type Wrong = Pick<UnsettableKey, 'reason' | 'message'>

function findUnknown(text: string, meanings: ReadonlyMap<string, string>): Wrong | undefined {
  const unknown = tokensIn(text).find(({ name }) => (name === 'CREATOR' || name === 'OWNER') && !meanings.get(name))
  if (unknown === undefined) return undefined
  const reason = unknown.name === 'CREATOR' ? 'CreatorUnknown' : 'OwnerUnknown'
  return { reason, message: `it names $(${unknown.name}), and none is recorded of this namespace` }
}

function findIllegal({ part, value }: WantedKey): Wrong | undefined {
  const [wrong] = part === 'labels' ? isLabelValue(value) : []
  return wrong === undefined ? undefined : { reason: 'Invalid', message: `${JSON.stringify(value)}: ${wrong}` }
}

function findConflict({ value }: WantedKey, first: WantedKey | undefined): Wrong | undefined {
  if (first === undefined || first.value === value) return undefined
  const holder = JSON.stringify(first.template.metadata.name)
  return { reason: 'Conflict', message: `template ${holder} sets it to ${JSON.stringify(first.value)} and comes first` }
}

/** What is recorded of a namespace. */
export function holdersOf({ metadata }: Named): Holders {
  const text = metadata.annotations?.[metadataHoldersAnnotation]
  if (typeof text !== 'string') return noHolders
  const holders = new Map<string, string>()
  const recorded = parseObject(text)
  for (const part of metadataParts) {
    const keys = recorded[part]
    for (const [key, template] of isJsonObject(keys) ? Object.entries(keys) : []) {
      if (typeof template === 'string') holders.set(placeOfKey(part, key), template)
    }
  }
  return holders
}

/** What an annotation holds: a client may have written anything there. */
export function parseObject(text: string): Partial<Record<string, unknown>> {
  try {
    const recorded: unknown = parseJsonText(text)
    return isJsonObject(recorded) ? recorded : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
const noHolders: Holders = new Map()

export function valueOf({ metadata }: Named, { part, key }: Pick<WantedKey, 'part' | 'key'>): string | undefined {
  const values = metadata[part]
  return values !== undefined && values !== null && Object.hasOwn(values, key) ? values[key] : undefined
}

const partOf = (place: string): { part: MetadataPart; key: string } => {
  const at = place.indexOf(' ')
  return { part: place.slice(0, at) as MetadataPart, key: place.slice(at + 1) }
}

export const keysHeld = (holders: Holders): { part: MetadataPart; key: string; template: string }[] =>
  [...holders].map(([place, template]) => ({ ...partOf(place), template }))

/** A namespace with these keys set. */
export function withKeys<T extends Named>(namespace: T, keys: readonly WantedKey[]): T {
  if (keys.length === 0) return namespace
  const labels = { ...namespace.metadata.labels }
  const annotations = { ...namespace.metadata.annotations }
  for (const { part, key, value } of keys) (part === 'labels' ? labels : annotations)[key] = value
  return { ...namespace, metadata: { ...namespace.metadata, labels, annotations } }
}

/** A namespace with what is recorded of it; none = without the annotation. */
export function withHolders<T extends Named>(namespace: T, holders: Holders): T {
  const text = holders.size === 0 ? undefined : textOf(holders)
  const { [metadataHoldersAnnotation]: given, ...annotations } = namespace.metadata.annotations ?? {}
  if (given === text) return namespace
  const next = text === undefined ? annotations : { ...annotations, [metadataHoldersAnnotation]: text }
  return { ...namespace, metadata: { ...namespace.metadata, annotations: next } }
}

/** In one order: it is compared as a text. */
function textOf(holders: Holders): string {
  const recorded: Record<MetadataPart, Record<string, string>> = { labels: {}, annotations: {} }
  for (const { part, key, template } of keysHeld(new Map([...holders].sort(([a], [b]) => (a < b ? -1 : 1))))) {
    recorded[part][key] = template
  }
  return JSON.stringify(recorded)
}
