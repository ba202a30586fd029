/**
 * While an edit or a deletion is stopped the version before it is in force: existing namespaces keep what it gave, and
 * new ones are given it where the newest version is not for them.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import {
  conditionOf,
  configMap,
  configMapResource,
  namespaceResource,
  PopulationWorld,
  refusal,
  templateResource,
} from './population-world.ts'

const tier = (value: string): JsonObject => ({ labelSelector: { matchLabels: { tier: value } } })
const level = 'pod-security.kubernetes.io/enforce'
const expiry = 'borough.dev/expires-at'
const stopped = (s: JsonObject): boolean => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes'

/** Two namespaces hold a ConfigMap, a level of Pod Security and an end; an edit may take them from none. */
async function start(more: JsonObject = {}, dataDir?: string): Promise<PopulationWorld> {
  const world = await PopulationWorld.start(dataDir)
  await world.template('t', [configMap('one')], {
    namespaces: tier('a'),
    namespaceMetadata: { labels: { [level]: 'restricted' } },
    expiry: { default: '720h' },
    rollout: { maxPrune: 0 },
    ...more,
  })
  await world.namespaces(2, { labels: { tier: 'a' } })
  await world.status('t', (s) => s['synced'] === 2)
  return world
}

const create = (world: PopulationWorld, name: string, labels: Record<string, string>): Promise<KubeObject> =>
  world.admin.create(namespaceResource, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })

async function expectGiven(world: PopulationWorld, name: string, data: JsonObject = { a: '1' }): Promise<void> {
  const { metadata } = await world.admin.get(namespaceResource, { name })
  expect([metadata.labels?.[level], metadata.annotations?.[expiry]]).toEqual(['restricted', expect.any(String)])
  expect(await world.data(name, 'one')).toEqual(data)
}

async function expectNothing(world: PopulationWorld, name: string): Promise<void> {
  const { metadata } = await world.admin.get(namespaceResource, { name })
  expect([metadata.labels?.[level], metadata.annotations?.[expiry]]).toEqual([undefined, undefined])
  expect(await world.data(name, 'one')).toBeUndefined()
}

describe('a mistyped selector that is stopped', () => {
  test('leaves new namespaces what the version before gives, once they are handed out', async () => {
    await using world = await start()
    await world.edit('t', { namespaces: tier('typo') })
    expect(await world.status('t', stopped)).toMatchObject({ observedGeneration: 2, heldGeneration: 1 })
    await create(world, 'new', { tier: 'a' })
    await expectGiven(world, 'new')
    await create(world, 'other', { tier: 'x' })
    await expectNothing(world, 'other')
    // The newest is for it.
    await create(world, 'typo', { tier: 'typo' })
    await expectGiven(world, 'typo')
  })

  test('gives to a namespace that is relabelled, and lets no client take it away', async () => {
    await using world = await start()
    await create(world, 'late', { tier: 'x' })
    await world.edit('t', { namespaces: tier('typo') })
    await world.status('t', stopped)
    await world.admin.patch(namespaceResource, { name: 'late' }, { metadata: { labels: { tier: 'a' } } })
    await waitFor(world.admin, configMapResource, { namespace: 'late', name: 'one' }, (o) => o !== undefined)
    await expectGiven(world, 'late')
    const removal = world.admin.patch(namespaceResource, { name: 'late' }, { metadata: { labels: { [level]: null } } })
    await expect(removal).rejects.toThrow(/template "t" sets it to "restricted"/)
  })

  test('takes all away when it is confirmed, from those that were new meanwhile too', async () => {
    await using world = await start()
    await world.edit('t', { namespaces: tier('typo') })
    await world.status('t', stopped)
    await create(world, 'new', { tier: 'a' })
    const annotations = { 'policy.borough.dev/confirm-prune': '2' }
    await world.admin.patch(templateResource, { name: 't' }, { metadata: { annotations } })
    const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Complete')
    expect(status).not.toHaveProperty('heldGeneration')
    for (const name of ['ns-0', 'ns-1', 'new']) expect(await world.data(name, 'one')).toBeUndefined()
    await create(world, 'newer', { tier: 'a' })
    await expectNothing(world, 'newer')
  })

  test('costs nothing once it is taken back: the new one is as those before', async () => {
    await using world = await start()
    await world.edit('t', { namespaces: tier('typo') })
    await world.status('t', stopped)
    await create(world, 'new', { tier: 'a' })
    await world.edit('t', { namespaces: tier('a') })
    const status = await world.status('t', (s) => s['synced'] === 3)
    expect(status).not.toHaveProperty('heldGeneration')
    await expectGiven(world, 'new')
  })

  test('after an edit that was made while only a newer version understood the template', async () => {
    await using world = await start()
    const needs = (feature: string | null): Promise<unknown> => {
      const annotations = { 'policy.borough.dev/feature-level': feature }
      return world.admin.patch(templateResource, { name: 't' }, { metadata: { annotations } })
    }
    const isNewer = (s: JsonObject): boolean => conditionOf(s, 'Progressing')?.['reason'] === 'NewerTemplate'
    await needs('99')
    await world.status('t', isNewer)
    await world.edit('t', { namespaces: tier('typo') })
    await world.status('t', (s) => isNewer(s) && s['observedGeneration'] === 2)
    await needs(null)
    expect(await world.status('t', stopped)).toMatchObject({ observedGeneration: 2, heldGeneration: 1 })
    await create(world, 'new', { tier: 'a' })
    await expectGiven(world, 'new')
  })

  test('and a dozen on top of it: what is in force is still the last that reached namespaces', async () => {
    await using world = await start()
    for (let n = 2; n <= 14; n++) {
      await world.edit('t', { namespaces: tier(`typo-${n}`), templates: [configMap('one', { a: String(n) })] })
    }
    const status = await world.status('t', (s) => stopped(s) && s['observedGeneration'] === 14)
    expect(status).toMatchObject({ heldGeneration: 1 })
    await create(world, 'new', { tier: 'a' })
    await expectGiven(world, 'new')
  })
})

