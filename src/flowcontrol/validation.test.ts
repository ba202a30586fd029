import { describe, expect, test } from 'vitest'
import { fieldErrors } from '../../test/support/flow-control.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './bootstrap-objects.ts'
import type {
  FlowControlCondition,
  FlowSchemaSpec,
  NonResourceRuleSpec,
  PolicyRulesSpec,
  PriorityLevelSpec,
  QueuingSpec,
  ResourceRuleSpec,
  SubjectSpec,
} from './types.ts'
import { validateFlowSchema, validatePriorityLevel } from './validation.ts'

const subject: SubjectSpec = { kind: 'User', user: { name: 'alice' } }
const resourceRule: ResourceRuleSpec = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }
const rules: PolicyRulesSpec = { subjects: [subject], resourceRules: [resourceRule] }
const schemaSpec: FlowSchemaSpec = {
  priorityLevelConfiguration: { name: 'level' },
  matchingPrecedence: 50,
  rules: [rules],
}

const ofSchema = (spec: FlowSchemaSpec, name = 'x', conditions?: readonly FlowControlCondition[]) =>
  validateFlowSchema({ metadata: { name }, spec, ...(conditions ? { status: { conditions } } : {}) })
const ofRules = (part: PolicyRulesSpec) => ofSchema({ ...schemaSpec, rules: [part] })

