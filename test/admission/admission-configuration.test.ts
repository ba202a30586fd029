/**
 * What an operator says to admission plugins, through the whole server. The answers are those that kube-apiserver
 * 1.36.2 gave to the same requests with the same files.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, forbidden } from '../support/refusal.ts'
import { type Answer, Wire } from '../support/wire.ts'

const configuration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { enforce: 'baseline', 'enforce-version': 'v1.30', audit: 'restricted', warn: 'restricted' },
        exemptions: { usernames: ['robot'], namespaces: ['spared'], runtimeClasses: ['vm'] },
      },
    },
    { name: 'ResourceQuota', path: 'quota.yaml' },
    { name: 'NamespaceLifecycle' },
  ],
}

const limited = `
apiVersion: apiserver.config.k8s.io/v1
kind: ResourceQuotaConfiguration
limitedResources:
- resource: pods
  matchContains: [".cpu", "count/pods"]
  matchScopes:
  - {scopeName: PriorityClass, operator: In, values: [high, higher]}
- resource: persistentvolumeclaims
  matchContains: [".storageclass.storage.k8s.io/requests.storage"]
- {resource: configmaps, matchContains: [configmaps]}
- {apiGroup: apps, resource: deployments, matchContains: ["count/"]}
`

let folder: string
let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-admission-'))
  const admissionConfigFile = join(folder, 'admission.yaml')
  await writeFile(admissionConfigFile, JSON.stringify(configuration))
  await writeFile(join(folder, 'quota.yaml'), limited)
  plane = await startControlPlane({ population: false, admissionConfigFile })
  wire = new Wire(plane)
  await wire.must('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 5 })
  await wire.must('POST', '/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'vm' }, handler: 'vm' })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

let count = 0
const hostile = { hostPID: true }
const containers = [{ name: 'a', image: 'x', resources: { requests: { cpu: '1' } } }]
const labelled = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]))

const namespace = (name: string, labels: Record<string, string> = {}): Promise<Answer> =>
  wire.call('POST', '/api/v1/namespaces', { metadata: { name, labels: labelled(labels) } })

const pod = (namespace: string, spec: object, as = wire): Promise<Answer> =>
  as.call('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: `p-${++count}` },
    spec: { containers, ...spec },
  })

const quota = (namespace: string, hard: object, more: object = {}): Promise<unknown> =>
  wire.must('POST', `/api/v1/namespaces/${namespace}/resourcequotas`, {
    metadata: { name: `q-${++count}` },
    spec: { hard, ...more },
  })

const warningsOf = ({ headers }: Answer): string | null => headers.get('warning')

const generous = { 'requests.cpu': '9', 'count/pods': '9', 'count/deployments.apps': '9' }

describe('defaults of PodSecurity', () => {
  beforeAll(async () => {
    await namespace('plain')
    await quota('plain', generous)
  })

  it('hold in a namespace without labels', async () => {
    const refused = await pod('plain', hostile)
    expect(refused.body).toEqual(
      forbidden(
        { kind: 'pods', name: `p-${count}` },
        'violates PodSecurity "baseline:v1.30": host namespaces (hostPID=true)',
      ),
    )
    const taken = await pod('plain', {})
    expect([taken.status, warningsOf(taken)]).toEqual([
      201,
      expect.stringContaining('would violate PodSecurity \\"restricted:latest\\"'),
    ])
  })

  it('yield to labels, each by itself', async () => {
    await namespace('versioned', { 'enforce-version': 'v1.20', warn: 'privileged' })
    await quota('versioned', generous)
    expect((await pod('versioned', hostile)).body.message).toMatch(/violates PodSecurity "baseline:v1.20": host names/)
    expect(warningsOf(await pod('versioned', {}))).toBeNull()
  })
})

describe('exempt from PodSecurity', () => {
  it('are users, in pods and in what makes pods', async () => {
    await namespace('of-robot')
    await quota('of-robot', generous)
    const robot = wire.as('robot', ['system:masters'])
    const made = await pod('of-robot', hostile, robot)
    expect([made.status, warningsOf(made)]).toEqual([201, null])
  })

  it('are namespaces; their labels come with a warning', async () => {
    const made = await namespace('spared', { enforce: 'restricted' })
    expect(warningsOf(made)).toBe(
      '299 - "namespace \\"spared\\" is exempt from Pod Security, ' +
        'and the policy (enforce=restricted:v1.30) will be ignored"',
    )
    await quota('spared', generous)
    const taken = await pod('spared', hostile)
    expect([taken.status, warningsOf(taken)]).toEqual([201, null])
    const labels = labelled({ enforce: 'restricted', 'enforce-version': 'latest', audit: 'baseline', warn: 'baseline' })
    const tightened = await wire.call(
      'PATCH',
      '/api/v1/namespaces/spared',
      { metadata: { labels } },
      'application/merge-patch+json',
    )
    expect(warningsOf(tightened)).toBe(
      '299 - "namespace \\"spared\\" is exempt from Pod Security, and the policy (enforce=restricted:latest, ' +
        'audit=baseline:latest, warn=baseline:latest) will be ignored"',
    )
  })

  it('are classes of runtimes, also among the pods that a stricter label finds', async () => {
    await namespace('of-vms', { enforce: 'privileged' })
    await quota('of-vms', generous)
    const taken = await pod('of-vms', { ...hostile, runtimeClassName: 'vm' })
    expect([taken.status, warningsOf(taken)]).toEqual([201, null])
    const tightened = await wire.call(
      'PATCH',
      '/api/v1/namespaces/of-vms',
      { metadata: { labels: labelled({ enforce: 'baseline' }) } },
      'application/merge-patch+json',
    )
    expect(warningsOf(tightened)).toBeNull()
    const again = await pod('of-vms', { ...hostile, runtimeClassName: 'vm' })
    expect([again.status, warningsOf(again)]).toEqual([201, null])
  })

  it('are counted', async () => {
    const counted = async (): Promise<number> => {
      const metrics = await (await plane.fetch('/metrics')).text()
      const label = 'request_operation="create",resource="pod",subresource=""'
      return Number(metrics.split(`pod_security_exemptions_total{${label}} `)[1]?.split('\n')[0])
    }
    const before = await counted()
    await pod('spared', hostile)
    await pod('plain', {})
    expect((await counted()) - before).toBe(1)
  })
})

describe('limited resources', () => {
  it('need a quota that covers each of them', async () => {
    await namespace('bare')
    expect((await pod('bare', {})).body).toEqual(
      forbidden({ kind: 'pods', name: `p-${count}` }, 'insufficient quota to consume: count/pods,requests.cpu'),
    )
    await quota('bare', { 'requests.cpu': '1' })
    expect((await pod('bare', {})).body).toEqual(
      forbidden({ kind: 'pods', name: `p-${count}` }, 'insufficient quota to consume: count/pods'),
    )
    await quota('bare', { 'count/pods': '1' })
    expect((await pod('bare', {})).status).toBe(201)
    const map = await wire.call('POST', '/api/v1/namespaces/bare/configmaps', { metadata: { name: 'm' } })
    expect(map.body).toEqual(
      forbidden({ kind: 'configmaps', name: 'm' }, 'insufficient quota to consume: configmaps,count/configmaps'),
    )
  })

  it('are of their group alone', async () => {
    await namespace('grouped')
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
    const spec = { selector: { matchLabels: { a: 'b' } }, template }
    const make = (resource: string): Promise<Answer> =>
      wire.call('POST', `/apis/apps/v1/namespaces/grouped/${resource}`, { metadata: { name: 'w' }, spec })
    expect((await make('deployments')).body).toEqual(
      forbidden(
        { group: 'apps', kind: 'deployments', name: 'w' },
        'insufficient quota to consume: count/deployments.apps',
      ),
    )
    expect((await make('replicasets')).status).toBe(201)
  })

  it('are of a class of storage as far as it is named', async () => {
    await namespace('stored')
    const claim = (name: string, storageClassName: string): Promise<Answer> =>
      wire.call('POST', '/api/v1/namespaces/stored/persistentvolumeclaims', {
        metadata: { name },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
      })
    expect((await claim('gold', 'gold')).body).toEqual(
      forbidden(
        { kind: 'persistentvolumeclaims', name: 'gold' },
        'insufficient quota to consume: gold.storageclass.storage.k8s.io/requests.storage',
      ),
    )
    expect((await claim('none', '')).status).toBe(201)
  })

  it('of a scope need a quota of that scope', async () => {
    await namespace('scoped')
    await quota('scoped', generous)
    const high = { priorityClassName: 'high' }
    const refused = await pod('scoped', high)
    expect(refused.body).toEqual(
      failure({
        message: 'insufficient quota to match these scopes: [{PriorityClass In [high higher]}]',
        code: 500,
      }),
    )
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }]
    await quota('scoped', { pods: '5' }, { scopeSelector: { matchExpressions } })
    expect((await pod('scoped', high)).status).toBe(201)
  })

  it('are not asked of what a client does not make: what a namespace begins with is there', async () => {
    const { items } = await wire.must('GET', '/api/v1/namespaces/bare/configmaps')
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['kube-root-ca.crt'])
  })
})
