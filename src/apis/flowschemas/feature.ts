/**
 * FlowSchemas and PriorityLevelConfigurations: their rules, the bootstrap objects, and what they configure. Without
 * this feature the mandatory objects alone decide.
 */

import type { Strategy } from '../../catalog/strategy.ts'
import { keysOf } from '../../controller/source.ts'
import type { DefaultObject, Feature, FeatureContext } from '../../feature/feature.ts'
import {
  type BootstrapWrite,
  type FlowControl,
  type FlowSchemaObject,
  flowSchemasResource,
  type PriorityLevelObject,
  planFlowSchemas,
  planPriorityLevels,
  priorityLevelConfigurationsResource,
  validateConditions,
  validateFlowSchema,
  validatePriorityLevel,
} from '../../flowcontrol/flowcontrol.ts'
import { type GroupVersionResource, qualifiedResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import { may, read } from '../rbac/bootstrap-rules.ts'
import { bootstrapKey, bootstrapManager, bootstrapReconciler } from './bootstrap-controller.ts'
import { ConditionUpdates, conditionReconciler } from './condition-controller.ts'

export const flowControlControllerName = 'priority-and-fairness-controller'

const { group } = flowSchemasResource

/** Priority levels first: no schema is stored before its level. */
const plans = [
  [priorityLevelConfigurationsResource, planPriorityLevels],
  [flowSchemasResource, planFlowSchemas],
] as const

const bootstrapObjects: readonly DefaultObject[] = plans.flatMap(([resource, plan]) =>
  plan([]).flatMap((write) =>
    write.verb === 'create' ? [{ resource, object: write.object, fieldManager: bootstrapManager }] : [],
  ),
)

export const flowControlFeature = (control: Pick<FlowControl, 'configure' | 'metrics'>): Feature => ({
  name: 'flowschemas',
  controllerRules: {
    [flowControlControllerName]: [
      may([...read, 'create', 'delete', 'update'], group, 'flowschemas prioritylevelconfigurations'),
      may('patch update', group, 'flowschemas/status'),
    ],
  },
  defaultObjects: bootstrapObjects,
  open(context) {
    const { clock } = context
    const stored = storedObjects(context)
    const updates = new ConditionUpdates()
    const schemaType = context.typeOf(flowSchemasResource)
    const isSound = (name: string): boolean =>
      context.stored.find(schemaType.storageName, '', name)?.damage === undefined
    const configure = (): void => {
      const schemas = stored(flowSchemasResource) as FlowSchemaObject[]
      const levels = stored(priorityLevelConfigurationsResource) as PriorityLevelObject[]
      updates.replace(control.configure(schemas, levels).filter(({ name }) => isSound(name)))
    }
    const plan = (): [GroupVersionResource, BootstrapWrite[]][] =>
      plans.map(([resource, missing]) => [resource, missing(stored(resource))])
    return {
      strategies: {
        [qualifiedResource(flowSchemasResource)]: strategyOf<FlowSchemaObject>(
          context,
          flowSchemasResource,
          validateFlowSchema,
        ),
        [qualifiedResource(priorityLevelConfigurationsResource)]: strategyOf<PriorityLevelObject>(
          context,
          priorityLevelConfigurationsResource,
          validatePriorityLevel,
        ),
      },
      controllers: ({ client }) => {
        const asController = client(flowControlControllerName)
        return [
          {
            name: flowControlControllerName,
            workers: 1,
            sources: [keysOf((enqueue) => (enqueue(bootstrapKey), () => {}))],
            reconciler: bootstrapReconciler(asController, plan),
          },
          {
            name: 'flowschema-status-controller',
            account: flowControlControllerName,
            workers: 1,
            sources: [updates.source],
            reconciler: conditionReconciler(asController, updates, clock),
          },
        ]
      },
      metrics: ({ families }) => families(() => control.metrics()),
      start() {
        configure()
        followAll(context, configure)
      },
    }
  },
})

/** For a damaged one its bootstrap object decides; where there is none of its name, it decides nothing. */
function storedObjects({ stored, typeOf }: FeatureContext): (resource: GroupVersionResource) => KubeObject[] {
  return (resource) => {
    const type = typeOf(resource)
    return stored.versions(type.storageName, '').flatMap((version) => {
      if (version.damage === undefined) return [version.as(type).object]
      return bootstrapObjects
        .filter((made) => made.resource === resource && made.object.metadata.name === version.key)
        .map(({ object }) => object)
    })
  }
}

/** Calls `changed` after any change of either kind, once for changes that come together. */
function followAll({ lister, typeOf }: FeatureContext, changed: () => void): void {
  let isDue = true
  const due = (): void => {
    if (isDue) return
    isDue = true
    queueMicrotask(() => {
      isDue = false
      changed()
    })
  }
  for (const [resource] of plans) lister.subscribe(typeOf(resource), due)
  // What there was before has been looked at.
  isDue = false
}

/** Rules after those of metadata; of `/status` the conditions alone. */
function strategyOf<O extends FlowSchemaObject | PriorityLevelObject>(
  { catalog, typeOf }: FeatureContext,
  resource: GroupVersionResource,
  validate: (object: O) => ReturnType<typeof validateConditions>,
): Strategy {
  return {
    ...catalog.strategyOf(typeOf(resource)),
    validate: (next, _old, { subresource }) => {
      const object = next as O
      return subresource === 'status' ? validateConditions(object.status?.conditions) : validate(object)
    },
  }
}
