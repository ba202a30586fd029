/**
 * Brings the labels and annotations of a namespace to what its templates say, where no write of the namespace did:
 * after an edit of a template, in its turn, and after a template let go of a namespace. Admission judges the write as
 * any other.
 */
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import { findStatusError, isConflict } from '../../kube/status-error.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import {
  holdersOf,
  keysHeld,
  type MetadataPart,
  olderStandards,
  placeOfKey,
  titleOfKey,
  valueOf,
  type WantedMetadata,
  wantedMetadata,
} from './namespace-metadata.ts'
import { isChosenFreely, isTooLarge, obstructed } from './object-failures.ts'
import type { ObjectResult } from './object-result.ts'
import { evaluateParameters } from './parameters.ts'
import { reasonOf } from './refusal-reason.ts'
import { metadataHoldersAnnotation, metadataVersionsAnnotation, type NamespaceTemplate } from './types.ts'

interface KeyChange {
  readonly part: MetadataPart
  readonly key: string
  /** Undefined: it is taken away. */
  readonly value: string | undefined
  readonly before: string | undefined
  readonly template: string
  readonly generation: number | undefined
  /** `unchanged`: its value is there already, and nothing says that it is the template's. */
  readonly outcome: 'configured' | 'unchanged' | 'pruned' | 'orphaned'
}

export interface MetadataPlan {
  readonly changes: readonly KeyChange[]
  readonly unsettable: WantedMetadata['unsettable']
}

export interface MetadataRequest {
  readonly namespace: Namespace
  /** In the order in which they apply. */
  readonly templates: readonly NamespaceTemplate[]
  readonly policyOf: (template: string) => 'Delete' | 'Orphan' | 'Keep'
  readonly only?: string
}

export function planMetadata({ namespace, templates, policyOf, only }: MetadataRequest): MetadataPlan {
  const { keys, unsettable } = wantedMetadata(templates, namespace)
  const concerns = (template: string): boolean => only === undefined || template === only
  const changes: KeyChange[] = []
  const wanted = new Set<string>()
  const holders = holdersOf(namespace)
  for (const { part, key, value, template } of keys) {
    wanted.add(placeOfKey(part, key))
    const name = nameOf(template.metadata)
    const before = valueOf(namespace, { part, key })
    // What is not recorded is guarded no more as soon as an edit or a deletion that is stopped lets go of it.
    if (!concerns(name) || (before === value && holders.get(placeOfKey(part, key)) === name)) continue
    const { generation } = template.metadata
    const outcome = before === value ? 'unchanged' : 'configured'
    changes.push({ part, key, value, before, template: name, generation, outcome })
  }
  for (const { level, version, is } of olderStandards(keys, namespace)) {
    const template = nameOf(level.template.metadata)
    if (!concerns(template)) continue
    const { generation } = level.template.metadata
    // Not `pruned`: the template never set it, and no bound for what an edit prunes counts it.
    changes.push({ ...version, value: undefined, before: is, template, generation, outcome: 'configured' })
  }
  for (const { part, key } of unsettable) wanted.add(placeOfKey(part, key))
  for (const { part, key, template } of keysHeld(holders)) {
    if (wanted.has(placeOfKey(part, key)) || !concerns(template) || isKept(template, templates, namespace)) continue
    const policy = policyOf(template)
    if (policy === 'Keep') continue
    const outcome = policy === 'Orphan' ? 'orphaned' : 'pruned'
    const change = {
      part,
      key,
      value: undefined,
      before: valueOf(namespace, { part, key }),
      template,
      outcome,
    } as const
    changes.push({ ...change, generation: undefined })
  }
  return { changes, unsettable: unsettable.filter(({ template }) => concerns(nameOf(template.metadata))) }
}

/** Whether something of what these templates set is not as they want it. Of other templates nothing is asked. */
export function wantsMetadata(templates: readonly NamespaceTemplate[], namespace: Namespace): boolean {
  const names = new Set(templates.map(({ metadata }) => nameOf(metadata)))
  const policyOf = (name: string) => (names.has(name) ? 'Delete' : 'Keep')
  const { changes, unsettable } = planMetadata({ namespace, templates, policyOf })
  return changes.length + unsettable.length > 0
}

/** Whether a version takes away what the template set. */
export function takesAwayMetadata(template: NamespaceTemplate, namespace: Namespace): boolean {
  const { name } = template.metadata
  // Most set nothing.
  if (namespace.metadata.annotations?.[metadataHoldersAnnotation] === undefined) return false
  const policyOf = (of: string) => (of === name ? 'Delete' : 'Keep')
  const { changes } = planMetadata({ namespace, templates: [template], policyOf })
  return changes.some(({ outcome }) => outcome === 'pruned')
}

/** What a template that can't be rendered set before stays. */
function isKept(name: string, templates: readonly NamespaceTemplate[], namespace: Namespace): boolean {
  const template = templates.find(({ metadata }) => metadata.name === name)
  return template !== undefined && evaluateParameters(template, namespace).faults.length > 0
}

/** @throws StatusError Conflict, if the namespace has changed meanwhile: its next version brings it back */
export async function settleMetadata(
  client: Pick<Client, 'patch'>,
  request: MetadataRequest,
  signal: AbortSignal,
): Promise<readonly ObjectResult[]> {
  const { changes, unsettable } = planMetadata(request)
  const told = unsettable.map(({ template, part, key, reason, message }): ObjectResult => {
    const result = { template: nameOf(template.metadata), object: titleOfKey({ part, key }) }
    if (reason === 'CreatorUnknown' || reason === 'OwnerUnknown') return { ...result, skipped: { reason, message } }
    const failed = { ...result, failure: { reason, message, retriable: false } }
    const text = template.spec?.namespaceMetadata?.[part]?.[key] ?? ''
    return reason === 'Invalid' && isChosenFreely(text, template, request.namespace) ? obstructed(failed) : failed
  })
  if (changes.length === 0) return told
  const { uid, resourceVersion } = request.namespace.metadata
  const name = nameOf(request.namespace.metadata)
  try {
    await client.patch(namespaceResource, { name }, patchOf(changes, { uid, resourceVersion }), { signal })
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined || isConflict(error)) throw error
    const isObstructed = isTooLarge(status) ? { isObstructed: true as const } : {}
    const failure = { reason: reasonOf(status), message: status.message, retriable: true, ...isObstructed }
    return [...told, ...changes.map((change) => ({ template: change.template, object: titleOfKey(change), failure }))]
  }
  return [
    ...told,
    ...changes.map((change): ObjectResult => {
      const { template, outcome, before, value: after } = change
      const result = { template, object: titleOfKey(change), outcome }
      if (outcome !== 'configured') return outcome === 'pruned' ? { ...result, isDeleted: true } : result
      return {
        ...result,
        change: { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) },
      }
    }),
  ]
}

function patchOf(changes: readonly KeyChange[], identity: object): object {
  const labels: Record<string, string | null> = {}
  const annotations: Record<string, string | null> = {}
  const versions: Record<string, number> = {}
  for (const { part, key, value, outcome, template, generation } of changes) {
    if (generation !== undefined) versions[template] = generation
    // What is left behind is let go of by admission, which makes the record anew.
    if (outcome === 'orphaned') annotations[metadataHoldersAnnotation] = null
    else (part === 'labels' ? labels : annotations)[key] = value ?? null
  }
  annotations[metadataVersionsAnnotation] = JSON.stringify(versions)
  return { metadata: { ...identity, labels, annotations } }
}
