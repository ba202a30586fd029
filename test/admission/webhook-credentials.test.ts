/** Who the server is to admission webhooks: the users of a kubeconfig, by host. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure } from '../support/refusal.ts'
import { startWebhookServer, type WebhookServer, webhookCertificates } from '../support/webhook-server.ts'
import { type Answer, Wire } from '../support/wire.ts'

let folder: string
let server: WebhookServer
let plane: TestControlPlane
let wire: Wire

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const group = '/apis/admissionregistration.k8s.io/v1'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-webhook-credentials-'))
  server = await startWebhookServer()
  const { key, cert } = webhookCertificates(['client'])
  const users = [
    { name: `127.0.0.1:${server.port}`, user: { tokenFile: 'token' } },
    { name: 'hooks.team-a.svc:8443', user: { username: 'borough', password: 'hunter2' } },
    { name: '*.svc', user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } },
    { name: 'anyone', user: { token: 'from-the-context' } },
  ]
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', preferences: {}, clusters: [], users },
    ...{ contexts: [{ name: 'c', context: { user: 'anyone' } }], 'current-context': 'c' },
  }
  const kubeConfigFile = join(folder, 'webhooks.kubeconfig')
  await writeFile(kubeConfigFile, JSON.stringify(kubeconfig), { mode: 0o600 })
  await writeFile(join(folder, 'token'), 'first\n', { mode: 0o600 })
  const admissionConfigFile = join(folder, 'admission.yaml')
  const apiVersion = 'apiserver.config.k8s.io/v1'
  const configuration = { apiVersion, kind: 'WebhookAdmissionConfiguration', kubeConfigFile }
  await writeFile(
    admissionConfigFile,
    JSON.stringify({
      ...{ apiVersion, kind: 'AdmissionConfiguration' },
      plugins: [{ name: 'ValidatingAdmissionWebhook', configuration }],
    }),
  )
  const at = { host: '127.0.0.1', port: server.port }
  const serviceAddresses = new Map(['8443', '443'].map((port) => [`team-a/hooks:${port}`, at]))
  plane = await startControlPlane({ population: false, admissionConfigFile, serviceAddresses })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a' } })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  for (const phase of ['validating', 'mutating']) await wire.must('DELETE', `${group}/${phase}webhookconfigurations`)
  server.received.length = 0
})

const service = (port: number): object => ({ service: { namespace: 'team-a', name: 'hooks', port } })

const configure = (phase: 'validating' | 'mutating', clientConfig: object): Promise<unknown> =>
  wire.must('POST', `${group}/${phase}webhookconfigurations`, {
    metadata: { name: phase },
    webhooks: [
      {
        name: `${phase}.ex.io`,
        clientConfig: { caBundle: server.caBundle, ...clientConfig },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['*'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })

let count = 0
const create = (): Promise<Answer> =>
  wire.call('POST', '/api/v1/namespaces/team-a/configmaps', { metadata: { name: `m-${++count}` } })

/** Who the server was: credentials in headers, and the certificate. */
const shown = (): object[] =>
  server.received.map(({ headers, caller }) => ({ authorization: headers['authorization'], caller }))

describe('the server is to a webhook', () => {
  const rows: { name: string; clientConfig: () => object; want: object }[] = [
    {
      name: 'the user of its host and port, by a token in a file',
      clientConfig: () => ({ url: `${server.url}/x` }),
      want: { authorization: 'Bearer first', caller: undefined },
    },
    {
      name: 'the user of its Service and port, by a password',
      clientConfig: () => service(8443),
      want: { authorization: `Basic ${base64('borough:hunter2')}`, caller: undefined },
    },
    {
      name: 'the user of a wildcard without a port, by a certificate, where the port is 443',
      clientConfig: () => service(443),
      want: { authorization: undefined, caller: 'webhook' },
    },
    {
      name: 'the user of the current context, where no name fits',
      clientConfig: () => ({ url: `https://localhost:${server.port}/x` }),
      want: { authorization: 'Bearer from-the-context', caller: undefined },
    },
  ]
  it.each(rows)('$name', async ({ clientConfig, want }) => {
    await configure('validating', clientConfig())
    expect((await create()).status).toBe(201)
    expect(shown()).toEqual([want])
  })

  it('nobody, where the other phase has the kubeconfig', async () => {
    await configure('mutating', { url: `${server.url}/x` })
    expect((await create()).status).toBe(201)
    expect(shown()).toEqual([{ authorization: undefined, caller: undefined }])
  })

  it('by the token that is in the file now, and not by one that every user can read', async () => {
    await configure('validating', { url: `${server.url}/x` })
    const path = join(folder, 'token')
    await writeFile(path, 'second')
    expect((await create()).status).toBe(201)
    expect(shown()).toEqual([{ authorization: 'Bearer second', caller: undefined }])
    await chmod(path, 0o644)
    const { body } = await create()
    expect(body).toEqual(
      failure({
        message:
          'Internal error occurred: failed calling webhook "validating.ex.io": failed to call webhook: ' +
          "the server can't read its credentials",
        reason: 'InternalError',
        details: {
          causes: [
            {
              message:
                'failed calling webhook "validating.ex.io": failed to call webhook: ' +
                "the server can't read its credentials",
            },
          ],
        },
        code: 500,
      }),
    )
  })
})
