/** What people are told: events about a namespace and its templates, and the condition Populated. */
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client } from '../../client/client.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { EventRecorder } from '../events/recorder.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { ObjectResult } from './object-result.ts'
import { reportCondition, tell, tellBlockedPrune, tellCorrected, tellDeleted, tellHalt } from './report.ts'
import type { NamespaceTemplate } from './types.ts'

const namespace: Namespace = { metadata: { name: 'n', uid: 'of n' } }
const template: NamespaceTemplate = { metadata: { name: 't', uid: 'of t' } }
const aboutTemplate = {
  object: { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata: template.metadata },
  namespace: 'default',
}
const aboutNamespace = {
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { ...namespace.metadata, namespace: 'n' } },
  namespace: 'n',
}

function recorder(): { events: EventRecorder; told: object[] } {
  const told: object[] = []
  const take = async (record: object): Promise<void> => void told.push(record)
  return { events: { record: take, recordSoon: take } as unknown as EventRecorder, told }
}

describe('an event tells', () => {
  const failure = { reason: 'Forbidden', message: 'no', retriable: false }
  const both = (reason: string) => [
    { type: 'Warning', reason, ...aboutNamespace, message: 'ConfigMap/a of template t: no' },
    { type: 'Warning', reason, ...aboutTemplate, because: 'n', message: 'ConfigMap/a in namespace n: no' },
  ]
  const note = { reason: 'Extended', message: 'no' } as const

  test.each<{ name: string; result: Partial<ObjectResult>; events: object[] }>([
    { name: 'nothing of what went well', result: {}, events: [] },
    {
      name: 'a failure, in the namespace and about the template',
      result: { failure },
      events: both('PopulationForbidden'),
    },
    {
      name: 'what was left out likewise',
      result: { skipped: { reason: 'CreatorUnknown', message: 'no' } },
      events: both('PopulationCreatorUnknown'),
    },
    {
      name: 'what others added, in the namespace alone',
      result: { extended: note },
      events: both('PopulationExtended').slice(0, 1),
    },
    {
      name: 'a failure before what others added',
      result: { failure, extended: note },
      events: both('PopulationForbidden'),
    },
  ])('$name', async ({ result, events }) => {
    const { events: to, told } = recorder()
    await tell(to, namespace, template, { template: 't', object: 'ConfigMap/a', ...result })
    expect(told).toEqual(events)
  })

  test('of a template that is gone, in the namespace alone', async () => {
    const { events, told } = recorder()
    await tell(events, namespace, undefined, { template: 't', object: 'ConfigMap/a', failure })
    const [about] = both('PopulationForbidden')
    expect(told).toEqual([{ ...about, message: 'ConfigMap/a of template (gone): no' }])
  })

  test('drift that was corrected, if it is news', () => {
    const { events, told } = recorder()
    const corrected = (isNews: boolean) =>
      ({ message: 'bob changed data.a', isNews }) as ObjectResult['corrected'] & object
    tellCorrected(events, namespace, { template: 't', object: 'ConfigMap/a', corrected: corrected(true) })
    tellCorrected(events, namespace, { template: 't', object: 'ConfigMap/a', corrected: corrected(false) })
    tellCorrected(events, namespace, { template: 't', object: 'ConfigMap/a' })
    const message = 'ConfigMap/a of template t: bob changed data.a'
    expect(told).toEqual([{ type: 'Normal', reason: 'PopulationCorrected', message, ...aboutNamespace }])
  })

  test('what was deleted, what stopped a rollout, and what holds a deletion up', async () => {
    const { events, told } = recorder()
    tellDeleted(events, 'n', template, ['ConfigMap/a', 'Secret/b'])
    await tellHalt(events, template, { reason: 'TooManyPrunes', message: 'nine' })
    await tellBlockedPrune(events, template, 'held')
    const deleted = 'deleted in namespace n: ConfigMap/a, Secret/b'
    expect(told).toEqual([
      { type: 'Normal', reason: 'PopulationPruned', message: deleted, ...aboutTemplate, because: 'deleted in n' },
      { type: 'Warning', reason: 'RolloutTooManyPrunes', message: 'nine', ...aboutTemplate },
      { type: 'Warning', reason: 'PruneBlocked', message: 'held', ...aboutTemplate },
    ])
  })
})

