/**
 * Population by admission policies: what webhooks decide about namespaces, the API server decides by itself. The same
 * table is asked of both, on a Borough that knows nothing of templates, or on the cluster of BOROUGH_OTHER_CLUSTER, the
 * kubeconfig of an administrator of a cluster that nothing else uses: of webhooks alone where it is older than 1.36.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { type Populate, type PopulateOptions, startPopulate } from '../../src/populate/populate.ts'
import { type OtherCluster, otherAdmissions, startOtherCluster } from '../support/other-cluster.ts'
import { oddOwners, wrongOwners } from '../support/owner-names.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

/** A cluster over HTTPS, as whom a request says. */
class Cluster implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack
  readonly #cluster: OtherCluster

  private constructor(stack: AsyncDisposableStack, cluster: OtherCluster) {
    this.#stack = stack
    this.#cluster = cluster
  }

  static async open(): Promise<Cluster> {
    await using opening = new AsyncDisposableStack()
    const cluster = opening.use(await startOtherCluster({ port: 0 }))
    return new Cluster(opening.move(), cluster)
  }

  get client(): OtherCluster['client'] {
    return this.#cluster.client
  }

  populate(options: Partial<PopulateOptions> = {}): Promise<Populate> {
    return startPopulate({
      client: this.client,
      clock: systemClock,
      ids: randomIds,
      log: silentLog,
      listen: { host: '127.0.0.1', port: 0 },
      namespace: 'borough-system',
      reachedAt: 'listen',
      ...options,
    })
  }

  /** Until the status of a template is so. */
  async until(name: string, want: (status: JsonObject) => boolean): Promise<void> {
    await waitFor(this.client, templateResource, { name }, (t) => want((t?.['status'] ?? {}) as JsonObject))
  }

  /** `created`, `done`, or the words of the refusal, without those of the kind of admission. */
  async ask(user: string, method: string, path: string, body?: object): Promise<string> {
    const { status, answer } = await this.send(user, method, path, body)
    if (status < 300) return method === 'POST' ? 'created' : 'done'
    return `${status} ${String(answer['message']).replace(framed, '')}`
  }

  async send(
    user: string,
    method: string,
    path: string,
    body?: object,
    query: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly answer: KubeObject }> {
    const answer = await this.#cluster.fetch(`${path}?${new URLSearchParams(query)}`, {
      method,
      headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      user: { username: user, groups: ['system:authenticated'] },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, answer: (await answer.json()) as KubeObject }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]()
  }
}

const framed = new RegExp(
  '^(admission webhook "[^"]*" denied the request: )?([A-Za-z]+ "[^"]*" is (forbidden|invalid): )?' +
    "(\\w*AdmissionPolicy '[^']*' with binding '[^']*' denied request: )?",
)

const namespaces = '/api/v1/namespaces'
const dryRun = { dryRun: 'All' }
const waiting = { timeout: 30_000, interval: 100 }
const named = (name: string, labels: object = {}, annotations: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels, annotations },
})
const rbac = 'rbac.authorization.k8s.io'
const template = (name: string, spec: object, annotations: object = {}): KubeObject =>
  ({
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name, annotations },
    spec: { templates: [configMap(`of-${name}`)], ...spec },
  }) as KubeObject
const guarded = { 'policy/namespace-template-require-permission': 'true' }
const byLabel = (value: string): object => ({ namespaces: { labelSelector: { matchLabels: { tier: value } } } })

