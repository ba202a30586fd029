/**
 * What upstream's end-to-end tests of reading ask of a cluster, under their names: pages, tables, streamed lists,
 * watches, and the life of an event.
 * @see test/e2e/apimachinery/chunking.go, table_conversion.go, watchlist.go, watch.go, generated_clientset.go,
 *   events.go
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject, Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type Answered, send } from '../support/send.ts'
import { Wire, type WireEvent } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  for (const name of ['chunking', 'tables', 'watchlist', 'watch', 'clientset', 'events']) {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
  }
})
afterAll(() => plane[Symbol.asyncDispose]())

const path = (namespace: string, resource: string, name = ''): string =>
  `/api/v1/namespaces/${namespace}/${resource}${name && `/${name}`}`
const merge = 'application/merge-patch+json'
const tableOf = (version: string): string => `application/json;as=Table;v=${version};g=meta.k8s.io`

interface Table {
  kind: string
  apiVersion: string
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  columnDefinitions: { name: string; type: string }[]
  rows: { cells: unknown[]; object: { kind: string; metadata: { name: string } } }[]
}
const table = async (at: string, version = 'v1'): Promise<Table> => {
  const { code, text, body } = await send(plane, at, { headers: { accept: tableOf(version) } })
  if (code !== 200) throw new Error(text)
  return body as Table
}

const templateName = (i: number): string => `template-${String(i).padStart(4, '0')}`
const total = 400

describe('Servers with support for API chunking', () => {
  beforeAll(async () => {
    const make = (i: number) =>
      wire.must('POST', path('chunking', 'podtemplates'), {
        metadata: { name: templateName(i) },
        template: { spec: { containers: [{ name: 'test', image: 'test2' }] } },
      })
    await Promise.all(Array.from({ length: total }, (_, i) => make(i)))
  })

  it('should return chunks of results for list calls', async () => {
    for (const limit of [17, 150, total - 1, total]) {
      let token = ''
      let found = 0
      let revision = ''
      do {
        const page = await wire.must('GET', `${path('chunking', 'podtemplates')}?limit=${limit}&continue=${token}`)
        const { metadata } = page as unknown as Table
        revision ||= metadata.resourceVersion ?? ''
        expect(metadata.resourceVersion).toBe(revision)
        for (const {
          metadata: { name },
        } of page.items)
          expect(name).toBe(templateName(found++))
        expect(page.items.length).toBeLessThanOrEqual(limit)
        token = encodeURIComponent(metadata.continue ?? '')
        expect(metadata.remainingItemCount).toBe(token === '' ? undefined : total - found)
      } while (token !== '')
      expect(found).toBe(total)
    }
    const whole = await wire.must('GET', path('chunking', 'podtemplates'))
    expect(whole.items).toHaveLength(total)
    expect((whole as unknown as Table).metadata).not.toHaveProperty('remainingItemCount')
  })
})

describe('Servers with support for Table transformation', () => {
  it.each(['v1', 'v1beta1'])('should return pod details (%s)', async (version) => {
    const name = `pod-${version}`
    const spec = { containers: [{ name: 'c', image: 'c', ports: [{ containerPort: 8080 }] }], restartPolicy: 'Never' }
    await wire.must('POST', path('tables', 'pods'), { metadata: { name }, spec })
    const found = await table(path('tables', 'pods', name), version)
    expect([found.kind, found.apiVersion]).toEqual(['Table', `meta.k8s.io/${version}`])
    expect(found.columnDefinitions.length).toBeGreaterThan(2)
    expect(found.columnDefinitions[0]).toMatchObject({ name: 'Name', type: 'string' })
    expect(found.rows).toHaveLength(1)
    expect(found.rows[0]?.cells).toHaveLength(found.columnDefinitions.length)
    expect(found.rows[0]?.cells[0]).toBe(name)
    expect(found.rows[0]?.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } })
  })

  it('should return chunks of table results for list calls', async () => {
    const first = await table(`${path('chunking', 'podtemplates')}?limit=2`)
    expect(first.rows.map((row) => row.cells[0])).toEqual([templateName(0), templateName(1)])
    const { resourceVersion, continue: token = '', remainingItemCount } = first.metadata
    expect([token === '', remainingItemCount]).toEqual([false, total - 2])
    const rest = await table(`${path('chunking', 'podtemplates')}?continue=${encodeURIComponent(token)}`)
    expect(rest.rows[0]?.cells[0]).toBe(templateName(2))
    expect(rest.rows).toHaveLength(total - 2)
    expect(rest.metadata).toEqual({ resourceVersion })
  })

  it('should return generic metadata details across all namespaces for nodes', async () => {
    await wire.must('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } })
    const found = await table('/api/v1/nodes')
    expect(found.columnDefinitions[0]?.name).toBe('Name')
    expect(found.rows[0]?.cells).toHaveLength(found.columnDefinitions.length)
  })

  it('should return a 406 for a backend which does not implement metadata', async () => {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace: 'tables', verb: 'list', group: '', resource: 'pods' } },
    }
    const refused: Answered = await send(plane, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      method: 'POST',
      body: review,
      headers: { accept: tableOf('v1') },
    })
    expect(refused.code).toBe(406)
    expect(refused.body as Status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: expect.stringMatching(/^only the following media types are accepted: application\/json, /) as string,
      reason: 'NotAcceptable',
      code: 406,
    })
  })
})

describe('API Streaming (aka. WatchList)', () => {
  const secrets = { group: '', version: 'v1', resource: 'secrets' }
  const made: KubeObject[] = []
  beforeAll(async () => {
    for (let i = 1; i <= 5; i++) {
      made.push(await wire.must('POST', path('watchlist', 'secrets'), { metadata: { name: `secret-${i}` } }))
    }
  })
  const query = 'allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true'
  const isEnd = ({ type, object }: WireEvent): boolean =>
    type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true'

  it("should be requested by client-go's List method when WatchListClient is enabled", async () => {
    const seen = await wire.events(`${path('watchlist', 'secrets')}?${query}`, (events) => events.some(isEnd))
    const end = seen.at(-1)
    expect(seen.slice(0, -1).map(({ type, object }) => [type, object])).toEqual(made.map((o) => ['ADDED', o]))
    expect(end?.object).toEqual({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: expect.stringMatching(/^[0-9]+$/) as string,
        annotations: { 'k8s.io/initial-events-end': 'true' },
      },
    })
    const at = end?.object.metadata.resourceVersion ?? ''
    const exact = `${path('watchlist', 'secrets')}?resourceVersion=${at}&resourceVersionMatch=Exact`
    expect((await wire.must('GET', exact)).items.map((o) => o.metadata.name)).toEqual(made.map((o) => o.metadata.name))
  })

  it.each(['Table', 'PartialObjectMetadata'])('reflector gets the same as %s', async (form) => {
    const stop = new AbortController()
    const accept = `application/json;as=${form};v=v1;g=meta.k8s.io`
    const { body } = await plane.fetch(`${path('watchlist', 'secrets')}?${query}`, {
      headers: { accept },
      signal: stop.signal,
    })
    let text = ''
    for await (const chunk of body?.pipeThrough(new TextDecoderStream() as never) as AsyncIterable<string>) {
      text += chunk
      if (!text.includes('initial-events-end')) continue
      stop.abort()
      break
    }
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: { kind: string } })
    expect(lines.map((line) => line.type)).toEqual([...made.map(() => 'ADDED'), 'BOOKMARK'])
    expect(new Set(lines.map((line) => line.object.kind))).toEqual(new Set([form]))
  })

  it('should be requested by informers when WatchListClient is enabled', async () => {
    const stop = new AbortController()
    const seen: string[] = []
    for await (const { type, ...event } of plane.client.watch(secrets, {
      namespace: 'watchlist',
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      signal: stop.signal,
    })) {
      const { metadata } = (event as { object: KubeObject }).object
      if (type === 'BOOKMARK' && metadata.annotations?.['k8s.io/initial-events-end'] === 'true') {
        await wire.must('PATCH', path('watchlist', 'secrets', 'secret-1'), { stringData: { foo: 'bar' } }, merge)
      }
      if (type !== 'BOOKMARK') seen.push(`${type} ${metadata.name}`)
      if (type === 'MODIFIED') break
    }
    stop.abort()
    expect(seen).toEqual([...made.map((o) => `ADDED ${o.metadata.name}`), 'MODIFIED secret-1'])
  })
})

describe('Watchers', () => {
  const label = 'watch-this-configmap'
  const at = (name = ''): string => path('watch', 'configmaps', name)
  const watch = (selector: string, more = ''): string =>
    `${at()}?watch=true&labelSelector=${encodeURIComponent(`${label} in (${selector})`)}${more}`
  const create = (name: string, value: string) =>
    wire.must('POST', at(), { metadata: { name, labels: { [label]: value } } })
  const set = (name: string, mutation: number) =>
    wire.must('PATCH', at(name), { data: { mutation: String(mutation) } }, merge)
  const told = (events: readonly WireEvent[]): string[] =>
    events.map(
      ({ type, object }) => `${type} ${(object['data'] as { mutation?: string } | undefined)?.mutation ?? '0'}`,
    )

  it('should observe add, update, and delete watch notifications on configmaps', async () => {
    const act = async (): Promise<void> => {
      await create('watch-a', 'multiple-watchers-A')
      await set('watch-a', 1)
      await wire.must('DELETE', at('watch-a'))
    }
    const enough = (count: number) => (seen: readonly WireEvent[]) => seen.length === count
    const both = wire.events(watch('multiple-watchers-A,multiple-watchers-B'), enough(3))
    const one = await wire.events(watch('multiple-watchers-A'), enough(3), act)
    expect(told(one)).toEqual(['ADDED 0', 'MODIFIED 1', 'DELETED 1'])
    expect(told(await both)).toEqual(told(one))
  })

  it('should be able to start watching from a specific resource version', async () => {
    await create('watch-b', 'from-version')
    const { metadata } = await set('watch-b', 1)
    await set('watch-b', 2)
    await wire.must('DELETE', at('watch-b'))
    const seen = await wire.events(
      watch('from-version', `&resourceVersion=${metadata.resourceVersion}`),
      (events) => events.length === 2,
    )
    expect(told(seen)).toEqual(['MODIFIED 2', 'DELETED 2'])
  })

  it('should be able to restart watching from the last resource version observed by the previous watch', async () => {
    const first = await wire.events(
      watch('restarted'),
      (events) => events.length === 2,
      async () => {
        await create('watch-c', 'restarted')
        await set('watch-c', 1)
      },
    )
    await set('watch-c', 2)
    await wire.must('DELETE', at('watch-c'))
    const last = first.at(-1)?.object.metadata.resourceVersion
    const rest = await wire.events(watch('restarted', `&resourceVersion=${last}`), (events) => events.length === 2)
    expect(told(rest)).toEqual(['MODIFIED 2', 'DELETED 2'])
  })

  it('should observe an object deletion if it stops meeting the requirements of the selector', async () => {
    const seen = await wire.events(
      watch('deletion-by-label'),
      (events) => events.length === 5,
      async () => {
        await create('watch-d', 'deletion-by-label')
        await set('watch-d', 1)
        await wire.must('PATCH', at('watch-d'), { metadata: { labels: { [label]: 'wrong-value' } } }, merge)
        await set('watch-d', 2)
        await wire.must('PATCH', at('watch-d'), { metadata: { labels: { [label]: 'deletion-by-label' } } }, merge)
        await set('watch-d', 3)
        await wire.must('DELETE', at('watch-d'))
      },
    )
    expect(told(seen)).toEqual(['ADDED 0', 'MODIFIED 1', 'DELETED 1', 'ADDED 2', 'MODIFIED 3'])
  })

  it('should receive events on concurrent watches in same order', async () => {
    const from = ((await wire.must('GET', at())) as unknown as Table).metadata.resourceVersion
    const count = 30
    const orders = Promise.all(
      Array.from({ length: 5 }, async () => {
        const seen = await wire.events(
          `${at()}?watch=true&resourceVersion=${from}`,
          (events) => events.length === count,
        )
        return seen.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`)
      }),
    )
    for (let i = 0; i < count / 3; i++) {
      await create(`ordered-${i}`, 'ordered')
      await set(`ordered-${i}`, 1)
      await wire.must('DELETE', at(`ordered-${i}`))
    }
    const [first, ...others] = await orders
    for (const other of others) expect(other).toEqual(first)
  })
})

describe('Generated clientset', () => {
  it('should create pods, set the deletionTimestamp and deletionGracePeriodSeconds of the pod', async () => {
    const labels = { name: 'foo', time: 'now' }
    const spec = { containers: [{ name: 'nginx', image: 'nginx', ports: [{ containerPort: 80 }] }] }
    const seen = await wire.events(
      `${path('clientset', 'pods')}?watch=true&labelSelector=time%3Dnow`,
      (events) => events.some((event) => event.object.metadata.deletionTimestamp !== undefined),
      async () => {
        const pod = await wire.must('POST', path('clientset', 'pods'), { metadata: { name: 'pod-1', labels }, spec })
        expect(pod.metadata['generation']).toBe(1)
        await wire.must('POST', '/api/v1/nodes', { metadata: { name: 'node-of-pod' } })
        const binding = { metadata: { name: 'pod-1' }, target: { kind: 'Node', name: 'node-of-pod' } }
        await wire.must('POST', `${path('clientset', 'pods', 'pod-1')}/binding`, binding)
        await wire.must('DELETE', path('clientset', 'pods', 'pod-1'), { gracePeriodSeconds: 30 })
      },
    )
    expect(seen[0]).toMatchObject({ type: 'ADDED', object: { metadata: { labels, generation: 1 } } })
    const last = seen.at(-1)
    expect(last).toMatchObject({ type: 'MODIFIED', object: { metadata: { deletionGracePeriodSeconds: 30 } } })
    await wire.must('DELETE', path('clientset', 'pods', 'pod-1'), { gracePeriodSeconds: 0 })
  })

  it('should create v1 cronJobs, delete cronJobs, watch cronJobs', async () => {
    const at = '/apis/batch/v1/namespaces/clientset/cronjobs'
    const spec = {
      schedule: '*/1 * * * ?',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'c', image: 'busybox' }] } } },
      },
    }
    const select = 'labelSelector=time%3Dnow'
    expect((await wire.must('GET', `${at}?${select}`)).items).toEqual([])
    const seen = await wire.events(
      `${at}?watch=true&${select}`,
      (events) => events.length === 2,
      async () => {
        await wire.must('POST', at, { metadata: { name: 'simple', labels: { time: 'now' } }, spec })
        expect((await wire.must('GET', `${at}?${select}`)).items).toHaveLength(1)
        await wire.must('DELETE', `${at}/simple`, { gracePeriodSeconds: 30 })
      },
    )
    expect(seen.map((event) => event.type)).toEqual(['ADDED', 'DELETED'])
  })
})