describe('the condition Populated', () => {
  const clock = new FakeClock(Date.parse('2026-11-24T06:00:00Z'))
  const { signal } = new AbortController()
  const failures = (count: number): ObjectResult[] =>
    Array.from({ length: count }, (_, i) => ({
      ...{ template: 't', object: `ConfigMap/${i}` },
      failure: { reason: `Reason${i}`, message: `no ${i}`, retriable: true },
    }))
  const failing = { type: 'Populated', status: 'False', reason: 'Reason0', message: 'ConfigMap/0: no 0' }
  const other = { type: 'Ready', status: 'True', reason: 'r', message: 'm', lastTransitionTime: '2026-11-20T06:00:00Z' }
  const withConditions = (conditions: object[], metadata: object = {}): Namespace =>
    ({ metadata: { ...namespace.metadata, ...metadata }, status: { phase: 'Active', conditions } }) as Namespace

  /** What was written, where the server answers so to each write and has these namespaces. */
  async function written(
    of: Namespace,
    found: ObjectResult[],
    answers: (StatusError | undefined)[] = [],
    there: Namespace[] = [],
  ): Promise<object[]> {
    const writes: object[] = []
    const client = {
      update: async (_: object, object: object, options: object) => {
        writes.push({ object, options })
        const answer = answers.shift()
        if (answer !== undefined) throw answer
      },
      get: async () => there.shift(),
    } as unknown as Client
    await reportCondition(client, clock, of, found, signal)
    return writes
  }
  const write = (of: Namespace, ...conditions: object[]) => ({
    object: { ...of, status: { ...of.status, conditions } },
    options: { subresource: 'status', signal },
  })
  const now = '2026-11-24T06:00:00Z'

  test('is not there as long as nothing failed', async () => {
    expect(await written(namespace, [])).toEqual([])
    expect(await written(withConditions([other]), [])).toEqual([])
  })

  test('tells what failed, beside other conditions', async () => {
    const told = { ...failing, lastTransitionTime: now }
    expect(await written(namespace, failures(1))).toEqual([write(namespace, told)])
    expect(await written(withConditions([other]), failures(1))).toEqual([write(withConditions([other]), other, told)])
    expect(await written(withConditions([told]), failures(1))).toEqual([])
  })

  test('tells five objects', async () => {
    const [one] = (await written(namespace, failures(7))) as { object: Namespace }[]
    expect(one?.object.status?.conditions?.[0]?.message).toBe(
      'ConfigMap/0: no 0; ConfigMap/1: no 1; ConfigMap/2: no 2; ConfigMap/3: no 3; ConfigMap/4: no 4',
    )
  })

  test('tells that it is mended', async () => {
    const before = withConditions([{ ...failing, lastTransitionTime: '2026-11-20T06:00:00Z' }])
    const message = 'Everything its templates hold is there'
    expect(await written(before, [])).toEqual([
      write(before, { type: 'Populated', status: 'True', reason: 'Populated', message, lastTransitionTime: now }),
    ])
  })

  const conflict = () => new StatusError('changed', { reason: 'Conflict' })
  const told = { ...failing, lastTransitionTime: now }

  test('is set on what another client wrote meanwhile', async () => {
    const later = withConditions([other], { resourceVersion: '9' })
    const writes = await written(namespace, failures(1), [conflict()], [later])
    expect(writes).toEqual([write(namespace, told), write(later, other, told)])
  })

  test('is not set on a later namespace of its name, nor where it has gone', async () => {
    expect(await written(namespace, failures(1), [conflict()], [withConditions([], { uid: 'later' })])).toHaveLength(1)
    expect(await written(namespace, failures(1), [new StatusError('gone', { reason: 'NotFound' })])).toHaveLength(1)
  })

  test('is tried again by the controller where the server fails', async () => {
    const failure = new StatusError('broken', { reason: 'InternalError' })
    await expect(written(namespace, failures(1), [failure])).rejects.toBe(failure)
  })
})
