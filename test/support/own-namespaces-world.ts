/**
 * A world of namespaces, roles and bindings on a real watch cache, changed at random, and beside it a recomputation of
 * who may get what that knows neither an index nor a history.
 */
import fc from 'fast-check'
import { followCreators } from '../../src/apis/namespaces/creator-rights.ts'
import { NamespaceGrants } from '../../src/authz/namespace-grants.ts'
import { RbacAuthorizer } from '../../src/authz/rbac-authorizer.ts'
import type { RbacSource } from '../../src/authz/rbac-source.ts'
import type { NameView } from '../../src/kube/name-view.ts'
import { objectKey } from '../../src/kube/object-key.ts'
import type { Binding, PolicyRule, Role } from '../../src/kube/rbac.ts'
import type { ResourceType } from '../../src/kube/resource-type.ts'
import { encodeStored } from '../../src/kube/stored-form.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import type { UserInfo } from '../../src/kube/user.ts'
import { allow, clusterRole, clusterRoleBinding, group, role, roleBinding, user } from './fake-rbac-source.ts'
import { type Fixture, namespaces, startFixture } from './registry-fixture.ts'

const rbacType = (resource: string, kind: string, namespaced: boolean): ResourceType => ({
  ...namespaces,
  group: 'rbac.authorization.k8s.io',
  resource,
  kind,
  namespaced,
  storageName: resource,
})
const kinds = {
  Namespace: namespaces,
  ClusterRole: rbacType('clusterroles', 'ClusterRole', false),
  ClusterRoleBinding: rbacType('clusterrolebindings', 'ClusterRoleBinding', false),
  Role: rbacType('roles', 'Role', true),
  RoleBinding: rbacType('rolebindings', 'RoleBinding', true),
} as const
type Kind = keyof typeof kinds

export const users: readonly UserInfo[] = [
  { username: 'alice', groups: ['devs', 'system:authenticated'] },
  { username: 'bob', groups: ['system:authenticated'] },
  { username: 'devs', groups: [] },
]
export const names: readonly string[] = ['a', 'b', 'c']
/** Everybody may see it, from the start; it is made last. */
export const end = 'end'

export const namespace = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', ...more },
})

/** While it initializes its creator may get it. */
export const initializing = (name: string, creator: string, more: object = {}): KubeObject => ({
  ...namespace(name, { annotations: { 'authorization.k8s.io/creator': creator }, ...more }),
  spec: { initializers: { pending: [{ name: 'slow.ex.io' }] } },
})

/** `put` replaces what has the same address, `remove` looks at nothing but the address. */
export interface Step {
  readonly op: 'put' | 'remove'
  readonly object: KubeObject
}

const rules = fc.oneof(
  { weight: 3, arbitrary: fc.constant([allow('get', '', 'namespaces')]) },
  fc.constantFrom(
    [allow('*', '*', '*', 'a,b')],
    [allow('list,watch', '', 'namespaces'), allow('get', '', 'pods')],
    [allow('get,list', 'apps', '*')],
    [],
  ),
)
const place = fc.constantFrom(...names)
const subjects = fc.subarray([user('alice'), user('bob'), group('devs')], { minLength: 1 })
const written: fc.Arbitrary<KubeObject> = fc.oneof(
  fc.tuple(fc.constantFrom('r', 's'), rules).map(([name, r]): KubeObject => clusterRole(name, ...r)),
  fc.tuple(fc.constantFrom('x', 'y'), subjects).map(([name, s]): KubeObject => clusterRoleBinding(name, 's', ...s)),
  fc.tuple(place, rules).map(([ns, r]): KubeObject => role(ns, 'r', ...r)),
  {
    weight: 6,
    arbitrary: fc
      .tuple(place, fc.constantFrom('x', 'y'), fc.constantFrom('Role/r', 'ClusterRole/r', 'ClusterRole/r'), subjects)
      .map(([ns, name, to, s]): KubeObject => roleBinding(ns, name, to, ...s)),
  },
)
const put = (object: KubeObject): Step => ({ op: 'put', object })
const remove = (object: KubeObject): Step => ({ op: 'remove', object })
const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: written.map(put) },
  { weight: 4, arbitrary: written.map(remove) },
  { weight: 3, arbitrary: place.map((name) => put(namespace(name))) },
  { weight: 2, arbitrary: place.map((name) => put(namespace(name, terminating))) },
  { weight: 2, arbitrary: place.map((name) => remove(namespace(name))) },
)

