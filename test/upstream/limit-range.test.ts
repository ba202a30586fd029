/**
 * What upstream's end-to-end tests of LimitRange ask of a cluster, under their names.
 * @see test/e2e/scheduling/limit_range.go of Kubernetes
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  for (const name of ['limitrange', 'other']) await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const at = (resource: string, namespace = 'limitrange'): string => `/api/v1/namespaces/${namespace}/${resource}`

const list = (cpu: string, memory: string, storage: string): Record<string, string> => ({
  ...(cpu ? { cpu } : {}),
  ...(memory ? { memory } : {}),
  ...(storage ? { 'ephemeral-storage': storage } : {}),
})

const limits = {
  type: 'Container',
  min: list('50m', '100Mi', '100Gi'),
  max: list('500m', '500Mi', '500Gi'),
  default: list('500m', '500Mi', '500Gi'),
  defaultRequest: list('100m', '200Mi', '200Gi'),
}

const pod = (name: string, requests: object = {}, limit: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'pause', image: 'pause', resources: { requests, limits: limit } }] },
})

const resourcesOf = (o: AnswerBody): unknown => (o.spec?.['containers'] as { resources: unknown }[])[0]?.resources

describe('LimitRange', () => {
  it('should create a LimitRange with defaults and ensure pod has those defaults applied.', async () => {
    const added = plane.fetch(`${at('limitranges')}?watch=1&labelSelector=time%3Dnow`)
    const made = await wire.must('POST', at('limitranges'), {
      metadata: { name: 'limit-range', labels: { time: 'now' } },
      spec: { limits: [limits] },
    })
    const reader = ((await added).body as ReadableStream<Uint8Array>).getReader()
    const { value } = await reader.read()
    expect(JSON.parse(new TextDecoder().decode(value).split('\n')[0] ?? '')).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'limit-range' } },
    })
    await reader.cancel()
    expect((await wire.must('GET', at('limitranges/limit-range'))).spec).toEqual({ limits: [limits] })

    const bare = await wire.must('POST', at('pods'), pod('pod-no-resources'))
    expect(resourcesOf(bare)).toEqual({ requests: limits.defaultRequest, limits: limits.default })
    // A limit without a request is the request, so the default request is only for what has neither.
    const partial = await wire.must(
      'POST',
      at('pods'),
      pod('pod-partial-resources', list('', '150Mi', '150Gi'), list('300m', '', '')),
    )
    expect(resourcesOf(partial)).toEqual({
      requests: list('300m', '150Mi', '150Gi'),
      limits: list('300m', '500Mi', '500Gi'),
    })

    const less = await wire.call('POST', at('pods'), pod('pfpod', list('10m', '50Mi', '50Gi')))
    expect([less.status, less.body.message]).toEqual([
      403,
      'pods "pfpod" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, minimum ' +
        'ephemeral-storage usage per Container is 100Gi, but request is 50Gi, minimum memory usage per ' +
        'Container is 100Mi, but request is 50Mi]',
    ])
    const greedy = list('600m', '600Mi', '600Gi')
    // Its limits are filled in as 500m, so it is no valid pod even before it is beyond the maximum.
    expect((await wire.call('POST', at('pods'), pod('pfpod', greedy))).status).toBe(422)
    expect((await wire.call('POST', at('pods'), pod('pfpod', greedy, greedy))).body.message).toBe(
      'pods "pfpod" is forbidden: [maximum cpu usage per Container is 500m, but limit is 600m, maximum ' +
        'ephemeral-storage usage per Container is 500Gi, but limit is 600Gi, maximum memory usage per ' +
        'Container is 500Mi, but limit is 600Mi]',
    )

    const min = list('9m', '49Mi', '49Gi')
    await wire.must('PUT', at('limitranges/limit-range'), { ...made, spec: { limits: [{ ...limits, min }] } })
    await wire.must('POST', at('pods'), pod('pfpod', list('10m', '50Mi', '50Gi')))
    expect((await wire.call('POST', at('pods'), pod('more', greedy, greedy))).status).toBe(403)

    await wire.must('DELETE', at('limitranges/limit-range'), { gracePeriodSeconds: 30 })
    expect((await wire.must('GET', at('limitranges'))).items).toEqual([])
    await wire.must('POST', at('pods'), pod('pfpod2', greedy))
  })

  it('should list, patch and delete a LimitRange by collection', async () => {
    const labels = { 'e2e-test': 'lr', lr: 'created' }
    const range = { metadata: { name: 'lr', labels }, spec: { limits: [limits] } }
    for (const namespace of ['limitrange', 'other']) await wire.must('POST', at('limitranges', namespace), range)
    const all = (selector: string): Promise<AnswerBody> =>
      wire.must('GET', `/api/v1/limitranges?labelSelector=${selector}`)
    expect((await all('e2e-test%3Dlr')).items).toHaveLength(2)
    const min = list('9m', '49Mi', '49Gi')
    const patch = { metadata: { labels: { lr: 'patched' } }, spec: { limits: [{ ...limits, min }] } }
    const patched = await wire.must('PATCH', at('limitranges/lr'), patch, 'application/strategic-merge-patch+json')
    expect(patched).toMatchObject({ metadata: { labels: { lr: 'patched' } }, spec: { limits: [{ min }] } })
    await wire.must('DELETE', `${at('limitranges')}?labelSelector=lr%3Dpatched`)
    expect((await all('lr%3Dpatched')).items).toEqual([])
    expect((await all('e2e-test%3Dlr')).items).toHaveLength(1)
  })
})
