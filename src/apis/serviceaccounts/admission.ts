/**
 * A pod acts as a ServiceAccount of its namespace: `default` if it does not say, and one that exists. It is given what
 * comes with the account: the volume with its token, its image pull secrets unless the pod brings its own. A mirror pod
 * is only shown here, so it has no account, and refers to nothing that needs one.
 * @see plugin/pkg/admission/serviceaccount/admission.go of Kubernetes 1.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import type { KubeObject, Unvalidated } from '../../kube/types.ts'
import { mirrorAnnotation, type Pod, podForbidden, podResource } from '../pods/types.ts'
import { defaultServiceAccount } from './default-objects.ts'
import { limitsSecrets, projectsToken, refersToSecrets, unlentSecret } from './secret-references.ts'
import { mountsToken, withTokenVolume } from './token-volume.ts'

export interface ServiceAccountDeps {
  find(namespace: string, name: string): KubeObject | undefined
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
  /** Five random characters for a name. */
  nameSuffix(): string
}

export function serviceAccountAdmission(deps: ServiceAccountDeps): AdmissionPlugin {
  const accountOf = async (
    a: Omit<Attributes, 'object'>,
    pod: Pick<Pod, 'metadata'>,
    name: string,
  ): Promise<KubeObject> => {
    let account = deps.find(a.namespace, name)
    if (account === undefined) {
      await deps.refresh()
      account = deps.find(a.namespace, name)
    }
    if (account !== undefined) return account
    const why = `error looking up service account ${a.namespace}/${name}: serviceaccount "${name}" not found`
    throw podForbidden(a, pod, why)
  }

  return {
    name: 'ServiceAccount',
    handles: (operation, type, subresource) =>
      type.group === '' &&
      type.resource === 'pods' &&
      (subresource === '' ? operation === 'CREATE' : subresource === 'ephemeralcontainers' && operation === 'UPDATE'),
    async mutate(a) {
      const pod = objectOf(podResource, a)
      if (a.operation !== 'CREATE') return undefined
      if (isMirror(pod)) {
        // Before it is validated, as upstream: what is wrong with it otherwise is not told first.
        if (pod.spec?.serviceAccountName) throw podForbidden(a, pod, noAccount)
        return undefined
      }
      const name = pod.spec?.serviceAccountName || defaultServiceAccount
      const account = await accountOf(a, pod, name)
      const secrets = account['imagePullSecrets'] as { name?: string }[] | undefined
      const own = pod.spec?.imagePullSecrets ?? []
      const next: Unvalidated<Pod> = {
        ...pod,
        spec: {
          ...pod.spec,
          serviceAccountName: name,
          // The old name of the field; clients still read it.
          serviceAccount: name,
          ...(own.length === 0 && secrets !== undefined && secrets.length > 0 ? { imagePullSecrets: secrets } : {}),
        },
      }
      return mountsToken(pod, account) ? withTokenVolume(next, () => deps.nameSuffix()) : next
    },
    async validate(a) {
      const pod = objectOf(podResource, a)
      if (isMirror(pod)) {
        const problem = mirrorProblem(pod)
        if (problem !== undefined) throw podForbidden(a, pod, problem)
        return
      }
      const account = await accountOf(a, pod, pod.spec?.serviceAccountName || defaultServiceAccount)
      if (!limitsSecrets(account)) return
      const problem = unlentSecret(pod, account, a.subresource !== '')
      if (problem !== undefined) throw podForbidden(a, pod, problem)
    },
  }
}

const isMirror = (pod: Pick<Pod, 'metadata'>): boolean => pod.metadata.annotations?.[mirrorAnnotation] !== undefined

const noAccount = 'a mirror pod may not reference service accounts'

function mirrorProblem(pod: Pod): string | undefined {
  if (pod.spec?.serviceAccountName) return noAccount
  if (refersToSecrets(pod)) return 'a mirror pod may not reference secrets'
  if (projectsToken(pod)) return 'a mirror pod may not use ServiceAccountToken volume projections'
  return undefined
}
