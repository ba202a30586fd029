/** `borough why` of a deletion that a webhook or a policy refuses: which one, whose it is, and what helps. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Explanation, explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { systemClock } from '../../src/base/clock.ts'
import { explanationText } from '../../src/cli/explanation-text.ts'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/wait-for.ts'
import { startWebhookServer, type WebhookServer } from '../support/webhook-server.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const admission = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })
const namespaces = core('namespaces')
const name = 'team-a'

let server: WebhookServer
let plane: TestControlPlane
let client: Client
beforeAll(async () => {
  server = await startWebhookServer()
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  server.answer = () => ({ allowed: false, status: { message: 'not on a Friday', code: 403 } })
  plane = await startControlPlane({ population: false })
  ;({ client } = plane)
  await client.create(namespaces, { metadata: { name } })
  await client.create(core('configmaps'), { metadata: { namespace: name, name: 'kept' } })
})
afterEach(() => plane[Symbol.asyncDispose]())

const why = (as = client): Promise<Explanation> => explainNamespace(as, name, systemClock, AbortSignal.timeout(60_000))
const create = (resource: string, object: object): Promise<KubeObject> =>
  client.create(admission(resource), object as KubeObject)

const refuseByWebhook = (resource: string, url = server.url, path = 'x'): Promise<KubeObject> =>
  create('validatingwebhookconfigurations', {
    metadata: { name: 'fridays' },
    webhooks: [
      {
        name: 'fridays.ex.io',
        clientConfig: { url: `${url}/${path}`, caBundle: server.caBundle },
        rules: [{ operations: ['DELETE', 'UPDATE'], apiGroups: [''], apiVersions: ['*'], resources: [resource] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })

async function refuseByPolicy(resource: string): Promise<void> {
  const rule = { operations: ['DELETE'], apiGroups: [''], apiVersions: ['*'], resources: [resource] }
  await create('validatingadmissionpolicies', {
    metadata: { name: 'keep' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false', message: 'keep it' }] },
  })
  const spec = { policyName: 'keep', validationActions: ['Deny'] }
  await create('validatingadmissionpolicybindings', { metadata: { name: 'keep-here' }, spec })
}

/** The deletion was tried and refused. */
async function stuck(): Promise<void> {
  await client.delete(namespaces, { name })
  await waitFor(client, namespaces, { name }, (n) => JSON.stringify(n?.['status']).includes('"ContentDeletionFailed"'))
}

const byWebhook = (refused: string) => ({
  what: `admission webhook fridays.ex.io refuses ${refused}`,
  who: 'the owner of ValidatingWebhookConfiguration fridays, which has it',
  helps: [
    {
      command: 'kubectl get validatingwebhookconfigurations fridays -o yaml',
      effect: 'what it is asked about, and where it answers',
    },
    {
      command: 'kubectl delete validatingwebhookconfigurations fridays',
      effect: 'only if it should not be asked at all: it is asked about nothing any more',
    },
  ],
})
const byPolicy = (refused: string) => ({
  what: `ValidatingAdmissionPolicy keep refuses ${refused}`,
  who: 'the owner of ValidatingAdmissionPolicyBinding keep-here, by which it applies here',
  helps: [
    { command: 'kubectl get validatingadmissionpolicy keep -o yaml', effect: 'what it demands' },
    {
      command:
        'kubectl patch validatingadmissionpolicybinding keep-here --type=merge -p ' +
        `'{"spec":{"validationActions":["Warn"]}}'`,
      effect: 'only if it should not refuse this: it warns instead, here and wherever the binding applies',
    },
  ],
})
const waits = {
  what: 'configmaps/kept, configmaps/kube-root-ca.crt were not deleted yet',
  who: 'namespace-controller: it goes on when the above is gone (pods go first, roles and their bindings last)',
  helps: [],
}

describe('where the deletion of what is in it is refused', () => {
  test('a webhook is named with its configuration', async () => {
    await refuseByWebhook('configmaps')
    await stuck()
    const { obstacles, reports } = await why()
    expect(obstacles).toEqual([byWebhook('the deletion of what is left'), waits])
    expect(reports[0]?.message).toContain('not on a Friday')
  })

  test('a policy is named with its binding, and what helps does', async () => {
    await refuseByPolicy('configmaps')
    await stuck()
    expect((await why()).obstacles).toEqual([byPolicy('the deletion of what is left'), waits])
    const patch = { spec: { validationActions: ['Warn'] } }
    await client.patch(admission('validatingadmissionpolicybindings'), { name: 'keep-here' }, patch)
    // The controller tries again by itself.
    await waitFor(client, namespaces, { name }, (n) => n === undefined)
  })

  test('a webhook that does not answer is told from one that refuses', async () => {
    await refuseByWebhook('configmaps', `https://127.0.0.1:${await freePort()}`)
    await stuck()
    const [first] = (await why()).obstacles
    expect(first).toMatchObject({
      what: 'admission webhook fridays.ex.io does not answer, and must be asked about the deletion of what is left',
      who: 'the owner of ValidatingWebhookConfiguration fridays, which has it',
    })
    expect(first?.helps[0]?.effect).toBe('where it should answer: does it run there?')
  })

  test('who may not read the configurations is told the name of the webhook', async () => {
    await refuseByWebhook('configmaps')
    await stuck()
    const rule = { apiGroups: [''], resources: ['*'], verbs: ['get', 'list'] }
    const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
    await client.create(rbac('clusterroles'), { metadata: { name: 'reader' }, rules: [rule] } as KubeObject)
    await client.create(rbac('clusterrolebindings'), {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }],
    } as KubeObject)
    const list = 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o wide'
    expect((await why(plane.clientAs('dora'))).obstacles[0]).toEqual({
      what: 'admission webhook fridays.ex.io refuses the deletion of what is left',
      who: 'the owner of the configuration of fridays.ex.io (you may not read the configurations)',
      helps: [{ command: list, effect: 'which of them has fridays.ex.io' }],
    })
  })
})

describe('where the deletion of the namespace itself is refused', () => {
  test.each([
    { by: 'a webhook', refuse: () => refuseByWebhook('namespaces'), want: byWebhook('its deletion') },
    { by: 'a policy', refuse: () => refuseByPolicy('namespaces'), want: byPolicy('its deletion') },
  ])('$by is found by a dry run, and named', async ({ refuse, want }) => {
    await refuse()
    const told = await why()
    expect(told).toEqual({ namespace: name, state: 'Active', held: false, obstacles: [want], reports: [], notes: [] })
    expect(explanationText(told, 0)).toMatch(
      /^Namespace team-a is Active\.\nNothing holds it, but its deletion would be refused:\n\n\* /,
    )
    expect((await client.get(namespaces, { name })).metadata.deletionTimestamp).toBeUndefined()
  })

  test('the update that lets an empty namespace go is rehearsed too', async () => {
    await refuseByWebhook('namespaces/finalize')
    await client.delete(namespaces, { name })
    await waitFor(client, core('configmaps'), { namespace: name, name: 'kept' }, (o) => o === undefined)
    await expect.poll(async () => (await why()).obstacles).toEqual([byWebhook('the update that lets it go')])
  })
})
