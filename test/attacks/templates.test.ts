/**
 * Attempts to be given by a template, or to shake off, what one may not have: by its author, and by the owner of a
 * namespace that it selects. Each by every kind of write, in both groups of the kind.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rollbackTemplate } from '../../src/apis/templates/rollback.ts'
import type { Client } from '../../src/client/client.ts'
import { isJsonObject } from '../../src/kube/json-value.ts'
import {
  clusterRoleBindingsResource,
  clusterRolesResource,
  type PolicyRule,
  roleBindingsResource,
} from '../../src/kube/rbac.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, roleBinding, user } from '../support/fake-rbac-source.ts'
import { failure, forbidden, invalidObject, refusal } from '../support/refusal.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { type Answer, Wire } from '../support/wire.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const groups = ['policy', 'policy.borough.dev']

const requirePermission = 'policy/namespace-template-require-permission'
const applied = 'policy/namespace-template-apply'
const optOut = { 'policy/namespace-template-opt-out': 'true' }

let plane: TestControlPlane
let admin: Client
let wire: Wire

async function grant(name: string, ...rules: PolicyRule[]): Promise<void> {
  await admin.create(clusterRolesResource, clusterRole(name, ...rules))
  await admin.create(clusterRoleBindingsResource, clusterRoleBinding(name, name, user(name)))
}

beforeAll(async () => {
  plane = await startControlPlane()
  admin = plane.client
  wire = new Wire(plane)
  // Everything but `use` and `optout`, and nothing of what the templates give.
  await grant(
    'mallory',
    allow(
      'create,get,list,update,patch,delete',
      'policy,policy.borough.dev',
      'namespacetemplates,namespacetemplates/status',
    ),
    allow('list', 'apps', 'controllerrevisions'),
  )
  // Not the status, which is the controller's.
  await grant('molly', allow('create,get,update,patch,delete', 'policy.borough.dev', 'namespacetemplates'))
  await grant('owner', allow('get,update,patch', '', 'namespaces,namespaces/status,namespaces/finalize'))
  await grant('trusted', allow('patch', '', 'namespaces'), allow('use', 'policy', 'namespacetemplates'))
  await grant('creator', allow('create,get', '', 'namespaces'))
})
afterAll(() => plane[Symbol.asyncDispose]())

const apply = 'an apply'

interface Said {
  readonly method: string
  readonly body: unknown
  readonly type?: string
}
/** How a client may write what it wants an object to be; what is taken away stands in `next` no more. */
const writes: Readonly<Record<string, (old: KubeObject, next: KubeObject) => Said>> = {
  PUT: (_old, next) => ({ method: 'PUT', body: next }),
  'a merge patch': (old, next) => ({
    method: 'PATCH',
    type: 'application/merge-patch+json',
    body: mergePatch(wanted(old), wanted(next)),
  }),
  'a strategic merge patch': (old, next) => ({
    method: 'PATCH',
    type: 'application/strategic-merge-patch+json',
    body: mergePatch(wanted(old), wanted(next)),
  }),
  'a JSON patch': (_old, { metadata, spec }) => ({
    method: 'PATCH',
    type: 'application/json-patch+json',
    body: [
      { op: 'add', path: '/metadata/labels', value: metadata.labels ?? {} },
      { op: 'add', path: '/metadata/annotations', value: metadata.annotations ?? {} },
      { op: 'add', path: '/spec', value: spec },
    ],
  }),
  [apply]: (_old, next) => ({
    method: 'PATCH',
    type: 'application/apply-patch+yaml',
    body: {
      apiVersion: next.apiVersion,
      kind: next.kind,
      metadata: { labels: next.metadata.labels ?? {}, annotations: next.metadata.annotations ?? {} },
      spec: next['spec'],
    },
  }),
}

/** What the cases change. */
const wanted = ({ metadata: { labels = {}, annotations = {} }, spec = {} }: KubeObject): JsonObject => ({
  metadata: { labels, annotations },
  spec: spec as JsonObject,
})

function mergePatch(old: JsonObject, next: JsonObject): JsonObject {
  const gone = Object.keys(old).filter((key) => !(key in next))
  const changed = Object.entries(next).map(([key, value]) => {
    const before = old[key]
    return [key, isJsonObject(before) && isJsonObject(value) ? mergePatch(before, value) : value]
  })
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...Object.fromEntries(changed) } as JsonObject
}