describe('a FlowSchema', () => {
  test('may be sound', () => {
    expect(ofSchema(schemaSpec)).toEqual([])
    expect(ofSchema({ ...schemaSpec, rules: [] })).toEqual([])
  })

  test.each<{ readonly spec: FlowSchemaSpec; readonly want: readonly string[] }>([
    {
      spec: { ...schemaSpec, matchingPrecedence: 0 },
      want: ['FieldValueInvalid spec.matchingPrecedence: Invalid value: 0: must be a positive value'],
    },
    {
      spec: { ...schemaSpec, matchingPrecedence: 10_001 },
      want: ['FieldValueInvalid spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
    },
    {
      spec: { ...schemaSpec, matchingPrecedence: 1 },
      want: [
        "FieldValueInvalid spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may " +
          'have matchingPrecedence 1',
      ],
    },
    {
      spec: { ...schemaSpec, distinguisherMethod: { type: 'ByPhase' } },
      want: [
        'FieldValueNotSupported spec.distinguisherMethod.type: Unsupported value: {"Type":"ByPhase"}: ' +
          'supported values: "ByNamespace", "ByUser"',
      ],
    },
    {
      spec: { ...schemaSpec, priorityLevelConfiguration: {} },
      want: [
        'FieldValueRequired spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
      ],
    },
    {
      spec: { ...schemaSpec, priorityLevelConfiguration: { name: 'a_b' } },
      want: [
        'FieldValueInvalid spec.priorityLevelConfiguration.name: Invalid value: "a_b": a lowercase RFC ' +
          "1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
          "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    },
  ])('with $spec is refused', ({ spec, want }) => {
    expect(ofSchema(spec)).toEqual(fieldErrors(want))
  })

  test.each<{ readonly subjects: readonly SubjectSpec[]; readonly want: readonly string[] }>([
    {
      subjects: [],
      want: ['FieldValueRequired spec.rules[0].subjects: Required value: subjects must contain at least one value'],
    },
    {
      subjects: [{ kind: 'Robot' }],
      want: [
        'FieldValueNotSupported spec.rules[0].subjects[0].kind: Unsupported value: "Robot": supported ' +
          'values: "Group", "ServiceAccount", "User"',
      ],
    },
    {
      subjects: [{ kind: 'User' }],
      want: [
        'FieldValueRequired spec.rules[0].subjects[0].user: Required value: user is required when subject ' +
          "kind is 'User'",
      ],
    },
    {
      subjects: [{ kind: 'Group', group: {} }],
      want: ['FieldValueRequired spec.rules[0].subjects[0].group.name: Required value'],
    },
    {
      subjects: [
        { kind: 'User', user: { name: 'a' }, group: { name: 'g' }, serviceAccount: { name: 's', namespace: 'n' } },
      ],
      want: [
        'FieldValueForbidden spec.rules[0].subjects[0].serviceAccount: Forbidden: serviceAccount is ' +
          "forbidden when subject kind is not 'ServiceAccount'",
        'FieldValueForbidden spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject ' +
          "kind is not 'Group'",
      ],
    },
    {
      subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '*' } }],
      want: [
        'FieldValueRequired spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify ' +
          'namespace for service account',
      ],
    },
    {
      subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: 'A', namespace: 'B' } }],
      want: [
        'FieldValueInvalid spec.rules[0].subjects[0].serviceAccount.name: Invalid value: "A": a lowercase ' +
          "RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
          "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        'FieldValueInvalid spec.rules[0].subjects[0].serviceAccount.namespace: Invalid value: "B": a ' +
          "lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start " +
          "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    },
  ])('with the subjects $subjects is refused', ({ subjects, want }) => {
    expect(ofRules({ ...rules, subjects })).toEqual(fieldErrors(want))
  })

  const at = 'spec.rules[0].resourceRules[0]'
  const verbs = '"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"'
  test.each<{ readonly rule: Partial<ResourceRuleSpec>; readonly want: readonly string[] }>([
    {
      rule: { verbs: [] },
      want: [`FieldValueRequired ${at}.verbs: Required value: verbs must contain at least one value`],
    },
    {
      rule: { verbs: ['get', '*'] },
      want: [
        `FieldValueInvalid ${at}.verbs: Invalid value: ["get","*"]: if '*' is present, must not specify other verbs`,
      ],
    },
    {
      rule: { verbs: ['get', 'feed'] },
      want: [`FieldValueNotSupported ${at}.verbs: Unsupported value: ["get","feed"]: supported values: ${verbs}`],
    },
    {
      rule: { apiGroups: [] },
      want: [`FieldValueRequired ${at}.apiGroups: Required value: resource rules must supply at least one api group`],
    },
    {
      rule: { apiGroups: ['', '*'] },
      want: [
        `FieldValueInvalid ${at}.apiGroups: Invalid value: ["","*"]: if '*' is present, must not specify ` +
          'other api groups',
      ],
    },
    {
      rule: { resources: [] },
      want: [`FieldValueRequired ${at}.resources: Required value: resource rules must supply at least one resource`],
    },
    {
      rule: { resources: ['*', 'pods'] },
      want: [
        `FieldValueInvalid ${at}.resources: Invalid value: ["*","pods"]: if '*' is present, must not specify ` +
          'other resources',
      ],
    },
    {
      rule: { namespaces: [] },
      want: [
        `FieldValueRequired ${at}.namespaces: Required value: resource rules that are not cluster scoped ` +
          'must supply at least one namespace',
      ],
    },
    { rule: { namespaces: [], clusterScope: true }, want: [] },
    {
      rule: { namespaces: ['*', 'a'] },
      want: [
        `FieldValueInvalid ${at}.namespaces: Invalid value: ["*","a"]: if '*' is present, must not specify ` +
          'other namespaces',
      ],
    },
    {
      rule: { namespaces: ['a', 'B'] },
      want: [
        `FieldValueInvalid ${at}.namespaces[1]: Invalid value: "B": each member of this list must be '*' or ` +
          'a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or ' +
          `'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex ` +
          `used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
      ],
    },
  ])('with the resource rule $rule is judged', ({ rule, want }) => {
    expect(ofRules({ ...rules, resourceRules: [{ ...resourceRule, ...rule }] })).toEqual(fieldErrors(want))
  })

  const urls = 'spec.rules[0].nonResourceRules[0].nonResourceURLs'
  test.each<{ readonly rule: NonResourceRuleSpec; readonly want: readonly string[] }>([
    { rule: { verbs: ['*'], nonResourceURLs: ['*'] }, want: [] },
    { rule: { verbs: ['get'], nonResourceURLs: ['/', '/healthz', '/openapi/*'] }, want: [] },
    {
      rule: { verbs: ['get'], nonResourceURLs: [] },
      want: [`FieldValueRequired ${urls}: Required value: nonResourceURLs must contain at least one value`],
    },
    {
      rule: { verbs: ['get'], nonResourceURLs: ['*', '/a'] },
      want: [
        `FieldValueInvalid ${urls}: Invalid value: ["*","/a"]: if '*' is present, must not specify other ` +
          'non-resource URLs',
      ],
    },
    {
      rule: { verbs: ['get'], nonResourceURLs: ['', 'a', '/a b', '/a//b', '/a*', '/*/*'] },
      want: [
        `FieldValueInvalid ${urls}[0]: Invalid value: "": must not be empty`,
        `FieldValueInvalid ${urls}[1]: Invalid value: "a": must start with slash`,
        `FieldValueInvalid ${urls}[2]: Invalid value: "/a b": must not contain white-space`,
        `FieldValueInvalid ${urls}[3]: Invalid value: "/a//b": must not contain double slash`,
        `FieldValueInvalid ${urls}[4]: Invalid value: "/a*": wildcard can only do suffix matching`,
        `FieldValueInvalid ${urls}[5]: Invalid value: "/*/*": wildcard can only do suffix matching`,
      ],
    },
  ])('with the non-resource rule $rule is judged', ({ rule, want }) => {
    expect(ofRules({ subjects: [subject], nonResourceRules: [rule] })).toEqual(fieldErrors(want))
  })

  test('needs rules of one sort at least', () => {
    expect(ofRules({ subjects: [subject] })).toEqual(
      fieldErrors([
        'FieldValueRequired spec.rules[0]: Required value: at least one of resourceRules and ' +
          'nonResourceRules has to be non-empty',
      ]),
    )
  })

  test.each(mandatoryFlowSchemas)('that is mandatory can’t be changed: $metadata.name', ({ metadata, spec = {} }) => {
    const name = metadata.name ?? ''
    const changed = { ...spec, rules: [] }
    expect(ofSchema(changed, name)).toEqual(
      fieldErrors([
        `FieldValueInvalid spec: Invalid value: ${JSON.stringify(changed)}: spec of '${name}' must equal the ` +
          'fixed value',
      ]),
    )
  })

  test('has each condition once, and none without a type', () => {
    expect(ofSchema(schemaSpec, 'x', [{ type: 'Dangling' }, { type: 'Dangling' }, {}])).toEqual(
      fieldErrors([
        'FieldValueDuplicate status.conditions[1].type: Duplicate value: "Dangling"',
        'FieldValueRequired status.conditions[2].type: Required value: must not be empty',
      ]),
    )
  })
})

const queuing: QueuingSpec = { queues: 512, handSize: 4, queueLengthLimit: 100 }
const limited = { nominalConcurrencyShares: 42, lendablePercent: 0, limitResponse: { type: 'Queue', queuing } }
const levelSpec: PriorityLevelSpec = { type: 'Limited', limited }

const ofLevel = (spec: PriorityLevelSpec, name = 'x', conditions?: readonly FlowControlCondition[]) =>
  validatePriorityLevel({ metadata: { name }, spec, ...(conditions ? { status: { conditions } } : {}) })

describe('a PriorityLevelConfiguration', () => {
  test('may be sound', () => {
    expect(ofLevel(levelSpec)).toEqual([])
    expect(ofLevel({ type: 'Limited', limited: { ...limited, nominalConcurrencyShares: 0 } })).toEqual([])
    expect(ofLevel({ type: 'Limited', limited: { ...limited, limitResponse: { type: 'Reject' } } })).toEqual([])
  })

  test.each<{ readonly spec: PriorityLevelSpec; readonly want: readonly string[] }>([
    {
      spec: { type: 'Open' },
      want: ['FieldValueNotSupported spec.type: Unsupported value: "Open": supported values: "Exempt", "Limited"'],
    },
    {
      spec: { type: 'Limited' },
      want: ['FieldValueRequired spec.limited: Required value: must not be empty when type is Limited'],
    },
    {
      spec: { type: 'Limited', exempt: {} },
      want: [
        'FieldValueForbidden spec.exempt: Forbidden: must be nil if the type is Limited',
        'FieldValueRequired spec.limited: Required value: must not be empty when type is Limited',
      ],
    },
    {
      spec: { type: 'Exempt', exempt: {} },
      want: [
        "FieldValueInvalid spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
      ],
    },
    {
      spec: {
        type: 'Limited',
        limited: { ...limited, nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 },
      },
      want: [
        'FieldValueInvalid spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
        'FieldValueInvalid spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
        'FieldValueInvalid spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a ' +
          'non-negative integer',
      ],
    },
    {
      spec: { type: 'Limited', limited: { ...limited, limitResponse: { type: 'Reject', queuing } } },
      want: [
        'FieldValueForbidden spec.limited.limitResponse.queuing: Forbidden: must be nil if ' +
          'limited.limitResponse.type is not Limited',
      ],
    },
    {
      spec: { type: 'Limited', limited: { ...limited, limitResponse: { type: 'Queue' } } },
      want: [
        'FieldValueRequired spec.limited.limitResponse.queuing: Required value: must not be empty if ' +
          'limited.limitResponse.type is Limited',
      ],
    },
    {
      spec: { type: 'Limited', limited: { ...limited, limitResponse: { type: 'Drop' } } },
      want: [
        'FieldValueNotSupported spec.limited.limitResponse.type: Unsupported value: "Drop": supported ' +
          'values: "Queue", "Reject"',
      ],
    },
  ])('with $spec is refused', ({ spec, want }) => {
    expect(ofLevel(spec)).toEqual(fieldErrors(want))
  })

  const at = 'spec.limited.limitResponse.queuing'
  test.each<{ readonly part: Partial<QueuingSpec>; readonly want: readonly string[] }>([
    { part: { queues: 10_000_000, handSize: 2 }, want: [] },
    {
      part: { queueLengthLimit: 0 },
      want: [`FieldValueInvalid ${at}.queueLengthLimit: Invalid value: 0: must be positive`],
    },
    { part: { handSize: 0 }, want: [`FieldValueInvalid ${at}.handSize: Invalid value: 0: must be positive`] },
    {
      part: { queues: 7, handSize: 8 },
      want: [`FieldValueInvalid ${at}.handSize: Invalid value: 8: should not be greater than queues (7)`],
    },
    {
      part: { handSize: 8 },
      want: [
        `FieldValueInvalid ${at}.handSize: Invalid value: 8: required entropy bits of deckSize 512 and ` +
          'handSize 8 should not be greater than 60',
      ],
    },
    {
      part: { queues: -1 },
      want: [
        `FieldValueInvalid ${at}.queues: Invalid value: -1: must be positive`,
        `FieldValueInvalid ${at}.handSize: Invalid value: 4: should not be greater than queues (-1)`,
      ],
    },
    {
      part: { queues: 2_147_483_647, handSize: 3 },
      want: [
        `FieldValueInvalid ${at}.queues: Invalid value: 2147483647: must not be greater than 10000000`,
        `FieldValueInvalid ${at}.handSize: Invalid value: 3: required entropy bits of deckSize 2147483647 ` +
          'and handSize 3 should not be greater than 60',
      ],
    },
  ])('with the queues $part is judged', ({ part, want }) => {
    const limitResponse = { type: 'Queue', queuing: { ...queuing, ...part } }
    expect(ofLevel({ type: 'Limited', limited: { ...limited, limitResponse } })).toEqual(fieldErrors(want))
  })

  const catchAll = mandatoryPriorityLevels[0]?.spec ?? {}
  test.each<{ readonly name: string; readonly spec: PriorityLevelSpec; readonly want: readonly string[] }>([
    { name: 'catch-all', spec: catchAll, want: [] },
    {
      name: 'catch-all',
      spec: levelSpec,
      want: [
        `FieldValueInvalid spec: Invalid value: ${JSON.stringify(levelSpec)}: spec of 'catch-all' must equal ` +
          'the fixed value',
      ],
    },
    {
      name: 'exempt',
      spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 10, lendablePercent: 20 } },
      want: [],
    },
    {
      name: 'exempt',
      spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } },
      want: [
        'FieldValueInvalid spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
        'FieldValueInvalid spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
      ],
    },
    {
      name: 'exempt',
      spec: levelSpec,
      want: [
        'FieldValueInvalid spec.type: Invalid value: "Limited": type must be \'Exempt\' if and only if name ' +
          "is 'exempt'",
        `FieldValueInvalid spec: Invalid value: ${JSON.stringify(levelSpec)}: spec of 'exempt' except the ` +
          `'spec.exempt' field must equal the fixed value`,
      ],
    },
    {
      name: 'exempt',
      spec: { type: 'Exempt', exempt: {}, limited },
      want: [
        'FieldValueForbidden spec.limited: Forbidden: must be nil if the type is not Limited',
        `FieldValueInvalid spec: Invalid value: ${JSON.stringify({ type: 'Exempt', exempt: {}, limited })}: ` +
          `spec of 'exempt' except the 'spec.exempt' field must equal the fixed value`,
      ],
    },
  ])('that is mandatory keeps its spec: $name', ({ name, spec, want }) => {
    expect(ofLevel(spec, name)).toEqual(fieldErrors(want))
  })

  test('has each condition once', () => {
    expect(ofLevel(levelSpec, 'x', [{ type: 'A' }, { type: 'A' }])).toEqual(
      fieldErrors(['FieldValueDuplicate status.conditions[1].type: Duplicate value: "A"']),
    )
  })
})
