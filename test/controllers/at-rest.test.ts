/**
 * While time stands still a server comes to rest, whatever its controllers are refused: one that fails waits before it
 * tries again, and what it writes of its failure must not bring it back at once. Where that is wrong the store is
 * written as fast as it takes writes, and a processor with it.
 */
import { afterEach, expect, it } from 'vitest'
import type { AdmissionPlugin, Attributes } from '../../src/admission/admission.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { featuresOf } from '../../src/app/features.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Feature } from '../../src/feature/feature.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { internalError } from '../../src/kube/status-error.ts'
import { positionsPerCommit } from '../../src/storage/storage.ts'

const admin = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

/** Far more than what all that is refused here comes to at once, and a moment's work for a loop that does not wait. */
const mostCommits = 150
/** In half a minute, of all controllers; what does not wait comes there at once. */
const mostRefusals = 500
/** Turns of the loop without a write, after which none is on its way. */
const quietTurns = 100

class World implements AsyncDisposable {
  readonly clock = new FakeClock()
  #plane: ControlPlane | undefined
  #isRefused: (a: Attributes) => boolean = () => false
  #refusals = 0

  get refusals(): number {
    return this.#refusals
  }

  async start(): Promise<void> {
    const { clock } = this
    this.#plane = await createControlPlane(
      { ...defaultConfig, clock, population: true },
      {
        features: (config, deps) => {
          const { list, hold } = featuresOf(config, deps)
          return { list: [...list.filter(({ name }) => name !== 'webhooks'), this.#refusing()], hold }
        },
      },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#plane?.[Symbol.asyncDispose]()
  }

  /** From now on controllers are refused this, in other words each time, as by a server that names its requests. */
  refuse(isRefused: (a: Attributes) => boolean): void {
    this.#isRefused = isRefused
  }

  async ask(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetchAdapter(
      this.#served.serve,
      admin,
    )(
      new Request(new URL(path, 'https://borough.test'), {
        method,
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response.json()
  }

  /** How many commits come before none comes any more; more than `mostCommits` are not waited for. */
  async rest(): Promise<number> {
    const begin = await this.#commits()
    let last = begin
    for (let quiet = 0; quiet < quietTurns && last - begin <= mostCommits; quiet++) {
      await new Promise((resolve) => setImmediate(resolve))
      const now = await this.#commits()
      if (now !== last) quiet = 0
      last = now
    }
    return last - begin
  }

  get #served(): ControlPlane {
    if (this.#plane === undefined) throw new Error('not started')
    return this.#plane
  }

  async #commits(): Promise<number> {
    const { metadata } = (await this.ask('GET', '/api/v1/nodes?limit=1')) as { metadata: { resourceVersion: string } }
    return Math.floor(Number(metadata.resourceVersion) / positionsPerCommit)
  }

  /** In the place of webhooks. */
  #refusing(): Feature {
    const plugin: AdmissionPlugin = {
      name: 'ValidatingAdmissionWebhook',
      handles: () => true,
      validate: (a) => {
        if (a.user.groups.includes('system:masters') || a.dryRun || !this.#isRefused(a)) return
        // What never waits leaves the test no turn of the loop to see it in, until it is let through.
        if (++this.#refusals >= mostRefusals) this.#isRefused = () => false
        throw internalError(`request ${this.#refusals} is refused`)
      },
    }
    return { name: 'refusing', open: () => ({ admission: [plugin] }) }
  }
}

let world: World | undefined
afterEach(async () => world?.[Symbol.asyncDispose]())

const core = '/api/v1/namespaces'
const policy = '/apis/policy.borough.dev/v1alpha1'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const things = '/apis/rest.example/v1/namespaces/kept/things'
const configMap = (name: string, more: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { name, ...more },
})

/** Something for each controller. */
async function furnished(): Promise<World> {
  world = new World()
  const one = world
  await one.start()
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await one.ask('POST', definitions, {
    metadata: { name: 'things.rest.example' },
    spec: {
      ...{ group: 'rest.example', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  for (const [name, object] of [
    ['team', 'about'],
    ['second', 'more'],
  ] as const) {
    await one.ask('POST', `${policy}/namespacetemplates`, {
      metadata: { name },
      spec: { namespaces: { labelSelector: { matchLabels: { kind: 'team' } } }, templates: [configMap(object)] },
    })
  }
  await one.ask('POST', `${policy}/clusterresourcequotas`, {
    metadata: { name: 'all' },
    spec: {
      selector: { labels: { matchLabels: { kind: 'team' } } },
      quota: { hard: { configmaps: '50', 'count/namespaces': '9' } },
    },
  })
  for (const [name, annotations] of [
    ['kept', {}],
    ['going', {}],
    ['ending', { 'borough.dev/ttl': '10s' }],
  ] as const) {
    await one.ask('POST', core, { metadata: { name, labels: { kind: 'team' }, annotations } })
    await one.ask('POST', `${core}/${name}/configmaps`, configMap('theirs'))
  }
  await one.ask('POST', `${core}/kept/resourcequotas`, {
    metadata: { name: 'q' },
    spec: { hard: { configmaps: '40' } },
  })
  for (;;) {
    const isServed = await one
      .ask('POST', things, { apiVersion: 'rest.example/v1', kind: 'Thing', metadata: { name: 'a' } })
      .then(
        () => true,
        () => false,
      )
    if (isServed) break
    await one.rest()
  }
  const owner = (await one.ask('POST', `${core}/kept/configmaps`, configMap('owner'))) as { metadata: { uid: string } }
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion: true },
  ]
  await one.ask('POST', `${core}/kept/configmaps`, configMap('owned', { ownerReferences }))
  await one.rest()
  return one
}

/** What gives each controller something to do. */
async function stirUp(one: World): Promise<void> {
  await one.ask('DELETE', `${core}/going`)
  await one.ask('DELETE', `${definitions}/things.rest.example`)
  await one.ask('DELETE', `${core}/kept/configmaps/owner`, { propagationPolicy: 'Foreground' })
  await one.ask('DELETE', `${core}/kept/configmaps/kube-root-ca.crt`)
  await one.ask('DELETE', `${core}/kept/serviceaccounts/default`)
  await one.ask('DELETE', `${policy}/namespacetemplates/second`)
  await one.ask('PATCH', `${policy}/namespacetemplates/team`, { spec: { templates: [configMap('other')] } })
  await one.ask('PATCH', `${policy}/clusterresourcequotas/all`, { spec: { quota: { hard: { configmaps: '60' } } } })
  await one.ask('PATCH', `${core}/kept/resourcequotas/q`, { spec: { hard: { configmaps: '30' } } })
}

it.each<{ refused: string; isRefused: (a: Attributes) => boolean; refusals?: number }>([
  { refused: 'nothing', isRefused: () => false, refusals: 0 },
  { refused: 'each deletion', isRefused: ({ operation }) => operation === 'DELETE' },
  { refused: 'each creation', isRefused: ({ operation }) => operation === 'CREATE' },
  { refused: 'each status', isRefused: ({ subresource }) => subresource === 'status' },
  {
    refused: 'each change but of a status',
    isRefused: ({ operation, subresource }) => operation === 'UPDATE' && subresource !== 'status',
  },
  { refused: 'each write of a namespace', isRefused: ({ type }) => type.resource === 'namespaces' },
  { refused: 'all but what is about namespaces', isRefused: ({ type }) => type.resource !== 'namespaces' },
  { refused: 'everything', isRefused: () => true },
])(
  'a server comes to rest where controllers are refused $refused',
  { timeout: 300_000 },
  async ({ isRefused, refusals = 5 }) => {
    const one = await furnished()
    one.refuse(isRefused)
    await stirUp(one)
    expect(await one.rest()).toBeLessThanOrEqual(mostCommits)
    for (let second = 0; second < 30; second++) {
      await one.clock.advance(1000)
      expect(await one.rest()).toBeLessThanOrEqual(mostCommits)
    }
    expect(one.refusals).toBeLessThan(mostRefusals)
    // Else it says nothing about what is refused.
    expect(one.refusals).toBeGreaterThanOrEqual(refusals)
  },
)
