/**
 * What the webhooks of `borough populate` decide, asked as an API server asks them, on a cluster that knows nothing of
 * templates but their CRD. Rights are those of its RBAC, asked by access reviews.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdmissionRequest, AdmissionVerdict } from '../../src/apis/templates/admission-review.ts'
import { templateKind, templateKinds } from '../../src/apis/templates/kind.ts'
import { type TemplateWebhook, templateWebhook } from '../../src/apis/templates/webhook.ts'
import { systemClock } from '../../src/base/clock.ts'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import { applyJsonPatch, parseJsonPatch } from '../../src/kube/patch/json-patch.ts'
import { type PolicyRule } from '../../src/kube/rbac.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../src/kube/types.ts'
import type { UserInfo } from '../../src/kube/user.ts'
import { heldRules } from '../../src/populate/held-rules.ts'
import { installDefinition } from '../../src/populate/install.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { badRequest, failure, invalidObject, refusal } from '../support/refusal.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const never = new AbortController().signal
const creator = 'authorization.k8s.io/creator'
const pending = 'policy/namespace-template-pending'
const optOut = 'policy/namespace-template-opt-out'

const templateMeta = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate' } as const

let plane: OtherCluster
let webhook: TemplateWebhook

const user = (username: string, ...groups: string[]): UserInfo => ({
  username,
  groups: [...groups, 'system:authenticated'],
})
const admin = user('kubernetes-admin', 'system:masters')

async function may(username: string, ...rules: PolicyRule[]): Promise<void> {
  const metadata = { name: `test-${username}` }
  const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
  await plane.client.create(rbac('clusterroles'), { metadata, rules })
  await plane.client.create(rbac('clusterrolebindings'), {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
  })
}

const rule = (verbs: string, group: string, resources: string, ...resourceNames: string[]): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(resourceNames.length > 0 ? { resourceNames } : {}),
})

beforeAll(async () => {
  plane = await startOtherCluster()
  await installDefinition(plane.client, systemClock, never)
  const catalog = loadCatalog()
  const namespaceType = catalog.types.find(namespaceResource)
  const declared = templateKinds.find((k) => k.kind === templateKind && k.group === templateResource.group)
  if (namespaceType === undefined || declared === undefined) throw new Error('no types')
  webhook = templateWebhook({
    client: plane.client,
    clock: systemClock,
    namespaceType,
    templateType: catalog.declare(declared),
    rulesOf: (who) => heldRules(plane.client, systemClock, who),
  })
  const template = (name: string, spec: JsonObject, annotations: Record<string, string> = {}): Promise<KubeObject> =>
    plane.client.create(templateResource, { ...templateMeta, metadata: { name, annotations }, spec })
  await template('of-teams', { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [configMap('motd')] })
  await template(
    'privileged',
    { namespaces: { labelSelector: { matchLabels: { class: 'privileged' } } }, templates: [configMap('power')] },
    { 'policy/namespace-template-require-permission': 'true' },
  )
  await may('trusted', rule('use', 'policy', 'namespacetemplates', 'privileged'))
  await may('operator', rule('optout', 'policy.borough.dev', 'namespacetemplates'))
  await may('initializer', rule('initialize', '', 'namespaces'))
  await may('author', rule('create patch delete', '', 'configmaps'))
  await may('granter', rule('create patch delete', 'rbac.authorization.k8s.io', 'roles'), rule('get', '', 'pods'))
  const metadata = { namespace: 'kube-system', name: 'borough-population' }
  await plane.client.create(configMapResource, { metadata, data: { optOutAccounts: 'ci/*\nrobot' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const resourceOf = { Namespace: namespaceResource, NamespaceTemplate: templateResource } as const

function asked(
  by: UserInfo,
  object: KubeObject & { kind: keyof typeof resourceOf },
  oldObject?: KubeObject,
  dryRun = false,
): AdmissionRequest {
  const name = object.metadata.name ?? ''
  return {
    uid: 'u',
    resource: resourceOf[object.kind],
    name,
    namespace: object.kind === 'Namespace' ? name : '',
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    userInfo: by,
    object,
    ...(oldObject === undefined ? {} : { oldObject }),
    dryRun,
  }
}

const namespace = (name: string, more: KubeObject['metadata'] = {}): KubeObject & { kind: 'Namespace' } => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: name === '' ? { generateName: 'x-', ...more } : { name, ...more },
})

/** The metadata as it would be stored. */
function stored(request: AdmissionRequest, { refusal, patch = [] }: AdmissionVerdict): KubeObject['metadata'] {
  if (refusal !== undefined) throw new Error(`refused: ${refusal.message}`)
  const operations = parseJsonPatch(JSON.parse(JSON.stringify(patch)))
  return (applyJsonPatch(request.object as unknown as JsonValue, operations) as unknown as KubeObject).metadata
}

