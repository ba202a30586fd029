import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { threadMs } from '../../../test/support/thread-time.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { resolveNameOnly } from './clones.ts'
import { glob } from './match.ts'
import { type Rendering, render as renderWith } from './render.ts'
import { creatorKey, type NamespaceTemplate, ownerKey } from './types.ts'

const template = (name: string, ...templates: JsonObject[]): NamespaceTemplate => ({
  metadata: { name },
  spec: { templates },
})
const configMap = (name: string, data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const team = (creator?: string): Namespace => ({
  metadata: { name: 'team', ...(creator === undefined ? {} : { annotations: { [creatorKey]: creator } }) },
})

const render = (templates: readonly NamespaceTemplate[], namespace: Namespace): Rendering =>
  renderWith(templates, namespace, resolveNameOnly)

describe('rendering', () => {
  test('objects that name the creator are skipped where nobody recorded it, the others are not', () => {
    const { objects, skipped } = render(
      [template('t', configMap('a', { who: '$(CREATOR)' }), configMap('b', {}))],
      team(),
    )
    expect(objects.map((o) => o.object.metadata.name)).toEqual(['b'])
    expect(skipped).toMatchObject([{ object: 'ConfigMap/a', reason: 'CreatorUnknown' }])
  })

  test('what is recorded of an object stays the same from version to version: an upgrade applies nothing again', () => {
    const spec: NamespaceTemplate['spec'] = {
      parameters: [{ name: 'size', fromLabel: 'size' }],
      templates: [
        configMap('plain', {}),
        configMap('by', { who: '$(CREATOR)' }),
        configMap('of', { who: '$(OWNER)', size: '$(size)' }),
        configMap('in-$(NAMESPACE)', {}),
      ],
      objects: [
        { template: configMap('strict', {}), drift: 'Strict' },
        { template: configMap('p', {}), protect: true },
      ],
    }
    const annotations = { [creatorKey]: 'portal', [ownerKey]: 'alice' }
    const metadata = { name: 'team', annotations, labels: { size: 'l' } }
    expect(render([{ metadata: { name: 't' }, spec }], { metadata }).objects.map(({ config }) => config)).toEqual([
      'JUPsIJ/PvyH0kymZ',
      '/ubIeWqdNaLsSUDN',
      'WLl/AjHembc8Xva+',
      'e+ADzuUQjqY7T/H4',
      'CJEtrmcSVY7ykIJ0',
      '6xSYxT4TlacD/A9j',
    ])
  })

  test('objects that name the owner take the creator where no other owner is named', () => {
    const source = template('t', configMap('a', { who: '$(OWNER)', by: '$(CREATOR)' }))
    const owned: Namespace = {
      metadata: { name: 'team', annotations: { [creatorKey]: 'portal', [ownerKey]: 'alice' } },
    }
    expect(render([source], team('dora')).objects[0]?.object['data']).toEqual({ who: 'dora', by: 'dora' })
    expect(render([source], owned).objects[0]?.object['data']).toEqual({ who: 'alice', by: 'portal' })
  })

  test('what was put together for one namespace serves those that give the same, and no others', () => {
    const about = (more: JsonObject): JsonObject =>
      configMap('about', { owner: '$(OWNER)', creator: '$(CREATOR)', size: '$(size)', ...more })
    const source: NamespaceTemplate = {
      metadata: { name: 't' },
      spec: {
        parameters: [{ name: 'size', fromLabel: 'size' }],
        templates: [about({}), { ...about({ name: '$(NAMESPACE)' }), metadata: { name: 'own' } }],
      },
    }
    const person = fc.constantFrom('alice', 'bob', '","owner","alice')
    const given = fc.record({ owner: person, creator: person, size: fc.constantFrom('', 's', 'l') })
    fc.assert(
      fc.property(fc.array(given, { minLength: 2, maxLength: 12 }), (all) => {
        const shared = new Map<string, unknown>()
        for (const [i, { owner, creator, size }] of all.entries()) {
          const metadata = { annotations: { [creatorKey]: creator, [ownerKey]: owner }, labels: { size } }
          const { objects } = render([source], { metadata: { name: `n-${i}`, ...metadata } })
          const [one, own] = objects
          expect(one?.object['data']).toEqual({ owner, creator, size })
          expect(own?.object['data']).toEqual({ owner, creator, size, name: `n-${i}` })
          expect(objects.map(({ object }) => object.metadata.namespace)).toEqual([`n-${i}`, `n-${i}`])
          const key = JSON.stringify([owner, creator, size])
          expect(one?.source).toBe(shared.get(key) ?? one?.source)
          shared.set(key, one?.source)
          expect(own?.source).toBeUndefined()
        }
        expect(new Set(shared.values()).size).toBe(shared.size)
      }),
    )
  })

  test('each member of an object is kept, by any name and at any depth, and only tokens in values are replaced', () => {
    const name = fc.constantFrom('__proto__', 'constructor', 'toString', 'valueOf', '$(OWNER)', 'a', '')
    const text = fc.constantFrom('"$(OWNER)"', '"$$(OWNER)"', '"__proto__"', '1', 'null', '[]')
    // As text: a literal with a member `__proto__` would be another object.
    const { any } = fc.letrec<{ any: string; object: string; list: string }>((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, text, tie('object'), tie('list')),
      object: fc
        .uniqueArray(fc.tuple(name, tie('any')), { selector: ([key]) => key, maxLength: 4 })
        .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
      list: fc.array(tie('any'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    }))
    const about = (json: string): JsonObject =>
      JSON.parse(`{"apiVersion":"example.com/v1","kind":"Any","metadata":{"name":"any"},"spec":${json}}`) as JsonObject
    fc.assert(
      fc.property(any, (json) => {
        const replaced = json.replaceAll('"$(OWNER)":', '"key":').replaceAll('"$(OWNER)"', '"alice"')
        const want = replaced.replaceAll('"key":', '"$(OWNER)":').replaceAll('"$$(OWNER)"', '"$(OWNER)"')
        const [one] = render([template('t', about(json))], team('alice')).objects
        expect(JSON.stringify(one?.object['spec'])).toBe(JSON.stringify(JSON.parse(want)))
        expect(Object.getPrototypeOf(one?.object)).toBe(Object.prototype)
      }),
      { numRuns: 500, examples: [['{"__proto__":{"a":"$(OWNER)"}}'], ['[{"__proto__":"$(OWNER)"}]']] },
    )
  })

  test('a copy is put together once for each content of its source', () => {
    const from = { namespace: 'platform', apiVersion: 'v1', kind: 'Secret', name: 'pull' }
    const source = { metadata: { name: 't' }, spec: { objects: [{ cloneFrom: from }] } } as NamespaceTemplate
    const contents = ['a', 'b'].map((of) => ({ content: { data: { of } }, digest: of }))
    const copies = [0, 0, 1].map((i) => renderWith([source], team(), () => contents[i] as never).objects[0])
    expect(copies.map((o) => o?.object['data'])).toEqual([{ of: 'a' }, { of: 'a' }, { of: 'b' }])
    expect(copies[1]?.source).toBe(copies[0]?.source)
    expect(copies[2]?.source).not.toBe(copies[0]?.source)
    expect(copies[2]?.config).not.toBe(copies[0]?.config)
  })

  test('what a token stands for is no variable of a container', () => {
    const spec = { containers: [{ name: 'c', args: ['$(OWNER)'], env: [{ name: 'A', value: '$(tag) $(PW) $$(x)' }] }] }
    const source: NamespaceTemplate = {
      metadata: { name: 't' },
      spec: {
        parameters: [{ name: 'tag', fromAnnotation: 'tag' }],
        templates: [
          { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec },
          configMap('about', { tag: '$(tag)' }),
        ],
      },
    }
    const annotations = { tag: '$(PW) for $5, $$(x)', [creatorKey]: '$(PW)' }
    const [about, pod] = render([source], { metadata: { name: 'team', annotations } })
      .objects.map(({ object }) => object)
      .sort((a, b) => (a.kind === 'ConfigMap' ? -1 : b.kind === 'ConfigMap' ? 1 : 0))
    // Kubernetes reads `$$` as `$`, and expands what is left.
    const env = [{ name: 'A', value: '$$(PW) for $$5, $$$$(x) $(PW) $$(x)' }]
    expect(pod?.['spec']).toEqual({ containers: [{ name: 'c', args: ['$$(PW)'], env }] })
    expect(about?.['data']).toEqual({ tag: '$(PW) for $5, $$(x)' })
  })

  test('another owner makes another config, of objects that name one and of no others', () => {
    const source = template('t', configMap('a', { who: '$(OWNER)' }), configMap('b', { who: '$(CREATOR)' }))
    const configsOf = (owner: string): (string | undefined)[] => {
      const annotations = { [creatorKey]: 'portal', [ownerKey]: owner }
      return render([source], { metadata: { name: 'team', annotations } }).objects.map((o) => o.config)
    }
    const [alices, ofPortal] = configsOf('alice')
    const [bobs, ofPortalToo] = configsOf('bob')
    expect(alices).not.toBe(bobs)
    expect(ofPortal).toBe(ofPortalToo)
  })

  test('an object that names an unknown owner is wanted all the same where its name does not', () => {
    const annotations = {}
    const objects = [configMap('a', { who: '$(OWNER)' }), configMap('of-$(OWNER)', {})]
    const { skipped } = render([template('t', ...objects)], { metadata: { name: 'team', annotations } })
    expect(skipped.map(({ reason, identity }) => ({ reason, identity }))).toEqual([
      { reason: 'OwnerUnknown', identity: '/ConfigMap/a' },
      { reason: 'OwnerUnknown', identity: undefined },
    ])
  })

  test('no token says of what kind an object is: its author was asked about the kind in the template', () => {
    const source = { ...configMap('a', {}), apiVersion: '$(NAMESPACE)/v1', kind: '$(CREATOR)' }
    const { objects } = render([template('t', source)], team('RoleBinding'))
    expect(objects.map(({ object }) => [object.apiVersion, object.kind])).toEqual([['$(NAMESPACE)/v1', '$(CREATOR)']])
  })

  test('of two versions of one object the first template keeps it', () => {
    const autoscaler = (version: string): JsonObject => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'x' },
    })
    const { objects, skipped } = render([template('a', autoscaler('v1')), template('b', autoscaler('v2'))], team())
    expect(objects.map((o) => o.template.metadata.name)).toEqual(['a'])
    expect(skipped).toMatchObject([
      { reason: 'Conflict', message: 'template "a" holds the same object and comes first' },
    ])
  })

  test('whatever the creator is called, the shape of an object stays as it is', () => {
    const shape = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(shape)
      if (typeof value !== 'object' || value === null) return typeof value
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, shape(v)]))
    }
    const source = configMap('x', {
      plain: '$(CREATOR)',
      twice: '$(CREATOR)$(CREATOR)',
      list: ['$(CREATOR)', 1, null],
      deep: { a: '-$(NAMESPACE)-' },
    })
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (creator) => {
        const [rendered] = render([template('t', source)], team(creator)).objects
        const data = rendered?.object['data'] as JsonObject
        expect(shape(data)).toEqual(shape(source['data'] ?? null))
        expect(data).toEqual({
          plain: creator,
          twice: creator + creator,
          list: [creator, 1, null],
          deep: { a: '-team-' },
        })
      }),
    )
  })
})

