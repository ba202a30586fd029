/**
 * Instances need a definition that is not going away. As with namespaces, the create's own transaction is guarded by
 * the revision of the definition that was found: when a definition has its deletion mark, no instance can come any
 * more, so one pass of deletion suffices.
 *
 * As upstream's, it is the first to be asked: who creates is told of the definition before anything else.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go (forbidCreateAdmission) v0.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { forbidden, resourceNotFound } from '../../kube/status-error.ts'
import { type CustomResourceDefinition, isTerminating } from './types.ts'

/** @param find a definition by its name, from the cache */
export function definitionLifecycle(
  definitionType: ResourceType<CustomResourceDefinition>,
  find: (name: string) => CustomResourceDefinition | undefined,
): AdmissionPlugin {
  return {
    name: 'CustomResourceDefinitions',
    handles: (operation, type) => operation === 'CREATE' && type.custom,
    /** A deletion is for good, so this much is certain at once; the rest is decided at the commit. */
    mutate(a) {
      const definition = find(a.type.storageName)
      if (definition !== undefined) admit(a, definition)
      return undefined
    },
    decide(a, view) {
      const seen = view.see(definitionType, '', a.type.storageName)
      const definition = seen.object
      if (definition === undefined) throw resourceNotFound()
      admit(a, definition)
      return { guards: [{ key: seen.key, expect: seen.expect }] }
    },
  }
}

/** @throws StatusError Forbidden */
function admit({ type, name }: Pick<Attributes, 'type' | 'name'>, definition: CustomResourceDefinition): void {
  if (!isTerminating(definition)) return
  throw forbidden(type, name, 'create not allowed while custom resource definition is terminating')
}
