/** `cloneFrom`: Secrets and ConfigMaps of another namespace, copied and kept in step with their source. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { invalidObject } from '../support/refusal.ts'
import { waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { AnyWorld, anyCluster, refusalAnywhere } from './any-world.ts'
import { configMapResource, PopulationWorld, templateResource } from './population-world.ts'

const secrets = { group: '', version: 'v1', resource: 'secrets' }
const consent = 'policy.borough.dev/clone-to'
const secretFrom = (name: string, namespace = 'platform'): JsonObject => ({
  cloneFrom: { namespace, apiVersion: 'v1', kind: 'Secret', name },
})
const encoded = (text: string): string => Buffer.from(text).toString('base64')

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  let admin: Client
  beforeAll(async () => {
    world = new AnyWorld(await start())
    admin = world.admin
    await world.namespace('platform')
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const source = (name: string, token: string, to: string | undefined = '*'): Promise<KubeObject> =>
    admin.create(secrets, {
      metadata: { name, namespace: 'platform', labels: { of: 'platform' }, annotations: to ? { [consent]: to } : {} },
      type: 'example.com/token',
      data: { token: encoded(token) },
    })
  const copyHas = (namespace: string, name: string, token: string): Promise<KubeObject | undefined> =>
    waitFor(admin, secrets, { namespace, name }, (o) => JSON.stringify(o?.['data']) === `{"token":"${encoded(token)}"}`)

  test('a new namespace has the copy: content and type, none of the labels and annotations', async () => {
    await source('pull', 'one')
    await world.template('copies', [secretFrom('pull')])
    await world.namespace('copies-1')
    const copy = await copyHas('copies-1', 'pull', 'one')
    expect(copy).toMatchObject({ type: 'example.com/token' })
    expect(copy?.metadata.labels).toEqual({ 'policy/namespace-template-name': 'copies' })
    expect(copy?.metadata.annotations).toBeUndefined()
    await world.synced('copies')
  })

  test('it is kept in step with its source, and its drift corrected', async () => {
    await source('rotated', 'one')
    await world.template('step', [secretFrom('rotated')])
    await world.namespace('step-1')
    await admin.patch(secrets, { namespace: 'platform', name: 'rotated' }, { data: { token: encoded('two') } })
    await copyHas('step-1', 'rotated', 'two')
    await admin.patch(secrets, { namespace: 'step-1', name: 'rotated' }, { data: { token: encoded('theirs') } })
    await copyHas('step-1', 'rotated', 'two')
  })

  test('a source that goes leaves its copies, and is told; one that comes back is followed', async () => {
    await source('goes', 'one')
    await world.template('left', [secretFrom('goes')])
    await world.namespace('left-1')
    await copyHas('left-1', 'goes', 'one')
    await admin.delete(secrets, { namespace: 'platform', name: 'goes' })
    const message =
      'Secret goes in namespace "platform", its source, is not there: restore it, with its annotation ' +
      'policy.borough.dev/clone-to, or take it out of the template'
    expect(await world.failures('left', 'SourceMissing')).toEqual([
      { namespace: 'left-1', object: 'Secret/goes', reason: 'SourceMissing', message },
    ])
    expect(await world.events('left-1', 'PopulationSourceMissing')).toEqual([
      `Secret/goes of template left: ${message}`,
    ])
    const populated = { type: 'Populated', reason: 'SourceMissing', message: `Secret/goes: ${message}` }
    await expect
      .poll(async () => (await explainNamespace(admin, 'left-1', systemClock, AbortSignal.timeout(30_000))).reports)
      .toEqual([populated])
    await copyHas('left-1', 'goes', 'one')
    await source('goes', 'three')
    await copyHas('left-1', 'goes', 'three')
    await world.synced('left')
  })

  test('after the consent of its source is withdrawn, what was copied stays as it was', async () => {
    await source('shy', 'one', 'team in (a, b)')
    await world.template('consent', [secretFrom('shy')])
    await world.namespace('consent-1', { team: 'a' })
    await copyHas('consent-1', 'shy', 'one')
    const annotations = { [consent]: null }
    await admin.patch(secrets, { namespace: 'platform', name: 'shy' }, { metadata: { annotations } })
    await admin.patch(secrets, { namespace: 'platform', name: 'shy' }, { data: { token: encoded('two') } })
    const told = await world.failures('consent', 'SourceRefused')
    expect(told[0]?.['message']).toBe(
      `Secret shy in namespace "platform", its source, does not consent: annotation ${consent} is missing: ` +
        'give it a label selector for the namespaces that may have a copy, or * for all',
    )
    await copyHas('consent-1', 'shy', 'one')
  })

  test.each([
    { name: 'other', to: 'team=b', why: `does not consent: its annotation ${consent} does not select this namespace` },
    {
      name: 'broken',
      to: 'team in',
      why: expect.stringContaining(`does not consent: annotation ${consent} is no label selector: `) as string,
    },
  ])('a new namespace waits for the consent of $name', async ({ name, to, why }) => {
    await source(`of-${name}`, 'one', to)
    await world.template(name, [secretFrom(`of-${name}`)])
    const creating = world.namespace(`${name}-1`, { team: 'a' })
    const [told] = await world.failures(name, 'SourceRefused')
    const words = String(told?.['message']).replace(`Secret of-${name} in namespace "platform", its source, `, '')
    expect(words).toEqual(why)
    const there = await admin.list(secrets, { namespace: `${name}-1`, fieldSelector: `metadata.name=of-${name}` })
    expect(there.items).toEqual([])
    const annotations = { [consent]: '*' }
    await admin.patch(secrets, { namespace: 'platform', name: `of-${name}` }, { metadata: { annotations } })
    await creating
    await copyHas(`${name}-1`, `of-${name}`, 'one')
  })

  test('a copy is no source, so there are no chains; the namespace of a source keeps its own', async () => {
    await world.namespace('chain-1')
    await world.namespace('chain-2')
    await source('first', 'one')
    const onlyIn = (name: string): JsonObject => ({ namespaces: { nameSelector: { include: [name] } } })
    await world.template('chain-a', [secretFrom('first')], onlyIn('chain-1'))
    await copyHas('chain-1', 'first', 'one')
    const annotations = { [consent]: '*' }
    await admin.patch(secrets, { namespace: 'chain-1', name: 'first' }, { metadata: { annotations } })
    await world.template('chain-b', [secretFrom('first', 'chain-1')], onlyIn('chain-2'))
    const [told] = await world.failures('chain-b', 'SourceRefused')
    expect(told?.['message']).toBe(
      'Secret first in namespace "chain-1", its source, is made by a template itself: what it is made from can be ' +
        'cloned',
    )
    await world.template('itself', [secretFrom('first')], onlyIn('platform'))
    await world.synced('itself')
    expect((await admin.get(secrets, { namespace: 'platform', name: 'first' })).metadata.labels).toEqual({
      of: 'platform',
    })
  })

  test('the token of a service account is not cloned', async () => {
    await admin.create(secrets, {
      metadata: {
        name: 'account',
        namespace: 'platform',
        annotations: { [consent]: '*', 'kubernetes.io/service-account.name': 'default' },
      },
      type: 'kubernetes.io/service-account-token',
    })
    await world.namespace('tokens-1')
    await world.template('tokens', [secretFrom('account')])
    const [told] = await world.failures('tokens', 'SourceRefused')
    expect(told?.['message']).toBe(
      'Secret account in namespace "platform", its source, is of type kubernetes.io/service-account-token, which is ' +
        'not cloned',
    )
  })

  test('its author must be able to read the source', async () => {
    const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
    const rules = [
      { verbs: ['create', 'patch', 'update'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
      { verbs: ['create', 'patch', 'delete'], apiGroups: [''], resources: ['secrets'] },
    ]
    await admin.create(rbac('clusterroles'), { metadata: { name: 'author' }, rules })
    await admin.create(rbac('clusterrolebindings'), {
      metadata: { name: 'author' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'author' }],
    })
    const author = world.clientAs('author')
    await waitUntilAllowed(author, 'create', templateResource)
    const writing = world.template('stolen', [secretFrom('pull')], {}, author)
    const why = 'needs "get" on secrets "pull" in namespace "platform"'
    expect(await refusalAnywhere(writing)).toMatchObject({
      code: 403,
      message:
        'namespacetemplates.policy.borough.dev "stolen" is forbidden: user "author" can\'t give through a template ' +
        `what they may not do themselves: spec.objects[0].cloneFrom: ${why}`,
      details: { causes: [{ reason: 'FieldValueForbidden', message: why, field: 'spec.objects[0].cloneFrom' }] },
    })
  })

  test.each([
    {
      what: 'another kind',
      entry: { cloneFrom: { namespace: 'platform', apiVersion: 'v1', kind: 'Pod', name: 'x' } },
      faults: ['spec.objects[0].cloneFrom.kind: Unsupported value: "Pod": supported values: "ConfigMap", "Secret"'],
    },
    {
      what: 'another version',
      entry: { cloneFrom: { namespace: 'platform', apiVersion: 'v2', kind: 'Secret', name: 'x' } },
      faults: ['spec.objects[0].cloneFrom.apiVersion: Unsupported value: "v2": supported values: "v1"'],
    },
    {
      what: 'no name',
      entry: { cloneFrom: { namespace: 'platform', apiVersion: 'v1', kind: 'Secret' } },
      faults: ['spec.objects[0].cloneFrom.name: Required value'],
    },
    {
      what: 'a token',
      entry: { cloneFrom: { namespace: '$(NAMESPACE)', apiVersion: 'v1', kind: 'Secret', name: 'x' } },
      faults: ['spec.objects[0].cloneFrom.namespace: Invalid value: "$(NAMESPACE)": a token can not stand here'],
    },
    { what: 'nothing', entry: {}, faults: ['spec.objects[0]: Required value: must have a template or a cloneFrom'] },
    {
      what: 'both',
      entry: { ...secretFrom('x'), template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } } },
      faults: ['spec.objects[0].cloneFrom: Forbidden: may not be specified when `template` is set'],
    },
  ])('refused when it is written: $what', async ({ entry, faults }) => {
    expect(await refusalAnywhere(world.template('refused', [entry as JsonObject]))).toEqual(
      invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'refused' }, faults),
    )
  })

  test('more sources than a template may have are refused', async () => {
    const entries = Array.from({ length: 21 }, (_, i) => secretFrom(`s-${i}`))
    expect(await refusalAnywhere(world.template('refused', entries))).toEqual(
      invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'refused' }, [
        'spec.objects: Too many: 21: must have at most 20 items',
      ]),
    )
  })

  test('a ConfigMap is copied with its binary data', async () => {
    const metadata = { name: 'ca', namespace: 'platform', annotations: { [consent]: '*' } }
    await admin.create(configMapResource, { metadata, data: { a: '1' }, binaryData: { b: 'AAAA' }, immutable: true })
    await world.template('maps', [
      { cloneFrom: { namespace: 'platform', apiVersion: 'v1', kind: 'ConfigMap', name: 'ca' } },
    ])
    await world.namespace('maps-1')
    const copy = await world.data('maps-1', 'ca', { a: '1' })
    expect(copy).toMatchObject({ binaryData: { b: 'AAAA' } })
    expect(copy?.['immutable']).toBeUndefined()
  })
})

test('a write of a template warns of a source that no namespace may have, not of one that some may', async () => {
  await using world = await PopulationWorld.start()
  await world.namespace('platform')
  const path = '/apis/policy.borough.dev/v1alpha1/namespacetemplates'
  const written = (name: string, failurePolicy = 'Hold'): Promise<string[]> =>
    world.createWarnings(path, {
      metadata: { name },
      spec: { namespaces: { nameSelector: { include: [name] } }, failurePolicy, objects: [secretFrom('pull')] },
    })
  const waits = 'new namespaces wait until then; spec.failurePolicy: Ignore would let them go'
  const pull = 'spec.objects[0].cloneFrom: Secret pull in namespace "platform", its source,'
  const missing = `${pull} is not there: restore it, with its annotation ${consent}, or take it out of the template`
  expect(await written('missing')).toEqual([`${missing}; ${waits}`])
  await world.admin.create(secrets, { metadata: { name: 'pull', namespace: 'platform' } })
  const silent =
    `${pull} does not consent: annotation ${consent} is missing: ` +
    'give it a label selector for the namespaces that may have a copy, or * for all'
  expect(await written('silent', 'Ignore')).toEqual([`${silent}; namespaces do without it until then`])
  // It is said of an edit too, and not of a write that changes no spec.
  const edit = (patch: object): Promise<string[]> => world.patchWarnings(`${path}/silent`, patch)
  expect(await edit({ spec: { driftPolicy: 'Report' } })).toHaveLength(1)
  expect(await edit({ metadata: { labels: { a: 'b' } } })).toEqual([])
  const annotations = { [consent]: 'team=a' }
  await world.admin.patch(secrets, { namespace: 'platform', name: 'pull' }, { metadata: { annotations } })
  expect(await edit({ spec: { driftPolicy: 'Correct' } })).toEqual([])
})