test('a namespace that is created right behind the edit, before that is stopped, is given it then', async () => {
  await using world = await start()
  await world.edit('t', { namespaces: tier('typo') })
  await create(world, 'new', { tier: 'a' })
  await waitFor(world.admin, configMapResource, { namespace: 'new', name: 'one' }, isThere)
  const isGuarded = (n: KubeObject | undefined): boolean => n?.metadata.labels?.[level] === 'restricted'
  await waitFor(world.admin, namespaceResource, { name: 'new' }, isGuarded)
})

test('an edit before the first status is stopped as any other, and the first version in force', async () => {
  await using world = await PopulationWorld.start()
  await world.namespaces(2, { labels: { tier: 'a' } })
  const spec = { namespaces: tier('a'), rollout: { maxPrune: 0 } }
  await world.template('t', [configMap('one')], spec)
  await waitFor(world.admin, configMapResource, { namespace: 'ns-0', name: 'one' }, isThere)
  await world.edit('t', { namespaces: tier('typo') })
  expect(await world.status('t', stopped)).toMatchObject({ observedGeneration: 2, heldGeneration: 1 })
  await create(world, 'new', { tier: 'a' })
  expect(await world.data('new', 'one')).toEqual({ a: '1' })
})

test('of two edits that are stopped neither is the way back: what is in force is', async () => {
  await using world = await start()
  for (const typo of ['typo', 'other']) {
    const { metadata } = await world.edit('t', { namespaces: tier(typo) })
    await world.status('t', (s) => stopped(s) && s['observedGeneration'] === metadata.generation)
  }
  const { message } = conditionOf(await world.status('t', stopped), 'Progressing') as { message: string }
  expect(message).toContain(
    'go back to generation 1, which is in force, with: borough template rollback t --to-generation 1',
  )
})

test('the next controller, and a server that begins in a stop, go on with what is in force', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'borough-held-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const world = await start({}, dataDir)
  await world.edit('t', { namespaces: tier('typo') })
  await world.status('t', stopped)
  await world[Symbol.asyncDispose]()
  await using next = await PopulationWorld.start(dataDir)
  await create(next, 'new', { tier: 'a' })
  await expectGiven(next, 'new')
  expect(await next.status('t', stopped)).toMatchObject({ observedGeneration: 2, heldGeneration: 1 })
})

test('where an administrator has deleted the revision that is in force, the status says so', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'borough-held-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const world = await start({}, dataDir)
  await world.edit('t', { namespaces: tier('typo') })
  await world.status('t', stopped)
  const revisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' }
  await world.admin.delete(revisions, { namespace: 'kube-system', name: 'namespacetemplate-t-1' })
  await world[Symbol.asyncDispose]()
  await using next = await PopulationWorld.start(dataDir)
  const lost =
    '; generation 1, which is in force, is not kept any more (ControllerRevision ' +
    'kube-system/namespacetemplate-t-1): namespaces that only it selects are given nothing'
  const messageOf = (s: JsonObject): string => String(conditionOf(s, 'Progressing')?.['message'])
  const status = await next.status('t', (s) => messageOf(s).endsWith(lost))
  expect(status).toMatchObject({ heldGeneration: 1 })
  await create(next, 'new', { tier: 'a' })
  await expectNothing(next, 'new')
  expect(await next.data('ns-0', 'one')).toEqual({ a: '1' })
})

