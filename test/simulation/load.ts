/**
 * Clients of the simulated servers, with retries and without manners: a tenant that contests a few objects, writers at
 * the limit of a quota, administrators who make, fill and delete namespaces and edit the template that populates them.
 * What each asked and heard is written down, for `checks/`.
 */
import type { Client } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import { findStatusError, isNotFound } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import type { Random } from '../fuzz/random.ts'
import type { Operation } from '../replicas/linearizability.ts'
import type { Heard, ListRead } from './checks/reads.ts'
import type { Scheduler } from './scheduler.ts'

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
export const namespaces: GroupVersionResource = core('namespaces')
export const configMaps: GroupVersionResource = core('configmaps')
export const secrets: GroupVersionResource = core('secrets')
export const quotas: GroupVersionResource = core('resourcequotas')
export const templates: GroupVersionResource = {
  group: 'policy.borough.dev',
  version: 'v1alpha1',
  resource: 'namespacetemplates',
}
const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }

export const contested = 'contested'
const limited = 'limited'
const contestedKeys = 3
const quotaLimit = 5
const largeBytes = 300_000
const teams = 3
const tenant = { username: 'tenant', groups: ['system:authenticated'] }
/** A client that hears nothing for so long gives up, and does not know. */
const patienceMs = 12_000

/** Where a server is reached; undefined = no server is there. */
export interface Target {
  readonly name: string
  client(user?: { readonly username: string; readonly groups: readonly string[] }): Client | undefined
  /** As `work`, but rejects when the connection to the server breaks. */
  ask<T>(work: Promise<T>): Promise<T>
}

export interface LoadOptions {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly targets: readonly Target[]
  /** At what is rare otherwise: clients change servers all the time, namespaces and objects come and go. */
  readonly isAimed?: boolean
  /** A store that can't be read or written now is no wonder. */
  readonly mayFail?: () => boolean
  /** What was refused, with this, is no wonder where something that is stored is damaged. */
  readonly excuses?: (code: number, message: string) => boolean
  /** Also writes large values, and changes quotas. */
  readonly isBroad?: boolean
}

interface Rates {
  /** How often a client goes to another server. */
  readonly hops: number
  /** Of writes to what exists. */
  readonly deletes: number
  readonly lists: number
  readonly namespaces: number
  readonly content: number
  /** Of creates in a namespace that is deleted at another server at that moment. */
  readonly races: number
}

const usualRates: Rates = { hops: 0.1, deletes: 0.25, lists: 3, namespaces: 3, content: 3, races: 0 }
const aimedRates: Rates = { hops: 0.7, deletes: 0.5, lists: 6, namespaces: 8, content: 10, races: 4 }

const about = (version: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'about' },
  data: { of: '$(NAMESPACE)', version: String(version) },
})
const limits = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'limits' },
  spec: { hard: { configmaps: '5' } },
}
const templateSpec = (version: number): object => ({
  namespaces: { nameSelector: { include: ['team-*'] } },
  templates: [about(version), limits],
})

/** What stands before the first fault. */
export async function furnish(client: Client): Promise<void> {
  await client.create(namespaces, { metadata: { name: contested } })
  await client.create(namespaces, { metadata: { name: limited } })
  const hard = { secrets: String(quotaLimit) }
  await client.create(quotas, { metadata: { name: 'q', namespace: limited }, spec: { hard } })
  await client.create(roleBindings, {
    metadata: { name: 'tenant', namespace: contested },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: tenant.username }],
  })
  await client.create(templates, { metadata: { name: 't' }, spec: templateSpec(0) })
}

export class Load {
  readonly operations: Map<string, Operation[]> = new Map()
  readonly lists: ListRead[] = []
  readonly heard: Heard[] = []
  /** Answers that no server may give, whatever happens. */
  readonly problems: string[] = []
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #targets: readonly Target[]
  readonly #mayFail: () => boolean
  readonly #excuses: (code: number, message: string) => boolean
  readonly #isBroad: boolean
  readonly #rates: Rates
  #ids = 0
  #isOver = false
  #count = 0

  constructor(options: LoadOptions) {
    const { scheduler, random, targets, isAimed = false, isBroad = false } = options
    const { mayFail = () => false, excuses = () => false } = options
    this.#scheduler = scheduler
    this.#random = random
    this.#targets = targets
    this.#mayFail = mayFail
    this.#excuses = excuses
    this.#isBroad = isBroad
    this.#rates = isAimed ? aimedRates : usualRates
  }

  get count(): number {
    return this.#count
  }

  stop(): void {
    this.#isOver = true
  }

