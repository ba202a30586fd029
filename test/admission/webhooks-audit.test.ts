/** What webhooks tell the audit log. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AuditEvent } from '../../src/audit/audit.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { patchReply, startWebhookServer } from '../support/webhook-server.ts'
import { Wire } from '../support/wire.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-webhooks-audit-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** Annotations of the create of a ConfigMap that two webhooks see, without those of authorization. */
async function annotations(level: string): Promise<Record<string, string>> {
  const path = join(directory, 'audit.log')
  const policyPath = join(directory, 'policy.yaml')
  await writeFile(policyPath, `{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: ${level}}]}`)
  await using server = await startWebhookServer((_, at) => ({
    ...(at === '/mutate' ? patchReply({ op: 'add', path: '/data', value: { a: 'b' } }) : { allowed: true }),
    auditAnnotations: { seen: at },
  }))
  {
    await using plane = await startControlPlane({
      population: false,
      audit: { path, policyPath, maxBytes: 1e9, keep: 1 },
    })
    const wire = new Wire(plane)
    const webhook = (name: string, at: string, more: object = {}): object => ({
      name: `${name}.ex.io`,
      clientConfig: { url: `${server.url}/${at}`, caBundle: server.caBundle },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    })
    const root = '/apis/admissionregistration.k8s.io/v1'
    await wire.must('POST', `${root}/mutatingwebhookconfigurations`, {
      metadata: { name: 'm' },
      webhooks: [webhook('changes', 'mutate'), webhook('looks', 'look')],
    })
    await wire.must('POST', `${root}/validatingwebhookconfigurations`, {
      metadata: { name: 'v' },
      webhooks: [
        webhook('broken', 'x', { clientConfig: { url: 'https://127.0.0.1:1/x' }, failurePolicy: 'Ignore' }),
        webhook('checks', 'validate'),
      ],
    })
    await wire.must('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'audited' } })
  }
  const events = (await readFile(path, 'utf8'))
    .split('\n')
    .flatMap((l) => (l === '' ? [] : [JSON.parse(l) as AuditEvent]))
  const own = events.find((e) => e.objectRef?.name === 'audited' && e.stage === 'ResponseComplete')
  return Object.fromEntries(Object.entries(own?.annotations ?? {}).filter(([key]) => !key.startsWith('authorization')))
}

const always = {
  'changes.ex.io/seen': '/mutate',
  'looks.ex.io/seen': '/look',
  'checks.ex.io/seen': '/validate',
  'mutation.webhook.admission.k8s.io/round_0_index_0': '{"configuration":"m","webhook":"changes.ex.io","mutated":true}',
  'mutation.webhook.admission.k8s.io/round_0_index_1': '{"configuration":"m","webhook":"looks.ex.io","mutated":false}',
  'failed-open.validating.webhook.admission.k8s.io/round_0_index_0': 'broken.ex.io',
}

test('who changed what, who was passed over, and what each had to say', async () => {
  expect(await annotations('Metadata')).toEqual(always)
})

test('the patch itself stands where bodies do', async () => {
  expect(await annotations('Request')).toEqual({
    ...always,
    'patch.webhook.admission.k8s.io/round_0_index_0':
      '{"configuration":"m","webhook":"changes.ex.io",' +
      '"patch":[{"op":"add","path":"/data","value":{"a":"b"}}],"patchType":"JSONPatch"}',
  })
})
