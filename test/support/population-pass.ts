/**
 * A cluster of a few lines for one pass of population over one namespace: what is sent, in which order, what is
 * recorded, and what is told of it. Objects are called `Role/r`.
 */

import type { Namespace } from '../../src/apis/namespaces/types.ts'
import type { AppliedObject } from '../../src/apis/templates/applied-records.ts'
import { identityOfApplied } from '../../src/apis/templates/applied-records.ts'
import { Corrections } from '../../src/apis/templates/corrections.ts'
import { contentDigest } from '../../src/apis/templates/marks.ts'
import type { ObjectResult } from '../../src/apis/templates/object-result.ts'
import { type PopulateDeps, type PopulateRequest, populate } from '../../src/apis/templates/populate.ts'
import type { PopulatedObject } from '../../src/apis/templates/populated-objects.ts'
import type { NamespaceTemplate } from '../../src/apis/templates/types.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { ServedKind } from '../../src/client/client.ts'
import { alreadyExists, notFound } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'

export const rbac = 'rbac.authorization.k8s.io'
const kindOf = (apiVersion: string, kind: string, resource: string, namespaced = true): [string, ServedKind] => {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return [`${apiVersion}/${kind}`, { group, version, kind, resource, namespaced, verbs: [] }]
}
const served = new Map([
  kindOf('v1', 'ConfigMap', 'configmaps'),
  kindOf('v1', 'ResourceQuota', 'resourcequotas'),
  kindOf('v1', 'Pod', 'pods'),
  kindOf('v1', 'Node', 'nodes', false),
  kindOf(`${rbac}/v1`, 'Role', 'roles'),
  kindOf(`${rbac}/v1`, 'RoleBinding', 'rolebindings'),
  kindOf('ex.io/v1', 'Role', 'roles'),
])

