/** What the webhooks of `borough populate` decide, and what they ask the cluster for it. */
import { describe, expect, test } from 'vitest'
import { forbidden as forbiddenOf } from '../../../test/support/refusal.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { Client } from '../../client/client.ts'
import { applyJsonPatch, parseJsonPatch } from '../../kube/patch/json-patch.ts'
import { requiredType } from '../../kube/resource-type.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { JsonValue, KubeObject, Status } from '../../kube/types.ts'
import type { AdmissionRequest, AdmissionVerdict } from './admission-review.ts'
import { templateKinds } from './kind.ts'
import type { NamespaceTemplate } from './types.ts'
import { templateWebhook } from './webhook.ts'

type Texts = Record<string, string>
const catalog = loadCatalog()
const namespaceType = requiredType(catalog.types, { group: '', version: 'v1', resource: 'namespaces' })
const [kind] = templateKinds
const templateType = catalog.declare(kind as NonNullable<typeof kind>)
const never = new AbortController().signal
const creator = 'authorization.k8s.io/creator'
const pending = 'policy/namespace-template-pending'
const shield = 'policy.borough.dev/protected-by'
const holders = 'policy.borough.dev/set-by-templates'
const guard = { 'policy/namespace-template-require-permission': 'true' }

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const template = (name: string, spec: object = {}, annotations: Texts = {}): NamespaceTemplate => ({
  metadata: { name, annotations, generation: 1 },
  spec,
})
const team = { namespaces: { labelSelector: { matchLabels: { team: 'a' } } } }
const namespace = (labels: Texts = {}, annotations: Texts = {}, name = 'n'): KubeObject => ({
  metadata: { ...(name === '' ? {} : { name }), labels, annotations },
})
const byAlice = (labels: Texts = {}, annotations: Texts = {}): KubeObject =>
  namespace({ [creator]: 'alice', ...labels }, { [creator]: 'alice', ...annotations })

interface Cluster {
  readonly templates?: readonly NamespaceTemplate[]
  /** `alice initialize n`, `self list configmaps` */
  readonly may?: readonly string[]
  /** Templates of one page of a list. */
  readonly page?: number
  readonly failing?: boolean
}

function started({ templates: all = [], may = [], page = 500, failing = false }: Cluster) {
  const asked: [path: string, spec: unknown][] = []
  const client = {
    async list(_: object, { limit, continue: from = '0' }: { limit: number; continue?: string }) {
      if (failing) throw new StatusError('it is down', { reason: 'InternalError' })
      expect(limit).toBe(500)
      const at = Number(from)
      const next = at + page < all.length ? String(at + page) : undefined
      return { items: all.slice(at, at + page), metadata: { ...(next && { continue: next }) } }
    },
    async get() {
      throw new StatusError('none', { reason: 'NotFound' })
    },
    async request(
      method: string,
      path: string,
      body: { spec: Record<string, object>; kind: string; apiVersion: string },
    ) {
      asked.push([`${method} ${path} ${body.kind} ${body.apiVersion}`, body.spec])
      const { user = 'self', resourceAttributes: what = {} } = body.spec as unknown as {
        user?: string
        resourceAttributes?: { verb?: string; name?: string; resource?: string }
      }
      const named = user === 'self' ? what.resource : what.name
      return { status: { allowed: may.includes(`${user} ${what.verb} ${named}`.trim()) } }
    },
    discovery: {
      async findKind(apiVersion: string, of: string) {
        if (apiVersion !== 'v1' || of !== 'ConfigMap') return undefined
        return { ...configMaps, kind: of, namespaced: true, verbs: ['list', 'watch', 'create', 'patch', 'delete'] }
      },
    },
  } as unknown as Client
  const webhook = templateWebhook({
    ...{ client, clock: new FakeClock(), namespaceType, templateType },
    rulesOf: async () => ({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [],
      incomplete: false,
    }),
  })
  return { webhook, asked }
}

const request = (more: Partial<AdmissionRequest>): AdmissionRequest => ({
  ...{ uid: 'u', resource: namespaces, name: 'n', namespace: 'n', operation: 'CREATE', dryRun: false },
  ...{ userInfo: { username: 'alice', groups: ['team'] } },
  ...more,
})
const reason = ({ refusal }: AdmissionVerdict): string | undefined => refusal?.message
const forbidden = (why: string): Status => forbiddenOf({ kind: 'namespaces', name: 'n' }, why)

