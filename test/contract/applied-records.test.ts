/** What both places where applied records are kept promise to the population controller. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Attributes, DecisionView } from '../../src/admission/admission.ts'
import { type NamespaceLookup, namespaceLookup } from '../../src/apis/namespaces/lookup.ts'
import type { Namespace } from '../../src/apis/namespaces/types.ts'
import { type AppliedObject, type AppliedRecords, identityOfApplied } from '../../src/apis/templates/applied-records.ts'
import { ConfigMapRecords } from '../../src/apis/templates/config-map-records.ts'
import { appliedRecord } from '../../src/apis/templates/record-admission.ts'
import { StoredRecords } from '../../src/apis/templates/stored-records.ts'
import { templateControllerName, templateFieldManager } from '../../src/apis/templates/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { objectKey } from '../../src/kube/object-key.ts'
import { requiredType } from '../../src/kube/resource-type.ts'
import { encodeStored } from '../../src/kube/stored-form.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { serviceAccountUser } from '../../src/kube/user.ts'
import { CacheStoreView } from '../../src/registry/cache-store-view.ts'
import { prefixSpan } from '../../src/storage/storage.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

interface Place {
  readonly where: string
  /** A start compares contents: then they are worth a write. */
  readonly goesByContent: boolean
  open(plane: ControlPlane): AppliedRecords
  /** An apply of the controller, and the uid of what it made. */
  apply(plane: ControlPlane, records: AppliedRecords, object: KubeObject): Promise<string>
}

const lookup = ({ core }: ControlPlane): NamespaceLookup =>
  namespaceLookup({ lister: core.lister, typeOf: (resource) => requiredType(core.catalog.types, resource) })

const places: Place[] = [
  {
    where: 'in the store of Borough',
    goesByContent: true,
    open: (plane) => {
      const { storage, cache } = plane.core
      return new StoredRecords({ records: storage, stored: new CacheStoreView(cache), namespaces: lookup(plane) })
    },
    // As the registry does it: what admission decides is in the transaction of the object.
    async apply({ core }, records, object) {
      const type = requiredType(core.catalog.types, configMaps)
      const { namespace = '', name = '' } = object.metadata
      const stored = { ...object, metadata: { ...object.metadata, uid: 'made' } }
      const user = serviceAccountUser('kube-system', templateControllerName)
      const plugin = appliedRecord({ records: records as StoredRecords, username: user.username })
      const attributes = {
        type,
        namespace,
        name,
        object: stored,
        user,
        options: { fieldManager: templateFieldManager },
      }
      const view: DecisionView = {
        see(of, where, what) {
          const found = core.lister.find(of, where, what)
          const key = objectKey(of.storageName, where, what)
          return { key, expect: found?.revision ?? 'absent', object: found?.object }
        },
        queuedIn: () => undefined,
      }
      const decision = plugin.decide?.(attributes as unknown as Attributes, view)
      const key = objectKey(type.storageName, namespace, name)
      const write = { key, value: encodeStored(stored), expect: 'absent' } as const
      const commit = await core.storage.commit({ guards: [], writes: [write, ...(decision?.writes ?? [])] }).done
      expect(commit.ok).toBe(true)
      await core.lister.refresh()
      return 'made'
    },
  },
  {
    where: 'in ConfigMaps',
    goesByContent: false,
    open: (plane) =>
      new ConfigMapRecords({
        client: plane.client(),
        clock: systemClock,
        namespace: 'kube-system',
        onError(error) {
          throw error
        },
      }),
    async apply(plane, _records, object) {
      await plane.client().apply(configMaps, object, { fieldManager: templateFieldManager })
      // It was announced without a uid, for the apply had still to give it one.
      return ''
    },
  },
]

