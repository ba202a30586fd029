import { describe, expect, test } from 'vitest'
import type { AuditSubject } from './audit.ts'
import { defaultAuditPolicy, parseAuditPolicy } from './policy.ts'

const pods: AuditSubject = {
  user: { username: 'alice', groups: ['devs', 'system:authenticated'] },
  verb: 'get',
  path: '/api/v1/namespaces/a/pods/p',
  isResource: true,
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
}
const health: AuditSubject = {
  ...pods,
  path: '/healthz/ping',
  isResource: false,
  resource: '',
  namespace: '',
  name: '',
}

const policyOf = (rules: string): string => `{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [${rules}]}`

describe('a rule', () => {
  test.each<{ name: string; rule: string; given?: Partial<AuditSubject>; want: boolean }>([
    { name: 'without conditions matches everything', rule: '', want: true },
    { name: 'matches a user it names', rule: 'users: [bob, alice]', want: true },
    { name: 'does not match another user', rule: 'users: [bob]', want: false },
    { name: 'matches one of the groups', rule: 'userGroups: [devs]', want: true },
    { name: 'needs user and group where it names both', rule: 'users: [bob], userGroups: [devs]', want: false },
    { name: 'matches a verb', rule: 'verbs: [list, get]', want: true },
    { name: 'does not match another verb', rule: 'verbs: [list]', want: false },
    { name: 'matches a namespace', rule: 'namespaces: [a]', want: true },
    { name: 'does not match another namespace', rule: 'namespaces: [b]', want: false },
    {
      name: "takes '' for cluster scope",
      rule: 'namespaces: [""]',
      given: { namespace: '', resource: 'nodes' },
      want: true,
    },
    { name: 'matches a whole group', rule: 'resources: [{group: ""}]', want: true },
    { name: 'does not match another group', rule: 'resources: [{group: apps}]', want: false },
    { name: 'matches a resource', rule: 'resources: [{group: "", resources: [pods]}]', want: true },
    {
      name: 'does not mean sub-resources by the resource',
      rule: 'resources: [{group: "", resources: [pods]}]',
      given: { subresource: 'log' },
      want: false,
    },
    {
      name: 'matches a sub-resource',
      rule: 'resources: [{group: "", resources: [pods/log]}]',
      given: { subresource: 'log' },
      want: true,
    },
    {
      name: 'matches all sub-resources of a resource',
      rule: 'resources: [{group: "", resources: [pods/*]}]',
      given: { subresource: 'log' },
      want: true,
    },
    {
      name: 'matches a sub-resource of all resources',
      rule: 'resources: [{group: "", resources: ["*/status"]}]',
      given: { subresource: 'status' },
      want: true,
    },
    { name: 'matches a name', rule: 'resources: [{group: "", resources: [pods], resourceNames: [p]}]', want: true },
    {
      name: 'does not match another name',
      rule: 'resources: [{group: "", resources: [pods], resourceNames: [q]}]',
      want: false,
    },
    { name: 'about resources does not match paths', rule: 'resources: [{group: ""}]', given: health, want: false },
    { name: 'about paths does not match resources', rule: 'nonResourceURLs: ["*"]', want: false },
    { name: 'matches a path', rule: 'nonResourceURLs: [/healthz/ping]', given: health, want: true },
    { name: 'matches the beginning of a path', rule: 'nonResourceURLs: [/healthz*]', given: health, want: true },
    { name: 'does not match part of a path', rule: 'nonResourceURLs: [/healthz]', given: health, want: false },
  ])('$name', ({ rule, given, want }) => {
    const policy = parseAuditPolicy(policyOf(`{level: Request${rule && `, ${rule}`}}`))
    expect(policy.decide({ ...pods, ...given }).level).toBe(want ? 'Request' : 'None')
  })

  test('that matches first decides, and its stages and flag join those of the policy', () => {
    const policy = parseAuditPolicy(`
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: Metadata, verbs: [get], omitStages: [Panic], omitManagedFields: false}
- {level: RequestResponse}`)
    const first = policy.decide(pods)
    expect(first).toMatchObject({ level: 'Metadata', omitManagedFields: false })
    expect([...first.omitStages]).toEqual(['RequestReceived', 'Panic'])
    expect(policy.decide({ ...pods, verb: 'list' })).toMatchObject({
      level: 'RequestResponse',
      omitManagedFields: true,
    })
  })
})

test('the default policy records changes and reads of secrets without bodies, and no probes', () => {
  const policy = parseAuditPolicy(defaultAuditPolicy)
  expect(policy.decide({ ...pods, resource: 'secrets', verb: 'create' }).level).toBe('Metadata')
  expect(policy.decide({ ...pods, resource: 'secrets' }).level).toBe('Metadata')
  expect(policy.decide(health).level).toBe('None')
  expect(policy.decide({ ...health, path: '/metrics' }).level).toBe('Metadata')
})

describe('a policy file is refused', () => {
  test.each([
    { name: 'that is no YAML', given: '{', want: /not YAML/ },
    { name: 'of another kind', given: '{apiVersion: v1, kind: Pod}', want: /unknown field|expected apiVersion/ },
    { name: 'without rules', given: '{apiVersion: audit.k8s.io/v1, kind: Policy}', want: /at least one/ },
    { name: 'with an unknown level', given: policyOf('{level: All}'), want: /rules\[0\]\.level/ },
    { name: 'with a misspelt field', given: policyOf('{level: None, user: [a]}'), want: /unknown field "user"/ },
    { name: 'with an unknown stage', given: policyOf('{level: None, omitStages: [Later]}'), want: /omitStages/ },
    {
      name: 'with paths and resources in one rule',
      given: policyOf('{level: None, resources: [{group: ""}], nonResourceURLs: [/x]}'),
      want: /can't stand with/,
    },
    {
      name: 'with a star inside a path',
      given: policyOf('{level: None, nonResourceURLs: [/a*b]}'),
      want: /have \* only last/,
    },
    {
      name: 'with a version in a group',
      given: policyOf('{level: None, resources: [{group: apps/v1}]}'),
      want: /without a version/,
    },
    {
      name: 'in two documents',
      given: `${policyOf('{level: None}')}\n---\n${policyOf('{level: Metadata}')}`,
      want: /^it holds several YAML documents, and only one is read$/,
    },
    {
      name: 'with names of no resource',
      given: policyOf('{level: None, resources: [{group: "", resourceNames: [a]}]}'),
      want: /needs resources/,
    },
  ])('$name', ({ given, want }) => {
    expect(() => parseAuditPolicy(given)).toThrow(want)
  })
})