  /** One client, until `stop`. */
  async client(name: string, thinkMs: number): Promise<void> {
    const random = this.#random
    const { hops, lists, namespaces, content, races } = this.#rates
    let at = random.below(this.#targets.length)
    while (!this.#isOver) {
      await this.#pause(thinkMs * 2 * random.next())
      if (random.chance(hops)) at = random.below(this.#targets.length)
      const target = this.#targets[at] as Target
      const work = random.weighted<() => Promise<boolean>>([
        [8, () => () => this.#contend(target, name)],
        [lists, () => () => this.#list(target, name)],
        [4, () => () => this.#fillQuota(target, name)],
        [namespaces, () => () => this.#makeOrDelete(target, name)],
        [content, () => () => this.#fillTeam(target, name)],
        [0.5, () => () => this.#edit(target, name)],
        [races, () => () => this.#raceDeletion(target, name)],
        [this.#isBroad ? 1 : 0, () => () => this.#editQuota(target, name)],
      ])
      this.#count++
      if (!(await work())) at = random.below(this.#targets.length)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#scheduler.after(ms, resolve))
  }

  /** What a client hears: the answer, or why there is none. Never waits for ever. */
  async #ask<T>(
    target: Target,
    what: string,
    work: (client: Client, signal: AbortSignal) => Promise<T>,
    user?: typeof tenant,
  ): Promise<{ readonly answer: T } | { readonly error: unknown }> {
    const client = target.client(user)
    if (client === undefined) return { error: new Error('refused') }
    const stop = new AbortController()
    const late = Promise.withResolvers<never>()
    const timer = this.#scheduler.after(patienceMs, () => {
      stop.abort()
      late.reject(new Error('no answer in time'))
    })
    try {
      const answer = await Promise.race([target.ask(work(client, stop.signal)), late.promise])
      this.#scheduler.tell(`${what}: done`)
      return { answer }
    } catch (error) {
      const status = findStatusError(error)
      this.#scheduler.tell(`${what}: ${status === undefined ? 'no answer' : `${status.code} ${status.message}`}`)
      // ServerTimeout: the store could not be reached, and the client is asked to try again.
      if (
        status?.code === 500 &&
        status.reason !== 'ServerTimeout' &&
        !this.#mayFail() &&
        !this.#excuses(500, status.message)
      )
        this.problems.push(`${what} was answered 500: ${status.message}`)
      return { error }
    } finally {
      timer.cancel()
      late.promise.catch(() => undefined)
    }
  }

  #hear(object: { readonly metadata: { readonly resourceVersion?: string } }): number {
    const revision = Number(object.metadata.resourceVersion)
    this.heard.push({ at: this.#scheduler.now, revision })
    return revision
  }

  #record(name: string, operation: Operation): void {
    const operations = this.operations.get(name)
    if (operations) operations.push(operation)
    else this.operations.set(name, [operation])
  }

  async #contend(target: Target, by: string): Promise<boolean> {
    const name = `k-${this.#random.below(contestedKeys)}`
    const began = this.#scheduler.now
    const ref = { namespace: contested, name }
    const read = await this.#ask(
      target,
      `${by} reads ${name}`,
      (c, signal) => c.get(configMaps, ref, { signal }),
      tenant,
    )
    let revision: number | 'absent'
    if ('answer' in read) revision = this.#hear(read.answer)
    else if (isNotFound(read.error)) revision = 'absent'
    else return findStatusError(read.error) !== undefined
    this.#record(name, { type: 'read', revision, began, ended: this.#scheduler.now })
    if (this.#random.chance(0.3)) return true
    await this.#pause(20 * this.#random.next())
    return this.#write(target, by, name, revision)
  }

  async #write(target: Target, by: string, name: string, expected: number | 'absent'): Promise<boolean> {
    const id = `w-${++this.#ids}`
    const type = expected !== 'absent' && this.#random.chance(this.#rates.deletes) ? 'delete' : 'write'
    const color = this.#random.pick(['red', 'blue'])
    const ref = { namespace: contested, name }
    const metadata = { ...ref, labels: { color } }
    const data = this.#isBroad && this.#random.chance(0.05) ? { id, bytes: 'x'.repeat(largeBytes) } : { id }
    const began = this.#scheduler.now
    const asked = await this.#ask(
      target,
      `${by} ${type}s ${name} ${id}`,
      async (client, signal) => {
        if (type === 'delete') {
          await client.delete(configMaps, ref, { preconditions: { resourceVersion: String(expected) }, signal })
          return undefined
        }
        if (expected === 'absent') return client.create(configMaps, { metadata, data }, { signal })
        const replacement = { metadata: { ...metadata, resourceVersion: String(expected) }, data }
        return client.update(configMaps, replacement, { signal })
      },
      tenant,
    )
    const ended = this.#scheduler.now
    if ('answer' in asked) {
      const revision = asked.answer === undefined ? {} : { revision: this.#hear(asked.answer) }
      this.#record(name, { type, id, expected, outcome: 'acknowledged', began, ended, ...revision })
      return true
    }
    const code = findStatusError(asked.error)?.code ?? 0
    const refused = code === 404 || code === 409
    if (code === 403 && !this.#excuses(code, '')) this.problems.push(`${by} may write in ${contested}, and was refused`)
    const outcome = refused ? 'refused' : 'unknown'
    this.#record(name, { type, id, expected, outcome, began, ended: refused ? ended : Number.POSITIVE_INFINITY })
    return refused
  }

  async #list(target: Target, by: string): Promise<boolean> {
    const mayBeOld = this.#random.chance(0.2)
    const limit = !mayBeOld && this.#random.chance(0.4) ? 2 : undefined
    const everywhere = this.#random.chance(0.3)
    const namespace = everywhere ? '' : contested
    const began = this.#scheduler.now
    const options = {
      ...(everywhere ? {} : { namespace }),
      ...(mayBeOld ? { resourceVersion: '0' } : {}),
      ...(limit === undefined ? {} : { limit }),
    }
    const asked = await this.#ask(target, `${by} lists ${namespace || 'all'}`, async (client, signal) => {
      const items: KubeObject[] = []
      for (let token: string | undefined; ; ) {
        const page = await client.list(configMaps, { ...options, signal, ...(token ? { continue: token } : {}) })
        for (const item of page.items) items.push(item)
        token = page.metadata.continue
        if (!token) return { revision: Number(page.metadata.resourceVersion), items }
        await this.#pause(30 * this.#random.next())
      }
    })
    if (!('answer' in asked)) return findStatusError(asked.error) !== undefined
    const { revision, items } = asked.answer
    const ended = this.#scheduler.now
    this.heard.push({ at: ended, revision })
    const versions = items.map(
      ({ metadata }) => [`${metadata.namespace}/${metadata.name}`, Number(metadata.resourceVersion)] as const,
    )
    this.lists.push({ resource: 'configmaps', namespace, began, ended, revision, items: versions, mayBeOld })
    return true
  }

  async #fillQuota(target: Target, by: string): Promise<boolean> {
    const metadata = { name: `s-${this.#random.below(quotaLimit * 2)}`, namespace: limited }
    const makes = this.#random.chance(0.65)
    const asked = await this.#ask(target, `${by} ${makes ? 'makes' : 'deletes'} ${metadata.name}`, (client, signal) =>
      makes ? client.create(secrets, { metadata }, { signal }) : client.delete(secrets, metadata, { signal }),
    )
    if ('answer' in asked && makes) this.#hear(asked.answer as KubeObject)
    return 'answer' in asked || findStatusError(asked.error) !== undefined
  }

  async #makeOrDelete(target: Target, by: string): Promise<boolean> {
    const name = `team-${this.#random.below(teams)}`
    const makes = this.#random.chance(0.6)
    const asked = await this.#ask(target, `${by} ${makes ? 'makes' : 'deletes'} ${name}`, (client, signal) =>
      makes
        ? client.create(namespaces, { metadata: { name } }, { signal })
        : client.delete(namespaces, { name }, { signal }),
    )
    if ('answer' in asked && makes) this.#hear(asked.answer as KubeObject)
    return 'answer' in asked || findStatusError(asked.error) !== undefined
  }

  async #fillTeam(target: Target, by: string): Promise<boolean> {
    const namespace = `team-${this.#random.below(teams)}`
    const metadata = { namespace, name: `c-${this.#random.below(4)}` }
    const makes = this.#random.chance(0.7)
    const what = `${by} ${makes ? 'makes' : 'deletes'} ${namespace}/${metadata.name}`
    const asked = await this.#ask(target, what, (client, signal) =>
      makes ? client.create(configMaps, { metadata }, { signal }) : client.delete(configMaps, metadata, { signal }),
    )
    if ('answer' in asked && makes) this.#hear(asked.answer as KubeObject)
    return 'answer' in asked || findStatusError(asked.error) !== undefined
  }

  async #raceDeletion(target: Target, by: string): Promise<boolean> {
    const namespace = `team-${this.#random.below(teams)}`
    const deleting = this.#ask(this.#random.pick(this.#targets), `${by} deletes ${namespace}`, (client, signal) =>
      client.delete(namespaces, { name: namespace }, { signal }),
    )
    await this.#pause(4 * this.#random.next())
    const metadata = { namespace, name: `c-${this.#random.below(4)}` }
    const made = await this.#ask(target, `${by} makes ${namespace}/${metadata.name}`, (client, signal) =>
      client.create(configMaps, { metadata }, { signal }),
    )
    await deleting
    return 'answer' in made || findStatusError(made.error) !== undefined
  }

  /** What is there may be more than it allows from now on; nothing is added then. */
  async #editQuota(target: Target, by: string): Promise<boolean> {
    const hard = { secrets: String(quotaLimit - 2 + this.#random.below(4)) }
    const asked = await this.#ask(target, `${by} sets the quota to ${hard.secrets}`, (client, signal) =>
      client.patch(quotas, { namespace: limited, name: 'q' }, { spec: { hard } }, { signal }),
    )
    if ('answer' in asked) this.#hear(asked.answer)
    return 'answer' in asked || findStatusError(asked.error) !== undefined
  }

  async #edit(target: Target, by: string): Promise<boolean> {
    const spec = templateSpec(++this.#ids)
    const asked = await this.#ask(target, `${by} edits the template`, (client, signal) =>
      client.patch(templates, { name: 't' }, { spec }, { signal }),
    )
    if ('answer' in asked) this.#hear(asked.answer)
    return 'answer' in asked || findStatusError(asked.error) !== undefined
  }
}
