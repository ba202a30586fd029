/**
 * Time to end, for pods: only a kubelet could use it. So a pod on a node that does not exist goes at once, like one
 * that is on none; what a Node object stands for is believed to have a kubelet, and its pods get their time.
 */
import type { Strategy } from '../../catalog/strategy.ts'
import type { Pod } from './types.ts'

/** @param kind what the catalogue says of pods */
export function podStrategy(kind: Strategy, nodeExists: (name: string) => boolean): Strategy {
  const { graceful } = kind
  if (graceful === undefined) throw new Error('pods are given time to end')
  return {
    graceful: {
      graceSeconds: (pod: Pod, requested) =>
        nodeExists(pod.spec?.nodeName ?? '') ? graceful.graceSeconds(pod, requested) : 0,
    },
  }
}
