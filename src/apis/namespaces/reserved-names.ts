/**
 * `/namespaces/x/finalize` and `/namespaces/x/status` are about the namespace x. A resource type of that name could
 * never be reached under `/namespaces/x/`, so none may be defined.
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import { fieldInvalid } from '../../kube/field-error.ts'
import { invalid } from '../../kube/status-error.ts'

const reserved: ReadonlySet<string> = new Set(['finalize', 'status'])

export const reservedResourceNames: AdmissionPlugin = {
  name: 'ReservedResourceNames',
  handles: (operation, type, subresource) =>
    operation !== 'DELETE' &&
    subresource === '' &&
    type.group === 'apiextensions.k8s.io' &&
    type.resource === 'customresourcedefinitions',
  async validate(a) {
    const { names } = (a.object?.['spec'] ?? {}) as { names?: { plural?: string } }
    const plural = names?.plural ?? ''
    if (!reserved.has(plural)) return
    throw invalid(a.type, a.name, [
      fieldInvalid('spec.names.plural', plural, 'the name is reserved for a sub-resource of namespaces'),
    ])
  },
}
