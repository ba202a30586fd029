/** My namespaces, as their users meet them: `kubectl get namespaces -w`, and an informer of the official client. */
import { CoreV1Api, KubeConfig, makeInformer, type V1Namespace } from '@kubernetes/client-node'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { roleBindingsResource } from '../../src/kube/rbac.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { roleBinding, user } from '../support/fake-rbac-source.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ port: 0, listOwnNamespaces: true })
})
afterAll(() => plane[Symbol.asyncDispose]())

const create = (name: string): Promise<KubeObject> => plane.client.create(namespaces, { metadata: { name } })
const grant = (ns: string, who: string): Promise<KubeObject> =>
  plane.client.create(roleBindingsResource, roleBinding(ns, 'member', 'ClusterRole/admin', user(who)))
const revoke = (ns: string) => plane.client.delete(roleBindingsResource, { namespace: ns, name: 'member' })

describeEachKubectl((kubectl) => {
  const who = `user-${kubectl.minor}`
  const a = `a-${kubectl.minor}`
  const b = `b-${kubectl.minor}`

  test('get namespaces -w prints what comes into view, and delete of an own namespace returns', async () => {
    await using session = await KubectlSession.open(kubectl, plane.kubeconfigFor(who))
    const empty = await session.run(['get', 'namespaces'])
    expect(empty.stderr, empty.transcript).toContain('No resources found')
    await create(a)
    await create(b)
    await grant(a, who)
    const watch = session.start([
      'get',
      'namespaces',
      '-w',
      '--output-watch-events',
      '-o',
      'jsonpath={.type} {.object.metadata.name}{"\\n"}',
    ])
    await watch.seen(`ADDED ${a}`)
    await grant(b, who)
    await watch.seen(`ADDED ${b}`)
    await revoke(a)
    await watch.seen(`DELETED ${a}`)
    await watch.stop()
    expect(watch.stdout).not.toContain('kube-system')
    const left = await session.run(['get', 'ns', '-o', 'name'])
    expect(left.stdout, left.transcript).toBe(`namespace/${b}\n`)
    const right = await plane.client.create(roleBindingsResource, {
      ...roleBinding(b, 'owner', 'ClusterRole/cluster-admin', user(who)),
    })
    expect(right.metadata.name).toBe('owner')
    const gone = await session.run(['delete', 'ns', b])
    expect(gone.code, gone.transcript).toBe(0)
  })
})

test('an informer of the official client holds the own namespaces as rights come and go', async () => {
  const config = new KubeConfig()
  config.loadFromString(plane.kubeconfigFor('ines'))
  const core = config.makeApiClient(CoreV1Api)
  await create('informed-1')
  await create('informed-2')
  await grant('informed-1', 'ines')
  const informer = makeInformer<V1Namespace>(config, '/api/v1/namespaces', () => core.listNamespace())
  const told: string[] = []
  for (const verb of ['add', 'delete'] as const) {
    informer.on(verb, (object) => {
      told.push(`${verb} ${object.metadata?.name}`)
    })
  }
  const errors: unknown[] = []
  informer.on('error', (error: unknown) => errors.push(error))
  await informer.start()
  const held = (): (string | undefined)[] => informer.list().map((object) => object.metadata?.name)
  const settles = (want: readonly string[]): Promise<void> =>
    vi.waitFor(() => expect(held().sort()).toEqual(want), { timeout: 30_000 })
  await settles(['informed-1'])
  await grant('informed-2', 'ines')
  await settles(['informed-1', 'informed-2'])
  await revoke('informed-1')
  await settles(['informed-2'])
  await plane.client.delete(namespaces, { name: 'informed-2' })
  await settles([])
  expect(told).toEqual(['add informed-1', 'add informed-2', 'delete informed-1', 'delete informed-2'])
  expect(errors).toEqual([])
  await informer.stop()
})
