/**
 * The volume by which the containers of a pod speak to the API: a token of the pod's account, the authority to trust
 * and the name of the namespace. A kubelet fills it; here it is only written down.
 * @see mountServiceAccountToken, TokenVolumeSource in plugin/pkg/admission/serviceaccount/admission.go of Kubernetes
 *   1.36
 */
import type { KubeObject, Unvalidated } from '../../kube/types.ts'
import type { Pod } from '../pods/types.ts'
import { rootCaConfigMap } from './default-objects.ts'

type Spec = NonNullable<Unvalidated<Pod>['spec']>

const volumePrefix = 'kube-api-access-'
export const tokenMountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

/** An hour, and seven seconds by which upstream knows tokens of this kind. */
const tokenSeconds = 3607

/** The pod's word counts more than its account's. */
export function mountsToken(pod: Unvalidated<Pod>, account: KubeObject): boolean {
  const asked = pod.spec?.automountServiceAccountToken ?? account['automountServiceAccountToken']
  return asked !== false
}

/** @param suffix makes the name of the volume unlike those of other pods */
export function withTokenVolume(pod: Unvalidated<Pod>, suffix: () => string): Unvalidated<Pod> {
  const volumes = pod.spec?.volumes ?? []
  const own = volumes.find((v) => v.name?.startsWith(volumePrefix))
  const name = own?.name ?? volumePrefix + suffix()
  let mounted = false
  const mounting = (role: 'containers' | 'initContainers'): Pick<Spec, typeof role> => {
    const containers = pod.spec?.[role]
    if (!containers) return {}
    return {
      [role]: containers.map((container) => {
        const mounts = container.volumeMounts ?? []
        // Who mounts something else there has reasons.
        if (mounts.some((m) => m.mountPath === tokenMountPath)) return container
        mounted = true
        return { ...container, volumeMounts: [...mounts, { name, mountPath: tokenMountPath, readOnly: true }] }
      }),
    }
  }
  const spec = { ...pod.spec, ...mounting('initContainers'), ...mounting('containers') }
  if (!mounted) return pod
  return { ...pod, spec: own ? spec : { ...spec, volumes: [...volumes, tokenVolume(name)] } }
}

const tokenVolume = (name: string) => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
      { configMap: { name: rootCaConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
})
