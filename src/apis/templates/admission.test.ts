/** What admission asks of who writes a namespace, by the templates that select it; and what it sets by itself. */
import { describe, expect, test } from 'vitest'
import { thrown } from '../../../test/support/refusal.ts'
import type { Attributes } from '../../admission/admission.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { requiredType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { isTemplateType, namespaceTemplates, type TemplateAdmissionDeps } from './admission.ts'
import { compileMatcher } from './match.ts'
import type { NamespaceTemplate } from './types.ts'

type Texts = Record<string, string>
type Spec = NonNullable<NamespaceTemplate['spec']>
const { types } = loadCatalog()
const type = requiredType(types, { group: '', version: 'v1', resource: 'namespaces' })
const templateType = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const creatorKey = 'authorization.k8s.io/creator'
const optOut = 'policy/namespace-template-opt-out'
const pending = 'policy/namespace-template-pending'
const guard = { 'policy/namespace-template-require-permission': 'true' }
const holders = 'policy.borough.dev/set-by-templates'
const versions = 'policy.borough.dev/settles'

const configMap = (name: string, data?: Texts) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
  ...(data && { data }),
})
const template = (name: string, spec: Spec = {}, annotations: Texts = {}): NamespaceTemplate => ({
  metadata: { name, generation: 1, annotations },
  spec,
})
const team = (name: string): Spec => ({ namespaces: { labelSelector: { matchLabels: { team: name } } } })
const namespace = (labels?: Texts, annotations?: Texts): KubeObject => ({
  metadata: { name: 'n', ...(labels && { labels }), ...(annotations && { annotations }) },
})

interface Given {
  readonly templates?: readonly NamespaceTemplate[]
  readonly object?: KubeObject
  readonly old?: KubeObject
  readonly subresource?: string
  readonly dryRun?: boolean
  /** `use t` */
  readonly rights?: readonly string[]
  readonly deps?: Partial<TemplateAdmissionDeps>
}
function pluginFor({ templates = [], rights = [], deps = {} }: Given) {
  const authorizer = {
    authorize: ({ verb, name, group }: { verb: string; name: string; group: string }) => ({
      allowed: group === 'policy.borough.dev' && rights.includes(`${verb} ${name}`.trim()),
      reason: '',
    }),
  }
  return namespaceTemplates({
    ...{ authorizer, hasLabelGate: true, setsMetadata: true, optsOutAutomatically: () => false },
    ...{ matchers: () => templates.map(compileMatcher), findKind: () => undefined, findClusterRole: () => undefined },
    ...deps,
  } as unknown as TemplateAdmissionDeps)
}
function attributesOf({ object = namespace(), old, subresource = '', dryRun = false }: Given, warnings: string[] = []) {
  return {
    ...{ operation: old === undefined ? 'CREATE' : 'UPDATE', type, subresource, name: 'n', namespace: 'n' },
    ...{ object, oldObject: old, user: { username: 'alice', groups: [] }, dryRun, options: {} },
    warn: (text: string) => warnings.push(text),
  } as unknown as Attributes
}
/** The refusal, or nothing; and what was warned. */
function judged(given: Given): { refusal?: string; warnings: string[] } {
  const warnings: string[] = []
  const judge = (): unknown => pluginFor(given).validate?.(attributesOf(given, warnings))
  try {
    judge()
    return { warnings }
  } catch {
    return { refusal: thrown(judge).message ?? '', warnings }
  }
}
const refusal = (given: Given): string | undefined => judged(given).refusal
const cannotUse = (name: string, relation: string): string =>
  `namespaces "n" is forbidden: user "alice" cannot use namespacetemplates "${name}", which ${relation} this namespace`
const cannotOptOut =
  'namespaces "n" is forbidden: user "alice" cannot opt a namespace out of its templates: annotation ' +
  `${optOut} needs the verb "optout" on namespacetemplates`

