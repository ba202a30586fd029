/**
 * What the server holds while it is asked: two namespaces that are ready and one that waits for an initializer, each
 * with two objects of every kind that can be created there, named after it; custom types of both scopes; the policy.
 */
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { definition, definitionsPath } from '../support/definitions.ts'
import { bodyOf } from './bodies.ts'
import {
  accounts,
  administrator,
  creator,
  held,
  type Identity,
  identities,
  mine,
  nowhere,
  other,
  policy,
  theirs,
  young,
} from './identities.ts'
import type { Facts, Policy, ServedType } from './question.ts'
import type { Answer, Server } from './server.ts'

export interface World {
  readonly facts: Facts
  readonly types: readonly ServedType[]
  readonly documents: readonly string[]
  readonly identities: readonly Identity[]
  /** Everything that the requests of the matrix could have changed, as it is now. */
  snapshot(): Promise<ReadonlyMap<string, string>>
}

type Listed = KubeObject & { items: KubeObject[] }
const namespaces = [mine, theirs, young]
const configurationsPath = '/apis/admissionregistration.k8s.io/v1alpha1/namespaceinitializerconfigurations'

export async function makeWorld(server: Server, listsOwnNamespaces: boolean): Promise<World> {
  const call = caller(server)
  await install(call, 'comets', 'Comet', 'Namespaced')
  await install(call, 'moons', 'Moon', 'Cluster')
  for (const name of [mine, theirs]) await call('POST', '/api/v1/namespaces', { metadata: { name } })
  const slow = { metadata: { name: 'zq-slow' }, initializers: [{ name: 'slow.zq.io' }] }
  await call('POST', configurationsPath, slow)
  for (const object of policy) {
    // Its creator must be allowed to first.
    if (object.metadata.namespace === young) await createYoung(call)
    await call('POST', rbacPath(`${object.kind?.toLowerCase()}s`, object.metadata.namespace), object)
  }
  for (const { namespace, name } of accounts) {
    await call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
  }
  const types = await discover(call)
  for (const type of types) await fill(call, type)
  await registered(call, types)
  const clusterNames = new Map<string, readonly string[]>()
  for (const type of types) {
    if (type.namespaced || !type.verbs.includes('list')) continue
    const { items } = (await call('GET', pathOf(type))) as Listed
    clusterNames.set(keyOf(type), items.map((o) => o.metadata.name ?? '').toSorted())
  }
  return {
    facts: factsOf(types, clusterNames, await readPolicy(call), listsOwnNamespaces),
    types,
    documents: await documentsOf(call),
    identities: await Promise.all(identities.map((identity) => withToken(call, identity))),
    async snapshot() {
      const seen = new Map<string, string>()
      for (const type of types.filter((t) => t.verbs.includes('list'))) {
        const { items } = (await call('GET', pathOf(type))) as Listed
        for (const { metadata } of items) {
          const { namespace = '', name = '', resourceVersion = '' } = metadata
          // What controllers do elsewhere is their business.
          if (namespace === '' || marked(namespace).includes(name)) {
            seen.set(`${pathOf(type)} ${namespace}/${name}`, isBusy(type) ? '' : resourceVersion)
          }
        }
      }
      return seen
    },
  }
}

