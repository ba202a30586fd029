/**
 * Time to end, for pods: only a kubelet could use it. So a pod on a node that does not exist goes at once, like one
 * that is on none; what a Node object stands for is believed to have a kubelet, and its pods get their time.
 */
import type { Strategy } from '../../catalog/strategy.ts'
import type { Pod } from './types.ts'

/** @param general the catalogue's strategy of pods */
export function podStrategy(general: Strategy, nodeExists: (name: string) => boolean): Strategy {
  const { graceful } = general
  if (graceful === undefined) throw new Error('pods are given time to end')
  return {
    ...general,
    graceful: {
      graceSeconds: (pod: Pod, requested) =>
        nodeExists(pod.spec?.nodeName ?? '') ? graceful.graceSeconds(pod, requested) : 0,
    },
  }
}