/** `dev` may do everything in all namespaces and to them, and has no verb of ours. `lead` may use `gold` besides. */
async function prepare({ client }: Cluster): Promise<void> {
  const rights: [string, object[]][] = [
    [
      'dev',
      [
        {
          verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
          apiGroups: [''],
          resources: ['namespaces', 'namespaces/status'],
        },
        { verbs: ['create'], apiGroups: [''], resources: ['configmaps'] },
      ],
    ],
    [
      'lead',
      [
        { verbs: ['get', 'create', 'update', 'patch'], apiGroups: [''], resources: ['namespaces'] },
        { verbs: ['assign-owner'], apiGroups: [''], resources: ['namespaces'] },
        {
          verbs: ['use'],
          apiGroups: ['policy.borough.dev'],
          resources: ['namespacetemplates'],
          resourceNames: ['gold', 'sized', 'conditional'],
        },
        { verbs: ['optout'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
      ],
    ],
  ]
  for (const [name, rules] of rights) {
    const metadata = { name: `policies-${name}` }
    await client.create({ group: rbac, version: 'v1', resource: 'clusterroles' }, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules,
    } as never)
    await client.create({ group: rbac, version: 'v1', resource: 'clusterrolebindings' }, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup: rbac, kind: 'User', name }],
    } as never)
  }
  // In one namespace alone, which was there before creators were recorded.
  await client.create({ group: rbac, version: 'v1', resource: 'roles' }, {
    metadata: { namespace: 'default', name: 'policies-dev' },
    rules: [{ verbs: ['assign-owner'], apiGroups: [''], resources: ['namespaces'] }],
  } as never)
  await client.create({ group: rbac, version: 'v1', resource: 'rolebindings' }, {
    metadata: { namespace: 'default', name: 'policies-dev' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'policies-dev' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'dev' }],
  } as never)
  const templates = [
    template(
      'sized',
      {
        ...byLabel('sized'),
        parameters: [{ name: 'size', fromLabel: 'size', enum: ['small', 'large'], default: 'small' }],
        templates: [{ ...configMap('of-sized'), data: { size: '$(size)' } }],
      },
      guarded,
    ),
    template(
      'conditional',
      {
        ...byLabel('conditional'),
        templates: [],
        objects: [{ when: "'more' in namespaceObject.metadata.labels", template: configMap('more') }],
      },
      guarded,
    ),
    template('gold', byLabel('gold'), guarded),
    template('globbed', {
      namespaces: { nameSelector: { include: ['d.t-*', 'q?e-*', 'we[i]rd\\E*'], exclude: ['*-not'] } },
    }),
    template('theirs', {
      namespaces: { labelSelector: { matchLabels: { by: 'creator' } }, creatorSelector: { users: ['de?'] } },
    }),
    template('terms', {
      namespaces: {
        labelSelector: {
          matchExpressions: [
            { key: 'term', operator: 'In', values: ['a', 'b'] },
            { key: 'no', operator: 'DoesNotExist' },
            { key: 'region', operator: 'NotIn', values: ['us'] },
          ],
        },
      },
    }),
    template('given', {
      ...byLabel('given'),
      parameters: [
        { name: 'size', fromLabel: 'size', enum: ['small', 'large'], default: 'small' },
        { name: 'cost', fromAnnotation: 'cost', pattern: '[0-9]{4}', required: true },
      ],
    }),
    template('many', {
      ...byLabel('many'),
      parameters: [{ name: 'region', fromLabel: 'region', enum: regions, required: true }],
    }),
    template('off', byLabel('off'), { 'policy/namespace-template-apply': 'disable' }),
    template('dressed', { ...byLabel('dressed'), namespaceMetadata: { labels: { dress: 'formal' } } }),
  ]
  for (const object of templates) await client.create(templateResource, object)
}

/** Together more than the 5 KiB that a policy's message may have. */
const regions = Array.from({ length: 128 }, (_, i) => `region-${i}-`.padEnd(63, 'x'))
const pending = 'policy/namespace-template-pending'
const creator = 'authorization.k8s.io/creator'
const owner = 'borough.dev/owner'
const asked = 'policy.borough.dev/asks-webhooks'
const optOut = 'policy/namespace-template-opt-out'
const cannotUse = (user: string, relation: string, of = 'gold'): string =>
  `403 user "${user}" cannot use namespacetemplates "${of}", which ${relation} this namespace`
const cannotChange = (of: string): string => cannotUse('dev', 'would give something else to', of)

const gateIsShut =
  '403 label policy/namespace-template-pending is changed by holders of the verb "initialize" on the namespace ' +
  'alone'

interface Case {
  readonly name: string
  readonly user?: string
  readonly ask: readonly [method: string, path: string, body?: object]
  readonly want: string | RegExp
}

