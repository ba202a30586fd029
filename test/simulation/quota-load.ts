/**
 * Clients of the simulated replicas that contest quotas over several namespaces: they make, relabel, own and delete
 * namespaces, change what is in them by every verb that can, and make, edit and delete the quotas meanwhile.
 */
import { type ClusterResourceQuotaSpec, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import type { Client } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { Random } from '../fuzz/random.ts'
import { configMaps, namespaces, quotas, secrets, type Target } from './load.ts'
import type { Scheduler } from './scheduler.ts'

const pods: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }
/** The template of the furnished store populates those named team-…, in the transaction of their birth. */
const spaces = ['ns-0', 'ns-1', 'ns-2', 'ns-3', 'team-0']
const users = ['alice', 'bob']
const kinds = [null, 'team', 'other']
const patienceMs = 12_000
const hold = 'example.com/hold'

const ofTeams = { labels: { matchLabels: { kind: 'team' } } }
const ofAll = { labels: { matchExpressions: [{ key: 'kind', operator: 'Exists' as const }] } }
const specs: readonly ClusterResourceQuotaSpec[] = [
  { selector: ofTeams, quota: { hard: { configmaps: '9', 'count/namespaces': '3' } } },
  { selector: ofTeams, perOwner: true, quota: { hard: { configmaps: '5', secrets: '3', 'count/namespaces': '2' } } },
  { selector: ofAll, perCreator: true, quota: { hard: { secrets: '4', resourcequotas: '2', configmaps: '6' } } },
  { selector: ofAll, quota: { hard: { pods: '4', 'requests.cpu': '6', 'count/pods': '5', configmaps: '40' } } },
]

type Act = (client: Client, signal: AbortSignal) => Promise<unknown>

export interface QuotaLoadOptions {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly targets: readonly Target[]
}

export class QuotaLoad {
  /** Answers that no server may give, whatever happens. */
  readonly problems: string[] = []
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #targets: readonly Target[]
  #isOver = false
  #count = 0

  constructor({ scheduler, random, targets }: QuotaLoadOptions) {
    this.#scheduler = scheduler
    this.#random = random
    this.#targets = targets
  }

  get count(): number {
    return this.#count
  }

  stop(): void {
    this.#isOver = true
  }