/** What an apply leaves out it leaves alone: by an apply, nothing of others is taken off. */
const removes = (old: KubeObject, next: KubeObject): boolean =>
  JSON.stringify(mergePatch(wanted(old), wanted(next))).includes('null')

async function write(by: string, path: string, how: string, next: KubeObject, dryRun = false): Promise<Answer> {
  const old = await wire.must('GET', path.replace(/\/(status|finalize)$/, ''))
  const said = writes[how]?.(old, next)
  if (said === undefined) throw new Error(`nobody writes by ${how}`)
  const query = new URLSearchParams({
    ...(how === apply ? { fieldManager: by, force: 'true' } : {}),
    ...(dryRun ? { dryRun: 'All' } : {}),
  })
  return wire.as(by).call(said.method, `${path}?${query}`, said.body, said.type)
}

const rightsPath = (group: string, name: string): string => `/apis/${group}/v1alpha1/namespacetemplates/${name}`
const boss = (name: string): JsonObject =>
  roleBinding('', name, 'ClusterRole/cluster-admin', user('$(CREATOR)')) as unknown as JsonObject
const lacks = [
  'needs "create", "patch", "delete" on rolebindings in all namespaces',
  `user "mallory" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:["*"], Resources:["*"], Verbs:["*"]}
{NonResourceURLs:["*"], Verbs:["*"]}`,
]
const askedAuthor = (group: string, name: string) =>
  failure({
    message:
      `namespacetemplates.${group} "${name}" is forbidden: user "mallory" can't ` +
      `give through a template what they may not do themselves: ${lacks
        .map((lack) => `spec.templates[0]: ${lack}`)
        .join('; ')}`,
    reason: 'Forbidden',
    details: {
      name,
      group,
      kind: 'namespacetemplates',
      causes: lacks.map((message) => ({ reason: 'FieldValueForbidden', message, field: 'spec.templates[0]' })),
    },
    code: 403,
  })

