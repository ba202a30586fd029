/**
 * What upstream's end-to-end tests of the garbage collector ask of a cluster, under their names. No workload
 * controllers run here, so the objects that they would make are made by hand, with the ownerReferences that they would
 * give them.
 * @see test/e2e/apimachinery/garbage_collector.go of Kubernetes
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject, OwnerReference } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let namespace: string
let namespaces = 0

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})
afterAll(() => plane[Symbol.asyncDispose]())
beforeEach(async () => {
  namespace = `gc-${namespaces++}`
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
})

interface Kind {
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly apiVersion: string
  readonly kind: string
}

const kindOf = (group: string, version: string, resource: string, kind: string): Kind => ({
  resource: { group, version, resource },
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
})
const pods = kindOf('', 'v1', 'pods', 'Pod')
const controllers = kindOf('', 'v1', 'replicationcontrollers', 'ReplicationController')
const deployments = kindOf('apps', 'v1', 'deployments', 'Deployment')
const replicaSets = kindOf('apps', 'v1', 'replicasets', 'ReplicaSet')
const cronJobs = kindOf('batch', 'v1', 'cronjobs', 'CronJob')
const jobs = kindOf('batch', 'v1', 'jobs', 'Job')

const pathOf = ({ resource: { resource }, apiVersion }: Kind, name = ''): string =>
  `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/namespaces/${namespace}/` +
  `${resource}${name && `/${name}`}`

const make = (kind: Kind, name: string, content: object = {}, owners: readonly OwnerReference[] = []) =>
  wire.must('POST', pathOf(kind), { metadata: { name, ownerReferences: owners }, ...content })
const podSpec = { containers: [{ name: 'nginx', image: 'nginx' }], terminationGracePeriodSeconds: 0 }
const template = { metadata: { labels: { app: 'gc-test' } }, spec: podSpec }
const workload = { spec: { selector: { matchLabels: { app: 'gc-test' } }, template } }
const makePod = (name: string, owners: readonly OwnerReference[] = []) => make(pods, name, { spec: podSpec }, owners)
const makeController = (name: string) => make(controllers, name, { spec: { selector: { app: 'gc-test' }, template } })

/** As the controller of the owner would refer to it. */
const controlledBy = (
  { apiVersion, kind }: Kind,
  { metadata: { name = '', uid = '' } }: KubeObject,
): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})

const remove = (kind: Kind, { metadata: { name, uid } }: KubeObject, propagationPolicy?: string) =>
  wire.must('DELETE', pathOf(kind, name), { propagationPolicy, preconditions: { uid } })
const gone = (kind: Kind, name: string) => waitFor(plane.client, kind.resource, { namespace, name }, isGone)
const names = async (kind: Kind): Promise<string[]> =>
  (await wire.must('GET', pathOf(kind))).items.map((item) => item.metadata.name ?? '')

const several = async (owners: readonly OwnerReference[], count: number): Promise<string[]> => {
  const all = Array.from({ length: count }, (_, i) => `pod-${String(i).padStart(2, '0')}`)
  await Promise.all(all.map((name) => makePod(name, owners)))
  return all
}

/** Objects made now have gone through the collector once this one has. */
async function collectorIsDone(): Promise<void> {
  const canary = await makePod('canary')
  await remove(pods, canary, 'Foreground')
  await gone(pods, 'canary')
}