describe.each(places)('applied records $where', ({ open, apply, goesByContent }) => {
  let plane: ControlPlane
  let client: Client
  let namespace: Namespace
  let records: AppliedRecords
  let stop: AbortController
  const told: { namespace: string; next: number; old: number }[] = []
  /** Of which namespace (by uid) which record was told last, as far as there is one. */
  const present = new Map<string, { readonly uid: string; readonly isFirst: boolean }>()

  const followed = async (some: AppliedRecords): Promise<AppliedRecords> => {
    const tell = (...[name, next, old, record]: Parameters<Parameters<AppliedRecords['follow']>[0]>): void => {
      told.push({ namespace: name, next: next.length, old: old.length })
      if (next.length === 0) present.delete(name)
      else present.set(name, { uid: record.namespaceUid, isFirst: record.isFirst })
    }
    await some.follow(tell, stop.signal)
    return some
  }
  /** Another process takes over. */
  const restart = async (): Promise<void> => {
    stop.abort()
    stop = new AbortController()
    told.length = 0
    present.clear()
    records = await followed(open(plane))
  }
  const entry = (name: string, more: Partial<AppliedObject> = {}): AppliedObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid: `uid of ${name}`,
    template: 't',
    generation: 1,
    digest: 'd',
    content: 'c',
    ...more,
  })
  const settle = (change: { applied?: AppliedObject[]; released?: string[] }): Promise<void> =>
    records.settle(namespace, { applied: [], released: [], ...change }, stop.signal)

  beforeEach(async () => {
    stop = new AbortController()
    told.length = 0
    present.clear()
    const featureGates = { ...defaultConfig.featureGates, NamespaceInitializers: false }
    const without = { population: false, featureGates }
    plane = await createControlPlane({ ...defaultConfig, ...without, storage: { engine: 'memory' } })
    client = plane.client()
    namespace = (await client.create(namespaces, { metadata: { name: 'team' } })) as Namespace
    records = await followed(open(plane))
  })
  afterEach(async () => {
    stop.abort()
    await plane[Symbol.asyncDispose]()
  })

  test('what is settled is told, found, and known to the next process', async () => {
    const role = entry('admin', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' })
    await settle({ applied: [entry('one'), role] })
    expect(told).toEqual([{ namespace: 'team', next: 2, old: 0 }])
    const check = (isFirst: boolean): void => {
      expect(records.of('team')).toEqual([entry('one'), role])
      expect(records.of('elsewhere')).toEqual([])
      expect([...present]).toEqual([['team', { uid: namespace.metadata.uid, isFirst }]])
    }
    check(false)
    await restart()
    check(true)
    expect(told).toEqual([{ namespace: 'team', next: 2, old: 0 }])
  })

  test('what is applied again replaces what was, what is released goes, and the rest stays', async () => {
    await settle({ applied: [entry('one'), entry('two'), entry('three')] })
    const again = entry('two', { uid: 'another', digest: 'e' })
    await settle({ applied: [again], released: [identityOfApplied(entry('one')), '/ConfigMap/none'] })
    await restart()
    expect(new Map(records.of('team').map((o) => [o.name, o]))).toEqual(
      new Map([
        ['two', again],
        ['three', entry('three')],
      ]),
    )
    await settle({ released: ['/ConfigMap/two', '/ConfigMap/three'] })
    expect([records.of('team'), [...present]]).toEqual([[], []])
    await restart()
    expect([...present]).toEqual([])
  })

  test('what changes nothing writes nothing', async () => {
    await settle({ applied: [entry('one')] })
    const written = async (): Promise<number[]> => {
      const prefixes = ['/registry/borough/applied', '/registry/configmaps/kube-system/applied']
      const ranges = await Promise.all(prefixes.map((prefix) => plane.core.storage.range(prefixSpan(prefix))))
      return ranges.flatMap(({ entries }) => entries.map(({ revision }) => revision))
    }
    const before = await written()
    expect(before).toHaveLength(1)
    await settle({ applied: [entry('one')], released: ['/ConfigMap/two'] })
    await records.announce(namespace, [entry('one', { uid: '' })], stop.signal)
    expect(await written()).toEqual(before)
  })

  test('another content is recorded where a start goes by it', async () => {
    await settle({ applied: [entry('one')] })
    const other = entry('one', { content: 'another' })
    await settle({ applied: [other] })
    await restart()
    expect(records.of('team')).toEqual([goesByContent ? other : entry('one')])
  })

  test('an apply that was announced leaves its trace, though nothing was settled', async () => {
    await records.announce(namespace, [entry('one', { uid: '', content: '' })], stop.signal)
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'team', name: 'one' } }
    const uid = await apply(plane, records, object)
    await restart()
    expect(records.of('team')).toMatchObject([{ name: 'one', uid, template: 't', generation: 1, digest: 'd' }])
    await settle({ applied: [entry('one')] })
    expect(records.of('team')).toEqual([entry('one')])
  })

  test('a record goes with its namespace, and the next namespace of that name has one of its own', async () => {
    await settle({ applied: [entry('one')] })
    const { uid = '' } = namespace.metadata
    await records.release('team', 'of another', stop.signal)
    expect(records.of('team')).toHaveLength(1)
    await client.delete(namespaces, { name: 'team' })
    await expect.poll(() => lookup(plane).find('team')).toBeUndefined()
    await records.release('team', uid, stop.signal)
    expect(told.at(-1)).toEqual({ namespace: 'team', next: 0, old: 1 })
    namespace = (await client.create(namespaces, { metadata: { name: 'team' } })) as Namespace
    expect(records.of('team')).toEqual([])
    await settle({ applied: [entry('two')] })
    await restart()
    expect(records.of('team')).toEqual([entry('two')])
  })

  test('many objects are recorded too', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => entry(`c${i}`))
    const ahead = many.map((object): AppliedObject => ({ ...object, uid: '', content: '' }))
    await records.announce(namespace, ahead, stop.signal)
    await restart()
    expect(records.of('team')).toEqual(ahead)
    await settle({ applied: many })
    await restart()
    expect(records.of('team')).toEqual(many)
  })

  test('marks are believed until it is said that they are no more', async () => {
    expect(records.isComplete).toBe(false)
    await records.complete(stop.signal)
    await records.complete(stop.signal)
    expect(records.isComplete).toBe(true)
    await settle({ applied: [entry('one')] })
    await restart()
    expect(records.isComplete).toBe(true)
    expect([...present.keys()]).toEqual(['team'])
  })

  test('nothing of it is content of the namespace, or served to its tenants', async () => {
    await settle({ applied: [entry('one')] })
    const { items } = await client.list(configMaps, { namespace: 'team' })
    expect(items.map((o: KubeObject) => o.metadata.name)).toEqual(['kube-root-ca.crt'])
    const content = plane.core.lister.contentOf('team').map(({ type }) => type.resource)
    expect(content.sort()).toEqual(['configmaps', 'serviceaccounts'])
  })

  test('where two processes write at one time, what both recorded is recorded', async () => {
    await settle({ applied: [entry('one')] })
    const other = await followed(open(plane))
    await settle({ applied: [entry('two')] })
    await other.settle(namespace, { applied: [entry('three')], released: [] }, stop.signal)
    await restart()
    expect(
      records
        .of('team')
        .map((o) => o.name)
        .sort(),
    ).toEqual(['one', 'three', 'two'])
  })
})
