/** What a user of kubectl sees of webhooks and signing requests. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { bobRequest } from '../support/signing-requests.ts'
import {
  type ConversionServer,
  startConversionServer,
  startWebhookServer,
  type WebhookServer,
} from '../support/webhook-server.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

const renamed = (
  { text, words, ...rest }: KubeObject & { text?: string; words?: string },
  desired: string,
): KubeObject =>
  desired.endsWith('v2') ? { ...rest, apiVersion: desired, words: text } : { ...rest, apiVersion: desired, text: words }

describeEachKubectl((kubectl) => {
  let plane: TestControlPlane
  let session: KubectlSession
  let hooks: WebhookServer
  let converter: ConversionServer

  beforeAll(async () => {
    hooks = await startWebhookServer((q) => {
      const { bad } = (q.object?.['data'] ?? {}) as { bad?: string }
      return { allowed: bad === undefined, status: { message: 'unwanted key' }, warnings: ['looked at it'] }
    })
    converter = await startConversionServer(renamed)
    plane = await startControlPlane({ port: 0, population: false })
    session = await KubectlSession.open(kubectl, plane.kubeconfig)
  })
  afterAll(async () => {
    await session[Symbol.asyncDispose]()
    await plane[Symbol.asyncDispose]()
    await converter[Symbol.asyncDispose]()
    await hooks[Symbol.asyncDispose]()
  })

  const apply = async (object: object): Promise<void> => {
    const { code, transcript } = await session.run(['apply', '-f', '-'], { input: JSON.stringify(object) })
    expect(code, transcript).toBe(0)
  }

  test('a refusal in the words of the webhook, and its warnings', async () => {
    await apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'unwanted' },
      webhooks: [
        {
          name: 'unwanted.ex.io',
          clientConfig: { url: `${hooks.url}/check`, caBundle: hooks.caBundle },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    const good = await session.run(['create', 'configmap', 'good', '--from-literal=a=b'])
    expect([good.code, good.stderr.trim()], good.transcript).toEqual([0, 'Warning: looked at it'])
    const bad = await session.run(['create', 'configmap', 'bad', '--from-literal=bad=b'])
    expect(bad.code, bad.transcript).toBe(1)
    expect(bad.stderr).toContain('admission webhook "unwanted.ex.io" denied the request: unwanted key')
  })

  test('every version of a kind that a webhook converts', async () => {
    const version = (name: string, field: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      additionalPrinterColumns: [{ name: field, type: 'string', jsonPath: `.${field}` }],
      schema: { openAPIV3Schema: { type: 'object', properties: { [field]: { type: 'string' } } } },
    })
    await apply({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'notes.ex.io' },
      spec: {
        group: 'ex.io',
        scope: 'Namespaced',
        names: { plural: 'notes', kind: 'Note' },
        versions: [version('v1', 'text', true), version('v2', 'words', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { url: `${converter.url}/convert`, caBundle: converter.caBundle },
          },
        },
      },
    })
    const wait = await session.run(['wait', '--for=condition=Established', 'crd/notes.ex.io', '--timeout=30s'])
    expect(wait.code, wait.transcript).toBe(0)
    await apply({ apiVersion: 'ex.io/v2', kind: 'Note', metadata: { name: 'n' }, words: 'hello' })
    const rows = async (resource: string): Promise<string[]> => {
      const { stdout, transcript, code } = await session.run(['get', resource, '--no-headers'])
      expect(code, transcript).toBe(0)
      return stdout.trim().split(/\s+/)
    }
    expect(await rows('notes.v1.ex.io')).toEqual(['n', 'hello'])
    expect(await rows('notes.v2.ex.io')).toEqual(['n', 'hello'])
    await apply({ apiVersion: 'ex.io/v2', kind: 'Note', metadata: { name: 'n' }, words: 'bye' })
    expect(await rows('notes.v1.ex.io')).toEqual(['n', 'bye'])
  })

  test('approve, and the certificate is there', async () => {
    await apply({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'bob' },
      spec: { request: bobRequest, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
    })
    const approved = await session.run(['certificate', 'approve', 'bob'])
    expect(approved.code, approved.transcript).toBe(0)
    await expect
      .poll(async () => (await session.run(['get', 'csr', 'bob', '--no-headers'])).stdout)
      .toContain('Approved,Issued')
    const denied = await session.run(['certificate', 'deny', 'bob'])
    expect(denied.stderr, denied.transcript).toContain('already Approved')
  })
})
