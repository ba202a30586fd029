/**
 * A pod acts as a ServiceAccount of its namespace: `default` if it does not say, and one that exists. The account's
 * image pull secrets are the pod's unless it brings its own.
 *
 * Left out: the volume with the account's token. Nothing here runs containers; a kubelet's cluster adds its own.
 * @see plugin/pkg/admission/serviceaccount/admission.go of Kubernetes 1.36
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { mirrorAnnotation, type Pod } from '../pods/types.ts'
import { defaultServiceAccount } from './birth.ts'

export interface ServiceAccountLookup {
  find(namespace: string, name: string): KubeObject | undefined
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}

export function serviceAccountAdmission(accounts: ServiceAccountLookup): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    handles: (operation, type, subresource) =>
      operation === 'CREATE' && subresource === '' && type.group === '' && type.resource === 'pods',
    async mutate(a) {
      const pod = a.object as Pod
      if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return undefined
      const name = pod.spec?.serviceAccountName || defaultServiceAccount
      let account = accounts.find(a.namespace, name)
      if (account === undefined) {
        await accounts.refresh()
        account = accounts.find(a.namespace, name)
      }
      if (account === undefined) {
        const why = `error looking up service account ${a.namespace}/${name}: serviceaccount "${name}" not found`
        throw forbidden(a.type, a.name || pod.metadata.generateName || '', why)
      }
      const secrets = account['imagePullSecrets'] as { name?: string }[] | undefined
      const own = pod.spec?.imagePullSecrets ?? []
      return {
        ...pod,
        spec: {
          ...pod.spec,
          serviceAccountName: name,
          // The old name of the field; clients still read it.
          serviceAccount: name,
          ...(own.length === 0 && secrets !== undefined && secrets.length > 0 ? { imagePullSecrets: secrets } : {}),
        },
      }
    },
  }
}
