/** One namespace by its name, for users who may not list them: by a watch where that is allowed, else read again. */
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { isForbidden, isNotFound } from '../../../kube/status-error.ts'
import type { Cluster } from '../cluster.ts'

/** How often one is asked about that may be read and not watched. */
const readAgainMs = 15_000

/** @param show is given the namespace, or the server's words for not showing it */
export function followNamespace(cluster: Cluster, name: string, show: (found: Namespace | Error) => void): () => void {
  const feed = cluster.feed<Namespace>({ resource: namespaceResource, fieldSelector: `metadata.name=${name}` })
  const left = new AbortController()
  const read = async (): Promise<void> => {
    try {
      show(await cluster.client.get(namespaceResource, { name }, { signal: left.signal }))
    } catch (error) {
      if (left.signal.aborted) return
      // What else went wrong says the line at the top, and it is tried again.
      if (isForbidden(error) || isNotFound(error)) show(error as Error)
    }
    cluster.clock.after(readAgainMs, () => {
      if (!left.signal.aborted) void read()
    })
  }
  const unsubscribe = feed.state.subscribe(({ ready, objects: [namespace], refused }) => {
    if (refused !== undefined) void read()
    else if (namespace !== undefined) show(namespace)
    else if (ready) show(new Error(`namespaces "${name}" not found`))
  })
  return () => {
    unsubscribe()
    feed.stop()
    left.abort()
  }
}