/**
 * As a namespace is deleted: marked, emptied (its roles and bindings in any order), removed; and perhaps made again.
 */
const deletion: fc.Arbitrary<readonly Step[]> = fc
  .tuple(place, fc.constantFrom('Role/r', 'ClusterRole/r'), subjects, fc.boolean(), fc.subarray([true]))
  .map(([name, to, who, roleFirst, again]) => {
    const content = [role(name, 'r'), roleBinding(name, 'x', to), roleBinding(name, 'y', to)]
    return [
      ...[namespace(name), role(name, 'r', allow('get', '', 'namespaces')), roleBinding(name, 'x', to, ...who)].map(
        put,
      ),
      put(namespace(name, terminating)),
      ...(roleFirst ? content : content.reverse()).map(remove),
      remove(namespace(name)),
      ...again.map(() => put(namespace(name))),
    ]
  })

/** Most of them begin where there is something to see. */
const beginning: readonly Step[] = [
  clusterRole('r', allow('get', '', 'namespaces')),
  clusterRole('s', allow('get', '', 'namespaces', 'a,b')),
  ...names.map((name) => namespace(name)),
].map(put)

/** As a namespace is initialized, or deleted before it is. Its creator may be given rights in it meanwhile, or not. */
const initialization: fc.Arbitrary<readonly Step[]> = fc
  .record({
    name: place,
    creator: fc.constantFrom('alice', 'bob', 'devs', 'eve'),
    isBound: fc.boolean(),
    end: fc.constantFrom('waits', 'ready', 'deleted'),
    to: subjects,
  })
  .map(({ name, creator, isBound, end: outcome, to }) => {
    const binding = roleBinding(name, 'x', 'ClusterRole/r', ...to)
    const by = { annotations: { 'authorization.k8s.io/creator': creator } }
    return [
      remove(namespace(name)),
      put(initializing(name, creator)),
      ...(isBound ? [put(binding)] : []),
      put(initializing(name, creator, { labels: { step: 'one' } })),
      ...(outcome === 'ready' ? [put(namespace(name, by)), put(namespace(name, { ...by, labels: { a: 'b' } }))] : []),
      ...(outcome === 'deleted'
        ? [put(initializing(name, creator, terminating)), remove(binding), remove(namespace(name))]
        : []),
    ]
  })

const some = { minLength: 1, maxLength: 30, size: 'max' } as const
const steps = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: step.map((s) => [s]) },
    { weight: 1, arbitrary: deletion },
    { weight: 1, arbitrary: initialization },
  ),
  some,
)

export const history: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.constantFrom([], beginning, beginning, beginning), steps)
  .map(([first, rest]) => [...first, ...rest.flat()])

const addressOf = ({ kind, metadata: { namespace: ns = '', name = '' } }: KubeObject): string => `${kind}/${ns}/${name}`

/** The naive half: all objects in a map, every question answered by looking at all of them. */
export class NaiveWorld {
  readonly objects: Map<string, KubeObject> = new Map()
  /** What bindings gave that went while their namespace was terminating: it holds until that is gone. */
  #ghosts: { readonly binding: Binding; readonly rules: readonly PolicyRule[] }[] = []

  apply({ op, object }: Step): void {
    const address = addressOf(object)
    const old = this.objects.get(address)
    if (op === 'put') this.objects.set(address, object)
    else if (old) {
      this.#haunt(old)
      this.objects.delete(address)
      if (old.kind === 'Namespace') {
        this.#ghosts = this.#ghosts.filter((g) => g.binding.metadata.namespace !== old.metadata.name)
      }
    }
  }

  mayGet(who: UserInfo, name: string): boolean {
    const there = this.objects.get(`Namespace//${name}`)
    const isCreator = there?.metadata.annotations?.['authorization.k8s.io/creator'] === who.username
    return (
      (isCreator && there?.['spec'] !== undefined) ||
      this.#bindings().some((b) => concerns(b, who, name) && covers(this.#rulesOf(b), name)) ||
      this.#ghosts.some((g) => concerns(g.binding, who, name) && covers(g.rules, name))
    )
  }

  visible(who: UserInfo): readonly string[] {
    return [...this.objects.values()]
      .filter((o) => o.kind === 'Namespace' && this.mayGet(who, o.metadata.name ?? ''))
      .map((o) => o.metadata.name ?? '')
      .sort()
  }

