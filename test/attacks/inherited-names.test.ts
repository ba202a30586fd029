/**
 * Names that every object of the language inherits, `constructor` first of all, where a client chooses a name: nothing
 * may be found under them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type Answered, type Sent, send } from '../support/send.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1'

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
  await plane.client.create(namespaces, { metadata: { name: 'mine' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const messageOf = ({ code, body }: Answered): unknown => [code, (body as { message?: string }).message]
const inMine = (path: string, sent?: Sent): Promise<Answered> => send(plane, `/api/v1/namespaces/mine/${path}`, sent)

describe.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s', (name) => {
  test('is a type of Secret like any other', async () => {
    const secret = { metadata: { name: `of-${name.toLowerCase().replaceAll('_', '')}` }, type: name }
    expect((await inMine('secrets', { method: 'POST', body: secret })).code).toBe(201)
  })

  test('is nothing that a token can be bound to', async () => {
    const ref = { kind: name, apiVersion: 'v1', name: 'x' }
    const sent = { method: 'POST', body: { spec: { boundObjectRef: ref } } }
    expect(messageOf(await inMine('serviceaccounts/default/token', sent))).toEqual([
      400,
      `cannot bind token to object of type /v1, Kind=${name}`,
    ])
  })

  test('is no form of an answer', async () => {
    const refusal = (
      await Promise.all([name, `application/json;as=${name};g=meta.k8s.io;v=v1`].map((accept) => ask(accept)))
    ).map(messageOf)
    const onlyThese =
      'only the following media types are accepted: application/json, application/yaml, ' +
      'application/vnd.kubernetes.protobuf'
    expect(refusal).toEqual([
      [406, onlyThese],
      [406, expect.stringContaining(onlyThese)],
    ])
  })

  test('is no source of metrics', async () => {
    const spec = {
      maxReplicas: 1,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      metrics: [{ type: name }],
    }
    const path = '/apis/autoscaling/v2/namespaces/mine/horizontalpodautoscalers'
    const answer = await send(plane, path, { method: 'POST', body: { metadata: { name: 'h' }, spec } })
    expect(messageOf(answer)).toEqual([
      422,
      `HorizontalPodAutoscaler.autoscaling "h" is invalid: spec.metrics[0].type: Unsupported value: "${name}": ` +
        'supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    ])
  })

  test('is a phase that marks no row of a table', async () => {
    const pod = `p-${name.toLowerCase().replaceAll('_', '')}`
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await inMine('pods', { method: 'POST', body: { metadata: { name: pod }, spec } })
    const body = { status: { phase: name } }
    await inMine(`pods/${pod}/status`, { method: 'PATCH', body, type: 'application/merge-patch+json' })
    const { code, body: table } = await inMine(`pods/${pod}`, { headers: { accept: tableType } })
    const { rows } = table as { rows: { cells: unknown[]; conditions?: unknown }[] }
    expect([code, rows[0]?.cells[2], rows[0]?.conditions]).toEqual([200, name, undefined])
  })
})

const ask = (accept: string): Promise<Answered> => inMine('configmaps', { headers: { accept } })
