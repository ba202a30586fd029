/** The example of mutating policies, and what a policy does wrong, as users of kubectl see it. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

const example = fileURLToPath(new URL('../../examples/mutating-policies', import.meta.url))

describeEachKubectl((kubectl) => {
  let plane: TestControlPlane
  let session: KubectlSession

  beforeAll(async () => {
    plane = await startControlPlane({ port: 0, population: false })
    session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const applied = await session.run(['apply', '-f', example])
    expect(applied.code, applied.transcript).toBe(0)
  })
  afterAll(async () => {
    await session[Symbol.asyncDispose]()
    await plane[Symbol.asyncDispose]()
  })

  const deployment = (name: string, labels: object): string =>
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: {
        replicas: 9,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    })

  test('the policies change what is applied, and applying it again changes nothing', async () => {
    const input = deployment('web', { 'example.com/logs': 'shipped' })
    const applied = await session.run(['apply', '-f', '-'], { input })
    expect(applied.code, applied.transcript).toBe(0)
    const shown = async (): Promise<Record<string, unknown>> =>
      JSON.parse((await session.run(['get', 'deployment', 'web', '-o', 'json'])).stdout) as Record<string, unknown>
    const first = await shown()
    expect(first).toMatchObject({
      metadata: { labels: { 'example.com/team': 'platform' } },
      spec: {
        replicas: 5,
        template: {
          metadata: { annotations: { 'example.com/log-shipper': 'injected' } },
          spec: {
            containers: [
              { name: 'web', image: 'nginx' },
              { name: 'log-shipper', image: 'log-shipper:1', args: ['--namespace', 'default'] },
            ],
          },
        },
      },
    })
    const again = await session.run(['apply', '-f', '-'], { input })
    expect(again.code, again.transcript).toBe(0)
    const { metadata, spec } = await shown()
    expect(spec).toEqual(first['spec'])
    expect((metadata as { generation: number }).generation).toBe(1)
  })

  test('a policy that can not be evaluated refuses, and says which and why', async () => {
    await session.run(['delete', 'configmap', 'deployment-defaults'])
    const refused = await session.run(['apply', '-f', '-'], { input: deployment('other', {}) })
    expect(refused.code, refused.transcript).toBe(1)
    expect(refused.stderr).toContain(
      "policy 'deployment-defaults.example.com' with binding 'deployment-defaults.example.com' denied " +
        'request: failed to configure binding: no params found for policy binding with `Deny` ' +
        'parameterNotFoundAction',
    )
  })

  test('a policy that makes no sense is refused at the field', async () => {
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'wrong.example.com' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: '"teapot"' } }],
      },
    }
    const { code, stderr, transcript } = await session.run(['apply', '-f', '-'], { input: JSON.stringify(policy) })
    expect(code, transcript).toBe(1)
    expect(stderr).toContain(
      'spec.mutations[0].applyConfiguration.expression: Invalid value: "\\"teapot\\"": must evaluate to ' +
        'Object but got string',
    )
  })
})
