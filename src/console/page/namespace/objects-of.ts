/** Everything in a namespace that the user may list, kept true by a watch for each kind. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { ServedKind } from '../../../client/client.ts'
import type { Cluster } from '../cluster.ts'
import type { FoundObject } from './object-tree.ts'

/** Below the watches that a page may have (`../../live.ts`). */
const mostKinds = 150

export interface Content {
  readonly ready: boolean
  readonly found: readonly FoundObject[]
  /** Kinds that are not shown, each with the reason. */
  readonly hidden: readonly { readonly kind: string; readonly why: string }[]
}

/** Events have a view of their own; they would be most of the tree. */
const isShown = ({ group, resource, namespaced, verbs }: ServedKind): boolean =>
  namespaced &&
  verbs.includes('list') &&
  verbs.includes('watch') &&
  !(resource === 'events' && (group === '' || group === 'events.k8s.io'))

export function followContent(
  cluster: Cluster,
  namespace: string,
): { readonly content: ReadonlySignal<Content>; readonly stop: () => void } {
  const content = signal<Content>({ ready: false, found: [], hidden: [] })
  const stops: (() => void)[] = []
  let isLeft = false
  const begin = async (): Promise<void> => {
    const { kinds, unavailable } = await cluster.client.discovery.kinds()
    if (isLeft) return
    const shown = kinds.filter(isShown)
    const feeds = shown
      .slice(0, mostKinds)
      .map((kind) => ({ kind, feed: cluster.feed({ resource: kind, namespace, metadataOnly: true }) }))
    const silent = unavailable.map(({ apiVersion }) => ({ kind: apiVersion, why: 'it does not answer' }))
    const tooMany = shown.slice(mostKinds).map(({ kind }) => ({ kind, why: `only ${mostKinds} kinds are shown` }))
    const show = (): void => {
      const states = feeds.map(({ kind, feed }) => ({ kind, state: feed.state.peek() }))
      const refused = states.flatMap(({ kind, state }) => {
        const why = state.refused ?? state.failing
        return why === undefined ? [] : [{ kind: kind.kind, why: why.message }]
      })
      content.value = {
        // One that fails must not hide the others.
        ready: states.every(({ state }) => state.ready || state.failing !== undefined),
        found: states.flatMap(({ kind, state }) => state.objects.map((object) => ({ kind, object }))),
        hidden: [...refused, ...silent, ...tooMany],
      }
    }
    let isDue = false
    for (const { feed } of feeds) {
      const unsubscribe = feed.state.subscribe(() => {
        if (isDue) return
        isDue = true
        // Kinds answer one after the other: shown together.
        cluster.clock.after(30, () => {
          isDue = false
          if (!isLeft) show()
        })
      })
      stops.push(unsubscribe, feed.stop)
    }
  }
  begin().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    content.value = { ready: true, found: [], hidden: [{ kind: 'everything', why }] }
  })
  return {
    content,
    stop() {
      isLeft = true
      for (const stop of stops) stop()
    },
  }
}