  /** One client, until `stop`: what it asks it asks in bursts, of any replica. */
  async client(name: string, thinkMs: number): Promise<void> {
    const random = this.#random
    const user = { username: random.pick(users), groups: ['system:masters', 'system:authenticated'] }
    while (!this.#isOver) {
      await new Promise<void>((resolve) => void this.#scheduler.after(thinkMs * 2 * random.next(), resolve))
      const burst = Array.from({ length: 1 + random.below(4) }, () => {
        const [what, act] = this.#draw()
        return this.#ask(random.pick(this.#targets), user, `${name} ${what}`, act)
      })
      this.#count += burst.length
      await Promise.all(burst)
    }
  }

  #draw(): readonly [what: string, act: Act] {
    const random = this.#random
    const namespace = random.pick(spaces)
    return random.weighted<readonly [string, Act]>([
      [10, () => this.#content(namespace)],
      [4, () => this.#pod(namespace)],
      [5, () => this.#space(namespace)],
      [2, () => this.#quota()],
    ])
  }

  #content(namespace: string): readonly [string, Act] {
    const random = this.#random
    const metadata = { name: `c-${random.below(6)}`, namespace }
    const held = random.chance(0.08) ? { finalizers: [hold] } : {}
    const limits = { ...metadata, name: 'own' }
    return random.weighted<readonly [string, Act]>([
      [
        6,
        () => [
          `makes ${namespace}/${metadata.name}`,
          (c, signal) => c.create(configMaps, { metadata: { ...metadata, ...held } }, { signal }),
        ],
      ],
      [3, () => [`deletes ${namespace}/${metadata.name}`, (c, signal) => c.delete(configMaps, metadata, { signal })]],
      [
        2,
        () => [
          `frees ${namespace}/${metadata.name}`,
          (c, signal) => c.patch(configMaps, metadata, { metadata: { finalizers: null } }, { signal }),
        ],
      ],
      [0.5, () => [`empties ${namespace}`, (c, signal) => c.deleteCollection(configMaps, { namespace, signal })]],
      [
        2,
        () => [
          `makes a secret in ${namespace}`,
          (c, signal) => c.create(secrets, { metadata: { generateName: 's-', namespace } }, { signal }),
        ],
      ],
      [
        0.5,
        () => [
          `deletes the secrets of ${namespace}`,
          (c, signal) => c.deleteCollection(secrets, { namespace, signal }),
        ],
      ],
      [
        0.6,
        () => [
          `limits ${namespace}`,
          (c, signal) => c.create(quotas, { metadata: limits, spec: { hard: { configmaps: '7' } } }, { signal }),
        ],
      ],
      [0.5, () => [`unlimits ${namespace}`, (c, signal) => c.delete(quotas, limits, { signal })]],
    ])
  }

  #pod(namespace: string): readonly [string, Act] {
    const random = this.#random
    const ref = { name: `p-${random.below(3)}`, namespace }
    const cpu = String(1 + random.below(3))
    const container = { name: 'main', image: 'app', resources: { requests: { cpu } } }
    const phase = random.pick(['Succeeded', 'Running'])
    return random.weighted<readonly [string, Act]>([
      [
        4,
        () => [
          `makes pod ${namespace}/${ref.name} of ${cpu}`,
          (c, signal) => c.create(pods, { metadata: ref, spec: { containers: [container] } }, { signal }),
        ],
      ],
      [1, () => [`deletes pod ${namespace}/${ref.name}`, (c, signal) => c.delete(pods, ref, { signal })]],
      [
        2,
        () => [
          `resizes pod ${namespace}/${ref.name} to ${cpu}`,
          (c, signal) => c.patch(pods, ref, { spec: { containers: [container] } }, { subresource: 'resize', signal }),
        ],
      ],
      [
        2,
        () => [
          `has pod ${namespace}/${ref.name} be ${phase}`,
          (c, signal) => c.patch(pods, ref, { status: { phase } }, { subresource: 'status', signal }),
        ],
      ],
    ])
  }

  #space(name: string): readonly [string, Act] {
    const random = this.#random
    const kind = random.pick(kinds)
    const owner = `owner-${random.below(2)}`
    const labels = kind === null ? {} : { kind }
    const annotations = random.chance(0.5) ? { 'borough.dev/owner': owner } : {}
    return random.weighted<readonly [string, Act]>([
      [
        4,
        () => [
          `makes ${name} of kind ${kind}`,
          (c, signal) => c.create(namespaces, { metadata: { name, labels, annotations } }, { signal }),
        ],
      ],
      [0.8, () => [`deletes ${name}`, (c, signal) => c.delete(namespaces, { name }, { signal })]],
      [
        6,
        () => [
          `has ${name} be of kind ${kind}`,
          (c, signal) => c.patch(namespaces, { name }, { metadata: { labels: { kind } } }, { signal }),
        ],
      ],
      [
        0.3,
        () => [
          `gives ${name} to ${owner}`,
          (c, signal) =>
            c.patch(namespaces, { name }, { metadata: { annotations: { 'borough.dev/owner': owner } } }, { signal }),
        ],
      ],
    ])
  }

  #quota(): readonly [string, Act] {
    const random = this.#random
    const metadata = { name: `q-${random.below(2)}` }
    const number = random.below(specs.length)
    const spec = specs[number] as ClusterResourceQuotaSpec
    return random.weighted<readonly [string, Act]>([
      [
        3,
        () => [
          `makes ${metadata.name} of spec ${number}`,
          (c, signal) => c.create(clusterQuotaResource, { metadata, spec }, { signal }),
        ],
      ],
      [1, () => [`deletes ${metadata.name}`, (c, signal) => c.delete(clusterQuotaResource, metadata, { signal })]],
      [
        3,
        () => [
          `edits ${metadata.name} to spec ${number}`,
          async (c, signal) =>
            c.update(
              clusterQuotaResource,
              { ...(await c.get(clusterQuotaResource, metadata, { signal })), spec },
              { signal },
            ),
        ],
      ],
      [1, () => [`reads ${metadata.name}`, (c, signal) => c.get(clusterQuotaResource, metadata, { signal })]],
    ])
  }

  async #ask(target: Target, user: Parameters<Target['client']>[0], what: string, act: Act): Promise<void> {
    const client = target.client(user)
    if (client === undefined) return
    const stop = new AbortController()
    const late = Promise.withResolvers<never>()
    const timer = this.#scheduler.after(patienceMs, () => {
      stop.abort()
      late.reject(new Error('no answer in time'))
    })
    try {
      await Promise.race([target.ask(act(client, stop.signal)), late.promise])
      this.#scheduler.tell(`${what} at ${target.name}: done`)
    } catch (error) {
      const status = findStatusError(error)
      const answer = status === undefined ? 'no answer' : `${status.code} ${status.message}`
      this.#scheduler.tell(`${what} at ${target.name}: ${answer}`)
      // ServerTimeout: the store could not be reached, and the client is asked to try again.
      if (status?.code === 500 && status.reason !== 'ServerTimeout')
        this.problems.push(`${what} was answered ${answer}`)
    } finally {
      timer.cancel()
      late.promise.catch(() => undefined)
    }
  }
}