describe('it looks at', () => {
  const handles = (operation: string, of: object, subresource = ''): unknown =>
    pluginFor({}).handles(operation as never, of as never, subresource)
  test.each([
    { name: 'a namespace that is created', operation: 'CREATE', of: type, is: true },
    { name: 'one that changes, by its status too', operation: 'UPDATE', of: type, subresource: 'status', is: true },
    { name: 'a template', operation: 'UPDATE', of: templateType, is: true },
    { name: 'a template in its other group', operation: 'CREATE', of: { ...templateType, group: 'policy' }, is: true },
    { name: 'not its status', operation: 'UPDATE', of: templateType, subresource: 'status', is: false },
    { name: 'not what is deleted', operation: 'DELETE', of: type, is: false },
    { name: 'not other kinds', operation: 'CREATE', of: { ...type, resource: 'nodes' }, is: false },
    { name: 'not namespaces of another group', operation: 'CREATE', of: { ...type, group: 'ex.io' }, is: false },
    { name: 'not templates of another group', operation: 'CREATE', of: { ...templateType, group: 'ex.io' }, is: false },
  ])('$name', ({ operation, of, subresource, is }) => expect(handles(operation, of, subresource)).toBe(is))

  test('templates by resource and group', () => {
    expect(isTemplateType(templateType)).toBe(true)
    expect(isTemplateType({ ...templateType, resource: 'templates' })).toBe(false)
  })
})

describe('who creates a namespace', () => {
  const guarded = template('t', team('a'), guard)
  test.each<{ name: string; given: Given; refused?: string }>([
    { name: 'needs nothing without templates', given: {} },
    { name: 'needs nothing for one that asks for nothing', given: { templates: [template('t')] } },
    {
      name: 'needs use of one that asks for it',
      given: { templates: [guarded], object: namespace({ team: 'a' }) },
      refused: cannotUse('t', 'selects'),
    },
    { name: 'may with it', given: { templates: [guarded], object: namespace({ team: 'a' }), rights: ['use t'] } },
    {
      name: 'may not with that of another',
      given: { templates: [guarded], object: namespace({ team: 'a' }), rights: ['use u'] },
      refused: cannotUse('t', 'selects'),
    },
    {
      name: 'needs none of what does not select it',
      given: { templates: [guarded], object: namespace({ team: 'b' }) },
    },
    {
      name: 'needs optout for opting out, whatever the annotation says',
      given: { object: namespace({}, { [optOut]: 'false' }) },
      refused: cannotOptOut,
    },
    { name: 'may opt out with it', given: { object: namespace({}, { [optOut]: 'true' }), rights: ['optout'] } },
    {
      name: 'may where its namespaces opt out by themselves',
      given: {
        object: namespace({}, { [optOut]: 'true' }),
        deps: { optsOutAutomatically: (user) => user === 'alice' },
      },
    },
    {
      name: 'gives what a parameter asks for',
      given: { templates: [template('t', { parameters: [{ name: 'p', fromLabel: 'p', required: true }] })] },
      refused:
        'Namespace "n" is invalid: metadata.labels[p]: Required value: parameter "p" of template "t" is required: it ' +
        'must be any text in one line',
    },
    {
      name: 'can not be given what this version does not understand',
      given: { templates: [template('t', {}, { 'policy.borough.dev/feature-level': '7' })] },
      refused:
        'Namespace "n" is invalid: metadata: Forbidden: template "t" selects it, which needs feature level 7 ' +
        '(annotation policy.borough.dev/feature-level), and this is 1',
    },
    {
      name: 'needs a right to name another owner',
      given: { object: namespace({}, { 'borough.dev/owner': 'bob' }) },
      refused:
        'namespaces "n" is forbidden: user "alice" cannot make "bob" the owner of a namespace: annotation ' +
        'borough.dev/owner needs the verb "assign-owner" on namespaces',
    },
    {
      name: 'leaves the labels of templates as they are',
      given: { templates: [template('t', { namespaceMetadata: { labels: { a: '1' } } })] },
      refused:
        'namespaces "n" is forbidden: label a is not as it must be: template "t" sets it to "1". A namespace with ' +
        'such a template is created by metadata.name, and webhooks leave it as it is',
    },
    {
      name: 'is not asked for that where another process sets them',
      given: {
        templates: [template('t', { namespaceMetadata: { labels: { a: '1' } } })],
        deps: { setsMetadata: false },
      },
    },
  ])('$name', ({ given, refused }) => expect(refusal(given)).toBe(refused))

  test('is told of a word that opts nothing out', () => {
    const given = { object: namespace({}, { [optOut]: 'True' }), rights: ['optout'] }
    const told = [`annotation ${optOut} is "True", which does nothing: only "true" does`]
    expect(judged(given)).toEqual({ refusal: undefined, warnings: told })
    expect(judged({ ...given, old: namespace() }).warnings).toEqual(told)
    expect(judged({ ...given, rights: [] }).warnings).toEqual([])
    expect(judged({ ...given, object: namespace({}, { [optOut]: 'true' }) }).warnings).toEqual([])
  })

  test('is told of an annotation that nothing reads', () => {
    const told = [
      'annotation borough.dev/tll does nothing: those that do are borough.dev/owner, borough.dev/ttl, ' +
        'borough.dev/expires-at, borough.dev/deletion-protection, policy/namespace-template-opt-out',
    ]
    expect(judged({ object: namespace({}, { 'borough.dev/tll': '24h' }) }).warnings).toEqual(told)
    const kept = ['borough.dev/expiry-template', 'borough.dev/given-initializers', 'policy.borough.dev/asks-webhooks']
    for (const key of kept) expect(judged({ object: namespace({}, { [key]: 'x' }) }).warnings).toEqual([])
  })

  test('is told in a dry run what it would hold, twenty objects at most', () => {
    const many = Array.from({ length: 22 }, (_, i) => configMap(`c${i}`))
    const { warnings } = judged({ templates: [template('t', { templates: many })], dryRun: true })
    expect(warnings).toEqual(many.slice(0, 20).map(({ metadata: { name } }) => `would create ConfigMap/${name}`))
    expect(judged({ templates: [template('t', { templates: many })] }).warnings).toEqual([])
  })
})