describe('a namespace that is created', () => {
  const cases: { name: string; by: UserInfo; given: KubeObject & { kind: 'Namespace' }; want: object }[] = [
    {
      name: 'records its creator, and waits if templates are for it',
      by: user('dev1'),
      given: namespace('team-a'),
      want: { labels: { [creator]: 'dev1', [pending]: 'true' }, annotations: { [creator]: 'dev1' } },
    },
    {
      name: 'does not wait if no template is for it',
      by: user('dev1'),
      given: namespace('other'),
      want: { labels: { [creator]: 'dev1' }, annotations: { [creator]: 'dev1' } },
    },
    {
      name: 'can not name another creator, nor shut its own gate',
      by: user('dev1'),
      given: namespace('other', {
        labels: { [creator]: 'root', [pending]: 'true' },
        annotations: { [creator]: 'root' },
      }),
      want: { labels: { [creator]: 'dev1' }, annotations: { [creator]: 'dev1' } },
    },
    {
      name: 'has its creator in the annotation alone, where the name makes no label',
      by: user('system:serviceaccount:a:b'),
      given: namespace('other'),
      want: { annotations: { [creator]: 'system:serviceaccount:a:b' } },
    },
    {
      name: 'waits while it has no name: which templates are for it is not known',
      by: user('dev1'),
      given: namespace(''),
      want: { labels: { [creator]: 'dev1', [pending]: 'true' } },
    },
    {
      name: 'opts out by itself when its account is listed',
      by: user('system:serviceaccount:ci:builder'),
      given: namespace('team-b'),
      want: { annotations: { [optOut]: 'true' } },
    },
    {
      name: 'may opt out with the verb, in either group',
      by: user('operator'),
      given: namespace('team-c', { annotations: { [optOut]: 'true' } }),
      want: { labels: { [creator]: 'operator' }, annotations: { [optOut]: 'true' } },
    },
    {
      name: 'may be for a guarded template with the verb, in either group',
      by: user('trusted'),
      given: namespace('power', { labels: { class: 'privileged' } }),
      want: { labels: { class: 'privileged', [creator]: 'trusted', [pending]: 'true' } },
    },
  ]
  test.each(cases)('$name', async ({ by, given, want }) => {
    const request = asked(by, given)
    const metadata = stored(request, await webhook.admit(request, never))
    expect(metadata).toMatchObject(want)
    const labels = (want as KubeObject['metadata']).labels
    if (labels !== undefined) expect(metadata.labels).toEqual(labels)
    // What admission made of it passes its own check.
    expect(await webhook.check(asked(by, { ...given, metadata }), never)).toMatchObject({ patch: [] })
  })

  test.each([
    {
      name: 'a guarded template without `use`',
      given: namespace('power', { labels: { class: 'privileged' } }),
      want: failure({
        message:
          'namespaces "power" is forbidden: user "dev1" cannot use namespacetemplates "privileged", which ' +
          'selects this namespace',
        reason: 'Forbidden',
        details: { name: 'power', kind: 'namespaces' },
        code: 403,
      }),
    },
    {
      name: 'opting out without `optout`',
      given: namespace('team-x', { annotations: { [optOut]: 'true' } }),
      want: failure({
        message:
          'namespaces "team-x" is forbidden: user "dev1" cannot opt a namespace out of its templates: ' +
          'annotation policy/namespace-template-opt-out needs the verb "optout" on namespacetemplates',
        reason: 'Forbidden',
        details: { name: 'team-x', kind: 'namespaces' },
        code: 403,
      }),
    },
  ])('is refused for $name', async ({ given, want }) => {
    for (const answer of [webhook.admit, webhook.check]) {
      const { refusal } = await answer(asked(user('dev1'), given), never)
      expect(refusal).toEqual(want)
    }
  })

  test('is refused when another webhook put in another creator', async () => {
    const forged = namespace('other', { annotations: { [creator]: 'root' } })
    const { refusal } = await webhook.check(asked(user('dev1'), forged), never)
    expect(refusal).toEqual(
      failure({
        message:
          'namespaces "other" is forbidden: annotation authorization.k8s.io/creator says who created a ' +
          'namespace, and that is dev1',
        reason: 'Forbidden',
        details: { name: 'other', kind: 'namespaces' },
        code: 403,
      }),
    )
  })

  test('says in a dry run what it would be given, each thing once', async () => {
    const { warnings } = await webhook.admit(asked(user('dev1'), namespace('team-a'), undefined, true), never)
    expect(warnings).toEqual(['would create ConfigMap/motd'])
  })

  test('is for a template that was written a moment ago', async () => {
    const metadata = { name: 'late' }
    const spec = { namespaces: { nameSelector: { include: ['late-*'] } }, templates: [configMap('motd')] }
    await plane.client.create(templateResource, { ...templateMeta, metadata, spec })
    const request = asked(user('dev1'), namespace('late-1'))
    expect(stored(request, await webhook.admit(request, never)).labels?.[pending]).toBe('true')
  })
})