describe('admit', () => {
  const admitted = async (object: KubeObject, cluster: Cluster = {}, more: Partial<AdmissionRequest> = {}) => {
    const verdict = await started(cluster).webhook.admit(request({ object, ...more }), never)
    const patch = parseJsonPatch((verdict.patch ?? []) as unknown as JsonValue)
    const next = applyJsonPatch(object as unknown as JsonValue, patch) as unknown as KubeObject
    return { verdict, next, labels: next.metadata.labels ?? {} }
  }

  test('records who created a namespace, and lets it be where no template is for it', async () => {
    const { next, verdict } = await admitted(namespace({ a: 'b', [pending]: 'true' }), {
      templates: [template('t', team)],
    })
    expect(next.metadata).toEqual({
      name: 'n',
      labels: { a: 'b', [creator]: 'alice' },
      annotations: { [creator]: 'alice' },
    })
    expect(verdict.warnings).toEqual([])
  })

  test('shuts the gate of one that templates select, and of one whose name is not known', async () => {
    const cluster = {
      templates: [template('s', { namespaces: { nameSelector: { include: ['x'] } } }), template('t', team)],
    }
    expect((await admitted(namespace({ team: 'a' }), cluster)).labels[pending]).toBe('true')
    expect((await admitted(namespace({}, {}, ''), {}, { name: '' })).labels[pending]).toBe('true')
    expect((await admitted(namespace(), cluster)).labels).not.toHaveProperty(pending)
  })

  test('looks at all templates, page by page', async () => {
    const all = [template('q'), template('r'), template('t', team)].map((one, i) =>
      i < 2 ? template(one.metadata.name ?? '', { namespaces: { nameSelector: { include: ['x'] } } }) : one,
    )
    expect((await admitted(namespace({ team: 'a' }), { templates: all, page: 1 })).labels[pending]).toBe('true')
  })

  test.each<{ name: string; given: Texts; before: Texts; may?: string[]; is: string | undefined }>([
    { name: 'stays shut', given: {}, before: { [pending]: 'true' }, is: 'true' },
    { name: 'stays open', given: { [pending]: 'true' }, before: {}, is: undefined },
    {
      name: 'is opened by who may initialize',
      given: {},
      before: { [pending]: 'true' },
      may: ['alice initialize n'],
      is: undefined,
    },
    {
      name: 'is not opened by who may initialize another',
      given: {},
      before: { [pending]: 'true' },
      may: ['alice initialize m'],
      is: 'true',
    },
  ])('a gate $name', async ({ given, before, may = [], is }) => {
    const { labels } = await admitted(namespace(given), { may }, { operation: 'UPDATE', oldObject: namespace(before) })
    expect(labels[pending]).toBe(is)
  })

  test('asks for use of a template that wants it, once the name is known', async () => {
    const cluster = { templates: [template('t', team, guard)] }
    const refused = forbidden('user "alice" cannot use namespacetemplates "t", which selects this namespace')
    expect((await admitted(namespace({ team: 'a' }), cluster)).verdict.refusal).toEqual(refused)
    expect(
      reason((await admitted(namespace({ team: 'a' }), { ...cluster, may: ['alice use t'] })).verdict),
    ).toBeUndefined()
    expect(reason((await admitted(namespace({ team: 'a' }, {}, ''), cluster, { name: '' })).verdict)).toBeUndefined()
    // A generated name is in the object, if not in the request.
    expect((await admitted(namespace({ team: 'a' }), cluster, { name: '' })).verdict.refusal).toEqual(refused)
  })

  test('gives a template its finalizer, and no gate', async () => {
    const object = { metadata: { name: 't' } }
    const { next } = await admitted(object, {}, { resource: templates, name: 't', namespace: '' })
    expect(next).toEqual({ metadata: { name: 't', finalizers: ['policy.borough.dev/prune'] } })
  })

  test('says nothing where there is no object', async () => {
    const { webhook, asked } = started({})
    expect(await webhook.admit(request({ operation: 'DELETE' }), never)).toEqual({})
    expect(await webhook.check(request({ operation: 'DELETE' }), never)).toEqual({})
    expect(asked).toEqual([])
  })

  test('takes a namespace without any label or annotation as one that has none', async () => {
    const bare = { metadata: { name: 'n' } }
    expect((await admitted(bare)).next.metadata).toEqual(byAlice().metadata)
    const cluster = { templates: [template('t', { namespaces: { nameSelector: { include: ['n'] } } })] }
    expect((await admitted(bare, cluster)).next.metadata.labels).toEqual({ [creator]: 'alice', [pending]: 'true' })
    const changed = await admitted(bare, {}, { operation: 'UPDATE', oldObject: bare })
    expect(changed.next).toEqual(bare)
    const shut = await admitted(bare, {}, { operation: 'UPDATE', oldObject: namespace({ [pending]: 'true' }) })
    expect(shut.next.metadata.labels).toEqual({ [pending]: 'true' })
  })

  test('fails where the cluster does, and where it is asked about something else', async () => {
    await expect(admitted(namespace(), { failing: true })).rejects.toThrow('no answer to: templates')
    await expect(admitted(namespace(), {}, { resource: configMaps })).rejects.toThrow(
      'configmaps is none of our business',
    )
    await expect(admitted(namespace(), {}, { resource: { ...namespaces, group: 'x' } })).rejects.toThrow('none of our')
  })
})

