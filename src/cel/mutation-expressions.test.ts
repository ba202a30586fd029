import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../kube/types.ts'
import type { AdmissionFacts } from './admission-expressions.ts'
import { Budget } from './budget.ts'
import { CompiledMutations, compileMutation, type PatchType } from './mutation-expressions.ts'
import { type PolicyVariable, policyEnvironment } from './policy-expressions.ts'

const object = {
  metadata: { name: 'd', labels: { app: 'x' } },
  spec: { replicas: 2, big: 1, containers: [{ name: 'a' }, { name: 'b' }] },
}

const facts: AdmissionFacts = {
  object: object as unknown as JsonValue,
  oldObject: undefined,
  request: { operation: 'CREATE', name: 'd' },
  params: { data: { key: '10' } },
  user: { username: 'jane', groups: [] },
  ask: () => ({ allowed: true, reason: '' }),
}

function evaluated(patchType: PatchType, expression: string, variables: readonly PolicyVariable[] = []): unknown {
  const mutations = [{ patchType, expression }]
  const compiled = new CompiledMutations({ hasParams: true, matchConditions: [], variables, mutations })
  const { mutation, error } = compiled.evaluate(0, facts, new Budget(undefined, () => 0))
  if (error !== undefined) return error
  return mutation.patchType === 'JSONPatch' ? mutation.operations : mutation.configuration
}

const problemOf = (patchType: PatchType, expression: string): string | undefined =>
  compileMutation({ patchType, expression }, policyEnvironment([], { params: false })).problem

const wrongName = (given: string, wanted: string): string =>
  `type mismatch: unexpected type name "${given}", expected "${wanted}", which matches field name path from ` +
  'root Object type'

describe('an apply configuration', () => {
  const rows: readonly {
    readonly name: string
    readonly when: string
    readonly variables?: readonly PolicyVariable[]
    readonly want: JsonObject | string
  }[] = [
    { name: 'may say nothing', when: 'Object{}', want: {} },
    {
      name: 'is made of objects that are named after their place',
      when: 'Object{spec: Object.spec{replicas: object.spec.replicas + 1, template: Object.spec.template{a: true}}}',
      want: { spec: { replicas: 3, template: { a: true } } },
    },
    {
      name: 'has lists of objects named after the list, and maps',
      when:
        'Object{metadata: Object.metadata{labels: {"k": "v"}}, spec: Object.spec{volumes: ' +
        '[Object.spec.volumes{name: "y"}]}}',
      want: { metadata: { labels: { k: 'v' } }, spec: { volumes: [{ name: 'y' }] } },
    },
    {
      name: 'takes over parts of the object as they are',
      when: 'Object{spec: Object.spec{initContainers: object.spec.containers, labels: object.metadata.labels}}',
      want: { spec: { initContainers: [{ name: 'a' }, { name: 'b' }], labels: { app: 'x' } } },
    },
    {
      name: 'has objects made by a macro',
      when:
        'Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: ' +
        'c.name, tty: true})}}',
      want: {
        spec: {
          containers: [
            { name: 'a', tty: true },
            { name: 'b', tty: true },
          ],
        },
      },
    },
    {
      name: 'leaves out optional fields that are not there',
      when:
        'Object{?spec: optional.none(), metadata: Object.metadata{annotations: {?"a": optional.of("b"), ?"c": ' +
        'object.?missing}}}',
      want: { metadata: { annotations: { a: 'b' } } },
    },
    {
      name: 'sees parameters and variables',
      when: 'Object{spec: Object.spec{replicas: variables.n + int(params.data.key)}}',
      variables: [{ name: 'n', expression: 'object.spec.replicas * 2' }],
      want: { spec: { replicas: 14 } },
    },
    {
      name: 'may be one of two',
      when: 'object.spec.replicas > 5 ? Object{spec: Object.spec{replicas: 5}} : Object{}',
      want: {},
    },
    {
      name: 'writes times, spans and bytes as JSON has them',
      when: `Object{a: timestamp("2026-01-02T03:04:05Z"), b: duration("90s"), c: b"hi", d: 1.5, e: null}`,
      want: { a: '2026-01-02T03:04:05Z', b: '90s', c: 'aGk=', d: 1.5, e: null },
    },
    {
      name: 'with an object of another name is refused when it is made',
      when: 'Object{spec: Object.specx{replicas: 1}}',
      want: wrongName('Object.specx', 'Object.spec'),
    },
    {
      name: 'with several such says all of them',
      when: 'Object{spec: Object.spec{a: Object.b{}, c: [Object.d{}]}}',
      want:
        `${wrongName('Object.b', 'Object.spec.a')}\n` +
        wrongName('Object.d', 'Object.spec.c').replace('type mismatch: ', ''),
    },
    {
      name: 'can not hold what JSON can not say',
      when: 'Object{a: {1: "x"}}',
      want: 'map key 1 is of type int, not string',
    },
    { name: 'can not hold a type', when: 'Object{a: type(1)}', want: 'JSON has no values of type type' },
    {
      name: 'fails as its expression fails',
      when: 'Object{spec: object.missing}',
      want: "expression 'Object{spec: object.missing}' resulted in error: no such key: missing",
    },
    {
      name: 'can not become larger than a request',
      when: 'Object{a: variables.v40}',
      variables: [
        { name: 'v0', expression: '["0123456789"]' },
        ...Array.from({ length: 40 }, (_, i) => ({
          name: `v${i + 1}`,
          expression: `[variables.v${i}, variables.v${i}]`,
        })),
      ],
      want: 'the result is larger than 3145728 bytes',
    },
    {
      name: 'can not nest without end',
      when: 'Object{a: variables.v120}',
      variables: [
        { name: 'v0', expression: '[1]' },
        ...Array.from({ length: 120 }, (_, i) => ({
          name: `v${i + 1}`,
          expression: `[[[[[[[[[[variables.v${i}]]]]]]]]]]`,
        })),
      ],
      want: 'the result is nested too deeply',
    },
  ]
  it.each(rows)('$name', ({ when, variables, want }) => {
    expect(evaluated('ApplyConfiguration', when, variables)).toEqual(want)
  })

  it('keeps integers that a double can not hold', () => {
    const value = evaluated('ApplyConfiguration', 'Object{a: 9007199254740993}')
    expect(JSON.stringify(value)).toBe('{"a":9007199254740993}')
  })
})

