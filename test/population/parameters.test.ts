/** Parameters of templates: what a namespace must give, what comes of it, and what a tenant can't reach with them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenErrors } from '../../src/apis/templates/token-rules.ts'
import type { TemplateParameter } from '../../src/apis/templates/types.ts'
import type { Client } from '../../src/client/client.ts'
import { jsonEqual } from '../../src/kube/json-value.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject, Status } from '../../src/kube/types.ts'
import { templateDefinition } from '../../src/populate/definition.ts'
import { startOtherCluster } from '../support/other-cluster.ts'
import { causeOf, faultsOf, invalidObject, refusal } from '../support/refusal.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { type Cluster, elsewhereByWebhooks, onBorough } from './enforcement/clusters.ts'
import { conditionOf, configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const ofTemplates = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate' }
const sizeKey = 'example.com/size'
const costKey = 'example.com/cost-centre'
const size: JsonObject = { name: 'size', fromLabel: sizeKey, enum: ['small', 'large'], default: 'small' }
const cost: JsonObject = { name: 'costCentre', fromAnnotation: costKey, pattern: '[0-9]{4}', required: true }
const about = configMap('about', { size: '$(size)', cost: 'no. $(costCentre)' })
const amounts: JsonObject = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'amounts' },
  spec: { hard: { configmaps: '$(count)' } },
}

const clusters = [
  { where: 'on Borough', start: onBorough },
  { where: 'through borough populate', start: elsewhereByWebhooks },
]

describe.each(clusters)('$where', ({ start }) => {
  let cluster: Cluster
  let admin: Client
  beforeAll(async () => {
    cluster = await start()
    admin = cluster.plane.client()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  /** A template for namespaces whose names begin with its own. */
  const template = (name: string, parameters: JsonObject[], templates: JsonObject[]): Promise<KubeObject> =>
    admin.create(templateResource, {
      ...ofTemplates,
      metadata: { name },
      spec: { namespaces: { nameSelector: { include: [`${name}-*`] } }, parameters, templates },
    })
  const namespace = (name: string, metadata: KubeObject['metadata'] = {}): Promise<KubeObject> =>
    admin.create(namespaceResource, { metadata: { ...metadata, name } })
  const label = (name: string, value: string | null): Promise<KubeObject> =>
    admin.patch(namespaceResource, { name }, { metadata: { labels: { [sizeKey]: value } } })
  const annotate = (name: string, annotations: Record<string, string | null>): Promise<KubeObject> =>
    admin.patch(namespaceResource, { name }, { metadata: { annotations } })
  /** Elsewhere a create does not wait for what the namespace is given. */
  const dataOf = async (where: string, name: string): Promise<unknown> =>
    (await waitFor(admin, configMapResource, { namespace: where, name }, isThere))?.['data']
  const populated = (where: string, name: string, data: JsonObject): Promise<unknown> =>
    waitFor(admin, configMapResource, { namespace: where, name }, (o) => {
      return jsonEqual((o?.['data'] ?? null) as JsonValue, data)
    })
  const failing = (name: string, reason: string): Promise<KubeObject | undefined> =>
    waitFor(admin, templateResource, { name }, (t) => JSON.stringify(t?.['status'] ?? {}).includes(reason))
  const given = { annotations: { [costKey]: '1234' } }
  /** What the API server is told by its plugin, or by the webhook in its place. */
  const faultsIn = ({ details }: Status): string[] => (details?.causes ?? []).map((c) => `${c.field}: ${c.message}`)

  test('values reach what a namespace is created with', async () => {
    await template('made', [size, cost], [about])
    await namespace('made-a', { ...given, labels: { [sizeKey]: 'large' } })
    await namespace('made-b', given)
    expect(await dataOf('made-a', 'about')).toEqual({ size: 'large', cost: 'no. 1234' })
    expect(await dataOf('made-b', 'about')).toEqual({ size: 'small', cost: 'no. 1234' })
  })

  test('a create without a required value, or with a bad one, is refused and told what is allowed', async () => {
    await template('bad', [size, cost], [about])
    const faults = [
      `metadata.labels[${sizeKey}]: Invalid value: "medium": parameter "size" of template "bad" must be one of ` +
        '"small", "large"',
      `metadata.annotations[${costKey}]: Required value: parameter "costCentre" of template "bad" is required: ` +
        'it must be text that matches [0-9]{4}',
    ]
    const status = await refusal(namespace('bad-a', { labels: { [sizeKey]: 'medium' } }))
    expect(faultsIn(status)).toEqual(faults)
    expect(status.message).toContain('parameter "size" of template "bad" must be one of "small", "large"')
    expect((await refusal(admin.get(namespaceResource, { name: 'bad-a' }))).code).toBe(404)
    await namespace('bad-b', given)
    const bad = await refusal(label('bad-b', 'huge'))
    expect(faultsIn(bad)).toEqual([String(faults[0]).replace('medium', 'huge')])
    expect(faultsIn(await refusal(annotate('bad-b', { [costKey]: null })))).toEqual([faults[1]])
    expect(faultsIn(await refusal(annotate('bad-b', { [costKey]: '12345' })))[0]).toContain('Invalid value: "12345"')
    // Of a long one the beginning says which it is.
    expect(faultsIn(await refusal(annotate('bad-b', { [costKey]: '1'.repeat(2000) })))).toEqual([
      `metadata.annotations[${costKey}]: Invalid value: "${'1'.repeat(128)}"...: parameter "costCentre" of template ` +
        '"bad" must have at most 1024 characters',
    ])
  })

  test('a changed value brings the namespace to what the template says with it', async () => {
    const named = configMap('size-$(size)', { size: '$(size)' })
    await template('move', [size], [configMap('about', { size: '$(size)' }), named])
    await namespace('move-a')
    expect(await dataOf('move-a', 'size-small')).toEqual({ size: 'small' })
    await label('move-a', 'large')
    await populated('move-a', 'about', { size: 'large' })
    await populated('move-a', 'size-large', { size: 'large' })
    await waitFor(admin, configMapResource, { namespace: 'move-a', name: 'size-small' }, isGone)
  })

  test('after a new required parameter older namespaces keep what they have until they give it', async () => {
    await template('older', [size], [configMap('about', { size: '$(size)' }), configMap('first')])
    await namespace('older-a', { labels: { [sizeKey]: 'large' } })
    await admin.patch(templateResource, { name: 'older' }, { spec: { parameters: [size, cost], templates: [about] } })
    const told = await failing('older', 'ParameterMissing')
    const status = told?.['status'] as JsonObject
    const wrong = 'is required: it must be text that matches [0-9]{4}'
    const message = `metadata.annotations[${costKey}] of the namespace ${wrong}`
    const failure = { namespace: 'older-a', object: 'parameter costCentre', reason: 'ParameterMissing', message }
    expect(status['failures']).toEqual([failure])
    expect(status).toMatchObject({ matched: 1, synced: 0, failed: 1 })
    expect(conditionOf(status, 'Synced')).toMatchObject({ status: 'False', reason: 'ParameterMissing' })
    const isTold = (n: KubeObject | undefined): boolean =>
      JSON.stringify(n?.['status'] ?? {}).includes('ParameterMissing')
    const there = await waitFor(admin, namespaceResource, { name: 'older-a' }, isTold)
    expect(conditionOf(there?.['status'] as JsonObject, 'Populated')).toMatchObject({
      status: 'False',
      reason: 'ParameterMissing',
      message: `parameter costCentre: ${message}`,
    })
    // Nothing is taken away, and what was applied is kept.
    expect(await dataOf('older-a', 'first')).toEqual({ a: '1' })
    await admin.patch(configMapResource, { namespace: 'older-a', name: 'about' }, { data: { size: 'spoilt' } })
    await populated('older-a', 'about', { size: 'large' })
    // What has nothing to do with it passes; what would make it worse does not.
    await annotate('older-a', { note: 'x' })
    expect(faultsIn(await refusal(annotate('older-a', { [costKey]: 'x' })))).toHaveLength(1)
    await annotate('older-a', { [costKey]: '0815' })
    await populated('older-a', 'about', { cost: 'no. 0815', size: 'large' })
    await waitFor(admin, configMapResource, { namespace: 'older-a', name: 'first' }, isGone)
    const { status: after } = (await waitFor(admin, templateResource, { name: 'older' }, (t) => {
      return (t?.['status'] as JsonObject)['synced'] === 1
    })) as KubeObject & { status: JsonObject }
    expect(after).not.toHaveProperty('failures')
  })

  test('namespaces that lack a value hold up no rollout', async () => {
    await template('waves', [], [configMap('about')])
    for (const n of ['a', 'b', 'c']) await namespace(`waves-${n}`, n === 'c' ? { labels: { [sizeKey]: 'large' } } : {})
    const spec = {
      parameters: [{ ...size, default: null, required: true }],
      templates: [configMap('about', { size: '$(size)' })],
      rollout: { maxUnavailable: 1, pauseOnFailure: true },
    }
    await admin.patch(templateResource, { name: 'waves' }, { spec })
    await populated('waves-c', 'about', { size: 'large' })
    await failing('waves', 'ParameterMissing')
    expect(await dataOf('waves-a', 'about')).toEqual({ a: '1' })
  })

  test('an object is tried with each choice before the template is accepted', async () => {
    const choices = { name: 'count', fromLabel: 'example.com/count', enum: ['5', 'many'], required: true }
    const status = await refusal(template('tried', [choices], [amounts]))
    expect(faultsIn(status).join()).toContain('(where count is "many")')
    await template('tried', [{ ...choices, enum: ['5', '6'] }], [amounts])
    await namespace('tried-a', { labels: { 'example.com/count': '6' } })
    const quotas = { group: '', version: 'v1', resource: 'resourcequotas' }
    const quota = await waitFor(admin, quotas, { namespace: 'tried-a', name: 'amounts' }, isThere)
    expect(quota?.['spec']).toEqual({ hard: { configmaps: '6' } })
  })

  test('what is no token is refused when the template is written, with the way to write it as text', async () => {
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: '$(CREATER)' }]
    const roleRef = { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'view' }
    const metadata = { name: 'creator' }
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata, roleRef, subjects }
    expect(faultsIn(await refusal(template('typo', [size], [binding])))).toEqual([
      'spec.templates[0].subjects[0].name: Invalid value: "$(CREATER)": $(CREATER) is no token: there are ' +
        '$(CREATOR), $(OWNER), $(NAMESPACE), $(size). The text itself is written $$(CREATER)',
    ])
    await template('text', [size], [configMap('script', { run: 'echo $$(hostname) $$(size) $(size)' })])
    await namespace('text-a')
    expect(await dataOf('text-a', 'script')).toEqual({ run: 'echo $(hostname) $(size) small' })
  })

  test('what Kubernetes expands in containers is left to it', async () => {
    const metadata = { name: 'p', labels: { app: 'p' } }
    const env = [
      { name: 'A', value: '$(B) $$(size)' },
      { name: 'SIZE', value: '$(size)' },
    ]
    const container = { name: 'c', image: 'i', command: ['run', '$(A)'], args: ['$$(CREATOR)', '$(NAMESPACE)'], env }
    const spec = { selector: { matchLabels: { app: 'p' } }, template: { metadata, spec: { containers: [container] } } }
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }
    await template('pods', [size], [deployment])
    await namespace('pods-a')
    const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }
    const made = await waitFor(admin, deployments, { namespace: 'pods-a', name: 'd' }, isThere)
    const [is] = (made?.['spec'] as typeof spec).template.spec.containers
    expect(is).toMatchObject({
      command: ['run', '$(A)'],
      args: ['$$(CREATOR)', 'pods-a'],
      env: [
        { name: 'A', value: '$(B) $$(size)' },
        { name: 'SIZE', value: 'small' },
      ],
    })
  })

  test('declarations that make no sense are refused with their fields', async () => {
    const cases: [JsonObject, string][] = [
      [{ name: 'CREATOR', fromLabel: 'a' }, '.name: Invalid value: "CREATOR": must be a lower-case letter'],
      [{ name: 'in', fromLabel: 'a' }, '.name: Invalid value: "in": must be a lower-case letter'],
      [{ name: 'a' }, '.fromLabel: Required value: fromLabel or fromAnnotation must say where'],
      [{ name: 'a', fromLabel: 'a', fromAnnotation: 'b' }, '.fromAnnotation: Invalid value: "b": may not be given'],
      [{ name: 'a', fromLabel: 'a b' }, '.fromLabel: Invalid value: "a b": name part must consist of'],
      [{ name: 'a', fromAnnotation: '/' }, '.fromAnnotation: Invalid value: "/"'],
      [{ name: 'a', fromLabel: 'a', enum: [] }, '.enum: Required value: must name a value at least'],
      [{ name: 'a', fromLabel: 'a', enum: ['x', 'x'] }, '.enum[1]: Duplicate value: "x"'],
      [{ name: 'a', fromLabel: 'a', enum: [''] }, '.enum[0]: Invalid value: "": may not be empty'],
      [{ name: 'a', fromLabel: 'a', enum: ['a b'] }, '.enum[0]: Invalid value: "a b": a valid label must be'],
      [{ name: 'a', fromAnnotation: 'a', enum: ['a\nb'] }, '.enum[0]: Invalid value: "a\\nb": must have no control'],
      [{ name: 'a', fromLabel: 'a', pattern: '(' }, '.pattern: Invalid value: "(": is no expression of RE2: '],
      [{ name: 'a', fromLabel: 'a', pattern: '(?=a)' }, '.pattern: Invalid value: "(?=a)": is no expression of RE2: '],
      [{ name: 'a', fromLabel: 'a', pattern: '[a-z]{900}[a-z]{900}[a-z]{900}' }, 'may have at most 1000'],
      [
        { name: 'a', fromLabel: 'a', pattern: '[0-9]', default: 'x' },
        '.default: Invalid value: "x": must be text that',
      ],
      [{ name: 'a', fromLabel: 'a', default: 'x', required: true }, '.required: Invalid value: true: may not be given'],
      [{ name: 'a', fromLabel: 'a', enum: Array.from({ length: 129 }, (_, i) => `v${i}`) }, '.enum: Too many: 129'],
    ]
    for (const [parameter, fault] of cases) {
      const status = await refusal(template('sense', [parameter], []))
      expect(status.code).toBe(422)
      expect(faultsIn(status).join()).toContain(fault)
    }
    // Also where an object names it, which is tried with examples of what it allows.
    const broken = await refusal(
      template('sense', [{ name: 'a', fromLabel: 'a', pattern: '[0-9' }], [configMap('a', { a: '$(a)' })]),
    )
    expect(faultsIn(broken)).toEqual([
      'spec.parameters[0].pattern: Invalid value: "[0-9": is no expression of RE2: ' +
        'error parsing regexp: missing closing ]: `[0-9`',
    ])
    const many = Array.from({ length: 65 }, (_, i) => ({ name: `p${i}`, fromLabel: 'a' }))
    expect(faultsIn(await refusal(template('sense', many, [])))).toEqual([
      'spec.parameters: Too many: 65: must have at most 64 items',
    ])
    expect((await refusal(template('sense', [size, size], []))).code).toBe(422)
  })

  test('a tenant who labels its namespace reaches nothing but the value', async () => {
    const free: JsonObject = { name: 'note', fromAnnotation: 'example.com/note' }
    await template('evil', [free], [configMap('about', { note: '$(note)' })])
    for (const [i, value] of ['"},"kind":"Secret', '$(CREATOR)', '$$(x) $& $1', "'; drop", '{{x}}'].entries()) {
      await namespace(`evil-${i}`, { annotations: { 'example.com/note': value } })
      expect(await dataOf(`evil-${i}`, 'about')).toEqual({ note: value })
    }
    for (const value of ['a\nb: c', 'a\u2028b', 'a\u0000', 'x'.repeat(1025)]) {
      const status = await refusal(namespace('evil-x', { annotations: { 'example.com/note': value } }))
      expect(status.code).toBe(422)
    }
  })

  test('relabelling by any path of a namespace is judged alike', async () => {
    await template('paths', [size], [about].slice(1))
    await namespace('paths-a')
    // Elsewhere the controller still writes it, and an update would be a conflict.
    const isOpen = (n: KubeObject | undefined): boolean =>
      n !== undefined && n.metadata.labels?.['policy/namespace-template-pending'] === undefined
    const there = (await waitFor(admin, namespaceResource, { name: 'paths-a' }, isOpen)) as KubeObject
    const bad = { ...there, metadata: { ...there.metadata, labels: { ...there.metadata.labels, [sizeKey]: 'huge' } } }
    const fault = [expect.stringContaining('must be one of "small", "large"')]
    expect(faultsIn(await refusal(admin.update(namespaceResource, bad)))).toEqual(fault)
    expect(faultsIn(await refusal(admin.update(namespaceResource, bad, { subresource: 'status' })))).toEqual(fault)
    const applied = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'paths-a', labels: { [sizeKey]: 'huge' } },
    }
    const options = { fieldManager: 'gitops', force: true }
    expect(faultsIn(await refusal(admin.apply(namespaceResource, applied, options)))).toEqual(fault)
  })
})

