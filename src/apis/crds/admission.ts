/**
 * Instances need a definition that is not going away. As with namespaces, the create's own transaction is guarded by the
 * revision of the definition that was found: when a definition has its deletion mark, no instance can come any more, so
 * one pass of deletion suffices.
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { forbidden, resourceNotFound } from '../../kube/status-error.ts'
import { type CustomResourceDefinition, isTerminating } from './types.ts'

export function definitionLifecycle(definitionType: ResourceType): AdmissionPlugin {
  return {
    name: 'CustomResourceDefinitions',
    handles: (operation, type) => operation === 'CREATE' && type.custom,
    decide({ type, name }, view) {
      const seen = view.see(definitionType, '', type.storageName)
      const definition = seen.object as CustomResourceDefinition | undefined
      if (definition === undefined) throw resourceNotFound()
      if (isTerminating(definition)) throw forbidden(type, name, terminating)
      return { guards: [{ key: seen.key, expect: seen.expect }] }
    },
  }
}

const terminating = 'create not allowed while custom resource definition is terminating'
