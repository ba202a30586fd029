/** Objects that lack what their kind needs, or hold something else there: what a client is told, never a 500. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { badRequest, invalidObject } from '../support/refusal.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  const limits = [{ type: 'Container', default: { cpu: '1' } }]
  const range = { metadata: { name: 'r' }, spec: { limits } }
  await send(plane, '/api/v1/namespaces/default/limitranges', { method: 'POST', body: range })
})
afterAll(() => plane[Symbol.asyncDispose]())

describe('a pod', () => {
  const pods = '/api/v1/namespaces/default/pods'
  const noContainers = invalidObject({ kind: 'Pod', name: 'x' }, ['spec.containers: Required value'])
  const mismatch = (found: string, field: string, type: string) =>
    badRequest(
      'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal ' +
        `${found} into Go struct field ${field} of type ${type}`,
    )
  const rows: readonly { readonly name: string; readonly pod: object; readonly want: object }[] = [
    { name: 'without a spec', pod: {}, want: noContainers },
    { name: 'whose spec is null', pod: { spec: null }, want: noContainers },
    { name: 'with an empty spec', pod: { spec: {} }, want: noContainers },
    { name: 'whose containers are null', pod: { spec: { containers: null } }, want: noContainers },
    { name: 'without containers', pod: { spec: { containers: [] } }, want: noContainers },
    {
      name: 'with a container that is null',
      pod: { spec: { containers: [null] } },
      want: invalidObject({ kind: 'Pod', name: 'x' }, [
        'spec.containers[0].name: Required value',
        'spec.containers[0].image: Required value',
      ]),
    },
    { name: 'whose spec is a list', pod: { spec: [] }, want: mismatch('array', 'Pod.spec', 'v1.PodSpec') },
    {
      name: 'whose containers are a text',
      pod: { spec: { containers: 'c' } },
      want: mismatch('string', 'PodSpec.spec.containers', '[]v1.Container'),
    },
    {
      name: 'whose only container is a number',
      pod: { spec: { containers: [3] } },
      want: mismatch('number', 'PodSpec.spec.containers', 'v1.Container'),
    },
  ]
  it.each(rows)('$name is refused with the path of the field', async ({ pod, want }) => {
    const answer = await send(plane, pods, { method: 'POST', body: { metadata: { name: 'x' }, ...pod } })
    expect(answer.body).toEqual(want)
  })
})

describe('an autoscaler of v1', () => {
  const v1 = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
  const v2 = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } }
  const cpu = (averageUtilization: number) => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  })

  it('without a target aims at 80 % of the processor, in either version, and its client owns that', async () => {
    const created = await send(plane, v1, { method: 'POST', body: { metadata: { name: 'bare' }, spec } })
    const { spec: made, metadata } = created.body as { spec: object; metadata: { managedFields: object[] } }
    expect(made).toEqual({ ...spec, minReplicas: 1, targetCPUUtilizationPercentage: 80 })
    expect(JSON.stringify(metadata.managedFields)).toContain('"f:targetCPUUtilizationPercentage":{}')
    const read = await send(plane, `${v2}/bare`)
    expect((read.body as { spec: object }).spec).toEqual({ ...spec, minReplicas: 1, metrics: [cpu(80)] })
  })

  it('keeps the metrics that its annotation carries, and no default beside them', async () => {
    const metrics = [
      { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
    ]
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify(metrics) }
    await send(plane, v1, { method: 'POST', body: { metadata: { name: 'carries', annotations }, spec } })
    const read = await send(plane, `${v2}/carries`)
    expect((read.body as { spec: object }).spec).toEqual({ ...spec, minReplicas: 1, metrics })
  })

  it('is judged by what its annotation carries, as one of v2 is', async () => {
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Some"}]' }
    const answer = await send(plane, v1, { method: 'POST', body: { metadata: { name: 'x', annotations }, spec } })
    expect(answer.body).toEqual(
      invalidObject({ group: 'autoscaling', kind: 'HorizontalPodAutoscaler', name: 'x' }, [
        'spec.metrics[0].type: Unsupported value: "Some": supported values: ' +
          '"ContainerResource", "External", "Object", "Pods", "Resource"',
        'spec.metrics[0].type: Unsupported value: "Some": supported values: ' +
          '"ContainerResource", "External", "Object", "Pods", "Resource"',
      ]),
    )
  })

  it('can be read as v2 in every form, whatever its annotations say', async () => {
    const places = ['metrics', 'behavior', 'current-metrics', 'conditions']
    const texts = [
      '["x"]',
      '[{"type":{}}]',
      '{"scaleUp":7}',
      '['.repeat(20_000),
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    ]
    for (const [i, text] of texts.entries()) {
      const name = `odd-${i}`
      const annotations = Object.fromEntries(places.map((p) => [`autoscaling.alpha.kubernetes.io/${p}`, text]))
      const created = await send(plane, v1, { method: 'POST', body: { metadata: { name, annotations }, spec } })
      expect([text.slice(0, 20), created.code]).toEqual([text.slice(0, 20), 201])
      const read = await send(plane, `${v2}/${name}`)
      expect((read.body as { spec: object }).spec).toEqual({ ...spec, minReplicas: 1, metrics: [cpu(80)] })
      const listed = await send(plane, v2, { headers: { accept: 'application/vnd.kubernetes.protobuf' } })
      expect([text.slice(0, 20), listed.code]).toEqual([text.slice(0, 20), 200])
    }
  })
})
