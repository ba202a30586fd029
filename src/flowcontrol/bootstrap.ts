/**
 * Keeps the bootstrap objects in the store as they should be. Pure: the answer is a list of writes, in order.
 *
 *   missing                                   → created, mandatory or suggested
 *   mandatory                                 → spec put back, whatever the annotation says
 *   suggested, autoupdate-spec "true"         → spec put back
 *   suggested, autoupdate-spec "false"        → left alone: the operator owns the spec
 *   suggested, annotation absent or malformed → put back while generation is 1 (never edited), left alone afterwards;
 *                                               either way the annotation then says which
 *   annotated "true", no bootstrap object now → deleted: an older release brought it
 *
 * Of the priority level `exempt` the field `spec.exempt` is never put back: how many seats exempt requests are counted
 * with, and how many are lent, is the operator's to set.
 * @see k8s.io/kubernetes/pkg/registry/flowcontrol/ensurer/strategy.go, prioritylevelconfiguration.go v1.36
 */
import { jsonEqual } from '../kube/json-value.ts'
import type { KubeObject } from '../kube/types.ts'
import { autoUpdateSpecAnnotation, exemptName, type PriorityLevelObject } from './types.ts'

export interface BootstrapObjects {
  readonly mandatory: readonly KubeObject[]
  readonly suggested: readonly KubeObject[]
}

export type BootstrapWrite =
  | { readonly verb: 'create' | 'update'; readonly object: KubeObject }
  | { readonly verb: 'delete'; readonly name: string; readonly resourceVersion: string | undefined }

/** The writes after which `current`, all objects of one kind in the store, is as it should be; suggested ones first. */
export function planBootstrap(current: readonly KubeObject[], wanted: BootstrapObjects): BootstrapWrite[] {
  const byName = new Map(current.map((object) => [object.metadata.name ?? '', object]))
  const writes: BootstrapWrite[] = []
  const known = new Set<string>()
  const ensure = (objects: readonly KubeObject[], mandatory: boolean): void => {
    for (const object of objects) {
      const name = object.metadata.name ?? ''
      known.add(name)
      const stored = byName.get(name)
      if (stored === undefined) writes.push({ verb: 'create', object: structuredClone(object) })
      else {
        const next = reconciled(stored, object, mandatory)
        if (next !== undefined) writes.push({ verb: 'update', object: next })
      }
    }
  }
  ensure(wanted.suggested, false)
  ensure(wanted.mandatory, true)
  for (const [name, { metadata }] of byName) {
    if (known.has(name) || parseBool(metadata.annotations?.[autoUpdateSpecAnnotation]) !== true) continue
    writes.push({ verb: 'delete', name, resourceVersion: metadata.resourceVersion })
  }
  return writes
}

/** The object to store in place of `stored`; undefined if it may stay as it is. */
function reconciled(stored: KubeObject, wanted: KubeObject, mandatory: boolean): KubeObject | undefined {
  const { metadata } = stored
  const annotated = parseBool(metadata.annotations?.[autoUpdateSpecAnnotation])
  const neverEdited = metadata.generation === 1
  const autoUpdate = mandatory || (annotated ?? neverEdited)
  const spec = isExemptLevel(wanted) ? withExemptOf(stored, wanted) : wanted['spec']
  const specDiffers = autoUpdate && !jsonEqual(stored['spec'], spec)
  if (annotated === autoUpdate && !specDiffers) return undefined
  const annotations = { ...metadata.annotations, [autoUpdateSpecAnnotation]: String(autoUpdate) }
  return {
    ...structuredClone(stored),
    metadata: { ...structuredClone(metadata), annotations },
    ...(specDiffers ? { spec: structuredClone(spec) } : {}),
  }
}

const isExemptLevel = (object: KubeObject): object is PriorityLevelObject =>
  object.kind === 'PriorityLevelConfiguration' && object.metadata.name === exemptName

function withExemptOf(stored: PriorityLevelObject, wanted: PriorityLevelObject): PriorityLevelObject['spec'] {
  const exempt = stored.spec?.exempt
  return exempt === undefined ? wanted.spec : { ...wanted.spec, exempt }
}

/** As Go's strconv.ParseBool; undefined where that reports an error. */
function parseBool(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true
  if (/^(0|f|F|FALSE|false|False)$/.test(text)) return false
  return undefined
}