  #bindings(): Binding[] {
    return [...this.objects.values()].filter((o) => o.kind?.endsWith('Binding')) as Binding[]
  }

  #rulesOf({ roleRef, metadata }: Binding): readonly PolicyRule[] {
    const home = roleRef.kind === 'Role' ? (metadata.namespace ?? '') : ''
    return (this.objects.get(`${roleRef.kind}/${home}/${roleRef.name}`) as Role | undefined)?.rules ?? []
  }

  #haunt(removed: KubeObject): void {
    const home = removed.metadata.namespace ?? ''
    const terminating = this.objects.get(`Namespace//${home}`)?.metadata.deletionTimestamp !== undefined
    if (!terminating) return
    for (const binding of this.#bindings()) {
      const { roleRef, metadata } = binding
      if (metadata.namespace !== home) continue
      const itself = binding === removed
      const itsRole = removed.kind === 'Role' && roleRef.kind === 'Role' && roleRef.name === removed.metadata.name
      if (itself || itsRole) this.#ghosts.push({ binding, rules: this.#rulesOf(binding) })
    }
  }
}

function concerns({ kind, metadata, subjects: given = [] }: Binding, who: UserInfo, name: string): boolean {
  if (kind === 'RoleBinding' && metadata.namespace !== name) return false
  return given.some((s) => (s.kind === 'User' ? s.name === who.username : who.groups.includes(s.name)))
}

const covers = (given: readonly PolicyRule[], name: string): boolean =>
  given.some(
    (r) =>
      r.verbs?.some((v) => v === 'get' || v === '*') === true &&
      r.apiGroups?.some((g) => g === '' || g === '*') === true &&
      r.resources?.some((x) => x === 'namespaces' || x === '*') === true &&
      (!r.resourceNames || r.resourceNames.includes(name)),
  )

export interface World extends AsyncDisposable {
  readonly fixture: Fixture
  readonly naive: NaiveWorld
  view(who: UserInfo): NameView
  run(step: Step): Promise<void>
}

export async function startWorld(): Promise<World> {
  const fixture = await startFixture()
  const { cache, clock, storage } = fixture
  const source: RbacSource = {
    subscribe: (kind, listener) =>
      cache
        .type(kinds[kind].storageName)
        .subscribe((next, old, revision) => listener(next?.as(kinds[kind]), old?.as(kinds[kind]), revision)),
    findNamespace: (name) => cache.type('namespaces').find('', name)?.as(namespaces).object,
  }
  const grants = new NamespaceGrants(clock, { changes: 1000, ageMs: 1e9 })
  followCreators(grants, (listener) =>
    cache.type('namespaces').subscribe((next, old, revision) => {
      listener(next?.as(namespaces), old?.as(namespaces), revision)
    }),
  )
  const rbac = new RbacAuthorizer(source, clock, { observer: grants })
  const naive = new NaiveWorld()
  const run = async (s: Step): Promise<void> => {
    const { kind, metadata } = s.object
    const key = objectKey(kinds[kind as Kind].storageName, metadata.namespace ?? '', metadata.name ?? '')
    const { entry } = await storage.get(key)
    if (s.op === 'remove' && !entry) return
    const value = s.op === 'put' ? encodeStored(s.object) : undefined
    await storage.commit({ guards: [], writes: [{ key, value, expect: entry?.revision ?? 'absent' }] }).done
    await cache.refresh()
    naive.apply(s)
  }
  await run({ op: 'put', object: clusterRole('end', allow('get', '', 'namespaces', end)) })
  const all = [user('alice'), user('bob'), user('devs')]
  await run({ op: 'put', object: clusterRoleBinding('end', 'end', ...all) })
  return {
    fixture,
    naive,
    view: (who) => grants.viewOf(who),
    run,
    async [Symbol.asyncDispose]() {
      rbac[Symbol.dispose]()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

/** What was visible to whom, with the revision of each, at one point. */
export interface Snapshot {
  readonly revision: number
  readonly visible: ReadonlyMap<UserInfo, ReadonlyMap<string, number>>
  /** Who may get any namespace whatever. */
  readonly everything: ReadonlySet<UserInfo>
}

export function snapshot({ fixture, naive }: World): Snapshot {
  const { cache } = fixture
  const revisionOf = (name: string): number => cache.type('namespaces').find('', name)?.revision ?? 0
  return {
    revision: cache.revision,
    visible: new Map(users.map((u) => [u, new Map(naive.visible(u).map((n) => [n, revisionOf(n)]))])),
    everything: new Set(users.filter((u) => naive.mayGet(u, 'some-name-that-nothing-names'))),
  }
}