describe('who changes a namespace', () => {
  const guarded = template('t', team('a'), guard)
  const [inside, outside] = [namespace({ team: 'a' }), namespace({ team: 'b' })]
  const byParameter = template(
    't',
    { parameters: [{ name: 'p', fromAnnotation: 'p' }], templates: [configMap('c', { a: '$(p)' })] },
    guard,
  )
  test.each<{ name: string; given: Given; refused?: string }>([
    {
      name: 'needs use to join',
      given: { templates: [guarded], object: inside, old: outside },
      refused: cannotUse('t', 'selects'),
    },
    { name: 'may join with it', given: { templates: [guarded], object: inside, old: outside, rights: ['use t'] } },
    {
      name: 'needs use to leave',
      given: { templates: [guarded], object: outside, old: inside },
      refused: cannotUse('t', 'would no longer select'),
    },
    {
      name: 'by way of its status too',
      given: { templates: [guarded], object: outside, old: inside, subresource: 'status' },
      refused: cannotUse('t', 'would no longer select'),
    },
    { name: 'needs nothing to stay', given: { templates: [guarded], object: inside, old: inside } },
    {
      name: 'needs nothing for another label',
      given: { templates: [guarded], object: namespace({ team: 'a', x: 'y' }), old: inside },
    },
    {
      name: 'needs use for another value that makes other objects',
      given: { templates: [byParameter], object: namespace({}, { p: '2' }), old: namespace({}, { p: '1' }) },
      refused: cannotUse('t', 'would give something else to'),
    },
    {
      name: 'and for the first annotation of all',
      given: { templates: [byParameter], object: namespace({}, { p: '2' }), old: namespace() },
      refused: cannotUse('t', 'would give something else to'),
    },
    {
      name: 'needs nothing for an annotation that changes nothing there',
      given: { templates: [byParameter], object: namespace({}, { x: '2' }), old: namespace({}, { x: '1' }) },
    },
    {
      name: 'needs nothing where the template asks for nothing',
      given: {
        templates: [{ ...byParameter, metadata: { name: 't' } }],
        object: namespace({}, { p: '2' }),
        old: namespace({}, { p: '1' }),
      },
    },
    {
      name: 'needs optout to opt out',
      given: { object: namespace({}, { [optOut]: 'true' }), old: namespace() },
      refused: cannotOptOut,
    },
    {
      name: 'needs it once',
      given: { object: namespace({ x: 'y' }, { [optOut]: 'true' }), old: namespace({}, { [optOut]: 'true' }) },
    },
    { name: 'needs nothing to opt in again', given: { object: namespace(), old: namespace({}, { [optOut]: 'true' }) } },
    {
      name: 'needs use to opt in to one that asks for it',
      given: { templates: [guarded], object: inside, old: namespace({ team: 'a' }, { [optOut]: 'true' }) },
      refused: cannotUse('t', 'selects'),
    },
    {
      name: 'gives what the parameters of a template that it joins ask for',
      given: {
        templates: [template('t', { ...team('a'), parameters: [{ name: 'p', fromLabel: 'p', required: true }] })],
        object: inside,
        old: outside,
      },
      refused:
        'Namespace "n" is invalid: metadata.labels[p]: Required value: parameter "p" of template "t" is required: it ' +
        'must be any text in one line',
    },
    {
      name: 'is not asked for what was missing before',
      given: {
        templates: [template('t', { ...team('a'), parameters: [{ name: 'p', fromLabel: 'p', required: true }] })],
        object: namespace({ team: 'a', x: 'y' }),
        old: inside,
      },
    },
    {
      name: 'may not take away what templates set',
      given: {
        templates: [template('t', { namespaceMetadata: { labels: { a: '1' } } })],
        object: namespace({}),
        old: namespace({ a: '1' }),
      },
      refused: 'namespaces "n" is forbidden: label a: template "t" sets it to "1"; user "alice" cannot take it away',
    },
  ])('$name', ({ given, refused }) => expect(refusal(given)).toBe(refused))

  test('is told in a dry run what would come and go, and nothing of what stays', () => {
    const templates = [
      template('a', { ...team('a'), templates: [configMap('old'), configMap('both')] }),
      template('b', { ...team('b'), templates: [configMap('new'), configMap('both')] }),
      template('c', { ...team('a'), templates: [configMap('left')], deletionPolicy: 'Orphan' }),
    ]
    const told = (object: KubeObject) => judged({ templates, object, old: inside, dryRun: true }).warnings
    expect(told(outside)).toEqual(['would create ConfigMap/new', 'would prune ConfigMap/old'])
    expect(judged({ templates, object: outside, old: inside }).warnings).toEqual([])
    const leaving = { object: namespace({ team: 'a' }, { [optOut]: 'true' }), old: inside, rights: ['optout'] }
    expect(judged({ templates, ...leaving, dryRun: true }).warnings).toEqual([])
  })
})

