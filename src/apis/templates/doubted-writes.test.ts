/** What other processes left behind: records of namespaces that are gone, and statuses that this one did not write. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { systemClock } from '../../base/clock.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { AppliedObject, AppliedRecords, RecordListener } from './applied-records.ts'
import { PopulationState } from './population-state.ts'
import { type NamespaceTemplate, type TemplateStatus, templateResource } from './types.ts'

const object: AppliedObject = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'of c', template: 't' },
  ...{ generation: 1, digest: 'd', content: 'c' },
}
const template = (status?: TemplateStatus): NamespaceTemplate => ({
  ...{ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate' },
  metadata: { name: 't', uid: 't', generation: 1 },
  spec: { namespaces: { labelSelector: { matchLabels: { of: 'team' } } } },
  ...(status === undefined ? {} : { status }),
})
const namespace = (name: string, labels: Record<string, string> = {}): object => ({
  ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: `of ${name}`, labels } },
})

let client: FakeClient
let stop: AbortController
let state: PopulationState
let running: Promise<void>
let enqueued: string[]
let released: string[]
/** Of each record: the namespace, its uid, and whether it was there before this process. */
let known: (readonly [namespace: string, uid: string, isFirst: boolean])[]
let tell: RecordListener
beforeEach(async () => {
  client = new FakeClient()
  stop = new AbortController()
  enqueued = []
  released = []
  known = []
  const records: AppliedRecords = {
    ...{ of: () => [], announce: async () => {}, settle: async () => {}, isComplete: true, complete: async () => {} },
    async follow(told) {
      tell = told
      for (const [name, namespaceUid, isFirst] of known)
        told(name, [object], [], { namespaceUid, revision: 1, isFirst })
    },
    async release(name, uid) {
      released.push(`${name} ${uid}`)
    },
  }
  state = new PopulationState({
    ...{ client, clock: systemClock, records, events: {} as EventRecorder },
    onError: (error) => {
      throw error
    },
  })
  for (const one of [namespace('a', { of: 'team' }), namespace('b')]) {
    await client.create(namespaceResource, one as never)
  }
  await client.create(templateResource, template())
})
afterEach(async () => {
  stop.abort()
  await running
})

const start = async (): Promise<void> => {
  running = state.watches.run(({ name }) => enqueued.push(name), stop.signal)
  await expect.poll(() => state.matcherOf('t') !== undefined && state.watches.isComplete).toBe(true)
  await expect.poll(() => [...enqueued].sort()).toEqual(expect.arrayContaining(['a', 'b']))
}

test('records of namespaces that went while nobody looked are released, and no others', async () => {
  known = [
    ['gone', 'of gone', true],
    ['a', 'of a', true],
    ['b', 'of the b before', true],
    ['new', 'of new', false],
  ]
  await start()
  await expect.poll(() => [...released].sort()).toEqual(['b of the b before', 'gone of gone'])
  // One that is told of later is of a pass that goes on.
  tell('later', [object], [], { namespaceUid: 'of later', revision: 2, isFirst: false })
  await client.create(namespaceResource, namespace('c') as never)
  await expect.poll(() => enqueued).toContain('c')
  expect(released).toHaveLength(2)
})

test('the record of a namespace is released when that goes, by the uid that it had', async () => {
  await start()
  await client.delete(namespaceResource, { name: 'a' })
  await expect.poll(() => released).toEqual(['a of a'])
})

const status = (synced: number): TemplateStatus => ({ observedGeneration: 1, matched: 1, synced })

test('a status that another process wrote has all that the template selects looked at again', async () => {
  await start()
  await expect.poll(() => [...state.matchers()].every((version) => state.surveys.isDone(version))).toBe(true)
  enqueued.length = 0
  await client.update(templateResource, template(status(7)))
  await expect.poll(() => enqueued).toEqual(['a'])
})

test('one that this process wrote has not, whose fields come back in another order', async () => {
  await start()
  await expect.poll(() => [...state.matchers()].every((version) => state.surveys.isDone(version))).toBe(true)
  enqueued.length = 0
  state.writesStatus('t', status(2))
  await client.update(templateResource, template({ matched: 1, observedGeneration: 1, synced: 2 }))
  await client.create(namespaceResource, namespace('c') as never)
  await expect.poll(() => enqueued).toEqual(['c'])
})

test('one that this process wrote has not, the last few of them', async () => {
  await start()
  await expect.poll(() => [...state.matchers()].every((version) => state.surveys.isDone(version))).toBe(true)
  enqueued.length = 0
  for (const synced of [1, 2, 3, 4, 5]) state.writesStatus('t', status(synced))
  for (const synced of [2, 3, 4, 5]) await client.update(templateResource, template(status(synced)))
  await client.create(namespaceResource, namespace('c') as never)
  await expect.poll(() => enqueued).toEqual(['c'])
  await client.update(templateResource, template(status(1)))
  await expect.poll(() => enqueued).toEqual(['c', 'a'])
})
