/** Who owns a namespace that another created, and what is left out where neither is known. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { planTemplates } from '../../src/apis/templates/plan.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import { planText } from '../../src/cli/plan-text.ts'
import type { Client } from '../../src/client/client.ts'
import { quote } from '../../src/kube/go-quote.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { oddOwners, wrongOwners } from '../support/owner-names.ts'
import { forbidden, invalidObject } from '../support/refusal.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { conditionOf, configMap, namespaceResource, PopulationWorld, refusal } from './population-world.ts'

const ownerKey = 'borough.dev/owner'
const creatorKey = 'authorization.k8s.io/creator'
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })

let world: PopulationWorld
let portal: Client
beforeEach(async () => {
  world = await PopulationWorld.start()
  portal = await allowed('portal', ['assign-owner', 'create', 'get', 'patch', 'update'])
})
afterEach(() => world[Symbol.asyncDispose]())

async function allowed(username: string, verbs: string[]): Promise<Client> {
  const metadata = { name: `test-${username}` }
  await world.admin.create(rbac('clusterroles'), {
    metadata,
    rules: [{ verbs, apiGroups: [''], resources: ['namespaces', 'namespaces/status'] }],
  })
  await world.admin.create(rbac('clusterrolebindings'), {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
  })
  return world.clientAs(username)
}

const ownedBy = (owner: string): KubeObject['metadata'] => ({ annotations: { [ownerKey]: owner } })
const about: JsonObject = configMap('about', { creator: '$(CREATOR)', owner: '$(OWNER)' })
const admins: JsonObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'admins' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: '$(OWNER)' }],
}
const annotate = (by: Client, name: string, annotations: Record<string, string | null>): Promise<KubeObject> =>
  by.patch(namespaceResource, { name }, { metadata: { annotations } })

const cannotAssign = (user: string, owner: string, name: string): Status =>
  forbidden(
    { kind: 'namespaces', name },
    `user "${user}" cannot make "${owner}" the owner of a namespace: ` +
      'annotation borough.dev/owner needs the verb "assign-owner" on namespaces',
  )
const shown = (owner: string): string => (owner.length > 128 ? `${quote(owner.slice(0, 128))}...` : quote(owner))
const invalidOwner = (name: string, owner: string, why: string): Status =>
  invalidObject({ kind: 'Namespace', name }, [
    `metadata.annotations[${ownerKey}]: Invalid value: ${shown(owner)}: ${why}`,
  ])

describe('$(OWNER)', () => {
  test("is the user for whom another created the namespace, and the rights are that user's", async () => {
    await world.template('t', [about, admins])
    await world.namespace('team', ownedBy('alice'), portal)
    expect(await world.data('team', 'about')).toEqual({ creator: 'portal', owner: 'alice' })
    const maps = { group: '', version: 'v1', resource: 'configmaps' }
    const made = { metadata: { namespace: 'team', name: 'mine' } }
    expect((await world.clientAs('alice').create(maps, made)).metadata.name).toBe('mine')
    expect((await refusal(portal.create(maps, { metadata: { ...made.metadata, name: 'theirs' } }))).code).toBe(403)
  })

  test('is the creator where no other owner was named', async () => {
    await world.template('t', [about])
    await world.namespace('team', {}, portal)
    expect(await world.data('team', 'about')).toEqual({ creator: 'portal', owner: 'portal' })
  })
})

describe('naming an owner', () => {
  test('takes the verb assign-owner, but for oneself', async () => {
    const dora = await allowed('dora', ['create'])
    expect(await refusal(world.namespace('team', ownedBy('alice'), dora))).toEqual(
      cannotAssign('dora', 'alice', 'team'),
    )
    const made = await world.namespace('own', ownedBy('dora'), dora)
    expect(made.metadata.annotations).toMatchObject({ [creatorKey]: 'dora', [ownerKey]: 'dora' })
  })

  test('takes a name', async () => {
    expect(await refusal(world.namespace('team', ownedBy(''), portal))).toEqual(
      invalidOwner('team', '', 'must name a user or a group'),
    )
  })

  test.each(wrongOwners)('takes a name that can be seen: not one with %s', async (_, owner, why) => {
    expect(await refusal(world.namespace('team', ownedBy(owner), portal))).toEqual(invalidOwner('team', owner, why))
  })

  test.each(oddOwners)('takes any other name: %s', async (owner) => {
    await world.template('t', [about])
    await world.namespace('team', ownedBy(owner), portal)
    expect(await world.data('team', 'about')).toEqual({ creator: 'portal', owner })
  })

  test('is done once: no update changes it, by whichever way', async () => {
    await world.namespace('team', ownedBy('alice'), portal)
    const why = 'the owner of a namespace does not change: it is "alice"'
    expect(await refusal(annotate(world.admin, 'team', { [ownerKey]: 'bob' }))).toEqual(
      invalidOwner('team', 'bob', why),
    )
    const there = await world.admin.get(namespaceResource, { name: 'team' })
    const next = { ...there, metadata: { ...there.metadata, annotations: { [ownerKey]: 'bob' } } }
    for (const subresource of ['status', 'finalize']) {
      expect(await refusal(world.admin.update(namespaceResource, next, { subresource }))).toEqual(
        invalidOwner('team', 'bob', why),
      )
    }
    const warned: string[] = []
    const onWarning = (text: string): void => void warned.push(text)
    const without = { metadata: { annotations: { [ownerKey]: null } } }
    const kept = await portal.patch(namespaceResource, { name: 'team' }, without, { onWarning })
    expect(kept.metadata.annotations?.[ownerKey]).toBe('alice')
    expect(warned).toEqual(['annotation borough.dev/owner stays "alice": the owner of a namespace does not change'])
    const other = { metadata: { labels: { a: 'b' } } }
    await portal.patch(namespaceResource, { name: 'team' }, other, { onWarning })
    await world.admin.update(namespaceResource, { metadata: { name: 'team' } }, { subresource: 'status', onWarning })
    expect(warned).toHaveLength(1)
  })

  test('is too late where the creator is the owner', async () => {
    await world.namespace('team', {}, portal)
    expect(await refusal(annotate(portal, 'team', { [ownerKey]: 'alice' }))).toEqual(
      invalidOwner('team', 'alice', 'the owner of a namespace does not change: it is "portal"'),
    )
    expect((await annotate(portal, 'team', { [ownerKey]: 'portal' })).metadata.annotations?.[ownerKey]).toBe('portal')
  })
})

/** As a release left it that recorded no creators. */
async function storeOlderNamespace(dataDir: string, name: string): Promise<void> {
  await using plane = await createControlPlane({
    ...defaultConfig,
    dataDir,
    storage: { engine: 'sqlite' },
    population: false,
    featureGates: { NamespaceInitializers: false },
  })
  await plane.client().create(namespaceResource, { metadata: { name } })
}

