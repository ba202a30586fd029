/** What an edit of a selector takes into a quota, before it is stored. */
import { expect, test } from 'vitest'
import { thrown } from '../../../test/support/refusal.ts'
import { Turns } from '../../base/turns.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { requiredType } from '../../kube/resource-type.ts'
import { checkJoining, type JoiningDeps } from './joining.ts'
import { parseQuota } from './selection.ts'
import type { ClusterResourceQuotaSpec } from './types.ts'

const { types } = loadCatalog()
const configMaps = requiredType(types, { group: '', version: 'v1', resource: 'configmaps' })
const type = requiredType(types, { group: '', version: 'v1', resource: 'namespaces' })

const namespace = (name: string, team: string, creator = 'alice') => ({
  metadata: { name, labels: { team }, annotations: { 'authorization.k8s.io/creator': creator } },
})
const quota = (team: string, hard: Record<string, string>, more: Partial<ClusterResourceQuotaSpec> = {}) =>
  parseQuota({
    metadata: { name: 'q', uid: 'u' },
    spec: { selector: { labels: { matchLabels: { team } } }, quota: { hard }, ...more },
  })

interface Given {
  readonly all: readonly ReturnType<typeof namespace>[]
  readonly hard: Record<string, string>
  readonly more?: Partial<ClusterResourceQuotaSpec>
  /** By account. */
  readonly used?: Record<string, Record<string, string>>
}
/** Each namespace holds two ConfigMaps. */
async function refusal({ all, hard, more = {}, used = {} }: Given): Promise<string | undefined> {
  const deps: JoiningDeps = {
    // Each slice is used up at once.
    turns: new Turns({ now: () => performance.now() * 1e6 }),
    *namespaces() {
      for (let from = 0; from < all.length; from += 50) yield all.slice(from, from + 50)
    },
    usedBy: (uid: string, holder: string) => (uid === 'u' ? used[holder] : undefined),
    contentOf: () => [{ type: configMaps, count: 2 }],
    list: () => [],
  } as unknown as JoiningDeps
  const change = { next: quota('b', hard, more), old: quota('a', hard, more) }
  try {
    await checkJoining(deps, { type, name: 'q' }, change)
    return undefined
  } catch (error) {
    return thrown(() => {
      throw error
    }).message
  }
}
const refused = (problem: string, over = 'all namespaces that this ClusterResourceQuota selects'): string =>
  `namespaces "q" is forbidden: exceeded quota: q, ${problem}, counted over ${over}`
const join = (count: number) => Array.from({ length: count }, (_, i) => namespace(`n${i}`, 'b'))

test.each<{ name: string; given: Given; refused?: string }>([
  { name: 'nothing joins', given: { all: [], hard: { configmaps: '0' } } },
  { name: 'what is selected by neither', given: { all: [namespace('n', 'c')], hard: { configmaps: '0' } } },
  { name: 'as much as fits', given: { all: join(2), hard: { configmaps: '4' } } },
  {
    name: 'more than fits',
    given: { all: join(2), hard: { configmaps: '3' } },
    refused: refused('requested: configmaps=4, used: configmaps=0, limited: configmaps=3'),
  },
  {
    name: 'more than is left',
    given: { all: join(1), hard: { configmaps: '3' }, used: { '': { configmaps: '2' } } },
    refused: refused('requested: configmaps=2, used: configmaps=2, limited: configmaps=3'),
  },
  {
    name: 'as much as leaves',
    given: { all: [...join(1), namespace('m', 'a')], hard: { configmaps: '2' }, used: { '': { configmaps: '2' } } },
  },
  {
    name: 'namespaces themselves',
    given: { all: join(3), hard: { 'count/namespaces': '2' } },
    refused: refused('requested: count/namespaces=3, used: count/namespaces=0, limited: count/namespaces=2'),
  },
  {
    name: 'no namespaces with a scope',
    given: {
      all: join(3),
      hard: { 'count/namespaces': '2' },
      more: { quota: { hard: { 'count/namespaces': '2' }, scopes: ['BestEffort'] } },
    },
  },
  {
    name: 'each on the account of its creator',
    given: {
      ...{
        all: [namespace('n', 'b'), namespace('m', 'b', 'bob')],
        hard: { configmaps: '2' },
        more: { perCreator: true },
      },
      used: { bob: { configmaps: '1' } },
    },
    refused: refused(
      'requested: configmaps=2, used: configmaps=1, limited: configmaps=2',
      'the namespaces of creator "bob" that this ClusterResourceQuota selects',
    ),
  },
  {
    name: 'any number of those of which none is recorded',
    given: { all: [namespace('n', 'b', '')], hard: { configmaps: '0' }, more: { perCreator: true } },
  },
  {
    name: 'more than a hundred and fifty, between which other work has turns',
    given: { all: join(160), hard: { configmaps: '319' } },
    refused: refused('requested: configmaps=320, used: configmaps=0, limited: configmaps=319'),
  },
])('$name', async ({ given, refused: why }) => expect(await refusal(given)).toBe(why))