describe('check', () => {
  const checked = (object: KubeObject, cluster: Cluster = {}, more: Partial<AdmissionRequest> = {}) =>
    started(cluster).webhook.check(request({ object, ...more }), never)
  const says = (what: string, does: string, is: string): Status =>
    forbidden(`${what} says who ${does} a namespace, and that is ${is}`)

  test.each<{ name: string; object: KubeObject; old?: KubeObject; cluster?: Cluster; refused?: Status }>([
    { name: 'a namespace as it was admitted', object: byAlice() },
    { name: 'a change of one that says nothing of itself', object: { metadata: { name: 'n' } }, old: namespace() },
    {
      name: 'one that says nothing of itself',
      object: { metadata: { name: 'n' } },
      refused: says(`annotation ${creator}`, 'created', 'alice'),
    },
    {
      name: 'a change that takes all annotations and labels out',
      object: { metadata: { name: 'n' } },
      old: byAlice(),
      refused: says(`annotation ${creator}`, 'created', 'alice'),
    },
    {
      name: 'one of another creator',
      object: byAlice({}, { [creator]: 'eve' }),
      refused: says(`annotation ${creator}`, 'created', 'alice'),
    },
    {
      name: 'one with another creator in its label',
      object: byAlice({ [creator]: 'eve' }),
      refused: says(`label ${creator}`, 'created', 'alice'),
    },
    { name: 'one without a creator', object: namespace(), refused: says(`annotation ${creator}`, 'created', 'alice') },
    {
      name: 'a change that names a creator where none is known',
      object: namespace({}, { [creator]: 'eve' }),
      old: namespace(),
      refused: says(`annotation ${creator}`, 'created', 'not known'),
    },
    {
      name: 'a change that takes the owner out',
      object: byAlice(),
      old: byAlice({}, { 'borough.dev/owner': 'bob' }),
      refused: says('annotation borough.dev/owner', 'owns', 'bob'),
    },
    {
      name: 'a record of what templates set that none did',
      object: byAlice({}, { [holders]: '{}' }),
      refused: forbidden(`annotation ${holders} says what templates set, and that is nothing`),
    },
    {
      name: 'one that must wait, and does',
      object: byAlice({ team: 'a', [pending]: 'true' }),
      cluster: { templates: [template('t', team)] },
    },
    {
      name: 'one that must wait, and does not',
      object: byAlice({ team: 'a' }),
      cluster: { templates: [template('t', team)] },
      refused: forbidden(
        `label ${pending} is not as it must be: templates select this namespace, and it waits for them. ` +
          'A namespace with a template is created by metadata.name, and webhooks leave it as it is',
      ),
    },
    { name: 'one that waits and need not', object: byAlice({ [pending]: 'true' }) },
    {
      name: 'a gate that is opened without the right',
      object: byAlice(),
      old: byAlice({ [pending]: 'true' }),
      refused: forbidden(`label ${pending} is changed by holders of the verb "initialize" on the namespace alone`),
    },
    {
      name: 'a gate that is opened with it',
      object: byAlice(),
      old: byAlice({ [pending]: 'true' }),
      cluster: { may: ['alice initialize n'] },
    },
    {
      name: 'a template that asks for use',
      object: byAlice({ team: 'a', [pending]: 'true' }),
      cluster: { templates: [template('t', team, guard)] },
      refused: forbidden('user "alice" cannot use namespacetemplates "t", which selects this namespace'),
    },
  ])('$name', async ({ name: _, object, old, cluster = {}, refused }) => {
    const more = old === undefined ? {} : ({ operation: 'UPDATE', oldObject: old } as const)
    expect((await checked(object, cluster, more)).refusal).toEqual(refused)
  })

  test('warns of rights that the controller itself lacks for a template, once for a kind', async () => {
    const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    const object = template('t', { templates: [configMap('a'), configMap('b')] })
    const may = ['self list configmaps', 'self create configmaps', 'self delete configmaps']
    const { warnings } = await checked(
      { ...object, apiVersion: 'policy.borough.dev/v1alpha1' },
      { may },
      {
        ...{ resource: templates, name: 't', namespace: '' },
        oldObject: object,
        operation: 'UPDATE',
      },
    )
    expect(warnings).toEqual([
      'spec.templates[0]: the population controller may not watch, patch configmaps, so namespaces wait ' +
        'until it is given ' +
        'the rights that borough populate --print-manifests makes from this template',
    ])
  })
})

