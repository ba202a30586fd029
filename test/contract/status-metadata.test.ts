/**
 * What a write to `/status` leaves of metadata as it was. One row for each kind that leaves some, and some that leave
 * none.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type Answer, Wire } from '../support/wire.ts'

const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const all = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const workload = { selector: { matchLabels: { a: 'b' } }, template }
const priorityLevel = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } },
}
const flowSchema = { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 1000 }
const apiService = {
  group: 'a.io',
  version: 'v1',
  groupPriorityMinimum: 1,
  versionPriority: 1,
  service: { namespace: 'a', name: 'b' },
  insecureSkipTLSVerify: true,
}
const policy = {
  matchConstraints: {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  },
  validations: [{ expression: 'true' }],
}
const attachment = { attacher: 'a.io', nodeName: 'n', source: { persistentVolumeName: 'v' } }

const rows: readonly {
  readonly of: string
  readonly path: string
  readonly name?: string
  readonly spec?: object
  readonly kept: readonly string[]
}[] = [
  { of: 'a Deployment', path: `${apps}/deployments`, spec: workload, kept: ['labels'] },
  { of: 'a Pod', path: `${core}/pods`, spec: template.spec, kept: ['ownerReferences'] },
  {
    of: 'an APIService',
    path: '/apis/apiregistration.k8s.io/v1/apiservices',
    name: 'v1.a.io',
    spec: apiService,
    kept: all,
  },
  { of: 'a FlowSchema', path: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', spec: flowSchema, kept: all },
  {
    of: 'a PriorityLevelConfiguration',
    path: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
    spec: priorityLevel,
    kept: all,
  },
  {
    of: 'a ResourceClaim',
    path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
    spec: { devices: {} },
    kept: all,
  },
  {
    of: 'a ValidatingAdmissionPolicy',
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    spec: policy,
    kept: all,
  },
  { of: 'a VolumeAttachment', path: '/apis/storage.k8s.io/v1/volumeattachments', spec: attachment, kept: all },
  // Ours, as where it is a custom resource.
  ...['policy', 'policy.borough.dev'].map((group) => ({
    of: `a NamespaceTemplate of ${group}`,
    path: `/apis/${group}/v1alpha1/namespacetemplates`,
    name: group,
    spec: { templates: [] },
    kept: all,
  })),
  { of: 'a DaemonSet', path: `${apps}/daemonsets`, spec: workload, kept: [] },
  { of: 'a Service', path: `${core}/services`, spec: { ports: [{ port: 80 }] }, kept: [] },
  { of: 'a Namespace', path: '/api/v1/namespaces', kept: [] },
]

const marks = (of: string): Record<(typeof all)[number], unknown> => ({
  labels: { of },
  annotations: { of },
  finalizers: [`a.io/${of}`],
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: of, uid: of }],
})

describe('a write to the status', () => {
  let plane: TestControlPlane
  let wire: Wire
  beforeAll(async () => {
    // No controller makes a namespace ready: its create would wait in vain.
    plane = await startControlPlane({ controllers: () => false, initializationTimeoutMs: 1 })
    wire = new Wire(plane)
  })
  afterAll(() => plane[Symbol.asyncDispose]())

  it.each(rows)('of $of leaves as they were: $kept', async ({ path, name = 'x', spec, kept }) => {
    const made = await wire.must('POST', path, { metadata: { name, ...marks('old') }, ...(spec ? { spec } : {}) })
    const metadata = { ...made.metadata, ...marks('new') }
    const answers: Answer[] = [await wire.call('PUT', `${path}/${name}/status`, { ...made, metadata })]
    const body = { metadata: marks('new') }
    answers.push(await wire.call('PATCH', `${path}/${name}/status`, body, 'application/merge-patch+json'))
    for (const { status, body } of answers) {
      expect(status, body.message).toBe(200)
      const found: Record<string, unknown> = { ...body.metadata }
      expect(all.filter((field) => JSON.stringify(found[field]) === JSON.stringify(made.metadata[field]))).toEqual(kept)
    }
  })

  it('that is applied makes nobody the owner of what it leaves as it was', async () => {
    const path = `${apps}/deployments/x`
    const config = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x', labels: { of: 'applied' }, annotations: { of: 'applied' } },
      status: { replicas: 3 },
    }
    const applied = await wire.must(
      'PATCH',
      `${path}/status?fieldManager=m&force=true`,
      config,
      'application/apply-patch+yaml',
    )
    expect(applied.metadata.labels).toEqual({ of: 'old' })
    const own = applied.metadata.managedFields?.find(({ manager }) => manager === 'm')
    expect(own?.fieldsV1).toEqual({
      'f:metadata': { 'f:annotations': { 'f:of': {} } },
      'f:status': { 'f:replicas': {} },
    })
  })
})
