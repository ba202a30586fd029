import { expect, test } from 'vitest'
import { configMap, configMaps } from '../../test/support/registry-fixture.ts'
import type { ContentChange } from '../admission/admission.ts'
import type { Ticket } from '../storage/storage.ts'
import { type Queued, QueuedContent } from './queued-content.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const ticket = (id: number): Ticket => ({ id }) as Ticket

const added = (namespace: string, name: string): ContentChange => ({
  type: configMaps,
  namespace,
  name,
  before: undefined,
  after: configMap(name),
})

interface Step {
  readonly ticket: number
  /** namespace/name → value; undefined = it is removed */
  readonly writes?: Readonly<Record<string, string | undefined>>
}

const cases: {
  readonly name: string
  readonly given: readonly Step[]
  readonly shown?: Readonly<Record<string, string>>
  readonly want: readonly string[] | undefined
}[] = [
  { name: 'a namespace nobody writes to has nothing queued', given: [], want: [] },
  {
    name: 'what is queued is told, with the ticket that leaves it',
    given: [
      { ticket: 1, writes: { 'ns/a': '1' } },
      { ticket: 2, writes: { 'ns/b': '1' } },
    ],
    want: ['ns/a as left by 1', 'ns/b as left by 2'],
  },
  {
    name: 'what is queued for other namespaces, or for none, is not',
    given: [{ ticket: 1, writes: { 'other/a': '1', '/cluster': '1' } }],
    want: [],
  },
  {
    name: 'what has settled is told no more',
    given: [{ ticket: 1, writes: { 'ns/a': '1', 'ns/b': '1' } }, { ticket: 2, writes: { 'ns/c': '1' } }, { ticket: 1 }],
    want: ['ns/c as left by 2'],
  },
  {
    name: 'what the cache shows is counted there: it is durable, and its writer has not heard of it yet',
    given: [{ ticket: 1, writes: { 'ns/a': '2', 'ns/b': '1', 'ns/gone': undefined, 'ns/going': undefined } }],
    shown: { 'ns/a': '1', 'ns/b': '1', 'ns/going': '1' },
    want: ['ns/a as left by 1', 'ns/going as left by 1'],
  },
  {
    name: 'of two changes of one key nobody can say what they come to',
    given: [
      { ticket: 1, writes: { 'ns/a': '1' } },
      { ticket: 2, writes: { 'ns/a': undefined } },
    ],
    want: undefined,
  },
]

test.each(cases)('$name', ({ given, shown = {}, want }) => {
  const content = new QueuedContent()
  const queued = new Map<number, Queued>()
  for (const { ticket: id, writes } of given) {
    if (writes === undefined) {
      const before = queued.get(id)
      if (before !== undefined) content.settled(before)
    } else {
      const objects = Object.entries(writes).map(([key, value]) => {
        const [namespace = '', name = ''] = key.split('/')
        return { key, value: value === undefined ? undefined : bytes(value), change: added(namespace, name) }
      })
      queued.set(id, content.queued(ticket(id), objects))
    }
  }
  const found = content.of('ns', (key) => (shown[key] === undefined ? undefined : bytes(shown[key])))
  const told = found?.map(({ key, expect: left }) => `${key} as left by ${(left as { asLeftBy: Ticket }).asLeftBy.id}`)
  expect(told).toEqual(want)
})
