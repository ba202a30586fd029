/**
 * What upstream's end-to-end tests of MutatingAdmissionPolicy ask of a cluster, under their names.
 * @see test/e2e/apimachinery/mutatingadmissionpolicy.go of Kubernetes 1.36
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

const group = '/apis/admissionregistration.k8s.io'
const policies = `${group}/v1/mutatingadmissionpolicies`
const bindings = `${group}/v1/mutatingadmissionpolicybindings`
const unique = 'mutating-admission-policy-1'
const merge = 'application/merge-patch+json'

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: unique, labels: { [unique]: 'true' } } })
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const onDeployments = (...operations: string[]): object => ({
  operations,
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
})
const applying = (expression: string): object => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})

const basicDeployment = {
  metadata: { name: 'marker-deployment', labels: { app: 'nginx' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'nginx' } },
    template: {
      metadata: { labels: { app: 'nginx' } },
      spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] },
    },
  },
}

describe('MutatingAdmissionPolicy [Privileged:ClusterAdmin]', () => {
  const mutations: readonly { readonly name: string; readonly expression: string; readonly want: object }[] = [
    {
      name: 'should mutate a Deployment with annotations',
      expression: `
        Object{
          metadata: Object.metadata{
            annotations: {
              "mutated-by": "admission-policy"
            }
          }
        }`,
      want: { metadata: { annotations: { 'mutated-by': 'admission-policy' } }, spec: { replicas: 1 } },
    },
    {
      name: 'should mutate a Deployment',
      expression: 'Object{spec: Object.spec{replicas: 1337}}',
      want: { spec: { replicas: 1337 } },
    },
  ]
  it.each(mutations)('$name', async ({ expression, want }) => {
    const namespaceSelector = { matchLabels: { [unique]: 'true' } }
    const [policy, binding] = [`${unique}.policy.example.com`, `${unique}.binding.example.com`]
    await wire.must('POST', policies, {
      metadata: { name: policy },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: { namespaceSelector, resourceRules: [onDeployments('CREATE', 'UPDATE')] },
        mutations: [applying(expression)],
      },
    })
    await wire.must('POST', bindings, {
      metadata: { name: binding },
      spec: { policyName: policy, matchResources: { namespaceSelector } },
    })
    const path = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/deployments`
    // Upstream waits until the policy is in force; here it is.
    expect(await wire.must('POST', path(unique), basicDeployment)).toMatchObject(want)
    const elsewhere = await wire.must('POST', path('other'), basicDeployment)
    expect(elsewhere).toMatchObject({ spec: { replicas: 1 } })
    expect(elsewhere.metadata.annotations).toBeUndefined()
    for (const gone of [
      `${bindings}/${binding}`,
      `${policies}/${policy}`,
      `${path(unique)}/marker-deployment`,
      `${path('other')}/marker-deployment`,
    ]) {
      await wire.must('DELETE', gone)
    }
  })

  const kinds = [
    {
      name: 'should support MutatingAdmissionPolicy API operations',
      resource: 'mutatingadmissionpolicies',
      path: policies,
      spec: {
        reinvocationPolicy: 'Never',
        mutations: [applying('Object{spec: Object.spec{replicas: 100}}')],
        matchConstraints: { resourceRules: [onDeployments('CREATE')] },
      },
      patch: { reinvocationPolicy: 'IfNeeded' },
      update: { reinvocationPolicy: 'Never' },
    },
    {
      name: 'should support MutatingAdmissionPolicyBinding API operations',
      resource: 'mutatingadmissionpolicybindings',
      path: bindings,
      spec: { policyName: 'replicalimit-policy.example.com' },
      patch: { policyName: 'new-policy.example.com' },
      update: { policyName: 'replicalimit-policy.example.com' },
    },
  ]
  it.each(kinds)('$name', async ({ resource, path, spec, patch, update }) => {
    const versions = async (at: string): Promise<unknown> => {
      const body = (await wire.must('GET', at)) as unknown as Record<string, unknown>
      const groups = (body['groups'] ?? [body]) as { name: string; versions: { version: string }[] }[]
      return groups.find(({ name }) => name === 'admissionregistration.k8s.io')?.versions.map((v) => v.version)
    }
    expect(await versions('/apis')).toContain('v1')
    expect(await versions(group)).toContain('v1')
    const { resources } = (await wire.must('GET', `${group}/v1`)) as unknown as { resources: { name: string }[] }
    expect(resources.map(({ name }) => name)).toContain(resource)

    const [key, value] = ['example-e2e-label', resource]
    const query = `?labelSelector=${key}%3D${value}`
    const template = { metadata: { generateName: 'e2e-example-', labels: { [key]: value } }, spec }
    await wire.must('POST', path, template)
    await wire.must('POST', path, template)
    const created = await wire.must('POST', path, template)
    const one = `${path}/${created.metadata.name}`
    const read = await wire.must('GET', one)
    expect(read.metadata.uid).toBe(created.metadata.uid)
    const { metadata } = await wire.must('GET', path + query)
    expect(metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/)

    const patched = await wire.must(
      'PATCH',
      one,
      { metadata: { annotations: { patched: 'true' } }, spec: patch },
      merge,
    )
    expect(patched).toMatchObject({ metadata: { annotations: { patched: 'true' } }, spec: patch })
    expect(BigInt(patched.metadata.resourceVersion ?? 0)).toBeGreaterThan(BigInt(read.metadata.resourceVersion ?? 0))
    const updated = await wire.must('PUT', one, {
      ...patched,
      metadata: { ...patched.metadata, annotations: { ...patched.metadata.annotations, updated: 'true' } },
      spec: { ...patched.spec, ...update },
    })
    expect(updated).toMatchObject({ metadata: { annotations: { updated: 'true' } }, spec: update })
    const [event] = await wire.events(
      `${path}${query}&watch=1&resourceVersion=${metadata.resourceVersion}`,
      (seen) => seen.length > 0,
    )
    expect(event).toMatchObject({ type: 'MODIFIED', object: { metadata: { annotations: { patched: 'true' } } } })

    await wire.must('DELETE', one)
    expect((await wire.call('GET', one)).status).toBe(404)
    const listed = async (): Promise<readonly KubeObject[]> => (await wire.must('GET', path + query)).items
    expect(await listed()).toHaveLength(2)
    await wire.must('DELETE', path + query)
    expect(await listed()).toEqual([])
  })
})
