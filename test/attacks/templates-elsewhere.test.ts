/** The same attacks as in `templates.test.ts` on a cluster that `borough populate` serves: asked of its webhooks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rollbackTemplate } from '../../src/apis/templates/rollback.ts'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { clusterRoleBindingsResource, clusterRolesResource, type PolicyRule } from '../../src/kube/rbac.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { type Populate, startPopulate } from '../../src/populate/populate.ts'
import { allow, clusterRole, clusterRoleBinding, user } from '../support/fake-rbac-source.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { failure, refusal } from '../support/refusal.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const requirePermission = 'policy/namespace-template-require-permission'
const applied = 'policy/namespace-template-apply'
const creatorKey = 'authorization.k8s.io/creator'
const ownerKey = 'borough.dev/owner'
const pending = 'policy/namespace-template-pending'

let plane: OtherCluster
let populate: Populate
let admin: Client
let wire: Wire

async function grant(name: string, ...rules: PolicyRule[]): Promise<void> {
  await admin.create(clusterRolesResource, clusterRole(name, ...rules))
  await admin.create(clusterRoleBindingsResource, clusterRoleBinding(name, name, user(name)))
}

const template = (name: string, annotations: Record<string, string>): KubeObject => ({
  apiVersion: 'policy.borough.dev/v1alpha1',
  kind: 'NamespaceTemplate',
  metadata: { name, annotations },
  spec: {
    namespaces: { labelSelector: { matchLabels: { tier: name } } },
    templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `of-${name}` } }],
  },
})

beforeAll(async () => {
  plane = await startOtherCluster()
  admin = plane.client
  wire = new Wire(plane)
  populate = await startPopulate({
    client: admin,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'borough-system',
    reachedAt: 'listen',
    admission: 'webhooks',
  })
  await grant(
    'mallory',
    allow('create,get,list,update,patch,delete', 'policy.borough.dev', 'namespacetemplates,namespacetemplates/status'),
    allow('list', 'apps', 'controllerrevisions'),
  )
  await grant('owner', allow('get,update,patch', '', 'namespaces,namespaces/status,namespaces/finalize'))
  await grant('trusted', allow('patch', '', 'namespaces'), allow('use', 'policy', 'namespacetemplates'))
  await admin.create(templates, template('gold', { [requirePermission]: 'true' }))
  await admin.create(templates, template('dormant', { [applied]: 'disable' }))
  await admin.create(namespaces, {
    metadata: { name: 'team', annotations: { [ownerKey]: 'alice' }, labels: { tier: 'gold' } },
  })
  const isOpen = (o: KubeObject | undefined): boolean => isThere(o) && o?.metadata.labels?.[pending] === undefined
  await waitFor(admin, namespaces, { name: 'team' }, isOpen)
  await waitFor(admin, configMaps, { namespace: 'team', name: 'of-gold' }, isThere)
})
afterAll(async () => {
  await populate?.[Symbol.asyncDispose]()
  await plane?.[Symbol.asyncDispose]()
})

const denied = (webhook: string, message: string, details: object): unknown =>
  failure({
    message: `admission webhook "${webhook}.population.borough.dev" denied the request: ${message}`,
    reason: 'Forbidden',
    details,
    code: 403,
  })

describe('attack: an author who may write all objects, and not escalate, hides a binding in a token', () => {
  const rbac = 'rbac.authorization.k8s.io'
  const boss = (change: JsonObject): JsonObject => ({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'boss' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'writer' }],
    ...change,
  })
  const made = (object: JsonObject): Promise<unknown> => {
    const role = { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'cluster-admin' } }
    const hiding = { ...template('hiding', {}), spec: { templates: [role, object] } }
    return refusal(plane.clientAs('writer').create(templates, hiding))
  }
  beforeAll(() => grant('writer', allow('create,patch,delete', '*', '*')))

  test('as the kind of the role, where the template has a Role of that name', async () => {
    expect(await made(boss({ roleRef: { apiGroup: rbac, kind: '$(CREATOR)', name: 'cluster-admin' } }))).toMatchObject({
      code: 422,
      details: {
        causes: [
          {
            field: 'spec.templates[1].roleRef.kind',
            message:
              'Invalid value: "$(CREATOR)": a token can not stand here: the rights of the author depend on the role ' +
              'that is bound',
          },
        ],
      },
    })
  })

  // An API server refuses such a `kind` by itself.
  test('in its apiVersion', async () => {
    const apiVersion = '$(NAMESPACE).authorization.k8s.io/v1'
    expect(await made(boss({ apiVersion }))).toMatchObject({
      code: 422,
      details: {
        causes: [
          {
            field: 'spec.templates[1].apiVersion',
            message:
              `Invalid value: "${apiVersion}": a token can not stand here: the rights of the author depend on the ` +
              'kind of the object',
          },
        ],
      },
    })
  })
})

describe('attack: an author of templates widens one that gives more than they hold', () => {
  const lack = 'needs "create", "patch", "delete" on configmaps in all namespaces'
  const askedAuthor = (name: string): unknown =>
    denied(
      'check',
      `namespacetemplates.policy.borough.dev "${name}" is forbidden: user "mallory" can't ` +
        `give through a template what they may not do themselves: spec.templates[0]: ${lack}`,
      {
        name,
        group: 'policy.borough.dev',
        kind: 'namespacetemplates',
        causes: [{ reason: 'FieldValueForbidden', message: lack, field: 'spec.templates[0]' }],
      },
    )
  const widenings: readonly { name: string; of: string; patch: JsonObject }[] = [
    { name: 'the guard is taken off', of: 'gold', patch: { metadata: { annotations: { [requirePermission]: null } } } },
    {
      name: 'the guard says "True"',
      of: 'gold',
      patch: { metadata: { annotations: { [requirePermission]: 'True' } } },
    },
    { name: 'all annotations are null', of: 'gold', patch: { metadata: { annotations: null } } },
    { name: 'it is enabled', of: 'dormant', patch: { metadata: { annotations: { [applied]: null } } } },
    { name: 'it selects everything', of: 'gold', patch: { spec: { namespaces: null } } },
    { name: 'it adopts', of: 'gold', patch: { spec: { adopt: true } } },
    { name: 'it orphans no more', of: 'gold', patch: { spec: { deletionPolicy: 'Delete' } } },
  ]
  test.each(widenings)('$name', async ({ of, patch }) => {
    expect(await refusal(plane.clientAs('mallory').patch(templates, { name: of }, patch))).toEqual(askedAuthor(of))
  })

  test('the guard is taken off by way of the status', async () => {
    const patch = { metadata: { annotations: { [requirePermission]: null } } }
    await plane.clientAs('mallory').patch(templates, { name: 'gold' }, patch, { subresource: 'status' })
    const { metadata } = await admin.get(templates, { name: 'gold' })
    expect(metadata.annotations).toEqual({ [requirePermission]: 'true' })
  })

  test('it goes back to what it gave before', async () => {
    await admin.create(templates, template('tamed', {}))
    const revisions = async (): Promise<number> =>
      (
        await admin.list(
          { group: 'apps', version: 'v1', resource: 'controllerrevisions' },
          { namespace: 'kube-system', labelSelector: 'policy.borough.dev/namespace-template=tamed' },
        )
      ).items.length
    await expect.poll(revisions).toBe(1)
    await admin.patch(templates, { name: 'tamed' }, { spec: { templates: [] } })
    await expect.poll(revisions).toBe(2)
    const back = rollbackTemplate(plane.clientAs('mallory'), { name: 'tamed', dryRun: false }, AbortSignal.timeout(9e4))
    expect(await refusal(back)).toEqual(askedAuthor('tamed'))
  })
})

describe('attack: the owner of a namespace', () => {
  const path = '/api/v1/namespaces/team'
  const types = { merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' }
  const about = { name: 'team', kind: 'namespaces' }
  const leaving =
    'namespaces "team" is forbidden: user "owner" cannot use namespacetemplates "gold", ' +
    'which would no longer select this namespace'

  const patches = Object.values(types).flatMap((type) => [
    { place: '', by: 'admit', type },
    { place: '/status', by: 'relabel', type },
  ])
  test.each(patches)('leaves a template that needs a permission at namespaces/team$place, by $type', async (how) => {
    const body = { metadata: { labels: { tier: null } } }
    const answer = await wire.as('owner').call('PATCH', `${path}${how.place}`, body, how.type)
    expect(answer.body).toEqual(denied(how.by, leaving, about))
  })

  test.each([
    { place: '', by: 'admit' },
    { place: '/status', by: 'relabel' },
    { place: '/finalize', by: 'relabel' },
  ])('leaves it by PUT of namespaces/team$place', async ({ place, by }) => {
    const { metadata, ...rest } = await wire.must('GET', path)
    const { tier: _, ...labels } = metadata.labels ?? {}
    const body = { ...rest, metadata: { ...metadata, labels } }
    expect((await wire.as('owner').call('PUT', `${path}${place}`, body)).body).toEqual(denied(by, leaving, about))
  })

  test('leaves it by an apply', async () => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { labels: { tier: 'none' } } }
    const query = '?fieldManager=owner&force=true'
    const answer = await wire.as('owner').call('PATCH', `${path}${query}`, body, 'application/apply-patch+yaml')
    expect(answer.body).toEqual(denied('admit', leaving, about))
  })

  test.each([
    {
      name: 'becomes its creator',
      metadata: { annotations: { [creatorKey]: 'owner' } },
      why: `annotation ${creatorKey} says who created a namespace, and that is kubernetes-admin`,
    },
    {
      name: 'becomes its creator to selectors',
      metadata: { labels: { [creatorKey]: 'owner' } },
      why: `label ${creatorKey} says who created a namespace, and that is kubernetes-admin`,
    },
    {
      name: 'takes out who owns it',
      metadata: { annotations: { [ownerKey]: null } },
      why: `annotation ${ownerKey} says who owns a namespace, and that is alice`,
    },
    {
      name: 'shuts its gate',
      metadata: { labels: { [pending]: 'true' } },
      why: `label ${pending} is changed by holders of the verb "initialize" on the namespace alone`,
    },
  ])('$name by way of the status', async ({ metadata, why }) => {
    const answer = await wire.as('owner').call('PATCH', `${path}/status`, { metadata }, types.merge)
    expect(answer.body).toEqual(denied('relabel', `namespaces "team" is forbidden: ${why}`, about))
  })

  test('changes other labels, in both places; holders of `use` may leave', async () => {
    for (const place of ['', '/status']) {
      const metadata = { labels: { note: `x${place.length}` } }
      await wire.as('owner').must('PATCH', `${path}${place}`, { metadata }, types.merge)
    }
    await plane.clientAs('trusted').patch(namespaces, { name: 'team' }, { metadata: { labels: { tier: null } } })
    await waitFor(admin, configMaps, { namespace: 'team', name: 'of-gold' }, isGone)
  })
})

test('namespaces go while nobody answers the webhooks', async () => {
  await admin.create(namespaces, { metadata: { name: 'going' } })
  await populate[Symbol.asyncDispose]()
  const patch = { metadata: { labels: { a: 'b' } } }
  expect((await refusal(admin.patch(namespaces, { name: 'going' }, patch))).code).toBe(500)
  await admin.delete(namespaces, { name: 'going' })
  await waitFor(admin, namespaces, { name: 'going' }, isGone)
})