describe('attack: an author of templates widens one that gives more than they hold', () => {
  const guarded = (
    name: string,
    annotations: Record<string, string> = { [requirePermission]: 'true' },
  ): KubeObject => ({
    metadata: { name, annotations: { ...annotations, team: 'x' } },
    spec: {
      namespaces: {
        labelSelector: { matchLabels: { class: name } },
        nameSelector: { include: ['never-*'] },
        creatorSelector: { users: ['root'] },
      },
      templates: [boss(name)],
      deletionPolicy: 'Orphan',
      driftPolicy: 'Report',
    },
  })
  const templateOf = (name: 'privileged' | 'dormant'): KubeObject =>
    name === 'dormant' ? guarded(name, { [applied]: 'disable' }) : guarded(name)
  beforeAll(async () => {
    for (const name of ['privileged', 'dormant'] as const) await admin.create(templates, templateOf(name))
  })

  type Change = (template: KubeObject) => KubeObject
  const annotate =
    (annotations: Record<string, string>): Change =>
    (template) => ({ ...template, metadata: { ...template.metadata, annotations } })
  const specify =
    (change: JsonObject): Change =>
    (template) => ({ ...template, spec: { ...(template['spec'] as JsonObject), ...change } })
  const select = (change: JsonObject): Change => {
    return (template) => {
      const { namespaces } = template['spec'] as { namespaces: JsonObject }
      return specify({ namespaces: { ...namespaces, ...change } })(template)
    }
  }

  const widenings: readonly { name: string; of?: 'privileged' | 'dormant'; change: Change }[] = [
    { name: 'the guard is taken off', change: annotate({ team: 'x' }) },
    { name: 'all annotations are taken off', change: annotate({}) },
    ...['True', 'true ', ' true', 'TRUE', 'false', '1', ''].map((value) => ({
      name: `the guard says ${JSON.stringify(value)}`,
      change: annotate({ [requirePermission]: value, team: 'x' }),
    })),
    { name: 'it is enabled', of: 'dormant', change: annotate({}) },
    ...['Disable', 'disable ', 'enable', ''].map((value) => ({
      name: `it is disabled by ${JSON.stringify(value)}`,
      of: 'dormant' as const,
      change: annotate({ [applied]: value }),
    })),
    {
      name: 'it is enabled, and guarded at once',
      of: 'dormant',
      change: annotate({ [applied]: 'no', [requirePermission]: 'true' }),
    },
    { name: 'it selects other labels', change: select({ labelSelector: {} }) },
    { name: 'it selects all names', change: select({ nameSelector: {} }) },
    { name: 'it selects other creators', change: select({ creatorSelector: { users: ['*'] } }) },
    { name: 'it selects everything', change: specify({ namespaces: {} }) },
    { name: 'it deletes what it orphaned', change: specify({ deletionPolicy: 'Delete' }) },
    { name: 'it adopts', change: specify({ adopt: true }) },
    { name: 'it corrects', change: specify({ driftPolicy: 'Correct' }) },
    {
      name: 'it holds one object more',
      change: specify({ templates: [boss('privileged'), boss('other')] }),
    },
  ]
  const cases = widenings.flatMap(({ of = 'privileged', change, ...widening }) =>
    groups.flatMap((group) =>
      Object.keys(writes)
        .filter((how) => how !== apply || !removes(templateOf(of), change(templateOf(of))))
        .map((how) => ({ ...widening, of, change, group, how })),
    ),
  )
  test.each(cases)('$name, by $how in $group', async ({ of, change, group, how, name }) => {
    const path = rightsPath(group, of)
    const before = await wire.must('GET', path)
    for (const dryRun of [false, true]) {
      const { body } = await write('mallory', path, how, change(before), dryRun)
      if (name === 'it holds one object more') expect(body).toMatchObject({ code: 403, reason: 'Forbidden' })
      else expect(body).toEqual(askedAuthor(group, of))
    }
    const { metadata, spec } = await wire.must('GET', path)
    expect(metadata.annotations).toEqual(before.metadata.annotations)
    expect(spec).toEqual(before.spec)
  })

  test.each(groups.flatMap((group) => Object.keys(writes).map((how) => ({ group, how }))))(
    'the guard is taken off by way of the status, by $how in $group',
    async ({ group, how }) => {
      const path = rightsPath(group, 'privileged')
      const old = await wire.must('GET', path)
      const answer = await write('mallory', `${path}/status`, how, {
        ...annotate({ [requirePermission]: 'no', team: 'x' })(old),
        metadata: { ...old.metadata, annotations: { [requirePermission]: 'no', team: 'x' }, labels: { a: 'b' } },
      })
      expect(answer.status).toBe(200)
      const { metadata } = await wire.must('GET', path)
      expect(metadata.annotations).toEqual(old.metadata.annotations)
      expect(metadata.labels).toEqual(old.metadata.labels)
    },
  )

  test('it is deleted and made again', async () => {
    const mallory = plane.clientAs('mallory')
    const again = guarded('again')
    await admin.create(templates, again)
    await mallory.delete(templates, { name: 'again' })
    await waitFor(admin, templates, { name: 'again' }, isGone)
    for (const group of groups) {
      const made = await refusal(mallory.create({ ...templates, group }, again))
      expect(made).toEqual(askedAuthor(group, 'again'))
      const config = { ...again, apiVersion: `${group}/v1alpha1`, kind: 'NamespaceTemplate' }
      const taken = await refusal(mallory.apply({ ...templates, group }, config, { fieldManager: 'm', force: true }))
      expect(taken).toEqual(askedAuthor(group, 'again'))
    }
  })

  test('it goes back to what it gave before', async () => {
    const name = 'tamed'
    await admin.create(templates, guarded(name))
    const revisions = async (): Promise<number> =>
      (
        await admin.list(
          { group: 'apps', version: 'v1', resource: 'controllerrevisions' },
          { namespace: 'kube-system', labelSelector: `policy.borough.dev/namespace-template=${name}` },
        )
      ).items.length
    await expect.poll(revisions).toBe(1)
    await admin.patch(templates, { name }, { spec: { templates: [] } })
    await expect.poll(revisions).toBe(2)
    const back = rollbackTemplate(plane.clientAs('mallory'), { name, dryRun: false }, new AbortController().signal)
    expect(await refusal(back)).toEqual(askedAuthor('policy.borough.dev', name))
    expect((await admin.get(templates, { name }))['spec']).toMatchObject({ templates: [] })
  })

  test('it takes away everywhere what the author may not delete', async () => {
    const template = await admin.get(templates, { name: 'privileged' })
    const spec = { ...(template['spec'] as JsonObject), templates: [], deletionPolicy: 'Delete' }
    const refused = await refusal(plane.clientAs('mallory').update(templates, { ...template, spec }))
    const lack =
      'taking RoleBinding/privileged away needs "create", "patch", "delete" on rolebindings in all namespaces'
    expect(refused).toEqual(
      failure({
        message:
          `namespacetemplates.policy.borough.dev "privileged" is forbidden: user "mallory" can't ` +
          `give through a template what they may not do themselves: spec.templates: ${lack}`,
        reason: 'Forbidden',
        details: {
          name: 'privileged',
          group: 'policy.borough.dev',
          kind: 'namespacetemplates',
          causes: [{ reason: 'FieldValueForbidden', message: lack, field: 'spec.templates' }],
        },
        code: 403,
      }),
    )
  })

  test.each([
    { name: 'before it is deleted', of: 'kept', first: async () => {} },
    {
      name: 'while it is being deleted',
      of: 'held',
      first: (molly: Client, name: string) => molly.delete(templates, { name }),
    },
  ])('its finalizer is taken off, so that it lets go of all that it made, $name', async ({ of: name, first }) => {
    await admin.create(namespaces, { metadata: { name: `of-${name}`, labels: { class: name } } })
    const spec = { namespaces: { labelSelector: { matchLabels: { class: name } } }, templates: [boss(name)] }
    const rollout = { maxPrune: 0 }
    await admin.create(templates, { metadata: { name }, spec: { ...spec, rollout } })
    const isDone = async () => ((await admin.get(templates, { name }))['status'] as { synced?: number })?.synced
    await expect.poll(isDone, { timeout: 20_000 }).toBe(1)
    const molly = plane.clientAs('molly')
    await first(molly, name)
    const refused = await refusal(molly.patch(templates, { name }, { metadata: { finalizers: null } }))
    const why = 'taking policy.borough.dev/prune off leaves what the template made with nothing that keeps it'
    const causes = lacks.map((lack) => `${why}: spec.templates[0] ${lack.replace('mallory', 'molly')}`)
    expect(refused).toEqual(
      failure({
        message:
          `namespacetemplates.policy.borough.dev "${name}" is forbidden: user "molly" can't ` +
          `give through a template what they may not do themselves: ${causes
            .map((cause) => `metadata.finalizers: ${cause}`)
            .join('; ')}`,
        reason: 'Forbidden',
        details: {
          name,
          group: 'policy.borough.dev',
          kind: 'namespacetemplates',
          causes: causes.map((message) => ({ reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' })),
        },
        code: 403,
      }),
    )
    await admin.delete(templates, { name })
    await admin.patch(templates, { name }, { metadata: { finalizers: null } })
    await admin.delete(namespaces, { name: `of-${name}` })
  })

  test.each([
    { name: 'disabling it', annotations: { [applied]: 'disable' } },
    { name: 'guarding it', annotations: { [requirePermission]: 'true' } },
    { name: 'a note about it', annotations: { note: 'x' } },
  ])('what gives nothing to anybody is not asked about: $name', async ({ annotations }) => {
    const name = `open-${Object.keys(annotations)[0]?.slice(-5)}`
    await admin.create(templates, guarded(name, {}))
    const mallory = plane.clientAs('mallory')
    const metadata = { annotations, labels: { a: 'b' } }
    expect(await mallory.patch(templates, { name }, { metadata })).toMatchObject({ metadata })
    await admin.delete(templates, { name })
  })
})

describe('attack: an author who may write all objects, and not escalate, hides a binding in a token', () => {
  const bossOf = (change: JsonObject): JsonObject => ({ ...boss('boss'), ...change })
  const ref = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const cases = [
    { object: bossOf({ apiVersion: '$(NAMESPACE).authorization.k8s.io/v1' }), field: 'apiVersion' },
    { object: bossOf({ apiVersion: 'rbac.authorization.k8s.io/$(NAMESPACE)' }), field: 'apiVersion' },
    { object: bossOf({ apiVersion: '$(CREATOR)' }), field: 'apiVersion' },
    { object: bossOf({ kind: '$(CREATOR)' }), field: 'kind' },
    { object: bossOf({ kind: 'Role$(NAMESPACE)' }), field: 'kind' },
  ]
  beforeAll(() => grant('writer', allow('create,patch,delete', '*', '*')))

  test.each(
    groups.flatMap((group) => cases.map(({ object, field }) => ({ group, object, field, said: object[field] }))),
  )('$field: $said in $group', async ({ group, object, field, said }) => {
    const template = { metadata: { name: 'hiding' }, spec: { templates: [object] } }
    const made = await refusal(plane.clientAs('writer').create({ ...templates, group }, template))
    expect(made).toEqual(
      invalidObject({ group, kind: 'NamespaceTemplate', name: 'hiding' }, [
        `spec.templates[0].${field}: Invalid value: ${JSON.stringify(said)}: a token can not stand here: the rights ` +
          'of the author depend on the kind of the object',
      ]),
    )
  })

  test('in the reference to the role', async () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'cluster-admin' } }
    for (const roleRef of [
      { ...ref, kind: '$(CREATOR)' },
      { ...ref, name: '$(NAMESPACE)' },
    ]) {
      const template = { metadata: { name: 'hiding' }, spec: { templates: [role, bossOf({ roleRef })] } }
      const made = await refusal(plane.clientAs('writer').create(templates, template))
      expect([403, 422]).toContain(made.code)
    }
  })
})