describe('Garbage collector', () => {
  it('should delete pods created by rc when not orphaning', async () => {
    const rc = await makeController('simpletest.rc')
    const all = await several([controlledBy(controllers, rc)], 2)
    await remove(controllers, rc, 'Background')
    for (const name of all) await gone(pods, name)
    expect(await names(controllers)).toEqual([])
  })

  it('should orphan pods created by rc if delete options say so', async () => {
    const rc = await makeController('simpletest.rc')
    const all = await several([controlledBy(controllers, rc)], 10)
    await remove(controllers, rc, 'Orphan')
    await gone(controllers, 'simpletest.rc')
    await collectorIsDone()
    expect(await names(pods)).toEqual(all)
    for (const { metadata } of (await wire.must('GET', pathOf(pods))).items) {
      expect(metadata.ownerReferences).toBeUndefined()
    }
  })

  it('orphans what controllers of replication and jobs own when nothing is said', async () => {
    const rc = await makeController('simpletest.rc')
    const job = await make(jobs, 'simpletest.job', {
      spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } },
    })
    await makePod('of-rc', [controlledBy(controllers, rc)])
    await makePod('of-job', [controlledBy(jobs, job)])
    await remove(controllers, rc)
    await remove(jobs, job)
    await gone(controllers, 'simpletest.rc')
    await gone(jobs, 'simpletest.job')
    await collectorIsDone()
    const left = (await wire.must('GET', pathOf(pods))).items.map(({ metadata }) => [
      metadata.name,
      metadata.ownerReferences,
    ])
    expect(left).toEqual([
      ['of-job', undefined],
      ['of-rc', undefined],
    ])
  })

  it('should delete RS created by deployment when not orphaning', async () => {
    const deployment = await make(deployments, 'simpletest.deployment', workload)
    const rs = await make(replicaSets, 'simpletest-rs', workload, [controlledBy(deployments, deployment)])
    const all = await several([controlledBy(replicaSets, rs)], 2)
    await remove(deployments, deployment, 'Background')
    for (const name of all) await gone(pods, name)
    expect([await names(deployments), await names(replicaSets)]).toEqual([[], []])
  })

  it('should orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan', async () => {
    const deployment = await make(deployments, 'simpletest.deployment', workload)
    const rs = await make(replicaSets, 'simpletest-rs', workload, [controlledBy(deployments, deployment)])
    const all = await several([controlledBy(replicaSets, rs)], 2)
    await remove(deployments, deployment, 'Orphan')
    await gone(deployments, 'simpletest.deployment')
    await collectorIsDone()
    expect([await names(replicaSets), await names(pods)]).toEqual([['simpletest-rs'], all])
    expect((await wire.must('GET', pathOf(replicaSets, 'simpletest-rs'))).metadata.ownerReferences).toBeUndefined()
  })

  it('should keep the rc around until all its pods are deleted if the deleteOptions says so', async () => {
    const rc = await makeController('simpletest.rc')
    const all = await several([controlledBy(controllers, rc)], 10)
    const held = { metadata: { finalizers: ['ex.io/held'] } }
    await wire.must('PATCH', pathOf(pods, all[0]), held, 'application/merge-patch+json')
    await remove(controllers, rc, 'Foreground')
    for (const name of all.slice(1)) await gone(pods, name)
    const waiting = await wire.must('GET', pathOf(controllers, 'simpletest.rc'))
    expect(waiting.metadata.finalizers).toEqual(['foregroundDeletion'])
    expect(waiting.metadata.deletionTimestamp).toBeDefined()
    await wire.must('PATCH', pathOf(pods, all[0]), { metadata: { finalizers: null } }, 'application/merge-patch+json')
    await gone(controllers, 'simpletest.rc')
    expect(await names(pods)).toEqual([])
  })

  it(
    "should not delete dependents that have both valid owner and owner that's waiting for dependents to be " +
      'deleted',
    async () => {
      const going = await makeController('simpletest-rc-to-be-deleted')
      const staying = await makeController('simpletest-rc-to-stay')
      const all = await several([controlledBy(controllers, going)], 10)
      const both = all.slice(0, 5)
      const { apiVersion, kind, name, uid } = controlledBy(controllers, staying)
      const patch = { metadata: { ownerReferences: [{ apiVersion, kind, name, uid }] } }
      for (const pod of both) {
        await wire.must('PATCH', pathOf(pods, pod), patch, 'application/strategic-merge-patch+json')
      }
      await remove(controllers, going, 'Foreground')
      await gone(controllers, 'simpletest-rc-to-be-deleted')
      await collectorIsDone()
      const left = (await wire.must('GET', pathOf(pods))).items
      expect(left.map((pod) => pod.metadata.name)).toEqual(both)
      for (const { metadata } of left) {
        expect(metadata.deletionTimestamp).toBeUndefined()
        expect(metadata.ownerReferences?.map((owner) => owner.name)).toEqual(['simpletest-rc-to-stay'])
      }
    },
  )

  it('should not be blocked by dependency circle', async () => {
    const [first, second, third] = [await makePod('pod1'), await makePod('pod2'), await makePod('pod3')]
    const own = (pod: KubeObject, owner: KubeObject) =>
      wire.must(
        'PATCH',
        pathOf(pods, pod.metadata.name),
        { metadata: { ownerReferences: [controlledBy(pods, owner)] } },
        'application/strategic-merge-patch+json',
      )
    await own(first, third)
    await own(second, first)
    await own(third, second)
    await remove(pods, first, 'Foreground')
    for (const name of ['pod1', 'pod2', 'pod3']) await gone(pods, name)
  })

  it('should delete jobs and pods created by cronjob', async () => {
    const jobSpec = { template: { spec: { ...podSpec, restartPolicy: 'OnFailure' } } }
    const cronJob = await make(cronJobs, 'simple', {
      spec: { schedule: '*/1 * * * ?', jobTemplate: { spec: jobSpec } },
    })
    const job = await make(jobs, 'simple-1', { spec: jobSpec }, [controlledBy(cronJobs, cronJob)])
    await several([controlledBy(jobs, job)], 1)
    await remove(cronJobs, cronJob, 'Background')
    await gone(pods, 'pod-00')
    expect([await names(cronJobs), await names(jobs)]).toEqual([[], []])
  })

  it('should support cascading and orphan deletion of custom resources', async () => {
    await install(plane, definition({ plural: 'relatives', kind: 'Relative' }))
    const relatives = kindOf('ex.io', 'v1', 'relatives', 'Relative')
    const instance = (name: string, owners: readonly OwnerReference[] = []) =>
      make(relatives, name, { apiVersion: 'ex.io/v1', kind: 'Relative' }, owners)
    const owner = await instance('owner')
    await instance('dependent', [controlledBy(relatives, owner)])
    await remove(relatives, owner, 'Background')
    await gone(relatives, 'dependent')

    const left = await instance('left')
    await instance('orphan', [controlledBy(relatives, left)])
    await remove(relatives, left, 'Orphan')
    await gone(relatives, 'left')
    await collectorIsDone()
    expect(await names(relatives)).toEqual(['orphan'])
  })
})