test('a template that was stored before keeps what was text, until its spec is edited', async () => {
  await using plane = await startOtherCluster()
  const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
  // It may be there: it stays on a cluster that is not new.
  await plane.client.apply(definitions, templateDefinition(), { fieldManager: 'test', force: true })
  const spec = {
    namespaces: { nameSelector: { include: ['team'] } },
    templates: [configMap('about', { same: '$(OTHER)', who: '$(NAMESPACE)' })],
  }
  const create = (): Promise<KubeObject> =>
    plane.client.create(templateResource, { ...ofTemplates, metadata: { name: 't' }, spec })
  await waitFor(plane.client, definitions, { name: templateDefinition().metadata.name ?? '' }, (o) => {
    return JSON.stringify(o?.['status'] ?? {}).includes('"Established","status":"True"')
  })
  await create()
  const { startPopulate } = await import('../../src/populate/populate.ts')
  const { systemClock } = await import('../../src/base/clock.ts')
  const { randomIds } = await import('../../src/base/ids.ts')
  const { silentLog } = await import('../../src/base/log.ts')
  await using _populate = await startPopulate({
    client: plane.client,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'borough-system',
    reachedAt: 'listen',
    admission: 'webhooks',
  })
  await plane.client.create(namespaceResource, { metadata: { name: 'team' } })
  const made = await waitFor(plane.client, configMapResource, { namespace: 'team', name: 'about' }, isThere)
  expect(made?.['data']).toEqual({ same: '$(OTHER)', who: 'team' })
  await plane.client.patch(templateResource, { name: 't' }, { metadata: { annotations: { note: 'x' } } })
  const edit = plane.client.patch(templateResource, { name: 't' }, { spec: { driftPolicy: 'Report' } })
  await expect(edit.catch((error: unknown) => findStatusError(error)?.message)).resolves.toContain(
    '$(OTHER) is no token',
  )
})

