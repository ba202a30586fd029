/** How components come by the cluster, and by lists of it for as long as they are shown. */
import { useSignal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { KubeObject } from '../../kube/types.ts'
import type { Cluster } from './cluster.ts'
import type { FeedOptions, FeedState } from './feed.ts'

export const ClusterContext = createContext<Cluster | undefined>(undefined)

export function useCluster(): Cluster {
  const cluster = useContext(ClusterContext)
  if (cluster === undefined) throw new Error('no cluster above this component')
  return cluster
}

const notYet: FeedState<never> = { ready: false, objects: [] }

export function useFeed<T extends KubeObject>(options: FeedOptions): FeedState<T> {
  const cluster = useCluster()
  const shown = useSignal<FeedState<T>>(notYet)
  const { group, version, resource } = options.resource
  const { namespace, fieldSelector, labelSelector, metadataOnly } = options
  useEffect(() => {
    const feed = cluster.feed<T>(options)
    const unsubscribe = feed.state.subscribe((state) => {
      shown.value = state
    })
    return () => {
      unsubscribe()
      feed.stop()
    }
  }, [cluster, group, version, resource, namespace, fieldSelector, labelSelector, metadataOnly])
  return shown.value
}