const cases: readonly Case[] = [
  { name: 'no template selects it', ask: ['POST', namespaces, named('free')], want: 'created' },
  {
    name: 'a template that needs a permission',
    ask: ['POST', namespaces, named('g1', { tier: 'gold' })],
    want: cannotUse('dev', 'selects'),
  },
  {
    name: 'the same, with the permission',
    user: 'lead',
    ask: ['POST', namespaces, named('g2', { tier: 'gold' })],
    want: 'created',
  },
  {
    name: 'a relabelling into it',
    ask: ['PATCH', `${namespaces}/free`, { metadata: { labels: { tier: 'gold' } } }],
    want: cannotUse('dev', 'selects'),
  },
  {
    name: 'a relabelling into it, by way of the status',
    ask: ['PATCH', `${namespaces}/free/status`, { metadata: { labels: { tier: 'gold' } } }],
    want: cannotUse('dev', 'selects'),
  },
  {
    name: 'a relabelling out of it',
    ask: ['PATCH', `${namespaces}/g2`, { metadata: { labels: { tier: null } } }],
    want: cannotUse('dev', 'would no longer select'),
  },
  {
    name: 'one that such a template selects and gives what its parameter says',
    user: 'lead',
    ask: ['POST', namespaces, named('sized', { tier: 'sized' })],
    want: 'created',
  },
  {
    name: 'another value of the parameter',
    ask: ['PATCH', `${namespaces}/sized`, { metadata: { labels: { size: 'large' } } }],
    want: cannotChange('sized'),
  },
  {
    name: 'the same, when what asks for webhooks is taken off with it',
    ask: ['PATCH', `${namespaces}/sized`, { metadata: { labels: { size: 'large' }, annotations: { [asked]: null } } }],
    want: cannotChange('sized'),
  },
  {
    name: 'what asks for webhooks, taken off by way of the status',
    ask: ['PATCH', `${namespaces}/sized/status`, { metadata: { annotations: { [asked]: null } } }],
    want: 'done',
  },
  {
    name: 'another value after that, by way of the status',
    ask: ['PATCH', `${namespaces}/sized/status`, { metadata: { labels: { size: 'large' } } }],
    want: cannotChange('sized'),
  },
  {
    name: 'one that such a template selects and gives what its condition says',
    user: 'lead',
    ask: ['POST', namespaces, named('conditional', { tier: 'conditional' })],
    want: 'created',
  },
  {
    name: 'a label by which its condition turns true',
    ask: ['PATCH', `${namespaces}/conditional`, { metadata: { labels: { more: 'x' } } }],
    want: cannotChange('conditional'),
  },
  {
    name: 'another label of it',
    ask: ['PATCH', `${namespaces}/g2`, { metadata: { labels: { more: 'x' } } }],
    want: 'done',
  },
  {
    name: 'a creator of the client’s choice',
    ask: ['POST', namespaces, named('forged', {}, { [creator]: 'admin' })],
    want: 'created',
  },
  {
    name: 'the creator is changed',
    ask: ['PATCH', `${namespaces}/free`, { metadata: { annotations: { [creator]: 'lead' } } }],
    want: 'done',
  },
  {
    name: 'the creator is changed by way of the status',
    ask: ['PATCH', `${namespaces}/free/status`, { metadata: { annotations: { [creator]: 'lead' } } }],
    want: '403 annotation authorization.k8s.io/creator says who created a namespace, and that is dev',
  },
  {
    name: 'an owner without the verb',
    ask: ['POST', namespaces, named('o1', {}, { [owner]: 'alice' })],
    want:
      '403 user "dev" cannot make "alice" the owner of a namespace: annotation borough.dev/owner needs the verb ' +
      '"assign-owner" on namespaces',
  },
  {
    name: 'an owner with it',
    user: 'lead',
    ask: ['POST', namespaces, named('o2', {}, { [owner]: 'alice' })],
    want: 'created',
  },
  {
    name: 'an owner with the verb in that namespace alone',
    ask: ['PATCH', `${namespaces}/default`, { metadata: { annotations: { [owner]: 'alice' } } }],
    want:
      '403 user "dev" cannot make "alice" the owner of a namespace: annotation borough.dev/owner needs the verb ' +
      '"assign-owner" on namespaces',
  },
  {
    name: 'an owner that is the creator',
    ask: ['POST', namespaces, named('o3', {}, { [owner]: 'dev' })],
    want: 'created',
  },
  {
    name: 'an owner that is no text',
    ask: ['POST', namespaces, named('o4', {}, { [owner]: '' })],
    want: /^422 .*must name a user or a group$/,
  },
  {
    name: 'an owner that is no text, given later',
    ask: ['PATCH', `${namespaces}/default`, { metadata: { annotations: { [owner]: '' } } }],
    want: /^422 .*must name a user or a group$/,
  },
  // Upstream makes another character of half a pair, before any policy sees it.
  ...wrongOwners
    .filter(([, given]) => given.isWellFormed())
    .map(
      ([what, given, why], i): Case => ({
        name: `an owner with ${what}`,
        user: 'lead',
        ask: ['POST', namespaces, named(`wrong-owner-${i}`, {}, { [owner]: given })],
        want: new RegExp(`^422 .*metadata.annotations\\[borough.dev/owner\\]: .*${why}$`, 's'),
      }),
    ),
  ...oddOwners.map(
    (given, i): Case => ({
      name: `an owner ${given.slice(0, 40)}`,
      user: 'lead',
      ask: ['POST', namespaces, named(`odd-owner-${i}`, {}, { [owner]: given })],
      want: 'created',
    }),
  ),
  {
    name: 'another owner later',
    user: 'lead',
    ask: ['PATCH', `${namespaces}/o2`, { metadata: { annotations: { [owner]: 'bob' } } }],
    want: /^422 .*the owner of a namespace does not change: it is "alice"$/,
  },
  {
    name: 'a namespace that opts out',
    ask: ['POST', namespaces, named('out', {}, { [optOut]: 'true' })],
    want:
      '403 user "dev" cannot opt a namespace out of its templates: annotation policy/namespace-template-opt-out ' +
      'needs the verb "optout" on namespacetemplates',
  },
  {
    name: 'the same, with the verb',
    user: 'lead',
    ask: ['POST', namespaces, named('out', { tier: 'gold' }, { [optOut]: 'true' })],
    want: 'created',
  },
  {
    name: 'the gate is shut by an empty text',
    ask: ['PATCH', `${namespaces}/free/status`, { metadata: { labels: { [pending]: '' } } }],
    want: gateIsShut,
  },
  {
    name: 'the gate is shut from outside',
    ask: ['PATCH', `${namespaces}/free/status`, { metadata: { labels: { [pending]: 'true' } } }],
    want: gateIsShut,
  },
  {
    name: 'a required value is missing',
    ask: ['POST', namespaces, named('p1', { tier: 'given' })],
    want: /^422 .*metadata\.annotations\[cost\].*"cost" of template "given" is required: .* \[0-9\]\{4\}$/,
  },
  {
    name: 'a value that no choice is',
    ask: ['POST', namespaces, named('p2', { tier: 'given', size: 'huge' }, { cost: '0001' })],
    want: /^422 .*metadata\.labels\[size\].*parameter "size" of template "given" must be one of "small", "large"$/,
  },
  {
    name: 'a value that a pattern matches in part',
    ask: ['POST', namespaces, named('p3', { tier: 'given' }, { cost: '00012' })],
    want: /^422 .*must be text that matches \[0-9\]\{4\}$/,
  },
  {
    name: 'a value that is none of more choices than a message holds',
    ask: ['POST', namespaces, named('p5', { tier: 'many', region: 'r' })],
    want: /^422 .*metadata\.labels\[region\].*parameter "region" .* must be one of "region-0-x+", "region-1-/,
  },
  {
    name: 'good values',
    ask: ['POST', namespaces, named('p4', { tier: 'given', size: 'large' }, { cost: '0001' })],
    want: 'created',
  },
  {
    name: 'a value is changed to a bad one',
    ask: ['PATCH', `${namespaces}/p4`, { metadata: { annotations: { cost: 'x' } } }],
    want: /^422 .*parameter "cost" of template "given" must be text that matches \[0-9\]\{4\}$/,
  },
]