test('a namespace whose creator is not recorded is skipped, which is no failure, until an owner is named', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'borough-owner-'))
  await storeOlderNamespace(dataDir, 'older')
  await world[Symbol.asyncDispose]()
  world = await PopulationWorld.start(dataDir)
  portal = await allowed('portal', ['assign-owner', 'patch', 'get'])
  const editor = await allowed('editor', ['patch', 'get'])
  await world.template('t', [about, admins, configMap('plain')])
  const status = await world.status('t', (s) => s['skipped'] === 1)
  expect(status).toMatchObject({ matched: 1, synced: 0, failed: 0, skipped: 1 })
  expect(status).not.toHaveProperty('failures')
  expect(conditionOf(status, 'Synced')).toMatchObject({
    status: 'True',
    message:
      'Every selected namespace holds what the template says; ' +
      'in 1 of them what names a creator or owner is left out, for none is recorded',
  })
  expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', reason: 'Complete' })
  expect(await world.data('older', 'plain')).toEqual({ a: '1' })
  expect(await world.data('older', 'about')).toBeUndefined()
  expect(await world.eventsAbout('NamespaceTemplate', 'PopulationOwnerUnknown', 'default')).toEqual([
    'RoleBinding/admins in namespace older: it names $(OWNER), and none is recorded of this namespace',
  ])
  const namespace = await world.admin.get(namespaceResource, { name: 'older' })
  expect(JSON.stringify(namespace['status'])).not.toContain('Populated')

  const template = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata: { name: 't' } }
  const spec = { templates: [about, configMap('plain')], namespaces: { nameSelector: { include: ['older'] } } }
  const deps = { client: world.admin, clock: systemClock, signal: new AbortController().signal }
  const [plan] = await planTemplates(deps, [{ ...template, spec }])
  const message = 'it names $(CREATOR), and none is recorded of this namespace'
  const leftOut = { object: 'ConfigMap/about', action: 'skip', reason: 'CreatorUnknown', message } as const
  expect(plan?.namespaces).toEqual([{ namespace: 'older', objects: [leftOut] }])
  expect(plan && planText(plan)).toBe(
    'template t selects 1 namespace\n\nin older\n' +
      `  ? ConfigMap/about: CreatorUnknown: ${message}\n\nNothing would change.\n`,
  )

  expect(await refusal(annotate(editor, 'older', { [ownerKey]: 'alice' }))).toEqual(
    cannotAssign('editor', 'alice', 'older'),
  )
  await annotate(portal, 'older', { [ownerKey]: 'alice' })
  const binding = await waitFor(world.admin, rbac('rolebindings'), { namespace: 'older', name: 'admins' }, isThere)
  expect(binding?.['subjects']).toMatchObject([{ name: 'alice' }])
  // Who created it is not known by that.
  expect(await world.data('older', 'about')).toBeUndefined()
  await world.edit('t', { templates: [admins, configMap('plain')] })
  await world.status('t', (s) => s['synced'] === 1 && s['skipped'] === 0)
})

test('a RoleBinding is withheld there whose Role names the creator: another may grant anything', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'borough-owner-'))
  await storeOlderNamespace(dataDir, 'older')
  await world[Symbol.asyncDispose]()
  world = await PopulationWorld.start(dataDir)
  const role = (metadata: object, ...rules: object[]): KubeObject =>
    ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules }) as KubeObject
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  await world.admin.create(rbac('roles'), role({ namespace: 'older', name: 'r' }, everything))
  const binding = {
    ...admins,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects: [],
  }
  const named = role({ name: 'r', annotations: { of: '$(CREATOR)' } })
  await world.template('t', [named as unknown as JsonObject, binding, configMap('plain')])
  const { failures } = await world.status('t', (s) => s['failed'] === 1)
  expect(failures).toEqual([
    {
      ...{ namespace: 'older', object: 'RoleBinding/admins', reason: 'RoleNotOurs' },
      message: 'Role/r, which it binds and its template holds, is not made by its template',
    },
  ])
  expect(await world.data('older', 'plain')).toEqual({ a: '1' })
  expect((await world.admin.list(rbac('rolebindings'), { namespace: 'older' })).items).toEqual([])
})
