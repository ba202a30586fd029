/**
 * What a template made is known without the help of its tenant. An administrator of a namespace does what they like to
 * its objects; when it is quiet, the templates' objects are as the templates say, and everything else is as they left
 * it. On Borough, and on a cluster that `borough populate` serves.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject, ObjectMeta } from '../../src/kube/types.ts'
import { startPopulate } from '../../src/populate/populate.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, templateLabel, templateResource } from './population-world.ts'

const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const disable = 'policy/namespace-template-apply'
const optOut = 'policy/namespace-template-opt-out'

const isStillForbidden = (error: unknown): boolean => {
  if (!isForbidden(error)) throw error
  return false
}

interface Cluster extends AsyncDisposable {
  readonly plane: OtherCluster
}

async function borough(): Promise<Cluster> {
  const plane = await startControlPlane()
  return { plane, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() }
}

/** As any cluster: it knows nothing of templates. */
async function elsewhere(): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const plane = opening.use(await startOtherCluster())
  const { client } = plane
  const parts = { client, clock: systemClock, ids: randomIds, log: silentLog }
  const listen = { host: '127.0.0.1', port: 0 }
  opening.use(await startPopulate({ ...parts, listen, namespace: 'borough-system', reachedAt: 'listen' }))
  const opened = opening.move()
  return { plane, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

describe.each([
  { where: 'on Borough', start: borough },
  { where: 'through borough populate', start: elsewhere },
])('$where', ({ start }) => {
  let cluster: Cluster
  let admin: Client
  let made = 0
  beforeAll(async () => {
    cluster = await start()
    admin = cluster.plane.client
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  /** A namespace, the template that selects it and no other, and its tenant. */
  class Home {
    readonly name = `team-${++made}`
    readonly tenant = cluster.plane.clientAs(`tenant-${made}`)
    readonly one = { namespace: this.name, name: 'one' }

    async settle(metadata: ObjectMeta = {}): Promise<this> {
      await admin.create(namespaceResource, { metadata: { ...metadata, name: this.name } })
      await admin.create(rbac('rolebindings'), {
        metadata: { namespace: this.name, name: 'tenant' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: this.name.replace('team', 'tenant') }],
      })
      return this
    }

    async template(objects: readonly JsonObject[], spec: JsonObject = {}): Promise<this> {
      await admin.create(templateResource, {
        apiVersion: 'policy.borough.dev/v1alpha1',
        kind: 'NamespaceTemplate',
        metadata: { name: this.name },
        spec: { namespaces: { nameSelector: { include: [this.name] } }, ...spec, templates: [...objects] },
      })
      return this
    }

    async populated(spec: JsonObject = {}, metadata: ObjectMeta = {}): Promise<this> {
      await this.template([configMap('one'), configMap('two')], spec)
      await this.settle(metadata)
      for (const name of ['one', 'two']) await this.has(name, { a: '1' })
      await this.open()
      return this
    }

    /** Where creates are not held, the namespace waits for its templates after them. */
    async open(): Promise<void> {
      const label = 'policy/namespace-template-pending'
      const ref = { name: this.name }
      await waitFor(admin, namespaceResource, ref, (n) => n?.metadata.labels?.[label] === undefined)
      // Policies are shown the namespace as the API server's own watch has it.
      const trial = { metadata: { namespace: this.name, name: 'trial' } }
      const isOpen = (): Promise<boolean> =>
        this.tenant.create(configMapResource, trial, { dryRun: true }).then(() => true, isStillForbidden)
      await vi.waitUntil(isOpen, { timeout: 30_000, interval: 20 })
    }
    edit(spec: JsonObject): Promise<unknown> {
      return admin.patch(templateResource, { name: this.name }, { spec })
    }
    annotate(annotations: Record<string, string | null>): Promise<unknown> {
      return admin.patch(templateResource, { name: this.name }, { metadata: { annotations } })
    }
    patch(patch: object, name = 'one'): Promise<KubeObject> {
      return this.tenant.patch(configMapResource, { ...this.one, name }, patch)
    }
    create(name: string, metadata: ObjectMeta = {}, data = { a: 'mine' }): Promise<KubeObject> {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', data }
      return this.tenant.create(configMapResource, { ...object, metadata: { ...metadata, namespace: this.name, name } })
    }
    /** With the controller's marks, forged: its label, and an apply under the name of its field manager. */
    async forge(name: string, template = this.name): Promise<KubeObject> {
      const metadata = { namespace: this.name, name, labels: { [templateLabel]: template } }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'mine' } }
      return this.tenant.apply(configMapResource, object, { fieldManager: 'namespace-template' })
    }

    /** Under its template, with these values. */
    async has(name: string, data: Record<string, string>): Promise<KubeObject | undefined> {
      const [key = '', value = ''] = Object.entries(data)[0] ?? []
      return waitFor(
        admin,
        configMapResource,
        { ...this.one, name },
        (o) =>
          o?.metadata.labels?.[templateLabel] === this.name && (o['data'] as Record<string, string>)[key] === value,
      )
    }
    get(name = 'one'): Promise<KubeObject> {
      return admin.get(configMapResource, { ...this.one, name })
    }
    async gone(name = 'one'): Promise<void> {
      await waitFor(admin, configMapResource, { ...this.one, name }, isGone)
    }
    status(want: (status: JsonObject) => boolean): Promise<KubeObject | undefined> {
      const ref = { name: this.name }
      return waitFor(admin, templateResource, ref, (t) => want((t?.['status'] ?? {}) as JsonObject))
    }
    async templateGone(): Promise<void> {
      await waitFor(admin, templateResource, { name: this.name }, isGone)
    }
    /** Nothing can be told by what does not happen: a second object that must change says that all were looked at. */
    async looked(): Promise<void> {
      const value = String(Math.random())
      const { spec } = await admin.get(templateResource, { name: this.name })
      const { templates } = spec as { templates: JsonObject[] }
      await this.edit({ templates: [...templates.filter((o) => nameOf(o) !== 'mark'), configMap('mark', { value })] })
      await this.has('mark', { value })
    }
  }
  const nameOf = ({ metadata }: JsonObject): unknown => (metadata as JsonObject)['name']

  /** Ways to shake off a template. Each changes a value too, or tries to keep the object as it is. */
  const evasions: { name: string; evade: (home: Home) => Promise<unknown> }[] = [
    {
      name: 'takes the label off',
      evade: (home) => home.patch({ metadata: { labels: { [templateLabel]: null } }, data: { a: 'x' } }),
    },
    {
      name: 'gives it the label of another template',
      evade: (home) => home.patch({ metadata: { labels: { [templateLabel]: 'another' } }, data: { a: 'x' } }),
    },
    {
      name: 'clears managedFields, and changes a value then',
      async evade(home) {
        await home.patch({ metadata: { managedFields: [{}] } })
        await home.patch({ data: { a: 'x' } })
      },
    },
    {
      name: 'takes the label off and clears managedFields at once',
      evade: (home) =>
        home.patch({ metadata: { labels: { [templateLabel]: null }, managedFields: [{}] }, data: { a: 'x' } }),
    },
    {
      name: 'replaces it as a whole',
      async evade(home) {
        const { uid = '' } = (await home.get()).metadata
        const metadata = { ...home.one, uid }
        await home.tenant.update(configMapResource, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'x' } })
      },
    },
    {
      name: 'gives it an owner that is not there',
      evade: (home) =>
        home.patch({
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }] },
          data: { a: 'x' },
        }),
    },
    {
      name: 'deletes it and is faster in making another',
      async evade(home) {
        await home.annotate({ [disable]: 'disable' })
        await home.status((s) => s['matched'] === 0)
        await home.tenant.delete(configMapResource, home.one)
        await home.create('one', {}, { a: 'x' })
        await home.annotate({ [disable]: null })
      },
    },
  ]

  test.each(evasions)('a tenant who $name gets it back as its template says', async ({ evade }) => {
    const home = await new Home().populated()
    const before = await home.get()
    await evade(home)
    await waitFor(
      admin,
      configMapResource,
      home.one,
      (o) =>
        o?.metadata.resourceVersion !== before.metadata.resourceVersion &&
        o?.metadata.labels?.[templateLabel] === home.name &&
        JSON.stringify(o['data']) === '{"a":"1"}',
    )
    await home.status((s) => s['synced'] === 1 && s['failed'] === 0)
    // It is still under its template: the next version reaches it, and so does its end.
    await home.edit({ templates: [configMap('one', { a: '2' }), configMap('two')] })
    await home.has('one', { a: '2' })
    await home.edit({ templates: [configMap('two')] })
    await home.gone()
  })

  test.each(evasions.slice(0, 5))(
    'a tenant who $name does not keep it when its template drops it',
    async ({ evade }) => {
      const home = await new Home().populated()
      await home.annotate({ [disable]: 'disable' })
      await home.status((s) => s['matched'] === 0)
      await evade(home)
      await home.edit({ templates: [configMap('two')] })
      await home.annotate({ [disable]: null })
      await home.gone()
    },
  )

  test('a namespace that is moved out takes nothing along, labels or not', async () => {
    const home = new Home()
    const namespaces = { labelSelector: { matchLabels: { tier: home.name } } }
    await home.populated({ namespaces }, { labels: { tier: home.name } })
    await home.annotate({ [disable]: 'disable' })
    await home.status((s) => s['matched'] === 0)
    await home.patch({ metadata: { labels: { [templateLabel]: null } } })
    await admin.patch(namespaceResource, { name: home.name }, { metadata: { labels: { tier: null } } })
    await home.annotate({ [disable]: null })
    await home.gone('one')
    await home.gone('two')
  })

  const foreign: { name: string; make: (home: Home, name: string) => Promise<KubeObject> }[] = [
    {
      name: 'the label',
      make: (home, name) => home.create(name, { labels: { [templateLabel]: home.name } }),
    },
    { name: 'the label and a forged apply', make: (home, name) => home.forge(name) },
  ]

  test.each(foreign)('an object that no template made is no template’s for $name', async ({ make }) => {
    const home = await new Home().populated()
    const before = await make(home, 'mine')
    await home.looked()
    expect(await home.get('mine')).toEqual(before)
    await admin.delete(templateResource, { name: home.name })
    await home.templateGone()
    await home.gone('one')
    expect(await home.get('mine')).toEqual(before)
  })

  test('nor is one whose label is taken off again, of which no template is told to hold it', async () => {
    const home = await new Home().populated()
    await home.forge('mine')
    const before = await home.patch({ metadata: { labels: { [templateLabel]: null } } }, 'mine')
    await home.looked()
    expect(await home.get('mine')).toEqual(before)
  })

  test('a name that is taken before the template holds it stays as it is, and the status says so', async () => {
    const home = await new Home().populated()
    const before = await home.create('three', { labels: { [templateLabel]: home.name } })
    await home.edit({ templates: [configMap('one'), configMap('two'), configMap('three')] })
    const told = await home.status((s) => s['failed'] === 1)
    expect(told?.['status']).toMatchObject({
      synced: 0,
      failures: [{ namespace: home.name, object: 'ConfigMap/three', reason: 'AlreadyExists' }],
    })
    expect(await home.get('three')).toEqual(before)
    await home.edit({ templates: [configMap('one'), configMap('two')] })
    await home.status((s) => s['synced'] === 1)
    expect(await home.get('three')).toEqual(before)

    await home.edit({ adopt: true, templates: [configMap('one'), configMap('two'), configMap('three')] })
    await home.has('three', { a: '1' })
    await home.edit({ templates: [configMap('one'), configMap('two')] })
    await home.gone('three')
  })

  test('what a backup brings back under a new uid is taken up again', async () => {
    const home = await new Home().populated()
    await home.annotate({ [disable]: 'disable' })
    await home.status((s) => s['matched'] === 0)
    const { metadata, ...content } = await home.get()
    const { labels = {}, managedFields = [] } = metadata
    await admin.delete(configMapResource, home.one)
    await admin.create(configMapResource, { ...content, metadata: { ...home.one, labels, managedFields } })
    await home.annotate({ [disable]: null })
    await home.status((s) => s['synced'] === 1 && s['failed'] === 0)
    await home.edit({ templates: [configMap('two')] })
    await home.gone()
  })

  test('under driftPolicy Report the label is put back too', async () => {
    const home = await new Home().populated({ driftPolicy: 'Report' })
    await home.patch({ metadata: { labels: { [templateLabel]: null } }, data: { a: 'x' } })
    await home.has('one', { a: 'x' })
    const told = await home.status((s) => s['failed'] === 1)
    expect(told?.['status']).toMatchObject({ failures: [{ object: 'ConfigMap/one', reason: 'Drift' }] })
  })

  test('what a template that only reports would adopt, and differs, stays as it is', async () => {
    const home = await new Home().populated()
    const before = await home.create('three')
    const templates = [configMap('one'), configMap('two'), configMap('three')]
    await home.edit({ adopt: true, driftPolicy: 'Report', templates })
    await home.status((s) => s['failed'] === 1)
    await home.looked()
    const told = await home.status((s) => s['failed'] === 1)
    expect(told?.['status']).toMatchObject({ failures: [{ object: 'ConfigMap/three', reason: 'Drift' }] })
    expect(await home.get('three')).toEqual(before)
  })

  test('a field that another applier took over stays told of after the label was put back', async () => {
    // From the start: until its turn comes it is kept at what was applied before.
    const home = await new Home().populated({ driftPolicy: 'Report' })
    await home.annotate({ [disable]: 'disable' })
    await home.status((s) => s['matched'] === 0)
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: home.one, data: { a: 'x' } }
    await home.tenant.apply(configMapResource, object, { fieldManager: 'gitops', force: true })
    await home.patch({ metadata: { labels: { [templateLabel]: null } } })
    await home.edit({ driftPolicy: 'Report', templates: [configMap('one', { a: '2' }), configMap('two')] })
    await home.annotate({ [disable]: null })
    await home.has('one', { a: 'x' })
    await home.looked()
    const { metadata } = await admin.get(templateResource, { name: home.name })
    const told = await home.status((s) => s['observedGeneration'] === metadata.generation)
    expect(told?.['status']).toMatchObject({ synced: 0, failures: [{ object: 'ConfigMap/one', reason: 'TakenOver' }] })
  })

  describe('a template that is deleted goes as soon as nothing of it is left', () => {
    const held = { metadata: { finalizers: ['example.com/held'] } }
    const free = { metadata: { finalizers: null } }

    /** Figures of templates are gathered for a second at most: what was due before this is done. */
    const summedUp = async (): Promise<void> => {
      const other = await new Home().populated()
      for (const [i, value] of ['2', '3'].entries()) {
        await other.edit({ templates: [configMap('one', { a: value })] })
        await other.status((s) => s['observedGeneration'] === i + 2)
      }
    }

    test('where a finalizer held an object', async () => {
      const home = await new Home().populated()
      await home.patch(held)
      await admin.delete(templateResource, { name: home.name })
      await waitFor(admin, configMapResource, home.one, (o) => o?.metadata.deletionTimestamp !== undefined)
      await home.gone('two')
      await summedUp()
      await home.patch(free)
      await home.templateGone()
    })

    test('where a finalizer held an object whose label was taken off', async () => {
      const home = await new Home().populated()
      await home.patch(held)
      await home.patch({ metadata: { labels: { [templateLabel]: null } } })
      await admin.delete(templateResource, { name: home.name })
      await waitFor(admin, configMapResource, home.one, (o) => o?.metadata.deletionTimestamp !== undefined)
      await home.gone('two')
      await summedUp()
      expect((await admin.get(templateResource, { name: home.name })).metadata.deletionTimestamp).toBeDefined()
      await home.patch(free)
      await home.templateGone()
    })

    test('where a namespace that is being deleted is held up by what is not of the template', async () => {
      const home = await new Home().populated()
      const theirs = { ...home.one, name: 'theirs' }
      await admin.create(configMapResource, { metadata: { ...theirs, finalizers: held.metadata.finalizers } })
      await admin.delete(namespaceResource, { name: home.one.namespace })
      await home.gone('one')
      await home.gone('two')
      await admin.delete(templateResource, { name: home.name })
      await home.templateGone()
      await admin.patch(configMapResource, theirs, free)
    })

    test('where another template holds the object now, and can not have its way with it', async () => {
      const home = await new Home().populated()
      await home.edit({ driftPolicy: 'Report' })
      // Until its namespaces have been looked at, the version before corrects what differs.
      await home.status((s) => s['observedGeneration'] === 2 && s['synced'] === 1)
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: home.one, data: { a: 'x' } }
      await home.tenant.apply(configMapResource, object, { fieldManager: 'gitops', force: true })
      await home.status((s) => s['failed'] === 1)
      // The first by name has it, unless it goes.
      const next = { name: `zz-${home.name}` }
      await admin.create(templateResource, {
        apiVersion: 'policy.borough.dev/v1alpha1',
        kind: 'NamespaceTemplate',
        metadata: next,
        spec: {
          namespaces: { nameSelector: { include: [`${home.name}*`] } },
          driftPolicy: 'Report',
          templates: [configMap('one', { a: '2' })],
        },
      })
      await admin.delete(templateResource, { name: home.name })
      await home.templateGone()
      const told = await waitFor(admin, templateResource, next, (t) => JSON.stringify(t).includes('TakenOver'))
      expect(told?.['status']).toMatchObject({ failures: [{ object: 'ConfigMap/one', reason: 'TakenOver' }] })
      // It is under the other now, and goes with it.
      await admin.patch(templateResource, next, { spec: { driftPolicy: 'Correct' } })
      await waitFor(admin, configMapResource, home.one, (o) => JSON.stringify(o?.['data']) === '{"a":"2"}')
      await home.tenant.patch(configMapResource, home.one, { metadata: { managedFields: [{}] } })
      await admin.delete(templateResource, next)
      await home.gone()
    })

    test('where a namespace with an object of it was on its way out', async () => {
      const home = await new Home().populated()
      await home.patch(held)
      await admin.delete(namespaceResource, { name: home.name })
      await waitFor(admin, configMapResource, home.one, (o) => o?.metadata.deletionTimestamp !== undefined)
      await admin.delete(templateResource, { name: home.name })
      await summedUp()
      await admin.patch(configMapResource, home.one, free)
      await waitFor(admin, namespaceResource, { name: home.name }, isGone)
      await home.templateGone()
    })

    test('where a namespace opted out and keeps what it has', async () => {
      const home = await new Home().populated()
      await admin.patch(namespaceResource, { name: home.name }, { metadata: { annotations: { [optOut]: 'true' } } })
      await home.status((s) => s['matched'] === 0)
      await admin.delete(templateResource, { name: home.name })
      await home.templateGone()
      expect((await home.get())['data']).toEqual({ a: '1' })
    })
  })

  test('a namespace made again under an old name starts anew', async () => {
    const home = await new Home().populated()
    await admin.delete(namespaceResource, { name: home.name })
    await waitFor(admin, namespaceResource, { name: home.name }, isGone)
    await home.annotate({ [disable]: 'disable' })
    await home.status((s) => s['matched'] === 0)
    await home.settle()
    await home.open()
    const before = await home.create('one')
    await home.annotate({ [disable]: null })
    await home.has('two', { a: '1' })
    await home.status((s) => s['failed'] === 1)
    expect(await home.get()).toEqual(before)
  })

  test('a tenant that races the controller for a place loses it in the end', async () => {
    const home = await new Home().populated()
    for (let round = 0; round < 20; round++) {
      await Promise.all([
        home.tenant.delete(configMapResource, home.one).catch(ignoring(isNotFound)),
        home.create('one', {}, { a: 'x' }).catch(ignoring(isAlreadyExists)),
      ])
    }
    await home.looked()
    await home.has('one', { a: '1' })
    await home.status((s) => s['synced'] === 1)
  })
})

const ignoring =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isExpected(error)) throw error
    return undefined
  }