test('attack: an author hides rules in what an object would inherit', async () => {
  const rules = '[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]'
  const role: JsonObject = JSON.parse(
    '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r","annotations":' +
      `{"a":"$(NAMESPACE)"}},"__proto__":{"rules":${rules}}}`,
  )
  const template = { metadata: { name: 'inheriting' }, spec: { templates: [role] } }
  expect(await refusal(admin.create(templates, template))).toEqual(
    invalidObject({ group: templates.group, kind: 'NamespaceTemplate', name: 'inheriting' }, [
      'spec.templates[0].__proto__: Forbidden: unknown field',
    ]),
  )
})

describe('attack: the owner of a namespace leaves a template that needs a permission', () => {
  const guarded = (name: string, object: string): KubeObject => ({
    metadata: { name, annotations: { [requirePermission]: 'true' } },
    spec: {
      namespaces: { labelSelector: { matchLabels: { tier: name } } },
      templates: [
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: object }, spec: { hard: { pods: '1' } } },
      ],
    },
  })
  const path = '/api/v1/namespaces/team'
  const team = { name: 'team' }
  const refused = forbidden(
    { kind: 'namespaces', name: 'team' },
    'user "owner" cannot use namespacetemplates "gold", which would no longer select this namespace',
  )
  const quota = { namespace: 'team', name: 'of-gold' }
  beforeAll(async () => {
    await admin.create(templates, guarded('gold', 'of-gold'))
    await admin.create(templates, guarded('silver', 'of-silver'))
  })
  beforeEach(async () => {
    const there = (await admin.list(core('namespaces'), { fieldSelector: 'metadata.name=team' })).items.length > 0
    if (!there) await admin.create(core('namespaces'), { metadata: { ...team, labels: { tier: 'gold' } } })
    await admin.patch(core('namespaces'), team, { metadata: { labels: { tier: 'gold' } } })
    await waitFor(admin, core('resourcequotas'), quota, isThere)
  })

  type Labels = Readonly<Record<string, string>>
  const leavings: readonly { name: string; byApply: boolean; change: (labels: Labels) => Labels }[] = [
    { name: 'takes the label off', byApply: false, change: ({ tier: _, ...others }) => others },
    { name: 'takes all labels off', byApply: false, change: () => ({}) },
    { name: 'changes it', byApply: true, change: (labels) => ({ ...labels, tier: 'none' }) },
    { name: 'empties it', byApply: true, change: (labels) => ({ ...labels, tier: '' }) },
  ]
  const places = ['', '/status', '/finalize']
  const cases = leavings.flatMap((leaving) =>
    places.flatMap((place) =>
      Object.keys(writes)
        .filter((how) => (place !== '/finalize' || how === 'PUT') && (how !== apply || leaving.byApply))
        .map((how) => ({ ...leaving, place, how })),
    ),
  )
  test.each(cases)('$name at namespaces/team$place, by $how', async ({ change, place, how }) => {
    const before = await wire.must('GET', path)
    const metadata = { ...before.metadata, labels: change(before.metadata.labels ?? {}) }
    const { body } = await write('owner', `${path}${place}`, how, { ...before, metadata })
    expect(body).toEqual(refused)
    expect((await wire.must('GET', path)).metadata.labels).toEqual(before.metadata.labels)
  })

  test('moves on to another that needs one', async () => {
    const answer = await refusal(
      plane.clientAs('owner').patch(core('namespaces'), team, { metadata: { labels: { tier: 'silver' } } }),
    )
    expect(answer).toEqual(
      forbidden(
        { kind: 'namespaces', name: 'team' },
        'user "owner" cannot use namespacetemplates "silver", which selects this namespace',
      ),
    )
  })

  test('leaves while it is opted out, to lose the objects when it is opted in again', async () => {
    await admin.patch(core('namespaces'), team, { metadata: { annotations: optOut } })
    const owner = plane.clientAs('owner')
    const metadata = { labels: { tier: null }, annotations: { 'policy/namespace-template-opt-out': null } }
    for (const part of [{ labels: metadata.labels }, metadata]) {
      expect(await refusal(owner.patch(core('namespaces'), team, { metadata: part }))).toEqual(refused)
    }
    await admin.patch(core('namespaces'), team, { metadata: { annotations: metadata.annotations } })
  })

  test('leaves by opting out', async () => {
    const asked = plane.clientAs('owner').patch(core('namespaces'), team, { metadata: { annotations: optOut } })
    expect(await refusal(asked)).toEqual(
      forbidden(
        { kind: 'namespaces', name: 'team' },
        'user "owner" cannot opt a namespace out of its templates: annotation ' +
          'policy/namespace-template-opt-out needs the verb "optout" on namespacetemplates',
      ),
    )
  })

  test('leaves while the template is disabled', async () => {
    await admin.patch(templates, { name: 'gold' }, { metadata: { annotations: { [applied]: 'disable' } } })
    const leave = plane.clientAs('owner').patch(core('namespaces'), team, { metadata: { labels: { tier: null } } })
    expect(await refusal(leave)).toEqual(refused)
    await admin.patch(templates, { name: 'gold' }, { metadata: { annotations: { [applied]: null } } })
  })

  test('other labels are theirs to change, and holders of `use` may leave', async () => {
    await plane.clientAs('owner').patch(core('namespaces'), team, { metadata: { labels: { note: 'x' } } })
    await plane.clientAs('trusted').patch(core('namespaces'), team, { metadata: { labels: { tier: null } } })
    await waitFor(admin, core('resourcequotas'), quota, isGone)
  })
})