/** The controller of APIServices goes to work in turns: later ones would look like objects that a request made. */
async function registered(call: Call, types: readonly ServedType[]): Promise<void> {
  const expected = types.map(({ group, version }) => `${version}.${group}`)
  const path = pathOf({ group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' })
  for (const endMs = performance.now() + 30_000; ; ) {
    const { items } = (await call('GET', path)) as Listed
    const names = new Set(items.map((o) => o.metadata.name))
    const missing = expected.filter((name) => !names.has(name))
    if (missing.length === 0) return
    if (performance.now() > endMs) throw new Error(`waited in vain for the APIServices ${missing.join(', ')}`)
    // Not by vitest, whose waiting works in its own workers alone: `run.ts` runs without it.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Objects that the server's own controllers write to at their own time. */
const isBusy = ({ resource }: ServedType): boolean =>
  ['namespaces', 'namespacetemplates', 'apiservices', 'servicecidrs'].includes(resource)

type Call = (method: string, path: string, body?: object, by?: Identity) => Promise<KubeObject>

function caller(server: Server): Call {
  return async (method, path, body, by = administrator) => {
    const headers = { authorization: `Bearer ${by.token}`, 'content-type': 'application/json' }
    const answer = await server.ask({ method, path, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (answer.code >= 300) throw new Error(`${method} ${path}: ${answer.code} ${answer.text}`)
    return parsed(answer)
  }
}

const parsed = ({ text }: Answer): KubeObject => JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as KubeObject

async function install(call: Call, plural: string, kind: string, scope: string): Promise<void> {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' } } },
      status: { type: 'object', properties: { size: { type: 'integer' } } },
    },
  }
  const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' }
  const given = definition({
    group: 'sky.io',
    plural,
    kind,
    scope,
    schema,
    version: { subresources: { status: {}, scale } },
  })
  await call('POST', definitionsPath, given)
  for (let tries = 0; ; tries++) {
    const { resources } = (await call('GET', '/apis/sky.io/v1').catch(() => ({}))) as { resources?: { name: string }[] }
    if (resources?.some(({ name }) => name === plural)) return
    if (tries > 1000) throw new Error(`${plural} is not served`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function discover(call: Call): Promise<ServedType[]> {
  const { groups } = (await call('GET', '/apis')) as never as { groups: { versions: { groupVersion: string }[] }[] }
  const versions = groups.flatMap((g) => g.versions.map(({ groupVersion }) => groupVersion))
  const types: ServedType[] = []
  for (const groupVersion of ['v1', ...versions]) {
    const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion]
    const { resources } = (await call('GET', group === '' ? `/api/${version}` : `/apis/${groupVersion}`)) as never as {
      resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[]
    }
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes('/')) continue
      const parts = resources.filter((r) => r.name.startsWith(`${name}/`))
      types.push({
        group: group ?? '',
        version: version ?? '',
        resource: name,
        kind,
        namespaced,
        custom: group === 'sky.io',
        verbs,
        subresources: new Map(parts.map((r) => [r.name.slice(name.length + 1), r.verbs])),
      })
    }
  }
  return types
}

const keyOf = ({ group, resource }: ServedType): string => `${resource}.${group}`
const marked = (namespace: string): string[] => [held(namespace), other(namespace)]

function pathOf({ group, version, resource }: GroupVersionResource, namespace?: string): string {
  const front = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return `${front}${namespace ? `/namespaces/${namespace}` : ''}/${resource}`
}

function rbacPath(resource: string, namespace?: string): string {
  return pathOf({ group: 'rbac.authorization.k8s.io', version: 'v1', resource }, namespace)
}

async function createYoung(call: Call): Promise<void> {
  const path = '/api/v1/namespaces?includeUninitialized=true'
  await call('POST', path, { metadata: { name: young } }, creator)
}

/** Whatever is created in a namespace is there twice; of cluster-scoped types one is enough. */
async function fill(call: Call, type: ServedType): Promise<void> {
  if (!type.verbs.includes('list') || !type.verbs.includes('create')) return
  const there = ((await call('GET', pathOf(type))) as Listed).items
  if (!type.namespaced) {
    if (there.length === 0) await call('POST', pathOf(type), bodyOf(type, 'zq-one'))
    return
  }
  for (const namespace of namespaces) {
    for (const name of marked(namespace)) {
      // Another version or group may share the objects.
      if (there.some((o) => o.metadata.namespace === namespace && o.metadata.name === name)) continue
      await call('POST', pathOf(type, namespace), bodyOf(type, name, namespace))
    }
  }
}

async function readPolicy(call: Call): Promise<Policy> {
  const list = async <T>(resource: string): Promise<T[]> =>
    ((await call('GET', rbacPath(resource))) as Listed).items as never as T[]
  return {
    clusterRoles: await list('clusterroles'),
    clusterBindings: await list('clusterrolebindings'),
    roles: await list('roles'),
    bindings: await list('rolebindings'),
  }
}

async function documentsOf(call: Call): Promise<string[]> {
  const { paths } = (await call('GET', '/')) as never as { paths: string[] }
  return ['/', ...paths, '/version/', '/metrics/x', '/healthz/nothing', '/nothing', '/apis/nobody.io', '/apis/apps/v9']
}

async function withToken(call: Call, identity: Identity): Promise<Identity> {
  if (identity.token !== 'asked') return identity
  const [, , namespace, name] = identity.username.split(':')
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const { status } = (await call('POST', path, {})) as never as { status: { token: string } }
  return { ...identity, token: status.token }
}

function factsOf(
  types: readonly ServedType[],
  clusterNames: ReadonlyMap<string, readonly string[]>,
  given: Policy,
  listsOwnNamespaces: boolean,
): Facts {
  const byAddress = new Map(types.map((t) => [`${t.group}/${t.version}/${t.resource}`, t]))
  const groups = new Set(types.map((t) => t.group))
  return {
    policy: given,
    findType: (group, version, resource) => byAddress.get(`${group}/${version}/${resource}`),
    hasGroup: (group) => groups.has(group),
    namespaces,
    namesOf(type, namespace) {
      if (type.resource === 'namespaces') return namespaces
      if (!type.namespaced) return clusterNames.get(keyOf(type)) ?? []
      // What can't be created is shown of other things, of which there are none.
      if (namespace === nowhere || !type.verbs.includes('create')) return []
      return (namespace === '' ? namespaces : [namespace]).flatMap(marked)
    },
    initializing: new Map([[young, creator.username]]),
    listsOwnNamespaces,
  }
}