describe('a JSON Patch', () => {
  const rows: readonly { readonly name: string; readonly when: string; readonly want: JsonValue }[] = [
    {
      name: 'is a list of operations',
      when: '[JSONPatch{op: "test", path: "/spec/replicas", value: 2}, JSONPatch{op: "move", from: "/a", path: "/b"}]',
      want: [
        { op: 'test', path: '/spec/replicas', value: 2 },
        { op: 'move', from: '/a', path: '/b' },
      ],
    },
    {
      name: 'has values of any kind',
      when:
        '[JSONPatch{op: "add", path: "/x", value: object.spec.containers + [Object.spec.containers{name: ' +
        '"c"}]}, JSONPatch{op: "add", path: "/y", value: null}]',
      want: [
        { op: 'add', path: '/x', value: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
        { op: 'add', path: '/y', value: null },
      ],
    },
    {
      name: 'may begin its objects anywhere',
      when: '[JSONPatch{op: "add", path: "/spec", value: Object.invalid{replicas: 1, t: Object.invalid.t{}}}]',
      want: [{ op: 'add', path: '/spec', value: { replicas: 1, t: {} } }],
    },
    {
      name: 'with an object of another name is refused when it is made',
      when: '[JSONPatch{op: "add", path: "/c", value: Object.c{ports: [Object.c.portsZ{}]}}]',
      want: wrongName('Object.c.portsZ', 'Object.c.ports'),
    },
    {
      name: 'escapes names for paths',
      when: '[JSONPatch{op: "remove", path: "/metadata/labels/" + jsonpatch.escapeKey("k8s.io/x~y")}]',
      want: [{ op: 'remove', path: '/metadata/labels/k8s.io~1x~0y' }],
    },
    {
      name: 'writes integers that a double can not hold as texts',
      when: '[JSONPatch{op: "add", path: "/x", value: 9007199254740993}]',
      want: [{ op: 'add', path: '/x', value: '9007199254740993' }],
    },
    {
      name: 'can look into what it makes',
      when:
        '[JSONPatch{op: "add", path: "/x", value: {"a": string(has(Object{f: 1}.f)), "b": ' +
        'string(has(Object{}.f)), "c": Object{f: "v"}.f, "d": JSONPatch{op: "o"}.op, "e": string(Object{} == ' +
        'Object{}), "f": string(Object{f: "x"} == Object{f: "y"}), "g": string(JSONPatch{op: "a"} == ' +
        'JSONPatch{op: "b"})}}]',
      want: [
        { op: 'add', path: '/x', value: { a: 'true', b: 'false', c: 'v', d: 'o', e: 'true', f: 'false', g: 'false' } },
      ],
    },
    {
      name: 'can not hold a value that JSON can not say',
      when: '[JSONPatch{op: "add", path: "/x", value: type(1)}]',
      want:
        'JSONPath valueExpression evaluated to a type that could not marshal to JSON: JSON has no values of ' +
        'type type',
    },
    { name: 'may do nothing', when: 'false ? [JSONPatch{}] : []', want: [] },
  ]
  it.each(rows)('$name', ({ when, want }) => {
    expect(evaluated('JSONPatch', when)).toEqual(want)
  })

  it('can not become larger than a request, however many operations share what they hold', () => {
    const when = 'lists.range(400).map(i, JSONPatch{op: "test", path: "", value: variables.list})'
    const variables = [{ name: 'list', expression: 'lists.range(10000)' }]
    expect(evaluated('JSONPatch', when, variables)).toBe(
      'JSONPath valueExpression evaluated to a type that could not marshal to JSON: the result is larger ' +
        'than 3145728 bytes',
    )
  })
})

describe('a mutation is judged before it is stored:', () => {
  const rows: readonly (readonly [patchType: PatchType, expression: string, want: string | undefined])[] = [
    ['ApplyConfiguration', 'Object{}', undefined],
    ['ApplyConfiguration', '"teapot"', 'must evaluate to Object but got string'],
    ['ApplyConfiguration', 'Object.spec{}', 'must evaluate to Object but got Object.spec'],
    ['ApplyConfiguration', 'object', 'must evaluate to Object but got dyn'],
    ['JSONPatch', '[JSONPatch{}]', undefined],
    ['JSONPatch', '[]', 'must evaluate to list(JSONPatch) but got list(dyn)'],
    ['JSONPatch', 'Object{}', 'must evaluate to list(JSONPatch) but got Object'],
    [
      'JSONPatch',
      '[JSONPatch{op: 1}]',
      "compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is " +
        "'int'\n | [JSONPatch{op: 1}]\n | .............^",
    ],
    [
      'JSONPatch',
      '[JSONPatch{oops: 1}]',
      "compilation failed: ERROR: <input>:1:16: undefined field 'oops'\n | [JSONPatch{oops: 1}]\n | ...............^",
    ],
    [
      'ApplyConfiguration',
      'Foo{}',
      "compilation failed: ERROR: <input>:1:4: undeclared reference to 'Foo' (in container '')\n | Foo{}\n | ...^",
    ],
    [
      'ApplyConfiguration',
      'Object{a: params}',
      "compilation failed: ERROR: <input>:1:11: undeclared reference to 'params' (in container '')\n | " +
        'Object{a: params}\n | ..........^',
    ],
  ]
  it.each(rows)('%s %s', (patchType, expression, want) => {
    expect(problemOf(patchType, expression)).toBe(want)
  })

  it('variables know neither objects nor patches', () => {
    const environment = policyEnvironment([{ name: 'v', expression: 'Object{}' }], { params: false })
    expect(environment.compiled.get('v')?.problem).toContain("undeclared reference to 'Object'")
  })
})

describe('what mutations may cost', () => {
  const nested = (depth: number): string =>
    Array.from({ length: depth }, (_, i) => `variables.list.all(x${i}, `).join('') + 'true' + ')'.repeat(depth)
  const variables = [{ name: 'list', expression: '[0,1,2,3,4,5,6,7,8,9]' }]

  it('is a call as any other', () => {
    expect(evaluated('ApplyConfiguration', `Object{a: ${nested(6)}}`, variables)).toContain(
      'operation cancelled: actual cost limit exceeded',
    )
  })

  it('is counted for each by itself, their time together', () => {
    const mutation = { patchType: 'ApplyConfiguration', expression: `Object{a: ${nested(4)}}` } as const
    const mutations = Array.from({ length: 40 }, () => mutation)
    const compiled = new CompiledMutations({ hasParams: false, matchConditions: [], variables, mutations })
    let now = 0
    const budget = new Budget(undefined, () => now)
    const errors = mutations.map((_, i) => {
      now += 100
      return compiled.evaluate(i, facts, budget).error
    })
    expect(errors.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => undefined))
    expect(errors[11]).toContain('the time limit was exceeded')
  })
})
