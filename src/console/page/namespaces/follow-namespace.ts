/** One namespace by its name, for users who may not list them: by a watch where that is allowed, else read again. */
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { isForbidden, isNotFound } from '../../../kube/status-error.ts'
import { mayWorkIn } from '../access-review.ts'
import type { Cluster } from '../cluster.ts'
import { fitObject } from '../shapes.ts'

/** How often one is asked about that may be read and not watched. */
const readAgainMs = 15_000

/** The server does not show it: its words, and what it says of the user's rights in it. */
export class Unseen extends Error {
  override readonly name = 'Unseen'
  readonly isOpen: boolean
  /** It is not there, or hidden as if it were not. */
  readonly isMissing: boolean

  constructor({ message }: Error, isOpen: boolean, isMissing = false) {
    super(message)
    this.isOpen = isOpen
    this.isMissing = isMissing
  }
}

/**
 * @param show is given the namespace, or why it is not shown
 * @param againMs how often one is read that may not be watched
 */
export function followNamespace(
  cluster: Cluster,
  name: string,
  show: (found: Namespace | Unseen) => void,
  againMs = readAgainMs,
): () => void {
  const feed = cluster.feed<Namespace>({ resource: namespaceResource, fieldSelector: `metadata.name=${name}` })
  const left = new AbortController()
  /** While the feed is refused: one that is let in again needs no reading beside it. */
  let isRead = false
  const showUnseen = async (refusal: Error): Promise<void> => {
    // A server that can't say leaves it at its refusal.
    const isOpen = await mayWorkIn(cluster, name, left.signal).catch(() => false)
    if (!left.signal.aborted) show(new Unseen(refusal, isOpen))
  }
  const read = async (): Promise<void> => {
    try {
      const found = await cluster.client.get(namespaceResource, { name }, { signal: left.signal })
      show(fitObject(namespaceResource, found))
    } catch (error) {
      if (left.signal.aborted) return
      // What else went wrong says the line at the top, and it is tried again.
      if (isForbidden(error)) await showUnseen(error as Error)
      else if (isNotFound(error)) show(new Unseen(error as Error, false, true))
    }
    cluster.clock.after(againMs, () => {
      if (!left.signal.aborted && isRead) void read()
    })
  }
  const unsubscribe = feed.state.subscribe(({ ready, objects: [namespace], refused }) => {
    const isRefusedFirst = refused !== undefined && !isRead
    isRead = refused !== undefined
    if (isRefusedFirst) void read()
    else if (isRead) return
    else if (namespace !== undefined) show(namespace)
    else if (ready) show(new Unseen(new Error(`namespaces "${name}" not found`), false, true))
  })
  return () => {
    unsubscribe()
    feed.stop()
    left.abort()
  }
}