describe('where a parameter may stand', () => {
  const choice: TemplateParameter = { name: 'p', fromLabel: 'p', enum: ['a', 'b'] }
  const free: TemplateParameter = { name: 'q', fromLabel: 'q' }
  const faults = (object: JsonObject): string[] => faultsOf(tokenErrors(object, 'spec.templates[0]', [choice, free]))
  const of = (apiVersion: string, kind: string, more: JsonObject): JsonObject => ({
    apiVersion,
    kind,
    ...more,
    metadata: { name: 'x', ...((more['metadata'] ?? {}) as JsonObject) },
  })
  const pod = (more: JsonObject): JsonObject => ({ template: { spec: { containers: [{ name: 'c', ...more }] } } })
  const rbac = 'rbac.authorization.k8s.io/v1'

  test.each<[string, JsonObject]>([
    ['data of a ConfigMap', of('v1', 'ConfigMap', { data: { a: 'x $(p) $(q)' } })],
    ['an amount of a quota', of('v1', 'ResourceQuota', { spec: { hard: { pods: '$(q)' } } })],
    ['a limit', of('v1', 'LimitRange', { spec: { limits: [{ type: 'Container', max: { cpu: '$(q)' } }] } })],
    ['a label', of('networking.k8s.io/v1', 'NetworkPolicy', { metadata: { labels: { 'ex.com/cost': '$(q)' } } })],
    ['an annotation of a ConfigMap', of('v1', 'ConfigMap', { metadata: { annotations: { a: '$(q)' } } })],
    ['the name of a ConfigMap, with choices', of('v1', 'ConfigMap', { metadata: { name: 'c-$(p)' } })],
    ['a value of env', of('apps/v1', 'Deployment', { spec: pod({ env: [{ name: 'A', value: '$(q)' }] }) })],
  ])('%s', (_, object) => {
    expect(faults(object)).toEqual([])
  })

  const toUser = { kind: 'User', name: '$(p)' }
  test.each<[string, JsonObject, string]>([
    ['a subject', of(rbac, 'RoleBinding', { subjects: [toUser] }), '.subjects[0].name'],
    ['a rule', of(rbac, 'Role', { rules: [{ verbs: ['$(p)'] }] }), '.rules[0].verbs[0]'],
    ['a label of a Role', of(rbac, 'Role', { metadata: { labels: { a: '$(p)' } } }), '.metadata.labels.a'],
    [
      'an annotation of a ServiceAccount',
      of('v1', 'ServiceAccount', { metadata: { annotations: { 'eks.amazonaws.com/role-arn': '$(p)' } } }),
      '.metadata.annotations[eks.amazonaws.com/role-arn]',
    ],
    [
      'the account whose token a Secret is for',
      of('v1', 'Secret', { metadata: { annotations: { 'kubernetes.io/service-account.name': '$(p)' } } }),
      '.metadata.annotations[kubernetes.io/service-account.name]',
    ],
    ['data of a Secret', of('v1', 'Secret', { stringData: { a: '$(p)' } }), '.stringData.a'],
    ['the account of a pod', of('v1', 'Pod', { spec: { serviceAccountName: '$(p)' } }), '.spec.serviceAccountName'],
    ['a label of a pod', of('v1', 'Pod', { metadata: { labels: { app: '$(p)' } } }), '.metadata.labels.app'],
    [
      'a command',
      of('apps/v1', 'Deployment', { spec: pod({ command: ['$(p)'] }) }),
      '.spec.template.spec.containers[0].command[0]',
    ],
    [
      'an image',
      of('apps/v1', 'Deployment', { spec: pod({ image: '$(p)' }) }),
      '.spec.template.spec.containers[0].image',
    ],
    [
      'a peer of a NetworkPolicy',
      of('networking.k8s.io/v1', 'NetworkPolicy', { spec: { ingress: [{ from: [{ ipBlock: { cidr: '$(p)' } }] }] } }),
      '.spec.ingress[0].from[0].ipBlock.cidr',
    ],
    [
      'an annotation that another controller acts upon',
      of('networking.k8s.io/v1', 'Ingress', { metadata: { annotations: { 'nginx.org/server-snippets': '$(q)' } } }),
      '.metadata.annotations[nginx.org/server-snippets]',
    ],
    [
      'a label that Kubernetes acts upon',
      of('discovery.k8s.io/v1', 'EndpointSlice', { metadata: { labels: { 'kubernetes.io/service-name': '$(p)' } } }),
      '.metadata.labels[kubernetes.io/service-name]',
    ],
    ['a custom object', of('example.com/v1', 'Grant', { spec: { to: '$(p)' } }), '.spec.to'],
    [
      'env of a custom object',
      of('example.com/v1', 'Job', { spec: pod({ env: [{ value: '$(p)' }] }) }),
      '.spec.template.spec.containers[0].env[0].value',
    ],
    ['a name, without choices', of('v1', 'ConfigMap', { metadata: { name: '$(q)' } }), '.metadata.name'],
    [
      'an owner',
      of('v1', 'ConfigMap', { metadata: { ownerReferences: [{ uid: '$(p)' }] } }),
      '.metadata.ownerReferences[0].uid',
    ],
    ['a finalizer', of('v1', 'ConfigMap', { metadata: { finalizers: ['$(p)'] } }), '.metadata.finalizers[0]'],
    ['the scopes of a quota', of('v1', 'ResourceQuota', { spec: { scopes: ['$(p)'] } }), '.spec.scopes[0]'],
  ])('not %s', (_, object, field) => {
    const name = JSON.stringify(object).includes('$(p)') ? 'p' : 'q'
    expect(faults(object)).toEqual([
      `spec.templates[0]${field}: Forbidden: parameter "${name}" can not stand here: its value is chosen by a user ` +
        'who may label namespaces, and it may only stand where it ' +
        'grants and selects nothing: in data of ConfigMaps, amounts of ResourceQuotas and LimitRanges, labels, ' +
        'annotations of these three kinds, and values of env of containers',
    ])
  })

  test.each<[string, JsonObject, string]>([
    ['a role that is bound', of(rbac, 'RoleBinding', { roleRef: { kind: 'Role', name: '$(OWNER)' } }), '.roleRef.name'],
    ['a kind', of('v1', '$(p)', {}), '.kind'],
  ])('no token says %s', (_, object, field) => {
    expect(faults(object)).toEqual([expect.stringMatching(/a token can not stand here: the rights of the author/)])
    expect(causeOf(faults(object)[0] ?? '').field).toBe(`spec.templates[0]${field}`)
  })
})

test('a refusal of a parameter is told whole', async () => {
  await using cluster = await onBorough()
  const admin = cluster.plane.client()
  const spec = { parameters: [size], templates: [configMap('about', { size: '$(size)' })] }
  await admin.create(templateResource, { metadata: { name: 'team' }, spec })
  const metadata = { name: 'a', labels: { [sizeKey]: 'medium' } }
  expect(await refusal(admin.create(namespaceResource, { metadata }))).toEqual(
    invalidObject({ kind: 'Namespace', name: 'a' }, [
      `metadata.labels[${sizeKey}]: Invalid value: "medium": parameter "size" of template "team" must be one of ` +
        '"small", "large"',
    ]),
  )
})
