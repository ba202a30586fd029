/**
 * The scale face of a workload: how many copies it shall have, has, and by which labels they are found. The same for
 * every kind, so that autoscalers and `kubectl scale` need not know the kinds.
 * @see k8s.io/api/autoscaling/v1 Scale v0.36
 */
import { isJsonObject } from './json-value.ts'
import { type LabelSelectorObject, labelSelectorOf, printLabelSelector, selectorOfLabels } from './label-selector.ts'
import type { ResourceType, ScalePaths } from './resource-type.ts'
import { badRequest, internalError } from './status-error.ts'
import type { JsonObject, JsonValue, KubeObject } from './types.ts'

export interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status: { readonly replicas: number; readonly selector?: string }
}

/**
 * An own object: nothing of it is shared with the workload. `paths` are those of a custom resource.
 * @throws StatusError InternalError if a custom resource has nothing where its number of copies should be
 */
export function scaleOf(workload: KubeObject, paths?: ScalePaths): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = workload.metadata
  if (paths !== undefined) return customScaleOf(workload, paths)
  const spec = partOf(workload, 'spec')
  const replicas = numberOr0(spec['replicas'])
  const selector = printedSelector(spec['selector'])
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    // Written as upstream writes it: zero is left out of the spec, and never of the status.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberOr0(partOf(workload, 'status')['replicas']),
      ...(selector === '' ? {} : { selector }),
    },
  }
}

function customScaleOf(resource: KubeObject, paths: ScalePaths): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = resource.metadata
  const replicas = valueAt(resource, paths.specReplicasPath)
  if (replicas === undefined) {
    throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`)
  }
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(resource, paths.labelSelectorPath)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: numberOr0(replicas) === 0 ? {} : { replicas: numberOr0(replicas) },
    status: {
      replicas: numberOr0(valueAt(resource, paths.statusReplicasPath)),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}

/** `.spec.replicas`, without its dot. */
const membersOf = (path: string): readonly string[] => path.split('.').slice(1)

/** Undefined where the path ends early. */
function valueAt(object: KubeObject, path: string): JsonValue | undefined {
  let value: unknown = object
  for (const name of membersOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value as JsonValue
}

function withValueAt(object: JsonObject, [first = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  const below = Object.hasOwn(object, first) ? object[first] : undefined
  return { ...object, [first]: rest.length === 0 ? value : withValueAt(isJsonObject(below) ? below : {}, rest, value) }
}

/**
 * A copy of the workload that shall have so many copies; all else is shared.
 * @throws StatusError BadRequest if a custom resource is not told how many
 */
export function withReplicas(workload: KubeObject, replicas: number | undefined, paths?: ScalePaths): KubeObject {
  if (paths === undefined) return withPlainReplicas(workload, replicas ?? 0)
  if (replicas === undefined) {
    throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} cannot be empty`)
  }
  return withValueAt(
    workload as unknown as JsonObject,
    membersOf(paths.specReplicasPath),
    replicas,
  ) as unknown as KubeObject
}

function withPlainReplicas(workload: KubeObject, replicas: number): KubeObject {
  return { ...workload, spec: { ...partOf(workload, 'spec'), replicas } }
}

/** A LabelSelector, or the plain labels of a ReplicationController. */
function printedSelector(selector: unknown): string {
  if (!isJsonObject(selector)) return ''
  const isPlain = Object.values(selector).every((value) => typeof value === 'string')
  if (isPlain) return printLabelSelector(selectorOfLabels(selector as Record<string, string>))
  return printLabelSelector(labelSelectorOf(selector as LabelSelectorObject))
}

const partOf = (object: KubeObject, part: string): JsonObject => {
  const value = object[part]
  return isJsonObject(value) ? value : {}
}

const numberOr0 = (value: unknown): number => (typeof value === 'number' ? value : 0)

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

const defined = <T extends object>(fields: T): Partial<Defined<T>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>

/** The type of `Scale`, which is answered and never stored. @param schema its own */
export function scaleTypeOf(schema: ResourceType['schema']): ResourceType {
  return {
    group: 'autoscaling',
    version: 'v1',
    resource: 'scales',
    kind: 'Scale',
    listKind: '',
    singular: 'scale',
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
    subresources: new Map(),
    schema,
    storageName: '',
    stored: false,
    custom: false,
    columns: [
      { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
      { name: 'Available', type: 'integer', jsonPath: '.status.replicas' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  }
}
