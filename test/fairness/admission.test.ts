/** What FlowSchemas and PriorityLevelConfigurations do to the requests of clients. */
import { afterEach, describe, expect, test } from 'vitest'
import { configurationResources } from '../../src/apis/webhooks/types.ts'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { systemClock } from '../../src/base/clock.ts'
import { flowSchemasResource, priorityLevelConfigurationsResource } from '../../src/flowcontrol/flowcontrol.ts'
import { clusterRoleBindingsResource } from '../../src/kube/rbac.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { allUsersTo, queuedLevel, rejectingLevel } from '../support/flow-control.ts'
import { failure } from '../support/refusal.ts'
import { startWebhookServer } from '../support/webhook-server.ts'
import { type Answer, configMapsResource, type FairnessWorld, inTeam, startFairnessWorld } from './fairness-world.ts'

let world: FairnessWorld
afterEach(() => world[Symbol.asyncDispose]())

const codes = (answers: readonly Answer[]): number[] => answers.map(({ code }) => code)
const tooMany = failure({
  message: 'Too many requests, please try again later.',
  reason: 'TooManyRequests',
  details: { retryAfterSeconds: 1 },
  code: 429,
})
/** All but a few of the shares are a test's level's, so it has both. */
const twoSeats = { load: { ...defaultConfig.load, serverSeats: 2 } }
/**
 * No time passes in a turn: after 10 ms no request of a level with queues begins in it, and on a machine that is busy
 * with other things the first of two takes longer.
 */