export const object = (kind: string, name: string, more: JsonObject = {}, apiVersion = 'v1'): JsonObject => ({
  ...{ apiVersion, kind, metadata: { name } },
  ...more,
})
export const role: JsonObject = object('Role', 'r', { rules: [] }, `${rbac}/v1`)
export const binding: JsonObject = object(
  'RoleBinding',
  'b',
  { roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' } },
  `${rbac}/v1`,
)
export const configMap: JsonObject = object('ConfigMap', 'c', { data: { a: '1' } })

export const holding = (name: string, ...templates: JsonObject[]): NamespaceTemplate => ({
  metadata: { name, generation: 3 },
  spec: { templates },
})
export const team: Namespace = { metadata: { name: 'team', uid: 'n' } }

interface Options {
  readonly mustBeAbsent?: boolean
  readonly dryRun?: boolean
}

export class World {
  readonly objects: Map<string, KubeObject> = new Map()
  readonly claims: Map<string, AppliedObject> = new Map()
  readonly lives: Map<string, PopulatedObject> = new Map()
  /** By what is sent: `apply Role/r`. */
  readonly failures: Map<string, Error> = new Map()
  readonly sent: string[] = []
  readonly settled: string[] = []
  /** Fields that others add to what is applied. */
  readonly added: Map<string, JsonObject> = new Map()
  readonly corrections: Corrections = new Corrections(new FakeClock())
  #revision = 0

  #send(what: string): void {
    this.sent.push(what)
    const failure = this.failures.get(what)
    if (failure !== undefined) throw failure
  }

  /** An object that is there, whoever made it. `isOurs`: as the record says. */
  put(
    source: JsonObject,
    { isOurs = false, template = 't', uid = '' }: { isOurs?: boolean; template?: string; uid?: string } = {},
  ): void {
    const { apiVersion, kind, metadata } = source as unknown as KubeObject
    const name = metadata.name ?? ''
    const title = `${kind}/${name}`
    const stored = {
      ...source,
      metadata: { name, namespace: 'team', uid: uid || `uid of ${title}`, resourceVersion: '0' },
    }
    this.objects.set(title, stored as unknown as KubeObject)
    this.#show(title, template)
    if (isOurs)
      this.claim({ apiVersion: String(apiVersion), kind: String(kind), name, uid: `uid of ${title}`, template })
  }

  claim(about: Pick<AppliedObject, 'apiVersion' | 'kind' | 'name'> & Partial<AppliedObject>): void {
    const claim = { uid: '', template: 't', generation: 3, digest: '', content: '', ...about }
    this.claims.set(identityOfApplied(claim), claim)
  }

  #show(title: string, template: string, more: Partial<PopulatedObject> = {}): void {
    const stored = this.objects.get(title) as KubeObject
    const { kind = '', metadata } = stored
    const { name = '', namespace = '', uid = '', resourceVersion: revision = '' } = metadata
    const resource = [...served.values()].find((one) => one.kind === kind) as ServedKind
    const told = { resource, kind, namespace, name, uid, revision, template, isMarked: true }
    this.lives.set(title, { ...told, digest: contentDigest(stored), ...more })
  }

  /** What the index knows of it beside what is there. */
  know(title: string, more: Partial<PopulatedObject>): void {
    this.#show(title, 't', more)
  }

  get deps(): PopulateDeps {
    const find = ({ resource }: { resource: string }, _namespace: string, name: string) =>
      [...this.lives.values()].find((live) => live.resource.resource === resource && live.name === name)
    const client = {
      discovery: {
        findKind: async (apiVersion: string, kind: string) => {
          const failure = this.failures.get(`find ${kind}`)
          if (failure !== undefined) throw failure
          return served.get(`${apiVersion}/${kind}`)
        },
      },
      get: async (kind: ServedKind, { name }: { name: string }) => {
        const found = this.objects.get(`${kind.kind}/${name}`)
        if (found === undefined) throw notFound(kind, name)
        return found
      },
      apply: async (kind: ServedKind, config: KubeObject, { mustBeAbsent = false }: Options) => {
        const title = `${kind.kind}/${config.metadata.name}`
        this.#send(`apply ${title}`)
        // The one kind here that shares its name with another.
        const there = kind.group === 'ex.io' ? undefined : this.objects.get(title)
        if (mustBeAbsent && there !== undefined) throw alreadyExists(kind, config.metadata.name ?? '')
        const { uid = `uid of ${title}` } = there?.metadata ?? {}
        const metadata = { ...config.metadata, uid, resourceVersion: String(++this.#revision) }
        const stored = { ...config, ...this.added.get(title), metadata }
        if (kind.group !== 'ex.io') this.objects.set(title, stored)
        return stored
      },
      update: async (kind: ServedKind, whole: KubeObject, { dryRun = false }: Options) => {
        if (!dryRun) this.#send(`replace ${kind.kind}/${whole.metadata.name}`)
        return whole
      },
      patch: async (kind: ServedKind, { name }: { name: string }, patch: { metadata: { labels: object } }) => {
        this.#send(`label ${kind.kind}/${name} ${Object.values(patch.metadata.labels)[0]}`)
        return {}
      },
      delete: async (kind: ServedKind, { name }: { name: string }, options: object) => {
        this.#send(
          `delete ${kind.kind}/${name} ${JSON.stringify(options, ['preconditions', 'uid', 'propagationPolicy'])}`,
        )
        this.objects.delete(`${kind.kind}/${name}`)
        return { kind: 'Status' }
      },
    }
    return {
      client: client as unknown as PopulateDeps['client'],
      index: {
        find,
        claimsIn: (namespace: string) => (namespace === 'team' ? [...this.claims.values()] : []),
        writing: () => () => {},
        upToDate: ({ kind, name }: PopulatedObject) => void this.sent.push(`up to date ${kind}/${name}`),
      } as unknown as PopulateDeps['index'],
      clones: () => ({ reason: 'SourceMissing', message: 'it is not there' }),
      corrections: this.corrections,
      records: {
        announce: async (_namespace, objects) => {
          this.#send(`announce ${objects.map(({ kind, name }) => `${kind}/${name}`).join(' ')}`)
        },
        settle: async (_namespace, { applied, released }) => {
          const titles = applied.map(({ kind, name, uid, template }) => `${kind}/${name} of ${template}, ${uid}`)
          this.settled.push(...titles, ...released.map((identity) => `-${identity}`))
        },
      },
    }
  }

  pass(templates: readonly NamespaceTemplate[], more: Partial<PopulateRequest> = {}): Promise<readonly ObjectResult[]> {
    return populate(this.deps, {
      ...{ namespace: team, templates, policyOf: () => 'Delete', signal: new AbortController().signal },
      ...more,
    })
  }
}

/** `RoleBinding/b: RoleNotOurs, tried again: …` */
export const told = (results: readonly ObjectResult[]): string[] =>
  results.map(({ object: title, outcome, failure }) => {
    const again = failure?.retriable ? ', tried again' : ''
    return `${title}: ${failure === undefined ? outcome : `${failure.reason}${again}: ${failure.message}`}`
  })