describe('a namespace that is changed', () => {
  const old = namespace('team-a', {
    labels: { [creator]: 'dev1', [pending]: 'true' },
    annotations: { [creator]: 'dev1' },
  })
  const changed = (metadata: KubeObject['metadata']): KubeObject & { kind: 'Namespace' } => ({
    ...old,
    metadata: { ...old.metadata, ...metadata },
  })

  test('keeps its creator', async () => {
    const request = asked(user('dev1'), changed({ annotations: { [creator]: 'root' } }), old)
    expect(stored(request, await webhook.admit(request, never)).annotations).toEqual({ [creator]: 'dev1' })
  })

  test.each([
    ['stays shut for its creator', user('dev1'), 'true'],
    ['is opened by who may initialize it', user('initializer'), undefined],
    ['is opened by an administrator', admin, undefined],
  ])('its gate %s', async (_name, by, want) => {
    const request = asked(by, changed({ labels: { [creator]: 'dev1' } }), old)
    expect(stored(request, await webhook.admit(request, never)).labels?.[pending]).toBe(want)
  })

  test('its gate is not shut again by somebody', async () => {
    const open = changed({ labels: { [creator]: 'dev1' } })
    const request = asked(user('dev1'), old, open)
    expect(stored(request, await webhook.admit(request, never)).labels?.[pending]).toBeUndefined()
  })

  test('needs `use` of guarded templates that newly match, of who changes it', async () => {
    const next = changed({ labels: { ...old.metadata.labels, class: 'privileged' } })
    expect((await webhook.admit(asked(user('dev1'), next, old), never)).refusal).toMatchObject({ code: 403 })
    expect((await webhook.admit(asked(user('trusted'), next, old), never)).refusal).toBeUndefined()
    // It matched before: nothing new is taken.
    expect((await webhook.admit(asked(user('dev1'), next, next), never)).refusal).toBeUndefined()
  })
})

test("what is neither a namespace nor a template is nobody's business here", async () => {
  const request = { ...asked(admin, namespace('team-a')), resource: { group: '', version: 'v1', resource: 'pods' } }
  expect(await refusal(webhook.admit(request, never))).toEqual(badRequest('pods is none of our business'))
})