test('while all templates are paused an edit reaches new namespaces no more than those that exist', async () => {
  await using world = await start({ rollout: {} })
  const config = { namespace: 'kube-system', name: 'borough-population' }
  await world.admin.create(configMapResource, { metadata: config, data: { paused: 'true' } })
  await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'PopulationPaused')
  await world.edit('t', { namespaces: tier('typo') })
  await world.status('t', (s) => s['heldGeneration'] === 1)
  await create(world, 'new', { tier: 'a' })
  await expectGiven(world, 'new')
  await world.admin.delete(configMapResource, config)
  await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Complete')
  for (const name of ['ns-0', 'new']) expect(await world.data(name, 'one')).toBeUndefined()
})

test('a draft, made disabled and corrected before it is enabled, is never in force', async () => {
  await using world = await PopulationWorld.start()
  const spec = { namespaces: tier('a'), namespaceMetadata: { labels: { [level]: 'privileged' } }, templates: [] }
  const off = { 'policy/namespace-template-apply': 'disable' }
  await world.admin.create(templateResource, { metadata: { name: 't', annotations: off }, spec })
  expect(await world.status('t', (s) => s['observedGeneration'] === 1)).toMatchObject({ heldGeneration: 0 })
  await world.edit('t', { namespaces: tier('b'), namespaceMetadata: { labels: { [level]: 'restricted' } } })
  expect(await world.status('t', (s) => s['observedGeneration'] === 2)).toMatchObject({ heldGeneration: 0 })
  const config = { namespace: 'kube-system', name: 'borough-population' }
  await world.admin.create(configMapResource, { metadata: config, data: { paused: 'true' } })
  const annotations = { 'policy/namespace-template-apply': null }
  await world.admin.patch(templateResource, { name: 't' }, { metadata: { annotations } })
  await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'PopulationPaused')
  const labelsOf = async (name: string, value: string) => (await create(world, name, { tier: value })).metadata.labels
  expect(await labelsOf('of-the-draft', 'a')).not.toHaveProperty(level)
  expect(await labelsOf('new', 'b')).toMatchObject({ [level]: 'restricted' })
  await world.admin.delete(configMapResource, config)
  expect(await world.status('t', (s) => s['synced'] === 1)).not.toHaveProperty('heldGeneration')
})

test('a deletion that is stopped goes on giving, to new ones and where an object is taken away', async () => {
  await using world = await start()
  await world.admin.delete(templateResource, { name: 't' })
  await world.status('t', stopped)
  await create(world, 'new', { tier: 'a' })
  await expectGiven(world, 'new')
  await world.admin.delete(configMapResource, { namespace: 'new', name: 'one' })
  await waitFor(world.admin, configMapResource, { namespace: 'new', name: 'one' }, (o) => o !== undefined)
})

test('a deletion that is stopped gives nothing when what held it is gone, and the template goes', async () => {
  await using world = await start()
  await world.admin.delete(templateResource, { name: 't' })
  expect(await world.status('t', stopped)).toMatchObject({ heldGeneration: 1 })
  for (const name of ['ns-0', 'ns-1']) await world.admin.delete(namespaceResource, { name })
  await waitFor(world.admin, templateResource, { name: 't' }, (t) => t === undefined)
  await create(world, 'new', { tier: 'a' })
  await expectNothing(world, 'new')
})

test('a copy that only the version in force makes comes as soon as its source consents', async () => {
  const source = { namespace: 'platform', name: 'shared' }
  const cloneFrom = { ...source, apiVersion: 'v1', kind: 'ConfigMap' }
  await using world = await start()
  await world.namespace('platform')
  await world.edit('t', { objects: [{ cloneFrom }], failurePolicy: 'Ignore' })
  await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'CompleteWithFailures')
  await world.edit('t', { namespaces: tier('typo'), objects: [], templates: [] })
  await world.status('t', stopped)
  await create(world, 'new', { tier: 'a' })
  await world.admin.delete(configMapResource, { namespace: 'new', name: 'one' })
  await world.admin.create(configMapResource, {
    metadata: { ...source, annotations: { 'policy.borough.dev/clone-to': '*' } },
    data: { of: 'platform' },
  })
  const copy = await waitFor(world.admin, configMapResource, { namespace: 'new', name: 'shared' }, isThere)
  expect(copy?.['data']).toEqual({ of: 'platform' })
})