describe('it sets', () => {
  const mutated = (given: Given, warnings: string[] = []) =>
    pluginFor(given).mutate?.(attributesOf(given, warnings) as never, undefined as never)
  const metadataOf = async (given: Given) => ((await mutated(given)) as unknown as KubeObject | undefined)?.metadata

  test('who created the namespace, whatever the client says', async () => {
    const marked = { name: 'n', labels: { [creatorKey]: 'alice' }, annotations: { [creatorKey]: 'alice' } }
    expect(await metadataOf({})).toEqual(marked)
    expect(await metadataOf({ object: namespace({ [creatorKey]: 'eve' }, { [creatorKey]: 'eve' }) })).toEqual(marked)
  })

  test('the creator and the owner again, where a change leaves them out or says otherwise', async () => {
    const old = namespace({ [creatorKey]: 'bob' }, { [creatorKey]: 'bob', 'borough.dev/owner': 'zoe' })
    expect(await metadataOf({ object: namespace({ [creatorKey]: 'eve' }), old })).toEqual(old.metadata)
    expect(
      await metadataOf({ object: namespace({ [creatorKey]: 'eve' }, { [creatorKey]: 'eve' }), old: namespace() }),
    ).toEqual({
      ...{ name: 'n', labels: {}, annotations: {} },
    })
  })

  test('that a namespace opts out, for those whose namespaces do', async () => {
    const deps = { optsOutAutomatically: (user: string) => user === 'alice' }
    expect((await metadataOf({ deps }))?.annotations).toEqual({ [creatorKey]: 'alice', [optOut]: 'true' })
    expect((await metadataOf({ deps, object: namespace(), old: namespace() }))?.annotations).toBeUndefined()
  })

  test('no label by which namespaces wait elsewhere', async () => {
    const object = namespace({ [pending]: 'x', a: 'b' })
    expect((await metadataOf({ object }))?.labels).toMatchObject({ [pending]: 'x' })
    expect((await metadataOf({ object, deps: { hasLabelGate: false } }))?.labels).toEqual({
      a: 'b',
      [creatorKey]: 'alice',
    })
    expect((await metadataOf({ deps: { hasLabelGate: false } }))?.labels).toEqual({ [creatorKey]: 'alice' })
  })

  const sets = template('t', { namespaceMetadata: { labels: { a: '1' } } })
  const record = JSON.stringify({ labels: { a: 't' }, annotations: {} })

  test('what templates say of labels, and who said it', async () => {
    const warnings: string[] = []
    const given = { templates: [sets], object: namespace({ a: '2' }) }
    const { metadata } = (await mutated(given, warnings)) as unknown as KubeObject
    expect(metadata.labels?.['a']).toBe('1')
    expect(metadata.annotations?.[holders]).toBe(record)
    expect(warnings).toEqual(['label a is not "2" here: template "t" sets it to "1"'])
    expect((await metadataOf({ ...given, deps: { setsMetadata: false } }))?.labels?.['a']).toBe('2')
    expect((await metadataOf({ templates: [sets] }))?.labels?.['a']).toBe('1')
  })

  test('that of a template that a change brings it to', async () => {
    const joined = template('t', { ...team('a'), namespaceMetadata: { labels: { a: '1' } } })
    const metadata = await metadataOf({
      templates: [joined],
      object: namespace({ team: 'a' }),
      old: namespace({ team: 'b' }),
    })
    expect(metadata).toMatchObject({ labels: { team: 'a', a: '1' }, annotations: { [holders]: record } })
  })

  test('no record that a client wrote, nor what a write is made of', async () => {
    expect((await metadataOf({ object: namespace({}, { [holders]: record }) }))?.annotations).toEqual({
      [creatorKey]: 'alice',
    })
    expect((await metadataOf({ object: namespace({}, { [versions]: '{}' }) }))?.annotations).toEqual({
      [creatorKey]: 'alice',
    })
    const old = namespace({ a: '1' }, { [holders]: record })
    expect((await metadataOf({ templates: [], object: namespace({ a: '1' }), old }))?.annotations ?? {}).toEqual({})
  })

  test('a finalizer on a new template, once', async () => {
    const finalizer = 'policy.borough.dev/prune'
    const made = async (finalizers: string[] | undefined, operation = 'CREATE') => {
      const object = { metadata: { name: 't', ...(finalizers && { finalizers }) } }
      const a = { ...attributesOf({}), operation, type: templateType, object }
      return ((await pluginFor({}).mutate?.(a as never, undefined as never)) as unknown as KubeObject | undefined)
        ?.metadata.finalizers
    }
    expect(await made(undefined)).toEqual([finalizer])
    expect(await made(['a/b'])).toEqual(['a/b', finalizer])
    expect(await made([finalizer])).toBeUndefined()
    expect(await made(undefined, 'UPDATE')).toBeUndefined()
  })

  test('nothing on other kinds', async () => {
    const a = { ...attributesOf({}), type: { ...type, group: 'ex.io' } }
    expect(await pluginFor({}).mutate?.(a as never, undefined as never)).toBeUndefined()
  })
})