test('attack: a creator has the server make up a name that a guarded template selects', async () => {
  await admin.create(templates, {
    metadata: { name: 'by-name', annotations: { [requirePermission]: 'true' } },
    spec: { namespaces: { nameSelector: { include: ['vip-*'] } }, templates: [boss('vip')] },
  })
  const made = plane.clientAs('creator').create(core('namespaces'), { metadata: { generateName: 'vip-' } })
  expect(await refusal(made)).toMatchObject({
    code: 403,
    message: expect.stringMatching(
      /^namespaces "vip-[a-z0-9]{5}" is forbidden: user "creator" cannot use namespacetemplates "by-name"/,
    ),
  })
  expect((await admin.list(roleBindingsResource)).items.filter(({ metadata }) => metadata.name === 'vip')).toEqual([])
})

test('attack: a creator has the server make up a name, to be in the namespace before its policies are', async () => {
  await admin.create(templates, {
    metadata: { name: 'made-up' },
    spec: {
      namespaces: { nameSelector: { include: ['made-*'], exclude: ['kube-*'] } },
      templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'policy' } }],
    },
  })
  const make = async (generateName: string): Promise<KubeObject> =>
    plane.clientAs('creator').create(core('namespaces'), { metadata: { generateName } })
  const { metadata, status } = await make('made-')
  expect(status).toMatchObject({ phase: 'Active' })
  expect(await admin.get(core('configmaps'), { namespace: metadata.name ?? '', name: 'policy' })).toBeDefined()
  // What no template is for does not wait.
  expect((await make('other-'))['status']).toMatchObject({ phase: 'Active' })
})
