/**
 * What upstream's end-to-end tests of namespaces ask of a cluster, under their names. No container runs here, so where
 * they wait for a running pod, the pod is said to run.
 * @see test/e2e/apimachinery/namespace.go of Kubernetes
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})
afterAll(() => plane[Symbol.asyncDispose]())

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const path = '/api/v1/namespaces'
const merge = 'application/merge-patch+json'
const create = (name: string, labels: object = {}) => wire.must('POST', path, { metadata: { name, labels } })
const gone = (name: string) => waitFor(plane.client, namespaces, { name }, isGone)

const content = [
  {
    kind: 'pods',
    object: { metadata: { name: 'test' }, spec: { containers: [{ name: 'nginx', image: 'pause' }] } },
    made: (at: string) => wire.must('PATCH', `${at}/status`, { status: { phase: 'Running' } }, merge),
  },
  {
    kind: 'services',
    object: { metadata: { name: 'test' }, spec: { selector: { foo: 'bar' }, ports: [{ port: 80 }] } },
  },
]

describe('Namespaces', () => {
  it.each(content)(
    'should ensure that all $kind are removed when a namespace is deleted',
    async ({ kind, object, made }) => {
      const at = `${path}/nsdeletetest/${kind}`
      await create('nsdeletetest')
      await wire.must('POST', at, object)
      await made?.(`${at}/test`)
      await wire.must('DELETE', `${path}/nsdeletetest`)
      await gone('nsdeletetest')
      await create('nsdeletetest')
      expect((await wire.must('GET', at)).items).toEqual([])
      await wire.must('DELETE', `${path}/nsdeletetest`)
      await gone('nsdeletetest')
    },
  )

  it('should always delete fast (ALL of 100 namespaces in 150 seconds)', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `nslifetest-${i}`)
    await Promise.all(names.map((name) => create(name)))
    const began = performance.now()
    await Promise.all(names.map((name) => wire.must('DELETE', `${path}/${name}`)))
    await Promise.all(names.map(gone))
    // Upstream asks for 150 s; `npm run bench` measures the half second that is the goal here.
    expect(performance.now() - began).toBeLessThan(150_000)
  })

  it('should patch a Namespace', async () => {
    await create('nspatchtest')
    const patch = { metadata: { labels: { testLabel: 'testValue' } } }
    await wire.must('PATCH', `${path}/nspatchtest`, patch, 'application/strategic-merge-patch+json')
    expect((await wire.must('GET', `${path}/nspatchtest`)).metadata.labels).toMatchObject({ testLabel: 'testValue' })
  })

  it('should apply changes to a namespace status', async () => {
    const made = await create('nsstatus')
    expect((await wire.must('GET', `${path}/nsstatus/status`)).status).toEqual({ phase: 'Active' })
    const condition = { type: 'StatusPatch', status: 'True', reason: 'E2E', message: 'Patched by an e2e test' }
    const patch = {
      metadata: { annotations: { 'e2e-patched-ns-status': 'nsstatus' } },
      status: { conditions: [condition] },
    }
    const patched = await wire.must('PATCH', `${path}/nsstatus/status`, patch, merge)
    expect(patched.metadata.annotations).toMatchObject({ 'e2e-patched-ns-status': 'nsstatus' })
    expect(patched.status).toMatchObject({ phase: 'Active', conditions: [condition] })
    const more = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Updated by an e2e test' }
    const status = patched.status as { conditions: object[] }
    const next = { ...patched, status: { ...status, conditions: [...status.conditions, more] } }
    const updated = await wire.must('PUT', `${path}/nsstatus/status`, next)
    expect(updated.status).toMatchObject({ phase: 'Active', conditions: [condition, more] })
    expect(made.metadata.uid).toBe(updated.metadata.uid)
  })

  it('should apply an update to a Namespace', async () => {
    const made = await create('nsupdate')
    const labels = { ...made.metadata.labels, nsupdate: 'updated' }
    const updated = await wire.must('PUT', `${path}/nsupdate`, { ...made, metadata: { ...made.metadata, labels } })
    expect(updated.metadata.labels).toMatchObject({ nsupdate: 'updated' })
  })

  it('should apply a finalizer to a Namespace', async () => {
    const made = await create('nsfinalizer')
    const fake = 'e2e.example.com/fakeFinalizer'
    const added = await wire.must('PUT', `${path}/nsfinalizer/finalize`, {
      ...made,
      spec: { finalizers: ['kubernetes', fake] },
    })
    expect(added.spec).toEqual({ finalizers: ['kubernetes', fake] })
    const removed = await wire.must('PUT', `${path}/nsfinalizer/finalize`, {
      ...added,
      spec: { finalizers: ['kubernetes'] },
    })
    expect(removed.spec).toEqual({ finalizers: ['kubernetes'] })
  })

  it('namespace deletion should delete pod first', async () => {
    await create('ordered')
    const at = `${path}/ordered`
    await wire.must('POST', `${at}/pods`, {
      metadata: { name: 'pod', finalizers: ['e2e.example.com/finalizer'] },
      spec: { containers: [{ name: 'c', image: 'pause' }] },
    })
    await wire.must('POST', `${at}/configmaps`, { metadata: { name: 'cm' } })
    await wire.must('POST', `${at}/resourcequotas`, { metadata: { name: 'quota' }, spec: { hard: { pods: '5' } } })
    await wire.must('DELETE', at)
    await waitFor(plane.client, namespaces, { name: 'ordered' }, (n) =>
      JSON.stringify(n?.['status']).includes('e2e.example.com'),
    )
    expect((await wire.must('GET', `${at}/pods/pod`)).metadata.deletionTimestamp).toBeDefined()
    expect((await wire.must('GET', `${at}/configmaps/cm`)).metadata.deletionTimestamp).toBeUndefined()
    // Quotas go before them: nothing can be created any more, and every removal would be charged to them.
    expect((await wire.call('GET', `${at}/resourcequotas/quota`)).status).toBe(404)
    await wire.must('PATCH', `${at}/pods/pod`, { metadata: { finalizers: null } }, merge)
    await gone('ordered')
  })
})
