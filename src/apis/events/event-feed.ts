/** The watch cache as the forgetting of events sees it. */
import type { FeatureContext } from '../../feature/feature.ts'
import type { EventFeed, WrittenEvent } from './expiry.ts'

/** An Event's last write is not in the object for every client: the moment this process saw it stands for it. */
export function eventFeed({ typeOf, lister, clock }: FeatureContext): EventFeed {
  const type = typeOf({ group: '', version: 'v1', resource: 'events' })
  return {
    subscribe(written) {
      const existing: WrittenEvent[] = []
      let live = false
      const stop = lister.subscribe(type, (next, old) => {
        if (next === undefined) return
        const { namespace, name, revision } = next
        if (live) return written({ namespace, name, revision, writtenAtMs: clock.now() })
        const createdAt = old === undefined ? Date.parse(next.object.metadata.creationTimestamp ?? '') : Number.NaN
        existing.push({
          namespace,
          name,
          revision,
          writtenAtMs: Number.isNaN(createdAt) ? clock.now() : createdAt,
        })
      })
      live = true
      for (const event of existing.sort((a, b) => a.writtenAtMs - b.writtenAtMs)) written(event)
      return stop
    },
    revisionOf: ({ namespace, name }) => lister.find(type, namespace, name)?.revision,
  }
}