const timeless = { ...twoSeats, clock: { ...systemClock, monotonic: () => 0 } }
/** Seats are given back when the turn of the event loop ends. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

const uidOf = async (resource: typeof flowSchemasResource, name: string): Promise<string | undefined> =>
  (await world.admin.get(resource, { name })).metadata.uid

describe('answers say which objects decided', () => {
  test('by uid, also where they are refusals of authorization, and whatever the form', async () => {
    world = await startFairnessWorld()
    const fromSuggested = await world.ask('dora', inTeam)
    const refused = await world.ask('dora', '/api/v1/secrets')
    const health = await world.ask('dora', '/readyz')
    const told = ({ headers }: Answer): (string | null)[] => [
      headers.get('x-kubernetes-pf-flowschema-uid'),
      headers.get('x-kubernetes-pf-prioritylevel-uid'),
    ]
    const globalDefault = [
      await uidOf(flowSchemasResource, 'global-default'),
      await uidOf(priorityLevelConfigurationsResource, 'global-default'),
    ]
    expect(codes([fromSuggested, refused, health])).toEqual([200, 403, 200])
    expect([told(fromSuggested), told(refused)]).toEqual([globalDefault, globalDefault])
    expect(told(health)).toEqual([
      await uidOf(flowSchemasResource, 'probes'),
      await uidOf(priorityLevelConfigurationsResource, 'exempt'),
    ])
  })
})

describe('a level that rejects', () => {
  test('refuses what comes while its seats are taken, with the words and headers of upstream', async () => {
    world = await startFairnessWorld(twoSeats)
    await world.store(rejectingLevel('narrow'), allUsersTo('narrow', 'all-to-narrow', 500))
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.ask('dora', inTeam)))
    expect(codes(answers)).toEqual([200, 200, 429, 429, 429])
    const refused = answers[2]
    expect(refused?.body).toEqual(tooMany)
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect(refused?.headers.get('x-kubernetes-pf-flowschema-uid')).toBe(
      await uidOf(flowSchemasResource, 'all-to-narrow'),
    )
    const labels = { priority_level: 'narrow', flow_schema: 'all-to-narrow' }
    expect(await world.metric('rejected_requests_total', { ...labels, reason: 'concurrency-limit' })).toBe(3)
    expect(await world.metric('dispatched_requests_total', labels)).toBe(2)
    // The next turn has seats again.
    await nextTurn()
    expect((await world.ask('dora', inTeam)).code).toBe(200)
  })

  test('refuses nothing of other levels: those of system:masters and health checks are exempt', async () => {
    world = await startFairnessWorld(twoSeats)
    await world.store(rejectingLevel('narrow'), allUsersTo('narrow', 'all-to-narrow', 500))
    const flood = Array.from({ length: 20 }, () => world.ask('dora', inTeam))
    const masters = Array.from({ length: 20 }, () => world.askAsMaster(inTeam))
    const probes = Array.from({ length: 20 }, () => world.ask('dora', '/livez'))
    expect(codes(await Promise.all([...masters, ...probes]))).toEqual(Array(40).fill(200))
    expect(codes(await Promise.all(flood)).filter((code) => code === 429)).toHaveLength(18)
  })
})

describe('a level that queues', () => {
  const shown = async (what: string): Promise<string[][]> => {
    const { text } = await world.askAsMaster(`/debug/api_priority_and_fairness/${what}`)
    return text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/,\s+/))
  }

  test('lets requests wait for their turn, serves all of them, and shows them to operators meanwhile', async () => {
    world = await startFairnessWorld(timeless)
    await world.store(
      queuedLevel('orderly', { queues: 8, handSize: 2, queueLengthLimit: 10 }),
      allUsersTo('orderly', 'all-to-orderly', 500),
    )
    const asked = Array.from({ length: 6 }, () => world.ask('dora', inTeam))
    const [levels, requests] = [shown('dump_priority_levels'), shown('dump_requests?includeRequestDetails=1')]
    expect(codes(await Promise.all(asked))).toEqual(Array(6).fill(200))
    const [head, ...rows] = await levels
    expect(head?.slice(0, 6)).toEqual([
      'PriorityLevelName',
      'ActiveQueues',
      'IsIdle',
      'IsQuiescing',
      'WaitingRequests',
      'ExecutingRequests',
    ])
    expect(rows.find(([name]) => name === 'orderly')?.slice(2, 6)).toEqual(['false', 'false', '4', '2'])
    const waiting = (await requests).filter((cells) => cells[0] === 'orderly' && cells[6] === '1' && cells[3] !== '-1')
    expect(waiting.map((cells) => [cells[1], cells[4], cells.at(-8)])).toEqual(
      Array(4).fill(['all-to-orderly', 'dora', 'dora']),
    )
  })

  test('refuses what its queues do not hold', async () => {
    world = await startFairnessWorld(timeless)
    await world.store(
      queuedLevel('short', { queues: 1, handSize: 1, queueLengthLimit: 3 }),
      allUsersTo('short', 'all-to-short', 500),
    )
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.ask('dora', inTeam)))
    expect(codes(answers)).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect(await world.metric('rejected_requests_total', { priority_level: 'short', reason: 'queue-full' })).toBe(3)
  })

  test('serves a client that asks once before the flood of another one is over', async () => {
    world = await startFairnessWorld(twoSeats)
    await world.store(
      queuedLevel('fair', { queues: 64, handSize: 4, queueLengthLimit: 50 }),
      allUsersTo('fair', 'all-to-fair', 500),
    )
    const order: string[] = []
    const asked = (who: 'dora' | 'emil'): Promise<void> =>
      world.ask(who, inTeam).then(({ code }) => void order.push(`${who} ${code}`))
    const flood = Array.from({ length: 100 }, () => asked('dora'))
    await asked('emil')
    expect(order.filter((line) => line === 'dora 200').length).toBeLessThanOrEqual(10)
    expect(order).toContain('emil 200')
    await Promise.all(flood)
    expect(order.filter((line) => line === 'dora 200')).toHaveLength(100)
  })
})

describe('no seat is held', () => {
  const twoAtOnce = async (given: Partial<Config> = {}): Promise<void> => {
    world = await startFairnessWorld({ ...twoSeats, ...given })
    await world.store(rejectingLevel('narrow'), allUsersTo('narrow', 'all-to-narrow', 500))
  }
  const executing = (): Promise<number | undefined> =>
    world.metric('current_executing_requests', { priority_level: 'narrow' })

  test('by bodies that are still coming in: each is admitted again when it is whole', async () => {
    await twoAtOnce()
    const creates: { readonly answer: Promise<Answer>; readonly body: WritableStream<Uint8Array> }[] = []
    for (let i = 0; i < 10; i++) {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const init = { method: 'POST', body: readable, duplex: 'half' } as const
      creates.push({ answer: world.ask('dora', inTeam, init), body: writable })
      await nextTurn()
    }
    expect(await executing()).toBe(0)
    expect((await world.ask('emil', inTeam)).code).toBe(200)
    for (const [i, { answer, body }] of creates.entries()) {
      const writer = body.getWriter()
      await writer.write(new TextEncoder().encode(JSON.stringify({ metadata: { name: `late-${i}` } })))
      await writer.close()
      expect((await answer).code).toBe(201)
      await nextTurn()
    }
  })

  test('by watches that are open, nor by reads of a revision that is not there yet', async () => {
    await twoAtOnce()
    const watches = new AbortController()
    for (let i = 0; i < 5; i++) {
      expect((await world.watch('dora', inTeam, watches.signal)).status).toBe(200)
      await nextTurn()
    }
    const { metadata } = await world.admin.create(configMapsResource, { metadata: { namespace: 'team', name: 'now' } })
    const next = Number(metadata.resourceVersion) + 1
    const waiting = Array.from({ length: 2 }, () =>
      world.ask('dora', `${inTeam}?resourceVersion=${next}&resourceVersionMatch=NotOlderThan`),
    )
    await nextTurn()
    expect(await executing()).toBe(0)
    expect((await world.ask('emil', inTeam)).code).toBe(200)
    await nextTurn()
    await world.admin.create(configMapsResource, { metadata: { namespace: 'team', name: 'then' } })
    expect(codes(await Promise.all(waiting))).toEqual([200, 200])
    watches.abort()
  })

  test('by creates of namespaces that are held for their initializers', async () => {
    await twoAtOnce()
    await world.admin.create(clusterRoleBindingsResource, {
      metadata: { name: 'dora' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }],
    } as KubeObject)
    const held = { metadata: { name: 'held' }, spec: { initializers: { pending: [{ name: 'later.example.com' }] } } }
    const waiting = world.ask('dora', '/api/v1/namespaces', { method: 'POST', body: JSON.stringify(held) })
    await expect.poll(() => world.plane.core.features.hold.waiting).toBe(1)
    await nextTurn()
    expect(await executing()).toBe(0)
    expect((await world.ask('emil', inTeam)).code).toBe(200)
    world.plane.drain()
    expect((await waiting).code).toBe(201)
  })

  test('by webhooks that are asked: the request is admitted again when they have answered', async () => {
    const entered = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    await using hook = await startWebhookServer(async () => {
      entered.resolve()
      await goOn.promise
      return { allowed: true }
    })
    await twoAtOnce()
    await world.admin.create(configurationResources.validating, {
      metadata: { name: 'slow' },
      webhooks: [
        {
          name: 'slow.example.com',
          clientConfig: { url: hook.url, caBundle: hook.caBundle },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    } as object as KubeObject)
    const create = world.ask('dora', inTeam, { method: 'POST', body: JSON.stringify({ metadata: { name: 'asked' } }) })
    await entered.promise
    expect(await executing()).toBe(0)
    goOn.resolve()
    expect((await create).code).toBe(201)
    // At first, when its body was there, and now.
    expect(await world.metric('dispatched_requests_total', { flow_schema: 'all-to-narrow' })).toBe(3)
  })
})

describe('what a request takes', () => {
  test('of the main thread is charged to its flow, also what its answer takes while it is sent', async () => {
    world = await startFairnessWorld()
    const charged = async (): Promise<number> => {
      const { text } = await world.askAsMaster('/metrics')
      const line = /^borough_flowcontrol_charged_seconds_total\{.*flow_schema="global-default".*\} (\S+)$/m.exec(text)
      return Number(line?.[1] ?? 0)
    }
    await world.ask('dora', inTeam)
    await nextTurn()
    expect(await charged()).toBeGreaterThan(0)
  })

  test('in seats follows the bytes that it reads, within the bound of its level', async () => {
    world = await startFairnessWorld()
    const data = { key: 'x'.repeat(100_000) }
    for (let i = 0; i < 4; i++) {
      await world.admin.create(configMapsResource, {
        metadata: { namespace: 'team', name: `big-${i}` },
        data,
      } as object as KubeObject)
    }
    const seats = async (): Promise<number> =>
      (await world.metric('work_estimated_seats_sum', { flow_schema: 'global-default' })) ?? 0
    const taken = async (path: string): Promise<number> => {
      const before = await seats()
      expect((await world.ask('dora', path)).code).toBe(200)
      return (await seats()) - before
    }
    expect(await taken(`${inTeam}/big-0`)).toBe(1)
    expect(await taken(inTeam)).toBe(5)
    // Two of five that are 80 kB long on the average.
    expect(await taken(`${inTeam}?limit=2`)).toBe(2)
    expect(await taken('/api/v1/namespaces/team/secrets')).toBe(1)
    await world.admin.deleteCollection(configMapsResource, { namespace: 'team' })
    expect(await taken(inTeam)).toBe(1)
  })
})

describe('levels lend and borrow', () => {
  test('as far as they say: seats that no other level needs go to one that may borrow', async () => {
    world = await startFairnessWorld({ load: { ...defaultConfig.load, serverSeats: 100 } })
    const queuing = { queues: 16, handSize: 4, queueLengthLimit: 50 }
    await world.store(queuedLevel('borrows', queuing, { shares: 10, borrowing: 400 }))
    await world.store(queuedLevel('keeps', queuing, { shares: 10, borrowing: 0 }))
    await world.store(queuedLevel('lends', queuing, { shares: 10, lendable: 50, borrowing: 0 }))
    const limits = async (level: string): Promise<(number | undefined)[]> => {
      const of = { priority_level: level }
      return [
        await world.metric('nominal_limit_seats', of),
        await world.metric('lower_limit_seats', of),
        await world.metric('upper_limit_seats', of),
      ]
    }
    expect(await Promise.all(['borrows', 'keeps', 'lends'].map(limits))).toEqual([
      [4, 4, 20],
      [4, 4, 4],
      [4, 2, 4],
    ])
    const current = (level: string): Promise<number | undefined> =>
      world.metric('current_limit_seats', { priority_level: level })
    expect(await current('borrows')).toBeGreaterThan(4)
    expect(await current('keeps')).toBe(4)
  })
})