describe('Events', () => {
  const involvedObject = { namespace: 'events', kind: 'Pod', name: 'p' }
  const event = (name: string, message: string): object => ({
    metadata: { name, labels: { 'testevent-constant': 'true' } },
    message,
    reason: 'Test',
    type: 'Normal',
    involvedObject,
  })
  const at = (name = ''): string => path('events', 'events', name)
  const newApi = '/apis/events.k8s.io/v1/namespaces/events/events'

  it('should manage the lifecycle of an event', async () => {
    const made = await wire.must('POST', at(), event('event-test', 'This is a test event'))
    expect((await wire.must('GET', '/api/v1/events?labelSelector=testevent-constant%3Dtrue')).items).toHaveLength(1)
    const patched = await wire.must(
      'PATCH',
      at('event-test'),
      { message: 'patched' },
      'application/strategic-merge-patch+json',
    )
    expect(patched['message']).toBe('patched')
    const series = { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' }
    const put = await wire.must('PUT', at('event-test'), { ...patched, series })
    expect(put['series']).toEqual(series)
    expect(put.metadata.uid).toBe(made.metadata.uid)
    expect(await wire.must('GET', `${newApi}/event-test`)).toMatchObject({ note: 'patched', series })
    await wire.must('DELETE', at('event-test'))
    expect((await wire.must('GET', at())).items).toEqual([])
  })

  it('should ensure that an event can be fetched, patched, deleted, and listed (events.k8s.io)', async () => {
    const time = '2026-01-01T00:00:00.123456Z'
    const given = {
      metadata: { name: 'new-api' },
      eventTime: time,
      note: 'This is a test event',
      reason: 'Test',
      action: 'Do',
      type: 'Normal',
      reportingController: 'test-controller',
      reportingInstance: 'test-node',
      regarding: involvedObject,
    }
    expect(await wire.must('POST', newApi, given)).toMatchObject({ note: given.note, eventTime: time })
    const selected = `${newApi}?fieldSelector=reportingController%3Dtest-controller`
    expect((await wire.must('GET', selected)).items).toHaveLength(1)
    const series = { count: 100, lastObservedTime: time }
    const patched = await wire.must('PATCH', `${newApi}/new-api`, { series }, 'application/strategic-merge-patch+json')
    expect(patched['series']).toEqual(series)
    await wire.must('DELETE', `${newApi}/new-api`)
    expect((await wire.call('GET', `${newApi}/new-api`)).body).toMatchObject({
      code: 404,
      message: 'events.events.k8s.io "new-api" not found',
      details: { name: 'new-api', group: 'events.k8s.io', kind: 'events' },
    })
  })

  it('should delete a collection of events', async () => {
    for (const name of ['test-event-1', 'test-event-2', 'test-event-3']) {
      await wire.must('POST', at(), event(name, 'requires at least one'))
    }
    await wire.must('DELETE', `${at()}?labelSelector=testevent-constant%3Dtrue`)
    expect((await wire.must('GET', at())).items).toEqual([])
  })
})
