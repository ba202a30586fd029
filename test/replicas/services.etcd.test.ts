/** Two servers on one etcd that give Services their addresses and node ports: nothing twice, and all there is. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseServiceRanges } from '../../src/app/config.ts'
import { type StartOptions, startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { type Answer, Wire } from '../support/wire.ts'

describe.skipIf(etcdVersion === undefined)(
  `services of two servers on one etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`,
  () => {
    let etcd: EtcdServer
    let planes: TestControlPlane[]
    let options: StartOptions

    beforeEach(async () => {
      etcd = await EtcdServer.start()
      const storage = { engine: 'etcd', endpoints: [new URL(etcd.endpoint).host], prefix: '' } as const
      // 14 addresses, one of which the service `kubernetes` has, and 10 node ports.
      const serviceRanges = parseServiceRanges('10.96.0.0/28')
      const serviceNodePorts = { first: 30_000, last: 30_009 }
      options = { storage, population: false, serviceRanges, serviceNodePorts }
      planes = [await startControlPlane(options), await startControlPlane(options)]
    })
    afterEach(async () => {
      for (const plane of planes) await plane[Symbol.asyncDispose]()
      await etcd[Symbol.asyncDispose]()
    })

    const path = '/api/v1/namespaces/default/services'
    const wires = (): Wire[] => planes.map((plane) => new Wire(plane))

    const createAll = (count: number, spec: object): Promise<Answer[]> =>
      Promise.all(
        Array.from({ length: count }, (_, i) => {
          const wire = wires()[i % 2] as Wire
          return wire.call('POST', path, { metadata: { name: `s${i}` }, spec: { ports: [{ port: 80 }], ...spec } })
        }),
      )

    it('that are created at once have all addresses there are, each one', async () => {
      const answers = await createAll(16, {})
      const made = answers.filter(({ status }) => status === 201)
      const ips = made.map(({ body }) => body.spec?.['clusterIP'])
      expect(new Set(ips).size).toBe(13)
      expect(made.length).toBe(13)
      for (const { status, body } of answers) if (status !== 201) expect(body.message).toContain('range is full')
    })

    it('have both families from the start of a server on that has a range of each', async () => {
      const serviceRanges = parseServiceRanges('10.96.0.0/28,fd00::/108')
      planes.push(await startControlPlane({ ...options, serviceRanges }))
      const wire = wires()[2] as Wire
      const cidr = await wire.must('GET', '/apis/networking.k8s.io/v1/servicecidrs/kubernetes')
      expect(cidr.spec).toEqual({ cidrs: ['10.96.0.0/28', 'fd00::/108'] })
      const spec = { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] }
      const { spec: made } = await wire.must('POST', path, { metadata: { name: 's' }, spec })
      expect(made?.['clusterIPs']).toEqual([expect.stringMatching(/^10\.96\./), expect.stringMatching(/^fd00::/)])
    })

    it('that are created at once have all node ports there are, each one', async () => {
      const answers = await createAll(12, { type: 'NodePort' })
      const made = answers.filter(({ status }) => status === 201)
      const ports = made.flatMap(({ body }) => (body.spec?.['ports'] as { nodePort: number }[]).map((p) => p.nodePort))
      expect(new Set(ports).size).toBe(10)
      expect(made.length).toBe(10)
      // Who found no port has left no address behind.
      const { items } = await (wires()[1] as Wire).must('GET', '/apis/networking.k8s.io/v1/ipaddresses')
      expect(items.length).toBe(11)
    })
  },
)