describe('hold', () => {
  const held = async (more: Partial<AdmissionRequest>, may: string[] = []) =>
    started({ may }).webhook.hold(request({ resource: configMaps, name: 'c', ...more }), never)
  const waits = 'namespace "n" waits for its templates to be applied; try again in a moment'

  test('keeps others out of a namespace whose gate is shut, for a moment', async () => {
    const { refusal } = await held({})
    expect(refusal).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: waits,
      details: { retryAfterSeconds: 1 },
    })
    expect(reason(await held({}, ['alice initialize m']))).toBe(waits)
  })

  test.each<{ name: string; more: Partial<AdmissionRequest>; may?: string[] }>([
    { name: 'who may initialize it', more: {}, may: ['alice initialize n'] },
    { name: 'what is deleted', more: { operation: 'DELETE' } },
    {
      name: 'reviews',
      more: { resource: { group: 'authorization.k8s.io', version: 'v1', resource: 'localsubjectaccessreviews' } },
    },
    {
      name: 'controllers of the cluster',
      more: { userInfo: { username: 'system:kube-controller-manager', groups: [] } },
    },
  ])('but not $name', async ({ more, may }) => expect(await held(more, may)).toEqual({}))

  test('asks with all that is known of the user', async () => {
    const { webhook, asked } = started({})
    const userInfo = { username: 'alice', groups: ['team'], uid: '7', extra: { scopes: ['s'] } }
    await webhook.hold(request({ resource: configMaps, userInfo }), never)
    expect(asked).toEqual([
      [
        'POST /apis/authorization.k8s.io/v1/subjectaccessreviews SubjectAccessReview authorization.k8s.io/v1',
        {
          ...{ user: 'alice', groups: ['team'], uid: '7', extra: { scopes: ['s'] } },
          resourceAttributes: {
            ...{ verb: 'initialize', group: '', version: 'v1', resource: 'namespaces', subresource: '' },
            ...{ namespace: 'n', name: 'n' },
          },
        },
      ],
    ])
  })
})

describe('protect', () => {
  const marked = (more: object = {}): KubeObject =>
    ({ kind: 'ConfigMap', metadata: { name: 'c', labels: { [shield]: 't' }, ...more } }) as KubeObject
  const bare: KubeObject = { kind: 'ConfigMap', metadata: { name: 'c' } } as KubeObject
  const judged = async (more: Partial<AdmissionRequest>, may: string[] = []) =>
    started({ may }).webhook.protect(request({ resource: configMaps, name: 'c', operation: 'UPDATE', ...more }), never)
  const refused = (verb: string): string =>
    `configmaps "c" is forbidden: user "alice" cannot ${verb} ConfigMap c in namespace "n": template "t" ` +
    `protects it; ` +
    'holders of the verb "bypass" on namespacetemplates "t" may'

  test.each<{ name: string; more: Partial<AdmissionRequest>; may?: string[]; is?: string }>([
    { name: 'an object of a template', more: { object: marked(), oldObject: marked() }, is: refused('update') },
    { name: 'one whose label is taken off', more: { object: bare, oldObject: marked() }, is: refused('update') },
    { name: 'one that is given the label', more: { object: marked(), oldObject: bare }, is: refused('update') },
    { name: 'one that is deleted', more: { operation: 'DELETE', oldObject: marked() }, is: refused('delete') },
    { name: 'not one without the label', more: { object: bare, oldObject: bare } },
    { name: 'not what there is nothing of', more: { operation: 'DELETE' } },
    { name: 'not from who holds bypass', more: { object: marked(), oldObject: marked() }, may: ['alice bypass t'] },
    {
      name: 'not from controllers',
      more: { object: marked(), oldObject: marked(), userInfo: { username: 'system:kube-x', groups: [] } },
    },
    { name: 'not its status', more: { object: marked(), oldObject: marked(), subResource: 'status' } },
    {
      name: 'its metadata by way of the status',
      more: { object: bare, oldObject: marked(), subResource: 'status' },
      is: refused('update'),
    },
    {
      name: 'not its last step',
      more: {
        object: marked({ deletionTimestamp: 'now', finalizers: [] }),
        oldObject: marked({ deletionTimestamp: 'now', finalizers: ['a/b'] }),
      },
    },
  ])('is refused: $name', async ({ more, may, is }) => expect(reason(await judged(more, may))).toBe(is))
})