/** By what stands in the namespace: whether a template selects it shows at once, in a dry run. */
const gates: readonly [metadata: { name: string; labels?: object; annotations?: object }, isShut: boolean][] = [
  [{ name: 'plain-a' }, false],
  [{ name: 'dot-x' }, false],
  [{ name: 'qae-x' }, true],
  [{ name: 'qe-x' }, false],
  [{ name: 'qae-x-not' }, false],
  [{ name: 'by', labels: { by: 'creator' } }, true],
  [{ name: 'terms-a', labels: { term: 'a' } }, true],
  [{ name: 'terms-b', labels: { term: 'b', region: 'eu' } }, true],
  [{ name: 'terms-c', labels: { term: 'c' } }, false],
  [{ name: 'terms-us', labels: { term: 'a', region: 'us' } }, false],
  [{ name: 'terms-no', labels: { term: 'a', no: '' } }, false],
  [{ name: 'off', labels: { tier: 'off' } }, false],
]

const admissions = await otherAdmissions()

describe.each(admissions)('%s decide about', (admission) => {
  let cluster: Cluster
  let populate: Populate

  beforeAll(async () => {
    cluster = await Cluster.open()
    populate = await cluster.populate({ admission })
    await prepare(cluster)
    // The API server looks at templates through a watch of its own.
    await vi.waitFor(async () => {
      const { status } = await cluster.send('dev', 'POST', namespaces, named('seen', { tier: 'gold' }), dryRun)
      expect(status).toBe(403)
    }, waiting)
  })
  afterAll(async () => {
    await populate?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  test.each(cases)('$name', async ({ user = 'dev', ask, want }) => {
    const said = await cluster.ask(user, ...ask)
    if (typeof want === 'string') expect(said).toBe(want)
    else expect(said).toMatch(want)
  })

  test.each(gates)('the gate of %j, shut: %s', async ({ name, labels, annotations }, isShut) => {
    const { status, answer } = await cluster.send('dev', 'POST', namespaces, named(name, labels, annotations), dryRun)
    expect([status, answer.metadata.labels?.[pending]]).toEqual([201, isShut ? 'true' : undefined])
  })

  describe('a namespace that says it is kube-system until the server has made its name', () => {
    const marks = { 'kubernetes.io/metadata.name': 'kube-system', [creator]: 'dev' }
    const nameless = (labels: object): object => ({
      metadata: { generateName: 'made-', labels: { ...marks, ...labels }, annotations: { [creator]: 'dev' } },
    })

    test.runIf(admission === 'policies')('waits for its templates', async () => {
      const { answer } = await cluster.send('dev', 'POST', namespaces, nameless({ by: 'creator' }), dryRun)
      expect(answer.metadata.labels?.[pending]).toBe('true')
    })

    test.runIf(admission === 'webhooks')('does not come without waiting for its templates', async () => {
      expect(await cluster.ask('dev', 'POST', namespaces, nameless({ by: 'creator' }))).toBe(
        '403 label policy/namespace-template-pending is not as it must be: templates select this namespace, and it ' +
          'waits for them. A namespace with a template is created by metadata.name, and webhooks leave it as it is',
      )
    })

    test('does not come without the labels of its templates', async () => {
      expect(await cluster.ask('dev', 'POST', namespaces, nameless({ tier: 'dressed' }))).toMatch(
        admission === 'policies' ? /^403 label dress is not as it must be: / : /^403 label .* is not as it must be: /,
      )
    })
  })

  test('creators, as they are stored', async () => {
    for (const name of ['free', 'forged']) {
      const { metadata } = await cluster.client.get(namespaceResource, { name })
      expect([metadata.annotations?.[creator], metadata.labels?.[creator]]).toEqual(['dev', 'dev'])
    }
  })
})

describe.each(admissions)('%s, while a mistyped selector is stopped', (admission) => {
  let cluster: Cluster
  let populate: Populate

  beforeAll(async () => {
    cluster = await Cluster.open()
    populate = await cluster.populate({ admission })
    await prepare(cluster)
    for (const name of ['plain', 'secured']) {
      const shown = { ...byLabel(name), namespaceMetadata: { labels: { [`${name}-level`]: 'high' } } }
      const annotations = name === 'secured' ? guarded : {}
      const spec = { ...shown, rollout: { maxPrune: 0 } }
      await cluster.client.create(templateResource, template(name, spec, annotations))
      await cluster.client.create(namespaceResource, named(`${name}-old`, { tier: name }) as KubeObject)
      await cluster.until(name, (status) => status['synced'] === 1)
      await cluster.client.patch(templateResource, { name }, { spec: byLabel('typo') })
      await cluster.until(name, (status) => JSON.stringify(status).includes('TooManyPrunes'))
    }
    // The API server looks at templates through a watch of its own.
    await vi.waitFor(async () => {
      const ask = cluster.send('dev', 'POST', namespaces, named('seen', { tier: 'secured' }), dryRun)
      expect((await ask).status).toBe(403)
    }, waiting)
  })
  afterAll(async () => {
    await populate?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  test('new namespaces are given what the version before says, once they are handed out', async () => {
    const { client } = cluster
    expect(await cluster.ask('dev', 'POST', namespaces, named('plain-new', { tier: 'plain' }))).toBe('created')
    await waitFor(client, namespaceResource, { name: 'plain-new' }, (n) => n?.metadata.labels?.[pending] === undefined)
    const given = await client.get(configMapResource, { namespace: 'plain-new', name: 'of-plain' })
    expect(given['data']).toEqual({ a: '1' })
    const { metadata } = await client.get(namespaceResource, { name: 'plain-new' })
    expect(metadata.labels?.['plain-level']).toBe('high')
  })

  test('what asks for a permission is not to be had without it, by a new namespace or an old one', async () => {
    const cannot = /^403 .*user "dev" cannot use namespacetemplates "secured", which selects this namespace$/
    expect(await cluster.ask('dev', 'POST', namespaces, named('mine', { tier: 'secured' }))).toMatch(cannot)
    expect(await cluster.ask('dev', 'POST', namespaces, named('other', { tier: 'free' }))).toBe('created')
    const relabel = { metadata: { labels: { tier: 'secured' } } }
    expect(await cluster.ask('dev', 'PATCH', `${namespaces}/other`, relabel)).toMatch(cannot)
  })

  test('namespaces that it is not for are handed out with nothing', async () => {
    expect(await cluster.ask('dev', 'POST', namespaces, named('free', { tier: 'none' }))).toBe('created')
    const isOpen = (n: KubeObject | undefined): boolean => n?.metadata.labels?.[pending] === undefined
    const free = await waitFor(cluster.client, namespaceResource, { name: 'free' }, isOpen)
    expect(Object.keys(free?.metadata.labels ?? {})).not.toContain('plain-level')
  })
})

describe('while no replica lives', () => {
  test.runIf(admissions.includes('policies'))(
    'policies let namespaces come, shut those that wait, and open nothing',
    async () => {
      await using cluster = await Cluster.open()
      await using stack = new AsyncDisposableStack()
      const first = await cluster.populate({ admission: 'policies' })
      stack.use(first)
      await prepare(cluster)
      await cluster.client.create(
        templateResource,
        template('labelled', { ...byLabel('labelled'), namespaceMetadata: { labels: { given: 'yes' } } }),
      )
      await first[Symbol.asyncDispose]()
      expect(await cluster.ask('dev', 'POST', namespaces, named('free'))).toBe('created')
      expect(await cluster.ask('dev', 'POST', `${namespaces}/free/configmaps`, configMap('x'))).toBe('created')
      expect(await cluster.ask('dev', 'POST', namespaces, named('by', { by: 'creator' }))).toBe('created')
      const waits = '403 namespace "by" waits for its templates to be applied; try again in a moment'
      expect(await cluster.ask('dev', 'POST', `${namespaces}/by/configmaps`, configMap('x'))).toBe(waits)
      expect(await cluster.ask('dev', 'PATCH', `${namespaces}/by`, { metadata: { labels: { [pending]: null } } })).toBe(
        gateIsShut,
      )
      // What a template sets on the namespace itself is beyond CEL: these wait for a replica, and no others do.
      expect(await cluster.ask('dev', 'POST', namespaces, named('labelled', { tier: 'labelled' }))).toMatch(
        /^500 .*failed calling webhook "admit-namespace\.population\.borough\.dev"/,
      )
      expect(await cluster.ask('dev', 'DELETE', `${namespaces}/free`)).toBe('done')

      stack.use(await cluster.populate({ admission: 'policies' }))
      await waitFor(cluster.client, configMapResource, { namespace: 'by', name: 'of-theirs' }, isThere)
      await waitFor(
        cluster.client,
        namespaceResource,
        { name: 'by' },
        (n) => n?.metadata.labels?.[pending] === undefined,
      )
      expect(await cluster.ask('dev', 'POST', `${namespaces}/by/configmaps`, configMap('x'))).toBe('created')
      expect(await cluster.ask('dev', 'POST', namespaces, named('labelled', { tier: 'labelled' }))).toBe('created')
      const { metadata } = await cluster.client.get(namespaceResource, { name: 'labelled' })
      expect(metadata.labels).toMatchObject({ given: 'yes' })
    },
  )

  test.each([
    { failOpen: false, said: /^500 .*failed calling webhook "admit\.population\.borough\.dev"/ },
    { failOpen: true, said: /^created$/ },
  ])('webhooks refuse namespaces unless they fail open: $failOpen', async ({ failOpen, said }) => {
    await using cluster = await Cluster.open()
    await using populate = await cluster.populate({ admission: 'webhooks', failOpen })
    await prepare(cluster)
    await populate[Symbol.asyncDispose]()
    expect(await cluster.ask('dev', 'POST', namespaces, named('free'))).toMatch(said)
    const unasked = cluster.client.create(templateResource, template('x', byLabel('x')))
    await expect(unasked).rejects.toThrow('failed calling webhook "admit.population.borough.dev"')
  })
})

describe('webhooks that the API server can not reach', () => {
  const nowhere = { url: 'https://127.0.0.1:1' }
  const registrations = [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    ...(admissions.includes('policies') ? ['mutatingadmissionpolicies'] : []),
  ]
  const told = async ({ client }: Cluster): Promise<KubeObject[]> => {
    const lists = registrations.map((resource) =>
      client.list({ group: 'admissionregistration.k8s.io', version: 'v1', resource }),
    )
    return (await Promise.all(lists)).flatMap(({ items }) => items)
  }

  test.each(admissions)('are taken off again: %s', async (admission) => {
    await using cluster = await Cluster.open()
    await expect(cluster.populate({ admission, reachedAt: nowhere })).rejects.toThrow(
      /^the cluster does not reach the webhooks at https:\/\/127\.0\.0\.1:1 \(.*\): .* is taken off again; /,
    )
    expect(await told(cluster)).toEqual([])
    await cluster.client.create(namespaceResource, { metadata: { name: 'free' } })
  })

  test('leave those of another replica as they were', async () => {
    await using cluster = await Cluster.open()
    await using populate = await cluster.populate()
    const before = await told(cluster)
    await expect(cluster.populate({ reachedAt: nowhere })).rejects.toThrow('what was told to it is as it was before')
    const specs = (objects: readonly KubeObject[]): unknown[] =>
      objects.map(({ metadata: _, status: _status, ...rest }) => rest)
    expect(specs(await told(cluster))).toEqual(specs(before))
    expect(populate.registered.length).toBeGreaterThan(0)
  })

  test('a cluster without policies that change objects says so where they are asked for', async () => {
    await using cluster = await Cluster.open()
    const older = new Proxy(cluster.client, {
      get(client, key) {
        if (key === 'discovery') {
          const findKind = async (apiVersion: string, kind: string): Promise<unknown> =>
            kind === 'MutatingAdmissionPolicy' ? undefined : client.discovery.findKind(apiVersion, kind)
          return { findKind }
        }
        const member: unknown = Reflect.get(client, key, client)
        return typeof member === 'function' ? member.bind(client) : member
      },
    })
    await expect(cluster.populate({ client: older, admission: 'policies' })).rejects.toThrow(
      '--admission=policies needs MutatingAdmissionPolicy in admissionregistration.k8s.io/v1, which this cluster ' +
        'does not serve: use --admission=webhooks',
    )
  })
})
