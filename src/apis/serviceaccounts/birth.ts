/**
 * What every namespace is born with: the `default` ServiceAccount and the ConfigMap with the cluster's CA, written in
 * the namespace's own transaction. Nobody can see the one without the others.
 */
import type { AdmissionPlugin, DecidedWrite } from '../../admission/admission.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'

export const defaultServiceAccount = 'default'
export const rootCaConfigMap = 'kube-root-ca.crt'
const rootCaDescription = 'The certificate authority that signs the certificate of this API server.'

export interface BirthDeps {
  readonly caPem: string
  /** The write that stores a new object of the core group: uid and creationTimestamp are added. */
  newObject(resource: 'serviceaccounts' | 'configmaps', object: KubeObject): DecidedWrite
}

export function defaultServiceAccountOf(namespace: string): KubeObject {
  return { metadata: { name: defaultServiceAccount, namespace } }
}

export function rootCaOf(namespace: string, caPem: string): KubeObject {
  const data: JsonObject = { 'ca.crt': caPem }
  return {
    metadata: {
      name: rootCaConfigMap,
      namespace,
      annotations: { 'kubernetes.io/description': rootCaDescription },
    },
    data,
  }
}

export function namespaceBirth({ caPem, newObject }: BirthDeps): AdmissionPlugin {
  return {
    name: 'NamespaceBirth',
    handles: (operation, type, subresource) =>
      operation === 'CREATE' && subresource === '' && type.group === '' && type.resource === 'namespaces',
    decide(a) {
      const name = a.object?.metadata.name ?? a.name
      return {
        writes: [
          newObject('serviceaccounts', defaultServiceAccountOf(name)),
          newObject('configmaps', rootCaOf(name, caPem)),
        ],
      }
    },
  }
}
