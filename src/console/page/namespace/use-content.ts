import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useCluster } from '../use-cluster.ts'
import { type Content, followContent } from './objects-of.ts'

/** What is in a namespace, for as long as the component is shown. */
export function useContent(namespace: string): Content {
  const cluster = useCluster()
  const shown = useSignal<Content>({ ready: false, found: [], hidden: [] })
  useEffect(() => {
    const { content, stop } = followContent(cluster, namespace)
    const unsubscribe = content.subscribe((next) => {
      shown.value = next
    })
    return () => {
      unsubscribe()
      stop()
    }
  }, [cluster, namespace])
  return shown.value
}
