/**
 * A pod stays five minutes on a node that is not ready or can't be reached, unless it says how long itself.
 * @see plugin/pkg/admission/defaulttolerationseconds/admission.go of Kubernetes 1.36
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import type { MaybeAbsent, Unvalidated } from '../../kube/types.ts'
import { type Pod, podResource, type Toleration } from './types.ts'

const staysSeconds = 300
const troubles = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

export const defaultTolerations: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (operation, type, subresource) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    subresource === '' &&
    type.group === '' &&
    type.resource === podResource.resource,
  mutate({ object }) {
    const pod = object as Unvalidated<Pod>
    const given = pod.spec?.tolerations ?? []
    const added = troubles
      .filter((trouble) => !given.some((toleration) => saysOf(toleration, trouble)))
      .map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: staysSeconds }))
    return added.length === 0 ? undefined : { ...pod, spec: { ...pod.spec, tolerations: [...given, ...added] } }
  },
}

/** No key is every key, no effect every effect. */
const saysOf = ({ key, effect }: NonNullable<MaybeAbsent<Toleration>>, trouble: string): boolean =>
  (!key || key === trouble) && (!effect || effect === 'NoExecute')