describe('attack: a protected object, while what protects it is stopped', () => {
  const quotaResource = { group: '', version: 'v1', resource: 'resourcequotas' }
  const quota = (pods: string): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' } },
    spec: { hard: { pods } },
  })
  const only = { namespace: 'ns-0', name: 'quota' }

  /** A tenant and an author who may write quotas, and may not bypass. */
  async function guarded(): Promise<{ readonly world: PopulationWorld; readonly mallory: Client }> {
    const world = await start({ objects: [{ protect: true, template: quota('10') }], driftPolicy: 'Report' })
    await world.admin.create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }, {
      metadata: { name: 'mallory' },
      rules: [
        { verbs: ['*'], apiGroups: [''], resources: ['resourcequotas'] },
        { verbs: ['create', 'patch'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
      ],
    } as KubeObject)
    await world.admin.create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }, {
      metadata: { name: 'mallory' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'mallory' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
    } as KubeObject)
    return { world, mallory: world.clientAs('mallory') }
  }
  const another = { metadata: { name: 'first' }, spec: { namespaces: tier('a'), templates: [quota('1000')] } }

  test.each([
    { name: 'a mistyped selector', change: (w: PopulationWorld) => w.edit('t', { namespaces: tier('typo') }) },
    { name: 'an edit that drops it', change: (w: PopulationWorld) => w.edit('t', { objects: [] }) },
    { name: 'a deletion', change: (w: PopulationWorld) => w.admin.delete(templateResource, { name: 't' }) },
  ])('by $name: no tenant changes it, and no other template takes its place', async ({ change }) => {
    const { world, mallory } = await guarded()
    await using _ = world
    await change(world)
    await world.status('t', stopped)
    const write = await refusal(mallory.patch(quotaResource, only, { spec: { hard: { pods: '1000' } } }))
    expect(write.message).toMatch(/template "t" protects it; holders of the verb "bypass"/)
    const place = await refusal(mallory.create(templateResource, another))
    expect(place.message).toMatch(/takes the place of ResourceQuota\/quota of template "t", which protects it/)
    expect((await world.admin.get(quotaResource, only))['spec']).toEqual({ hard: { pods: '10' } })
  })
})

describe('attack: an author opens what an administrator wrote, once it is in force beside a harmless edit', () => {
  const guard = 'policy/namespace-template-require-permission'
  const rbac = 'rbac.authorization.k8s.io'
  const binding = {
    ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name: 'boss' } },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: '$(CREATOR)' }],
  }
  const emptied = { namespaces: tier('typo'), templates: [] }

  async function author(world: PopulationWorld): Promise<Client> {
    const bind = (name: string) =>
      world.admin.create({ group: rbac, version: 'v1', resource: 'clusterrolebindings' }, {
        metadata: { name: `mallory-${name}` },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'mallory' }],
      } as KubeObject)
    await world.admin.create({ group: rbac, version: 'v1', resource: 'clusterroles' }, {
      metadata: { name: 'binder' },
      rules: [
        { verbs: ['*'], apiGroups: [rbac], resources: ['rolebindings'] },
        { verbs: ['create', 'get', 'patch'], apiGroups: [''], resources: ['namespaces'] },
      ],
    } as KubeObject)
    await bind('borough:template-author')
    await bind('binder')
    return world.clientAs('mallory')
  }

  async function privileged(): Promise<{ readonly world: PopulationWorld; readonly mallory: Client }> {
    const world = await PopulationWorld.start()
    const mallory = await author(world)
    const spec = { namespaces: tier('a'), rollout: { maxPrune: 0 }, templates: [binding] }
    await world.admin.create(templateResource, { metadata: { name: 't', annotations: { [guard]: 'true' } }, spec })
    await world.namespaces(2, { labels: { tier: 'a' } })
    await world.status('t', (s) => s['synced'] === 2)
    return { world, mallory }
  }
  const lacking = /^403 .*user "mallory" can't give through a template what they may not do themselves/
  const inForce = /, for generation 1, which is in force until this change is/
  const said = async (write: Promise<unknown>): Promise<string> => {
    const { code, message } = await refusal(write)
    return `${code} ${message}`
  }

  test('by one write that empties it and opens it', async () => {
    const { world, mallory } = await privileged()
    await using _ = world
    const both = { metadata: { annotations: { [guard]: null } }, spec: emptied }
    const why = await said(mallory.patch(templateResource, { name: 't' }, both))
    expect(why).toMatch(lacking)
    expect(why).toMatch(inForce)
  })

  test.each([
    {
      name: 'annotations that are taken off afterwards',
      ends: (m: Client) => m.patch(templateResource, { name: 't' }, { spec: emptied }),
    },
    { name: 'a deletion before them', ends: (m: Client) => m.delete(templateResource, { name: 't' }) },
  ])('by $name', async ({ ends }) => {
    const { world, mallory } = await privileged()
    await using _ = world
    await ends(mallory)
    await world.status('t', stopped)
    const opening = { metadata: { annotations: { [guard]: null } } }
    expect(await said(mallory.patch(templateResource, { name: 't' }, opening))).toMatch(lacking)
    const mine = mallory.create(namespaceResource, { metadata: { name: 'mine', labels: { tier: 'a' } } })
    expect(await said(mine)).toMatch(/^403 .*user "mallory" cannot use namespacetemplates "t"/)
    // Who may give it, may open it.
    await world.admin.patch(templateResource, { name: 't' }, opening)
  })
})