describe('a RoleBinding whose Role stands in its template', () => {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
  const role = (name: string): JsonObject => ({ ...rbac, kind: 'Role', metadata: { name }, rules: [] })
  const binding = (kind: string, name: string): JsonObject => ({
    ...{ ...rbac, kind: 'RoleBinding', metadata: { name: 'b' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  })
  const holding = (when: string, one: JsonObject, ...templates: JsonObject[]): NamespaceTemplate => ({
    metadata: { name: 't' },
    spec: { templates, objects: [{ when, template: one }] },
  })

  test.each<{ name: string; given: NamespaceTemplate; made: string[]; withheld?: string }>([
    {
      name: 'under a condition that is not true: what another client put in its place may grant anything',
      given: holding('false', role('r'), binding('Role', 'r')),
      made: [],
      withheld: 'Role/r, which it binds, is held by its template under a condition that is not true here',
    },
    {
      name: 'under a name that is this namespace’s',
      given: holding('false', role('of-$(NAMESPACE)'), binding('Role', 'of-team')),
      made: [],
      withheld: 'Role/of-team, which it binds, is held by its template under a condition that is not true here',
    },
    {
      name: 'under a condition that is true',
      given: holding('true', role('r'), binding('Role', 'r')),
      made: ['RoleBinding/b', 'Role/r'],
    },
    {
      name: 'without a condition',
      given: holding('false', configMap('c', {}), binding('Role', 'r'), role('r')),
      made: ['RoleBinding/b', 'Role/r'],
    },
    {
      name: 'under a condition, and again without one',
      given: holding('false', role('r'), binding('Role', 'r'), role('r')),
      made: ['RoleBinding/b', 'Role/r'],
    },
    {
      name: 'not at all: its author may bind it',
      given: holding('false', role('other'), binding('Role', 'r')),
      made: ['RoleBinding/b'],
    },
    {
      name: 'not, but a ClusterRole of its name is bound',
      given: holding('false', role('r'), binding('ClusterRole', 'r')),
      made: ['RoleBinding/b'],
    },
    {
      name: 'not, but a kind of that name in another group does',
      given: holding('false', { ...role('r'), apiVersion: 'ex.io/v1' }, binding('Role', 'r')),
      made: ['RoleBinding/b'],
    },
    {
      name: 'and another kind refers to it',
      given: holding('false', role('r'), { ...binding('Role', 'r'), kind: 'Grant' }),
      made: ['Grant/b'],
    },
  ])('$name', ({ given, made, withheld }) => {
    const { objects, skipped } = render([given], team())
    expect(objects.map(({ object }) => `${object.kind}/${object.metadata.name}`)).toEqual(made)
    const told = { object: 'RoleBinding/b', reason: 'RoleNotOurs', identity: 'rbac.authorization.k8s.io/RoleBinding/b' }
    expect(skipped).toMatchObject(withheld === undefined ? [] : [{ ...told, message: withheld }])
    expect(skipped).toHaveLength(withheld === undefined ? 0 : 1)
  })
})

describe('what becomes of a template in a namespace', () => {
  const parameters = [{ name: 'size', fromLabel: 'size', default: '' }]
  const of = (source: JsonObject): NamespaceTemplate => ({
    metadata: { name: 't' },
    spec: { parameters, templates: [source, configMap('good', {})] },
  })

  test.each([
    { source: { kind: 'ConfigMap', metadata: { name: 'a' } }, wrong: 'apiVersion is missing' },
    { source: { apiVersion: '', kind: 'ConfigMap', metadata: { name: 'a' } }, wrong: 'apiVersion is missing' },
    { source: { apiVersion: 1, kind: 'ConfigMap', metadata: { name: 'a' } }, wrong: 'apiVersion is missing' },
    { source: { apiVersion: 'v1', metadata: { name: 'a' } }, wrong: 'kind is missing' },
    { source: { apiVersion: 'v1', kind: '', metadata: { name: 'a' } }, wrong: 'kind is missing' },
    { source: { apiVersion: 'v1', kind: 'ConfigMap' }, wrong: 'metadata.name is missing' },
    { source: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 7 } }, wrong: 'metadata.name is missing' },
    // A name that comes to nothing here.
    { source: configMap('$(size)', {}), wrong: 'metadata.name is missing' },
  ])('what is no object is told, and the rest is made: $source', ({ source, wrong }) => {
    const { objects, skipped } = render([of(source as JsonObject)], team())
    expect(objects.map(({ object }) => object.metadata.name)).toEqual(['good'])
    expect(skipped).toMatchObject([{ reason: 'Malformed', message: wrong, identity: undefined }])
  })

  test('what names an owner is not made, and what was made of it stays', () => {
    const owned = { ...configMap('a', {}), metadata: { name: 'a', ownerReferences: [{ uid: 'u' }] } }
    const { objects, skipped } = render([of(owned as JsonObject)], team())
    expect(objects.map(({ object }) => object.metadata.name)).toEqual(['good'])
    const message = 'metadata.ownerReferences must be empty: a template owns what it makes'
    expect(skipped).toMatchObject([{ reason: 'Malformed', message, object: 'ConfigMap/a', identity: '/ConfigMap/a' }])
  })

  test('what the server sets is left out of an object that was stored with it', () => {
    const marks = { 'policy/namespace-template-name': 'other', 'policy.borough.dev/protected-by': 'other' }
    const given = { uid: 'u', resourceVersion: '5', managedFields: [{}], labels: { ...marks, c: 'd' } }
    const copied = { name: 'a', annotations: { a: 'b' }, ...given }
    const { objects } = render([of({ ...configMap('a', {}), metadata: copied } as JsonObject)], team())
    const labels = { 'policy/namespace-template-name': 't', c: 'd' }
    const made = { name: 'a', namespace: team().metadata.name, annotations: { a: 'b' }, labels }
    expect(objects[0]?.object.metadata).toEqual(made)
  })

  test('of one object that it holds twice, under conditions that are both true, the first is made', () => {
    const spec = {
      objects: [1, 2].map((n) => ({ when: `'${n}' != ''`, template: configMap('a', { n: String(n) }) })),
    }
    const { objects, skipped } = render([{ metadata: { name: 't' }, spec }], team())
    expect(objects.map(({ object }) => object['data'])).toEqual([{ n: '1' }])
    const message = 'the template holds it twice, under conditions that are both true: the first keeps it'
    expect(skipped).toMatchObject([{ object: 'ConfigMap/a', reason: 'Conflict', message, identity: '/ConfigMap/a' }])
  })

  test('where it can not be rendered for want of a value, what it made stays its own', () => {
    const wanting: NamespaceTemplate = {
      metadata: { name: 'a' },
      spec: {
        parameters: [{ name: 'size', fromLabel: 'size', required: true }],
        templates: [configMap('shared', {}), configMap('of-$(size)', {})],
      },
    }
    const other = template('b', configMap('shared', {}), configMap('of-$(size)', {}))
    const { objects, skipped } = render([wanting, other], team())
    expect(objects.map(({ object }) => object.metadata.name)).toEqual(['of-$(size)'])
    expect(skipped.map(({ object, reason, message, identity }) => [object, reason, message, identity])).toEqual([
      [
        'parameter size',
        'ParameterMissing',
        'metadata.labels[size] of the namespace is required: it must be any text in one line',
        undefined,
      ],
      ['ConfigMap/shared', 'Conflict', 'template "a" holds the same object and comes first', '/ConfigMap/shared'],
    ])
  })

  test('nor where what is given may not stand there', () => {
    const parameters = [{ name: 'size', fromLabel: 'size', enum: ['s', 'l'] }]
    const choosing: NamespaceTemplate = {
      metadata: { name: 'a' },
      spec: { parameters, templates: [configMap('c', {})] },
    }
    const { objects, skipped } = render([choosing], { metadata: { name: 'team', labels: { size: 'xl' } } })
    expect(objects).toEqual([])
    expect(skipped).toMatchObject([{ object: 'parameter size', reason: 'ParameterInvalid' }])
  })

  test('a copy is not made in the namespace of its source, which has it', () => {
    const cloneFrom = { namespace: 'team', apiVersion: 'v1', kind: 'Secret', name: 'pull' }
    const spec = { objects: [{ cloneFrom }, { cloneFrom: { ...cloneFrom, namespace: 'other' } }] }
    const { objects } = render([{ metadata: { name: 't' }, spec } as NamespaceTemplate], team())
    expect(objects.map(({ held }) => held.cloneFrom?.namespace)).toEqual(['other'])
  })

  test('labels name its template, and of what is protected the protector', () => {
    const spec = {
      templates: [configMap('open', {})],
      objects: [{ protect: true, template: configMap('shut', {}) }],
    }
    const { objects } = render([{ metadata: { name: 't' }, spec }], team())
    expect(objects.map(({ object }) => object.metadata)).toEqual([
      { name: 'open', namespace: 'team', labels: { 'policy/namespace-template-name': 't' } },
      {
        ...{ name: 'shut', namespace: 'team' },
        labels: { 'policy/namespace-template-name': 't', 'policy.borough.dev/protected-by': 't' },
      },
    ])
  })
})

describe('globs', () => {
  test.each([
    ['*', '', true],
    ['a*', 'abc', true],
    ['a*c', 'abcbc', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['*-prod', 'shop-prod', true],
    ['*-prod', 'shop-prod-2', false],
    ['a.c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
  ])('%j against %j: %s', (pattern, text, want) => {
    expect(glob(pattern)(text)).toBe(want)
  })

  test('a pattern made to backtrack takes no time', () => {
    const began = threadMs()
    expect(glob(`${'a*'.repeat(30)}b`)('a'.repeat(5000))).toBe(false)
    expect(threadMs() - began).toBeLessThan(1000)
  })
})