describe('a template', () => {
  const template = (objects: JsonObject[], spec: JsonObject = {}): KubeObject & { kind: 'NamespaceTemplate' } => ({
    ...templateMeta,
    metadata: { name: 'new' },
    spec: { namespaces: { nameSelector: { include: ['new-*'] } }, templates: objects, ...spec },
  })
  const rbac = (kind: string, more: JsonObject): JsonObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name: 'r' },
    ...more,
  })

  test('gets the finalizer that prunes when it goes', async () => {
    const request = asked(admin, template([]))
    expect(stored(request, await webhook.admit(request, never)).finalizers).toEqual(['policy.borough.dev/prune'])
  })

  test('is accepted from who may write what it holds', async () => {
    expect((await webhook.check(asked(user('author'), template([configMap('a')])), never)).refusal).toBeUndefined()
    expect((await webhook.check(asked(admin, template([rbac('Role', { rules: [] })])), never)).refusal).toBeUndefined()
  })

  const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
  const cluster = (name: string): JsonObject => ({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [],
  })
  test.each([
    {
      name: 'a kind its author may not write everywhere',
      by: user('dev1'),
      given: template([configMap('a')]),
      want: failure({
        message:
          'namespacetemplates.policy.borough.dev "new" is forbidden: user "dev1" can\'t give through a ' +
          'template what they may not do themselves: spec.templates[0]: needs "create", "patch", "delete" on ' +
          'configmaps in all namespaces',
        reason: 'Forbidden',
        details: {
          name: 'new',
          group: 'policy.borough.dev',
          kind: 'namespacetemplates',
          causes: [
            {
              reason: 'FieldValueForbidden',
              message: 'needs "create", "patch", "delete" on configmaps in all namespaces',
              field: 'spec.templates[0]',
            },
          ],
        },
        code: 403,
      }),
    },
    {
      name: 'a role that its author does not hold',
      by: user('granter'),
      given: template([rbac('Role', { rules: everything })]),
      want: failure({
        message:
          'namespacetemplates.policy.borough.dev "new" is forbidden: user "granter" can\'t give through a ' +
          'template what they may not do themselves: spec.templates[0]: user "granter" ' +
          '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently ' +
          'held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
        reason: 'Forbidden',
        details: {
          name: 'new',
          group: 'policy.borough.dev',
          kind: 'namespacetemplates',
          causes: [
            {
              reason: 'FieldValueForbidden',
              message:
                'user "granter" (groups=["system:authenticated"]) is attempting to grant RBAC permissions ' +
                'not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
              field: 'spec.templates[0]',
            },
          ],
        },
        code: 403,
      }),
    },
    {
      name: 'a binding that its author may not make',
      by: user('granter'),
      given: template([rbac('RoleBinding', cluster('cluster-admin'))]),
      want: failure({
        message:
          'namespacetemplates.policy.borough.dev "new" is forbidden: user "granter" can\'t give through a ' +
          'template what they may not do themselves: spec.templates[0]: needs "create", "patch", "delete" on ' +
          'rolebindings in all namespaces; spec.templates[0]: user "granter" ' +
          '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently ' +
          'held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
        reason: 'Forbidden',
        details: {
          name: 'new',
          group: 'policy.borough.dev',
          kind: 'namespacetemplates',
          causes: [
            {
              reason: 'FieldValueForbidden',
              message: 'needs "create", "patch", "delete" on rolebindings in all namespaces',
              field: 'spec.templates[0]',
            },
            {
              reason: 'FieldValueForbidden',
              message:
                'user "granter" (groups=["system:authenticated"]) is attempting to grant RBAC permissions ' +
                'not currently held:\n{APIGroups:["*"], Resources:["*"], ' +
                'Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
              field: 'spec.templates[0]',
            },
          ],
        },
        code: 403,
      }),
    },
    {
      name: 'a kind that does not live in namespaces',
      by: admin,
      given: template([{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }]),
      want: invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'new' }, [
        'spec.templates[0].kind: Invalid value: "Node": does not live in namespaces',
      ]),
    },
    {
      name: 'a token in a key',
      by: admin,
      given: template([configMap('a', { '$(CREATOR)': 'x' })]),
      want: invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'new' }, [
        'spec.templates[0]: Invalid value: "$(CREATOR)": tokens are replaced in values, never in keys',
      ]),
    },
    {
      name: 'an object that another template gives to the same namespaces',
      by: admin,
      given: template([configMap('motd')], { namespaces: { nameSelector: { include: ['team-*'] } } }),
      want: invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'new' }, [
        'spec.templates[0]: Invalid value: "ConfigMap/motd": template "of-teams" gives it to the same namespaces',
      ]),
    },
  ])('is refused for $name', async ({ by, given, want }) => {
    const { refusal } = await webhook.check(asked(by, given), never)
    expect(refusal).toEqual(want)
  })

  test('may hold a role whose rules its author holds', async () => {
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
    expect(
      (await webhook.check(asked(user('granter'), template([rbac('Role', { rules })])), never)).refusal,
    ).toBeUndefined()
  })

  test('with a kind that nobody serves is accepted with a warning, said once', async () => {
    const given = template([{ apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } }])
    const { refusal, warnings } = await webhook.check(asked(admin, given), never)
    expect(refusal).toBeUndefined()
    expect(warnings).toHaveLength(1)
    expect(warnings?.[0]).toContain('no kind Widget in ex.io/v1 is served')
  })
})

describe('content of a namespace whose gate is shut', () => {
  const write = (by: UserInfo, more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
    uid: 'u',
    resource: configMapResource,
    name: 'a',
    namespace: 'team-a',
    operation: 'CREATE',
    userInfo: by,
    dryRun: false,
    ...more,
  })
  test('is refused to its creator for a moment', async () => {
    expect((await webhook.hold(write(user('dev1')), never)).refusal).toEqual(
      failure({
        message: 'namespace "team-a" waits for its templates to be applied; try again in a moment',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    )
  })

  test.each([
    ['who may initialize it', write(user('initializer'))],
    ['administrators', write(admin)],
    [
      'accounts of kube-system, which make what every namespace has',
      write(user('system:serviceaccount:kube-system:service-account-controller', 'system:serviceaccounts:kube-system')),
    ],
    ['nodes', write(user('system:node:n1', 'system:nodes'))],
    ['the controller manager of the cluster', write(user('system:kube-controller-manager'))],
    [
      'reviews, which store nothing',
      write(user('dev1'), {
        resource: { group: 'authorization.k8s.io', version: 'v1', resource: 'localsubjectaccessreviews' },
      }),
    ],
  ])('is not refused to %s', async (_name, request) => expect(await webhook.hold(request, never)).toEqual({}))
})
