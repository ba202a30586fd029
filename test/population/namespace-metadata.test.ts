/** Labels and annotations that templates set on the namespace itself, and what no client can do about them. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { planTemplates } from '../../src/apis/templates/plan.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { failure, forbidden, invalidObject, refusal } from '../support/refusal.ts'
import { isGone, isThere, waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { type Cluster, elsewhere, onBorough } from './enforcement/clusters.ts'
import { configMap, configMapResource, eventResource, namespaceResource, templateResource } from './population-world.ts'

const enforce = 'pod-security.kubernetes.io/enforce'
const costKey = 'example.com/cost-centre'
const holdersKey = 'policy.borough.dev/set-by-templates'
const ofTemplates = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate' }
const restricted = { labels: { [enforce]: 'restricted' } }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })

const patience = { timeout: 30_000, interval: 20 }

const clusters = [
  { where: 'on Borough', start: onBorough, isBorough: true },
  { where: 'through borough populate', start: elsewhere, isBorough: false },
]

describe.each(clusters)('$where', ({ start, isBorough }) => {
  let cluster: Cluster
  let admin: Client
  beforeAll(async () => {
    cluster = await start()
    admin = cluster.plane.client()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  /** A template for namespaces that are labelled with its name. */
  const template = async (name: string, namespaceMetadata: JsonObject, more: JsonObject = {}): Promise<KubeObject> => {
    const made = await admin.create(templateResource, {
      ...ofTemplates,
      metadata: { name },
      spec: { namespaces: { labelSelector: { matchLabels: { kind: name } } }, namespaceMetadata, ...more },
    })
    if (!isBorough && more['namespaces'] === undefined) await vi.waitUntil(() => isHeardOf(name), patience)
    return made
  }
  /** An API server that decides by policies hears of a template by a watch, a moment after it is written. */
  const isHeardOf = (name: string): Promise<boolean> =>
    admin
      .create(namespaceResource, { metadata: { name: `${name}-tried`, labels: { kind: name } } }, { dryRun: true })
      .then(
        ({ metadata }) => metadata.labels?.['policy/namespace-template-pending'] === 'true',
        (error: unknown) => findStatusError(error)?.code === 422,
      )
  const edit = (name: string, spec: JsonObject): Promise<KubeObject> =>
    admin.patch(templateResource, { name }, { spec })
  const namespace = (name: string, kind: string, labels = {}, annotations = {}, by = admin): Promise<KubeObject> =>
    by.create(namespaceResource, { metadata: { name, labels: { kind, ...labels }, annotations } })
  const get = (name: string): Promise<KubeObject> => admin.get(namespaceResource, { name })
  const patch = (name: string, metadata: JsonObject, by = admin): Promise<KubeObject> =>
    by.patch(namespaceResource, { name }, { metadata })
  const label = (name: string, labels: JsonObject, by = admin): Promise<KubeObject> => patch(name, { labels }, by)
  const until = (name: string, want: (n: KubeObject) => boolean): Promise<KubeObject | undefined> =>
    waitFor(admin, namespaceResource, { name }, (n) => n !== undefined && want(n))
  const levelOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[enforce]
  const faultsIn = ({ details }: Status): string[] => (details?.causes ?? []).map((c) => `${c.field}: ${c.message}`)
  /** A user who may do this with namespaces. */
  const allowed = async (username: string, ...verbs: string[]): Promise<Client> => {
    const metadata = { name: `test-${username}` }
    const rules = [{ verbs, apiGroups: [''], resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'] }]
    await admin.create(rbac('clusterroles'), { metadata, rules })
    await admin.create(rbac('clusterrolebindings'), {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
    })
    const user = cluster.plane.client({ username, groups: ['system:authenticated'] })
    for (const verb of verbs) await waitUntilAllowed(user, verb, namespaceResource)
    return user
  }

  test('they are there before the first pod is looked at', async () => {
    await template('born', restricted)
    await namespace('born-a', 'born')
    expect(levelOf(await get('born-a'))).toBe('restricted')
    const pods = { group: '', version: 'v1', resource: 'pods' }
    await waitFor(
      admin,
      { group: '', version: 'v1', resource: 'serviceaccounts' },
      { namespace: 'born-a', name: 'default' },
      isThere,
    )
    const spec = { containers: [{ name: 'c', image: 'i', securityContext: { runAsUser: 0 } }] }
    const settled = (n: KubeObject): boolean => n.metadata.labels?.['policy/namespace-template-pending'] === undefined
    await until('born-a', settled)
    const pod = admin.create(pods, { metadata: { namespace: 'born-a', name: 'p' }, spec })
    expect((await refusal(pod)).message).toContain('violates PodSecurity "restricted:latest"')
  })

  test('tokens stand in their values, and what the client gave is overruled', async () => {
    const parameters = [{ name: 'cost', fromAnnotation: 'example.com/asked', pattern: '[0-9]{4}', required: true }]
    const labels = { [enforce]: 'baseline', [costKey]: 'c-$(cost)' }
    await template('token', { labels, annotations: { owner: '$(OWNER) in $(NAMESPACE)' } }, { parameters })
    const given = { [enforce]: 'privileged', [costKey]: 'mine' }
    const { metadata } = await namespace('token-a', 'token', given, { 'example.com/asked': '0815' })
    expect(metadata.labels).toMatchObject({ [enforce]: 'baseline', [costKey]: 'c-0815' })
    expect(metadata.annotations).toMatchObject({ owner: 'kubernetes-admin in token-a' })
    expect(JSON.parse(metadata.annotations?.[holdersKey] ?? '')).toEqual({
      labels: { [costKey]: 'token', [enforce]: 'token' },
      annotations: { owner: 'token' },
    })
    expect((await refusal(namespace('token-b', 'token'))).code).toBe(422)
    // Another value changes what is set, in the same write.
    const moved = await patch('token-a', { annotations: { 'example.com/asked': '4711' } })
    expect(moved.metadata.labels?.[costKey]).toBe('c-4711')
  })

  describe('a write that takes one away or changes it is refused', () => {
    let tenant: Client
    beforeAll(async () => {
      await template('held', restricted)
      await namespace('held-a', 'held')
      tenant = await allowed('tenant', 'get', 'patch', 'update', 'delete')
    })
    const said =
      'label pod-security.kubernetes.io/enforce: template "held" sets it to "restricted"; user "tenant" cannot '
    const away = `${said}take it away`
    const changed = `${said}change it to "privileged"`
    const whole = (why: string): Status => forbidden({ kind: 'namespaces', name: 'held-a' }, why)
    const expectRefused = async (write: Promise<unknown>, why: string): Promise<void> => {
      const status = await refusal(write)
      if (isBorough) expect(status).toEqual(whole(why))
      else expect([status.code, status.message]).toEqual([403, expect.stringContaining(why)])
      expect(levelOf(await get('held-a'))).toBe('restricted')
    }

    test('by merge patch, with null for the key or for all', async () => {
      await expectRefused(label('held-a', { [enforce]: null }, tenant), away)
      await expectRefused(label('held-a', { [enforce]: 'privileged' }, tenant), changed)
      await expectRefused(label('held-a', { [enforce]: 'baseline' }, tenant), `${said}change it to "baseline"`)
      // Without its labels it would leave the template: what that set is taken away by the controller alone.
      const left = 'template "held" set it, and its controller takes it away; user "tenant" cannot take it away'
      const labels = tenant.patch(namespaceResource, { name: 'held-a' }, { metadata: { labels: null } })
      await expectRefused(labels, `label ${enforce}: ${left}`)
      await expectRefused(label('held-a', { kind: 'x', [enforce]: null }, tenant), `label ${enforce}: ${left}`)
    })

    test('by update, also of status and finalize', async () => {
      const there = await get('held-a')
      const without = (labels: JsonObject): KubeObject =>
        ({ ...there, metadata: { ...there.metadata, labels: { ...there.metadata.labels, ...labels } } }) as KubeObject
      const { [enforce]: _, ...rest } = there.metadata.labels ?? {}
      await expectRefused(
        tenant.update(namespaceResource, { ...there, metadata: { ...there.metadata, labels: rest } }),
        away,
      )
      for (const subresource of ['status', 'finalize']) {
        const write = tenant.update(namespaceResource, without({ [enforce]: 'privileged' }), { subresource })
        await expectRefused(write, changed)
      }
    })

    test('by server-side apply with force, and by taking the field over and dropping it', async () => {
      const applied = (labels: JsonObject): KubeObject =>
        ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'held-a', labels } }) as KubeObject
      const options = { fieldManager: 'tenant', force: true }
      await expectRefused(tenant.apply(namespaceResource, applied({ [enforce]: 'privileged' }), options), changed)
      await tenant.apply(namespaceResource, applied({ [enforce]: 'restricted', a: 'b' }), options)
      await patch('held-a', { managedFields: [{}] })
      await tenant.apply(namespaceResource, applied({ [enforce]: 'restricted', a: 'b' }), options)
      // Others own it as well, so it stays.
      await tenant.apply(namespaceResource, applied({ a: 'b' }), options)
      expect(levelOf(await get('held-a'))).toBe('restricted')
    })

    test('and neither is what is recorded of it changed', async () => {
      const before = (await get('held-a')).metadata.annotations?.[holdersKey]
      for (const value of [null, '', '{}', 'x', '{"labels":{"a":"held","kind":"held"}}', '[1]', 'null']) {
        await patch('held-a', { annotations: { [holdersKey]: value } }, tenant)
        expect((await get('held-a')).metadata.annotations?.[holdersKey]).toBe(before)
      }
      const there = await get('held-a')
      const annotations = { ...there.metadata.annotations, [holdersKey]: '{}' }
      const forged = { ...there, metadata: { ...there.metadata, annotations } }
      const write = tenant.update(namespaceResource, forged, { subresource: 'status' })
      if (isBorough) await write
      else
        expect((await refusal(write)).message).toContain(
          `annotation ${holdersKey} says what templates set, and that is`,
        )
      expect((await get('held-a')).metadata.annotations?.[holdersKey]).toBe(before)
    })

    test('and no write of an outdated controller sets what no template says now', async () => {
      const settles = 'policy.borough.dev/settles'
      const status = await refusal(patch('held-a', { labels: { a: 'b' }, annotations: { [settles]: '{"held":99}' } }))
      const why = 'template "held" has another generation than this write is made of'
      if (isBorough) {
        expect(status).toEqual(
          failure({
            message: `Operation cannot be fulfilled on namespaces "held-a": ${why}`,
            reason: 'Conflict',
            details: { name: 'held-a', kind: 'namespaces' },
            code: 409,
          }),
        )
      } else expect([status.code, status.message]).toEqual([409, expect.stringContaining(why)])
      for (const value of ['{"held":1}', '{}', 'x']) await patch('held-a', { annotations: { [settles]: value } })
      expect((await get('held-a')).metadata.annotations).not.toHaveProperty([settles])
    })

    test('nor is a level that stands without a version made one of older standards', async () => {
      const version = `${enforce}-version`
      const why = `label ${version}: template "held" sets ${enforce}, and no version of it; user "tenant" cannot change`
      const older = `${why} it to "v1.0"`
      await expectRefused(label('held-a', { [version]: 'v1.0' }, tenant), older)
      await label('held-a', { [version]: 'latest' }, tenant)
      await expectRefused(label('held-a', { [version]: 'v1.0' }, tenant), older)
      await label('held-a', { [version]: null }, tenant)
      const status = await refusal(namespace('held-old', 'held', { [version]: 'v1.0' }))
      expect([status.code, status.message]).toEqual([
        403,
        expect.stringContaining(older.replace('tenant', 'kubernetes-admin')),
      ])
    })

    test('nor does a namespace that comes to the template bring one of older standards with it', async () => {
      const version = `${enforce}-version`
      await namespace('held-late', 'other', { [version]: 'v1.0' })
      const status = await refusal(label('held-late', { kind: 'held' }))
      const why = `label ${version}: template "held" sets ${enforce}, and no version of it`
      expect([status.code, status.message]).toEqual([403, expect.stringContaining(why)])
      await label('held-late', { kind: 'held', [version]: null })
      expect((await get('held-late')).metadata.labels).toMatchObject({ [enforce]: 'restricted' })
    })

    test('whoever sends it: an administrator too', async () => {
      await expectRefused(label('held-a', { [enforce]: null }), away.replace('tenant', 'kubernetes-admin'))
    })

    test('what is not the template’s is changed as ever, and the namespace can go', async () => {
      await label('held-a', { mine: 'x' }, tenant)
      await label('held-a', { mine: null }, tenant)
      await label('held-a', { [enforce]: 'restricted' }, tenant)
      await admin.create(namespaceResource, { metadata: { name: 'held-b', labels: { kind: 'held' } } })
      await tenant.delete(namespaceResource, { name: 'held-b' })
      await waitFor(admin, namespaceResource, { name: 'held-b' }, isGone)
    })
  })

  test('an edit of the template reaches namespaces that are there, and takes away what it no longer says', async () => {
    await namespace('edit-a', 'edit', { own: 'x' })
    await template('edit', { labels: { [enforce]: 'baseline', 'example.com/a': '1' } })
    await until('edit-a', (n) => levelOf(n) === 'baseline')
    await edit('edit', { namespaceMetadata: { labels: { [enforce]: 'restricted', 'example.com/a': null } } })
    const now = await until(
      'edit-a',
      (n) => levelOf(n) === 'restricted' && n.metadata.labels?.['example.com/a'] === undefined,
    )
    expect(now?.metadata.labels).toMatchObject({ own: 'x' })
    // The event is written behind the work.
    const told = 'deleted in namespace edit-a: label example.com/a'
    const from = { namespace: 'default', resourceVersion: '0', signal: AbortSignal.timeout(30_000) }
    const messages = []
    for await (const { object } of admin.watch(eventResource, from)) {
      messages.push(object['message'])
      if (object['message'] === told) break
    }
    expect(messages).toContain(told)
  })

  test('leaving a template takes away what it set, and joining sets it in the same write', async () => {
    await template('join', restricted)
    await namespace('join-a', 'other')
    expect(levelOf(await label('join-a', { kind: 'join' }))).toBe('restricted')
    await label('join-a', { kind: 'other' })
    await until('join-a', (n) => levelOf(n) === undefined && n.metadata.annotations?.[holdersKey] === undefined)
  })

  test('a template that is deleted takes away what it set, or leaves it', async () => {
    await template('gone', restricted)
    await template('left', restricted, { deletionPolicy: 'Orphan' })
    await namespace('gone-a', 'gone')
    await namespace('left-a', 'left')
    for (const name of ['gone', 'left']) {
      await admin.delete(templateResource, { name })
      await waitFor(admin, templateResource, { name }, isGone)
    }
    expect(levelOf(await get('gone-a'))).toBeUndefined()
    const left = await until('left-a', (n) => n.metadata.annotations?.[holdersKey] === undefined)
    expect(left && levelOf(left)).toBe('restricted')
    await label('left-a', { [enforce]: null })
  })

  test('what another template left is guarded by the next, also while an edit of that is stopped', async () => {
    await template('again', restricted, { deletionPolicy: 'Orphan' })
    await namespace('again-a', 'again')
    await admin.delete(templateResource, { name: 'again' })
    await waitFor(admin, templateResource, { name: 'again' }, isGone)
    await until('again-a', (n) => n.metadata.annotations?.[holdersKey] === undefined)
    await template('again', restricted, { rollout: { maxPrune: 0 } })
    // Nobody writes the namespace: the controller alone finds that its label is not recorded.
    await until('again-a', (n) => n.metadata.annotations?.[holdersKey]?.includes('"again"') === true)
    await edit('again', { namespaces: { labelSelector: { matchLabels: { kind: 'mistyped' } } } })
    await waitFor(admin, templateResource, { name: 'again' }, (t) =>
      JSON.stringify(t?.['status'] ?? {}).includes('TooManyPrunes'),
    )
    const hasty = await allowed('hasty', 'get', 'patch')
    expect((await refusal(label('again-a', { [enforce]: null }, hasty))).message).toContain(
      `label ${enforce}: template "again" sets it to "restricted"; user "hasty" cannot take it away`,
    )
  })

  test('more namespaces than maxPrune lose no label unconfirmed', async () => {
    await template('many', restricted, { rollout: { maxPrune: 1 } })
    for (const n of ['a', 'b']) await namespace(`many-${n}`, 'many')
    await edit('many', { namespaceMetadata: { labels: { [enforce]: null, 'example.com/a': '1' } } })
    await waitFor(admin, templateResource, { name: 'many' }, (t) =>
      JSON.stringify(t?.['status'] ?? {}).includes('TooManyPrunes'),
    )
    expect(levelOf(await get('many-a'))).toBe('restricted')
    const quick = await allowed('quick', 'get', 'patch')
    for (const value of [null, 'privileged']) {
      expect((await refusal(label('many-a', { [enforce]: value }, quick))).message).toContain(
        `label ${enforce}: template "many" set it, and its controller takes it away; user "quick" cannot `,
      )
    }
    const { metadata } = await admin.get(templateResource, { name: 'many' })
    const annotations = { 'policy.borough.dev/confirm-prune': String(metadata.generation) }
    await admin.patch(templateResource, { name: 'many' }, { metadata: { annotations } })
    await until('many-a', (n) => levelOf(n) === undefined)
    await until('many-b', (n) => n.metadata.labels?.['example.com/a'] === '1')
  })

  test.each([
    { name: 'strip-some', left: { labels: { [enforce]: null, 'example.com/a': '1' } } },
    { name: 'strip-all', left: null },
  ])('nor where the objects of the template stay as they are: $name', async ({ name, left }) => {
    await template(name, restricted, { rollout: { maxPrune: 0 }, templates: [configMap('c')] })
    await namespace(`${name}-a`, name)
    await waitFor(admin, templateResource, { name }, (t) => (t?.['status'] as JsonObject)?.['synced'] === 1)
    await edit(name, { namespaceMetadata: left })
    await waitFor(admin, templateResource, { name }, (t) => {
      const { observedGeneration } = (t?.['status'] ?? {}) as JsonObject
      return observedGeneration === 2 && JSON.stringify(t?.['status']).includes('TooManyPrunes')
    })
    expect(levelOf(await get(`${name}-a`))).toBe('restricted')
  })

  test('a plan says what would be set and taken away', async () => {
    await template('plan', { labels: { [enforce]: 'baseline', 'example.com/a': '1' } })
    await namespace('plan-a', 'plan')
    const synced = (t: KubeObject | undefined): boolean => (t?.['status'] as JsonObject | undefined)?.['synced'] === 1
    const spec = (await waitFor(admin, templateResource, { name: 'plan' }, synced))?.['spec']
    const next = { ...(spec as JsonObject), namespaceMetadata: restricted }
    const deps = { client: admin, clock: systemClock, signal: new AbortController().signal }
    const [plan] = await planTemplates(deps, [{ ...ofTemplates, metadata: { name: 'plan' }, spec: next }])
    expect(plan?.namespaces).toEqual([
      {
        namespace: 'plan-a',
        objects: [
          {
            object: `label ${enforce}`,
            action: 'change',
            differences: [{ path: 'value', before: 'baseline', after: 'restricted' }],
          },
          { object: 'label example.com/a', action: 'prune' },
        ],
      },
    ])
  })

  test('of two templates that set one key the first keeps it, and the other says so', async () => {
    const both = { namespaces: { labelSelector: { matchLabels: { two: 'x' } } } }
    await template('two-a', { labels: { 'example.com/x': 'a' } }, both)
    const clash = await refusal(template('two-b', { labels: { 'example.com/x': 'b' } }, both))
    expect(faultsIn(clash)).toEqual([
      'spec.namespaceMetadata.labels[example.com/x]: Invalid value: "b": template "two-a" sets it to "a" on the same ' +
        'namespaces',
    ])
    await template('two-b', { labels: { 'example.com/x': 'b' } })
    await namespace('two-n', 'two-b', { two: 'x' })
    expect((await get('two-n')).metadata.labels?.['example.com/x']).toBe('a')
    const told = await waitFor(admin, templateResource, { name: 'two-b' }, (t) =>
      JSON.stringify(t?.['status'] ?? {}).includes('Conflict'),
    )
    expect((told?.['status'] as JsonObject)['failures']).toEqual([
      {
        namespace: 'two-n',
        object: 'label example.com/x',
        reason: 'Conflict',
        message: 'template "two-a" sets it to "a" and comes first',
      },
    ])
  })

  test('a name that the server makes is no way round a template for other names', async () => {
    const names = { namespaces: { nameSelector: { include: ['gen-*'] } } }
    await template('gen', { labels: { [enforce]: 'privileged' } }, names)
    const other = await admin.create(namespaceResource, { metadata: { generateName: 'made-' } })
    expect(levelOf(other)).toBeUndefined()
    const made = admin.create(namespaceResource, { metadata: { generateName: 'gen-' } })
    const outcome = await made.then(levelOf, (error: Error) => error.message)
    if (outcome !== 'privileged') {
      expect(outcome).toContain(
        'is not as it must be: template "gen" sets it to "privileged". A namespace with such a template is created ' +
          'by metadata.name, and webhooks leave it as it is',
      )
    }
  })

  test('keys and values that may not be set are refused with their fields', async () => {
    const cases: [JsonObject, string][] = [
      [{ labels: { 'borough.dev/owner': 'x' } }, 'labels[borough.dev/owner]: Forbidden: templates may not set'],
      [{ annotations: { 'policy.borough.dev/a': 'x' } }, 'annotations[policy.borough.dev/a]: Forbidden: templates may'],
      [{ labels: { 'policy/namespace-template-pending': 'x' } }, 'Forbidden: templates may not set keys of'],
      [{ annotations: { 'authorization.k8s.io/creator': 'x' } }, 'Forbidden: templates may not set keys of'],
      [{ labels: { 'kubernetes.io/metadata.name': 'x' } }, 'Forbidden: templates may not set keys of'],
      [{ labels: { 'a b': 'x' } }, 'labels[a b]: Invalid value: "a b": name part must consist of'],
      [{ labels: { a: 'b c' } }, 'labels[a]: Invalid value: "b c": a valid label must be'],
      [{ labels: { a: '$(NAMESPCE)' } }, 'labels[a]: Invalid value: "$(NAMESPCE)": $(NAMESPCE) is no token'],
      [
        { labels: { [enforce]: '$(NAMESPACE)' } },
        'Forbidden: a token can not stand here: Kubernetes acts upon this key',
      ],
      [{ labels: { [enforce]: '$(p)' } }, 'Forbidden: a token can not stand here: Kubernetes acts upon this key'],
      [
        { labels: { kind: 'x' } },
        'labels[kind]: Forbidden: this template reads it from the namespace, by spec.namespaces',
      ],
      [
        { labels: { p: 'x' } },
        'labels[p]: Forbidden: this template reads it from the namespace, by spec.parameters[0]',
      ],
    ]
    const parameters = [{ name: 'p', fromLabel: 'p', enum: ['a', 'b'] }]
    for (const [namespaceMetadata, fault] of cases) {
      const status = await refusal(template('keys', namespaceMetadata, { parameters }))
      expect(status.code).toBe(422)
      expect(faultsIn(status).join()).toContain(fault)
    }
    await template(
      'reads',
      {},
      { namespaces: { labelSelector: { matchExpressions: [{ key: 'read', operator: 'Exists' }] } } },
    )
    expect(faultsIn(await refusal(template('keys', { labels: { read: 'x' } })))).toEqual([
      'spec.namespaceMetadata.labels[read]: Forbidden: template "reads" reads it from the namespace, by ' +
        'spec.namespaces.labelSelector.matchExpressions[0].key',
    ])
    await template('sets', { labels: { set: 'x' } })
    const reader = template('keys', {}, { parameters: [{ name: 'p', fromLabel: 'set' }] })
    expect(faultsIn(await refusal(reader))).toEqual([
      'spec.parameters[0].fromLabel: Forbidden: template "sets" sets label set, which no template may read',
    ])
  })

  test('a value that makes no label refuses the namespace, and says whose it is', async () => {
    await template('legal', { labels: { 'example.com/by': '$(CREATOR)' } })
    const portal = await allowed('portal@example.com', 'create')
    const status = await refusal(namespace('legal-a', 'legal', {}, {}, portal))
    expect(faultsIn(status)).toEqual([
      expect.stringContaining(
        'metadata.labels[example.com/by]: Invalid value: "portal@example.com": template "legal" makes this of what ' +
          'the namespace gives: "portal@example.com": a valid label must be',
      ),
    ])
  })

  test('its author needs update on namespaces', async () => {
    const author = await allowed('author', 'get')
    const metadata = { name: 'writes-templates' }
    const rules = [{ verbs: ['*'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] }]
    await admin.create(rbac('clusterroles'), { metadata, rules })
    await admin.create(rbac('clusterrolebindings'), {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'author' }],
    })
    await waitUntilAllowed(author, 'create', templateResource)
    const spec = { namespaces: { labelSelector: { matchLabels: { kind: 'a' } } }, namespaceMetadata: restricted }
    const status = await refusal(author.create(templateResource, { ...ofTemplates, metadata: { name: 'a' }, spec }))
    expect(status.code).toBe(403)
    expect(status.message).toContain('spec.namespaceMetadata: needs "update" on namespaces')
    // Nor may they take away what another wrote.
    await template('a', restricted)
    const away = author.patch(templateResource, { name: 'a' }, { spec: { namespaceMetadata: null } })
    expect((await refusal(away)).message).toContain('spec.namespaceMetadata: needs "update" on namespaces')
  })

  test('objects, values and labels come together', async () => {
    const parameters = [{ name: 'size', fromLabel: 'example.com/size', enum: ['s', 'l'], default: 's' }]
    const templates = [configMap('about', { size: '$(size)' })]
    await template('all', { labels: { 'example.com/tier': 'tier-$(size)' } }, { parameters, templates })
    await namespace('all-a', 'all', { 'example.com/size': 'l' })
    expect((await get('all-a')).metadata.labels).toMatchObject({ 'example.com/tier': 'tier-l' })
    const made = await waitFor(admin, configMapResource, { namespace: 'all-a', name: 'about' }, isThere)
    expect(made?.['data']).toEqual({ size: 'l' })
    await label('all-a', { 'example.com/size': 's' })
    expect((await get('all-a')).metadata.labels).toMatchObject({ 'example.com/tier': 'tier-s' })
  })
})

test('a refusal of a label that can not be made is told whole', async () => {
  await using cluster = await onBorough()
  const admin = cluster.plane.client()
  const spec = { namespaceMetadata: { labels: { by: '$(CREATOR)' } } }
  await admin.create(templateResource, { metadata: { name: 'team' }, spec })
  const user = cluster.plane.client({ username: 'a:b', groups: ['system:masters'] })
  const status = await refusal(user.create(namespaceResource, { metadata: { name: 'a' } }))
  expect(status).toEqual(
    invalidObject({ kind: 'Namespace', name: 'a' }, [
      'metadata.labels[by]: Invalid value: "a:b": template "team" makes this of what the namespace gives: ' +
        '"a:b": ' +
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must " +
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " +
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ]),
  )
})
