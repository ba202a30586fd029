import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import type { Cluster } from '../cluster.ts'
import type { FeedState } from '../feed.ts'
import { MyNamespaces } from './my-namespaces.ts'

const namespaceOf = (i: number, labels = {}): Namespace => ({ metadata: { name: `ns-${1000 + i}`, labels } })

test('an event makes one of 5,000 rows anew', () => {
  const objects = Array.from({ length: 5000 }, (_, i) => namespaceOf(i))
  const state = signal<FeedState<Namespace>>({ ready: true, objects })
  const cluster = { feed: () => ({ state, stop: () => undefined }) } as unknown as Cluster
  const mine = new MyNamespaces(cluster)
  const before = mine.rows.value
  state.value = { ready: true, objects: objects.with(17, namespaceOf(17, { env: 'prod' })) }
  const changed = mine.rows.value?.filter((row, i) => row !== before?.[i])
  expect(changed).toMatchObject([{ name: 'ns-1017', labels: { env: 'prod' } }])
})
