/** Three replicas on one etcd: the controllers run at one of them, and at the next as soon as that one stops. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { Wire } from '../support/wire.ts'

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/borough-controllers'

describe.skipIf(etcdVersion === undefined)(`leadership${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let planes: TestControlPlane[]

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    const endpoints = [new URL(etcd.endpoint).host]
    const storage = { engine: 'etcd', endpoints, prefix: '' } as const
    planes = await Promise.all([0, 1, 2].map(() => startControlPlane({ storage })))
  }, 120_000)

  afterAll(async () => {
    for (const plane of planes ?? []) await plane[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  async function leaders(): Promise<TestControlPlane[]> {
    const texts = await Promise.all(planes.map(async (plane) => (await plane.fetch('/metrics')).text()))
    return planes.filter((_, i) => texts[i]?.includes('\nborough_controllers_leading 1\n'))
  }

  /** Needs the namespace controller. */
  async function deleteNamespace(wire: Wire, name: string): Promise<void> {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
    await wire.must('POST', `/api/v1/namespaces/${name}/secrets`, { metadata: { name: 's' } })
    const path = `/api/v1/namespaces?watch=1&fieldSelector=metadata.name=${name}`
    const gone = await wire.events(
      path,
      (seen) => seen.at(-1)?.type === 'DELETED',
      () => void wire.must('DELETE', `/api/v1/namespaces/${name}`),
    )
    expect(gone.at(-1)?.type).toBe('DELETED')
  }

  it('is held by one, is given back when it stops, and taken by another long before it would run out', async () => {
    while (planes.length > 1) {
      await deleteNamespace(new Wire(planes[0] as TestControlPlane), `led-${planes.length}`)
      const [leader, ...others] = await leaders()
      expect(others).toEqual([])
      const remaining = planes.filter((plane) => plane !== leader)
      planes = remaining
      const wire = new Wire(remaining[0] as TestControlPlane)
      const { spec } = await wire.must('GET', lease)
      const before = spec?.['holderIdentity']
      const began = performance.now()
      const stopping = leader?.[Symbol.asyncDispose]()
      const taken = await wire.events(
        `${lease.replace('/borough', '?watch=1&fieldSelector=metadata.name=borough')}`,
        (seen) => {
          const holder = seen.at(-1)?.object.spec?.['holderIdentity']
          return typeof holder === 'string' && holder !== '' && holder !== before
        },
      )
      const tookMs = performance.now() - began
      console.log(`leadership handed over in ${Math.round(tookMs)} ms`)
      // Given back, not run out.
      expect(tookMs).toBeLessThan(Number(spec?.['leaseDurationSeconds']) * 1000)
      expect(taken.length).toBeGreaterThan(0)
      await stopping
    }
    await deleteNamespace(new Wire(planes[0] as TestControlPlane), 'led-at-last')
  })

  it('finds what was lost while nobody led', async () => {
    const endpoints = [new URL(etcd.endpoint).host]
    const storage = { engine: 'etcd', endpoints, prefix: '' } as const
    // One that has no controllers to run does not take the lease.
    await using idle = await startControlPlane({ storage, controllers: () => false })
    for (const plane of planes.splice(0)) await plane[Symbol.asyncDispose]()
    await new Wire(idle).must('DELETE', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt')
    planes = [await startControlPlane({ storage })]
    const found = await new Wire(planes[0] as TestControlPlane).events(
      '/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name=kube-root-ca.crt',
      (seen) => seen.length > 0,
    )
    expect(found[0]?.type).toBe('ADDED')
  })
})
