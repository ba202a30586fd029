import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../../../test/support/refusal.ts'
import { runAtOnce } from '../../../base/resumable.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { assumeValid } from '../../../kube/unvalidated.ts'
import { loadCatalog } from '../../catalog.ts'

type Fields = Record<string, unknown>

const catalog = loadCatalog()
const typeOf = (resource: string) => {
  const type = catalog.types.find({ group: 'admissionregistration.k8s.io', version: 'v1', resource })
  if (!type) throw new Error(`no ${resource}`)
  return type
}

/** With its defaults, as it comes to validation. */
function problems(resource: string, spec: Fields, before?: Fields): string[] {
  const type = typeOf(resource)
  const whole = (of: Fields): KubeObject =>
    assumeValid(catalog.applyDefaults(type, { metadata: { name: 'p.ex.io' }, spec: of }))
  const context = { subresource: '', now: '2026-01-01T00:00:00Z' }
  const errors = runAtOnce(catalog.strategyOf(type).validate?.(whole(spec), before && whole(before), context) ?? [])
  return faultsOf(errors)
}

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const apply = (expression: string): Fields => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string): Fields => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const policy: Fields = {
  matchConstraints: { resourceRules: [rule] },
  mutations: [apply('Object{}')],
  reinvocationPolicy: 'Never',
}

describe('a mutating policy', () => {
  const rows: readonly { readonly name: string; readonly spec: Fields; readonly want: readonly string[] }[] = [
    { name: 'is fine', spec: {}, want: [] },
    {
      name: 'must say what it is about, what it does and how often',
      spec: { matchConstraints: undefined, mutations: undefined, reinvocationPolicy: undefined },
      want: [
        'spec.matchConstraints: Required value',
        'spec.mutations: Required value: mutations must contain at least one item',
        'spec.reinvocationPolicy: Required value',
      ],
    },
    {
      name: 'chooses among what there is',
      spec: { failurePolicy: 'other', mutations: [{ patchType: 'other' }], reinvocationPolicy: 'other' },
      want: [
        'spec.failurePolicy: Unsupported value: "other": supported values: "Fail", "Ignore"',
        'spec.mutations[0].patchType: Unsupported value: "other": supported values: "ApplyConfiguration", "JSONPatch"',
        'spec.reinvocationPolicy: Unsupported value: "other": supported values: "IfNeeded", "Never"',
      ],
    },
    {
      name: 'has rules, but none about deletions',
      spec: { matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE', 'DELETE'] }] } },
      want: [
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", ' +
          '"CONNECT", "CREATE", "UPDATE"',
      ],
    },
    {
      name: 'without rules says nothing about types',
      spec: { matchConstraints: {} },
      want: ['spec.matchConstraints.resourceRules: Required value'],
    },
    {
      name: 'says of each mutation what kind it is',
      spec: { mutations: [{ applyConfiguration: { expression: 'Object{}' } }] },
      want: ['spec.mutations[0].patchType: Required value'],
    },
    {
      name: 'has the expression of that kind',
      spec: { mutations: [{ patchType: 'JSONPatch' }, { patchType: 'ApplyConfiguration' }] },
      want: [
        'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
        'spec.mutations[1].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
      ],
    },
    {
      name: 'has no expression of the other kind',
      spec: {
        mutations: [
          { ...patch('[JSONPatch{}]'), applyConfiguration: { expression: 'Object{}' } },
          { ...apply('Object{}'), jsonPatch: { expression: '[JSONPatch{}]' } },
        ],
      },
      want: [
        'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified ' +
          'when patchType is JSONPatch',
        'spec.mutations[1].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ' +
          'ApplyConfiguration',
      ],
    },
    {
      name: 'has no empty expressions',
      spec: { mutations: [patch('  '), apply('')] },
      want: [
        'spec.mutations[0].jsonPatch.expression: Required value',
        'spec.mutations[1].applyConfiguration.expression: Required value',
      ],
    },
    {
      name: 'has expressions that compile',
      spec: { mutations: [apply(' Object{a: b} ')] },
      want: [
        'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object{a: b}": compilation failed: ' +
          `ERROR: <input>:1:11: undeclared reference to 'b' (in container '')\n | Object{a: b}\n | ..........^`,
      ],
    },
    {
      name: 'has expressions that make what their kind needs',
      spec: { mutations: [apply('"a"'), patch('Object{}')] },
      want: [
        'spec.mutations[0].applyConfiguration.expression: Invalid value: "\\"a\\"": must evaluate to Object ' +
          'but got string',
        'spec.mutations[1].jsonPatch.expression: Invalid value: "Object{}": must evaluate to list(JSONPatch) ' +
          'but got Object',
      ],
    },
    {
      name: 'has variables that stand on one another',
      spec: {
        variables: [
          { name: 'a', expression: '1' },
          { name: 'b', expression: 'variables.a + 1' },
        ],
        mutations: [apply('Object{spec: Object.spec{replicas: variables.b}}')],
      },
      want: [],
    },
    {
      name: 'has match conditions that do not know the variables',
      spec: {
        variables: [{ name: 'a', expression: 'true' }],
        matchConditions: [{ name: 'c', expression: 'variables.a' }],
      },
      want: [
        'spec.matchConditions[0].expression: Invalid value: "variables.a": compilation failed: ERROR: ' +
          `<input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.a\n | ^`,
      ],
    },
    {
      name: 'has parameters only with a kind of them',
      spec: { paramKind: { apiVersion: 'v1' }, mutations: [apply('Object{a: params.data}')] },
      want: ['spec.paramKind.kind: Required value'],
    },
  ]
  it.each(rows)('$name', ({ spec, want }) => {
    expect(problems('mutatingadmissionpolicies', { ...policy, ...spec })).toEqual(want)
  })

  it('is not asked again about match conditions that were accepted once', () => {
    const stored = { ...policy, matchConditions: [{ name: 'c', expression: 'once valid' }] }
    expect(problems('mutatingadmissionpolicies', stored)).toHaveLength(1)
    expect(problems('mutatingadmissionpolicies', stored, stored)).toEqual([])
  })
})

describe('its binding', () => {
  const rows: readonly { readonly name: string; readonly spec: Fields; readonly want: readonly string[] }[] = [
    { name: 'needs no actions', spec: { policyName: 'p.ex.io' }, want: [] },
    { name: 'names the policy', spec: {}, want: ['spec.policyName: Required value'] },
    {
      name: 'says what a missing parameter means',
      spec: { policyName: 'p', paramRef: { name: 'x' } },
      want: ['spec.paramRef.parameterNotFoundAction: Required value'],
    },
    {
      name: 'wants no deletions',
      spec: { policyName: 'p', matchResources: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } },
      want: [
        'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", ' +
          '"CONNECT", "CREATE", "UPDATE"',
      ],
    },
  ]
  it.each(rows)('$name', ({ spec, want }) => {
    expect(problems('mutatingadmissionpolicybindings', spec)).toEqual(want)
  })
})
