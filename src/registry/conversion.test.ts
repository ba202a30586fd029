import { expect, test } from 'vitest'
import { startFixture } from '../../test/support/registry-fixture.ts'
import { loadCatalog } from '../catalog/catalog.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { listItem, singleObject } from '../kube/stored-form.ts'
import type { StoredObject } from './registry.ts'

const { types } = loadCatalog()
function typeOf(group: string, version: string, resource: string): ResourceType {
  const type = types.find({ group, version, resource })
  if (!type) throw new Error(`no ${group}/${version} ${resource}`)
  return type
}
const v1 = typeOf('autoscaling', 'v1', 'horizontalpodautoscalers')
const v2 = typeOf('autoscaling', 'v2', 'horizontalpodautoscalers')
const coreEvents = typeOf('', 'v1', 'events')
const newEvents = typeOf('events.k8s.io', 'v1', 'events')

const fixture = () => startFixture({ deps: { types, strategyOf: () => ({ tracksGeneration: false }) } })
const shown = (o: StoredObject): unknown => JSON.parse(Buffer.from(singleObject(o.type, o.revision, o)).toString())
const target = { kind: 'Deployment', name: 'd' }

test('what was written in one version is read in the other', async () => {
  await using f = await fixture()
  const made = await f.registry.create(f.scope(v1, ''), {
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 70 },
  })
  expect(made.object).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70 } })
  const read = await f.registry.get(v2, 'ns', 'a')
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }
  expect(read.object).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { metrics: [cpu], maxReplicas: 3 } })
  expect(shown(read), 'the bytes say what the object says').toEqual(read.object)
  const again = await f.registry.get(v1, 'ns', 'a')
  expect(shown(again)).toEqual(again.object)
  const [item] = (await f.registry.list(v1, { namespace: 'ns' })).items
  if (item === undefined) throw new Error('nothing is listed')
  expect(JSON.parse(Buffer.from(listItem(v1, again.revision, item)).toString())).toMatchObject({
    spec: { targetCPUUtilizationPercentage: 70 },
  })
})

test('an update in the lesser version keeps what it can not show, and no change is no write', async () => {
  await using f = await fixture()
  const behavior = { scaleDown: { selectPolicy: 'Min' } }
  const made = await f.registry.create(f.scope(v2, ''), {
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, scaleTargetRef: target, behavior },
  })
  const same = await f.registry.update(f.scope(v1, 'a'), (o) => structuredClone(o ?? { metadata: {} }))
  expect(same.stored.revision).toBe(made.revision)
  const more = await f.registry.update(f.scope(v1, 'a'), (o) => {
    const next = structuredClone(o ?? { metadata: {} })
    return { ...next, spec: { ...(next['spec'] as object), maxReplicas: 5 } }
  })
  expect(more.stored.object).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { maxReplicas: 5 } })
  expect((await f.registry.get(v2, 'ns', 'a')).object).toMatchObject({ spec: { maxReplicas: 5, behavior } })
})

test('a deleted object is answered and kept in the right forms', async () => {
  await using f = await fixture()
  const spec = { maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 70 }
  await f.registry.create(f.scope(v1, ''), { metadata: { name: 'a', finalizers: ['ex.io/x'] }, spec })
  const marked = await f.registry.delete(f.scope(v1, 'a'), {})
  expect(marked.removed).toBe(false)
  expect(shown(marked.stored)).toMatchObject({ spec: { targetCPUUtilizationPercentage: 70 } })
  const waiting = await f.registry.get(v2, 'ns', 'a')
  expect(waiting.object.metadata.deletionTimestamp).toBeDefined()
  expect(waiting.object).toMatchObject({ spec: { metrics: [{ type: 'Resource' }] } })
  const gone = await f.registry.update(f.scope(v1, 'a'), (o) => {
    const next = structuredClone(o ?? { metadata: {} })
    delete next.metadata.finalizers
    return next
  })
  expect(gone.removed).toBe(true)
  expect(shown(gone.stored)).toMatchObject({ spec: { targetCPUUtilizationPercentage: 70 } })
})

test('events of either group are events of both', async () => {
  await using f = await fixture()
  const abort = new AbortController()
  const stream = await f.registry.watch(newEvents, { namespace: 'ns', signal: abort.signal })
  await f.registry.create(f.scope(coreEvents, ''), {
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p' },
    message: 'hello',
    count: 1,
  })
  for await (const [event] of stream) {
    expect(event?.type).toBe('ADDED')
    if (event?.type === 'ADDED') {
      expect(shown(event.stored)).toMatchObject({
        apiVersion: 'events.k8s.io/v1',
        regarding: { name: 'p' },
        note: 'hello',
        deprecatedCount: 1,
      })
    }
    break
  }
  abort.abort()
})
