/**
 * What every namespace is created with: the `default` ServiceAccount and the ConfigMap with the cluster's CA, written
 * in the namespace's own transaction. They are extra writes of a decision, not creates of their own: see ADR 0035.
 */
import type { AdmissionPlugin, DecidedWrite } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'

export const defaultServiceAccount = 'default'
export const rootCaConfigMap = 'kube-root-ca.crt'
const rootCaDescription = 'The certificate authority that signs the certificate of this API server.'

export interface DefaultObjectsDeps {
  readonly caPem: string
  readonly serviceAccountType: ResourceType
  readonly configMapType: ResourceType
  /** The write that stores a new object: uid and creationTimestamp are added. */
  newObject(storageName: string, object: KubeObject): DecidedWrite
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

export function namespaceDefaultObjects({
  caPem,
  serviceAccountType,
  configMapType,
  newObject,
}: DefaultObjectsDeps): AdmissionPlugin {
  // A quota that is created with them counts them.
  const writeNew = (type: ResourceType, after: KubeObject): DecidedWrite => {
    const { namespace = '', name = '' } = after.metadata
    return { ...newObject(type.storageName, after), change: { type, namespace, name, before: undefined, after } }
  }
  return {
    name: 'NamespaceDefaultObjects',
    handles: (operation, type, subresource) =>
      operation === 'CREATE' && subresource === '' && type.group === '' && type.resource === 'namespaces',
    decide(a) {
      const name = a.object?.metadata.name ?? a.name
      return {
        writes: [
          writeNew(serviceAccountType, defaultServiceAccountOf(name)),
          writeNew(configMapType, rootCaOf(name, caPem)),
        ],
      }
    },
  }
}
