import { describe, expect, it } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  FakeRbacSource,
  role,
  roleBinding,
  user,
} from '../../../test/support/fake-rbac-source.ts'
import { faultsIn, statusOf } from '../../../test/support/refusal.ts'
import type { Attributes } from '../../admission/admission.ts'
import { RbacAuthorizer } from '../../authz/rbac-authorizer.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { PolicyRule } from '../../kube/rbac.ts'
import type { KubeObject } from '../../kube/types.ts'
import { mastersGroup, type UserInfo } from '../../kube/user.ts'
import type { Lister, StoredObject } from '../../registry/registry.ts'
import { policyAuthors } from './author-rights.ts'

const alice: UserInfo = { username: 'alice', uid: 'u1', groups: ['devs'], extra: { b: ['2', '3'], a: ['1'] } }
const printed = '&{alice u1 [devs] map[a:[1] b:[2 3]]}'
const { types } = loadCatalog()

interface Case {
  readonly name: string
  readonly resource: string
  /** What alice holds cluster-wide, and in the namespace `ns`. */
  readonly holds?: readonly PolicyRule[]
  readonly inNamespace?: readonly PolicyRule[]
  /** The param kind of the policy that is there, `null` for one without. */
  readonly policy?: object | null
  readonly old?: object
  readonly when: object
  readonly by?: UserInfo
  readonly want: string
}

const objectOf = (spec: object): KubeObject => ({ metadata: { name: 'x' }, spec })

async function decide({
  resource,
  holds = [],
  inNamespace = [],
  policy,
  old,
  when,
  by = alice,
}: Case): Promise<string> {
  const source = new FakeRbacSource()
  for (const object of [
    clusterRole('all', ...holds),
    clusterRoleBinding('all', 'all', user('alice')),
    role('ns', 'one', ...inNamespace),
    roleBinding('ns', 'one', 'Role/one', user('alice')),
  ]) {
    source.put(object)
  }
  const found = policy === undefined ? undefined : objectOf(policy === null ? {} : { paramKind: policy })
  const lister = { find: () => found && ({ object: found } as StoredObject) } as unknown as Lister
  const plugin = policyAuthors({ authorizer: new RbacAuthorizer(source, new FakeClock()), lister, types })
  const type = types.find({ group: 'admissionregistration.k8s.io', version: 'v1', resource })
  const operation = old ? 'UPDATE' : 'CREATE'
  if (!type || !plugin.handles(operation, type, '')) throw new Error('not handled')
  const attributes: Attributes = {
    operation,
    type,
    subresource: '',
    namespace: '',
    name: 'x',
    object: objectOf(when),
    oldObject: old && objectOf(old),
    user: by,
    dryRun: false,
    options: {},
    warn: () => undefined,
    annotate: () => undefined,
    caller: { signal: new AbortController().signal },
  }
  try {
    await plugin.validate?.(attributes)
    return 'allowed'
  } catch (error) {
    const body = statusOf(error)
    return faultsIn({ code: body.code ?? 0, body }, { group: type.group, kind: type.kind, name: 'x' }).join('\n')
  }
}

const secrets = { apiVersion: 'v1', kind: 'Secret' }
const mustGet =
  `spec.paramKind: Forbidden: user ${printed} must have "get" permission on all objects of the referenced ` +
  'paramKind (kind=Secret, apiVersion=v1)'
const mustRead = (verb: string): string =>
  `spec.paramRef: Forbidden: user ${printed} does not have "${verb}" permission on the object referenced by paramRef`
const unknown = (what: string): string =>
  `spec.paramRef: Forbidden: unable to ${what} to determine minimum required permissions and user ${printed} ` +
  'does not have "get" permission for all groups, versions and resources'
const named = { policyName: 'p', paramRef: { name: 's', namespace: 'ns' } }
const selected = { policyName: 'p', paramRef: { selector: {}, namespace: 'ns' } }

describe.each(['validating', 'mutating'])('the author of a %s policy', (kind) => {
  const resource = `${kind}admissionpolicies`
  const rows: readonly Omit<Case, 'resource'>[] = [
    { name: 'needs nothing without parameters', when: {}, want: 'allowed' },
    { name: 'must be able to get all of the kind', when: { paramKind: secrets }, want: mustGet },
    { name: 'may if so', holds: [allow('get', '', 'secrets')], when: { paramKind: secrets }, want: 'allowed' },
    {
      name: 'attack: gets one by name',
      holds: [allow('get', '', 'secrets', 's')],
      when: { paramKind: secrets },
      want: mustGet,
    },
    {
      name: 'attack: gets those of one namespace',
      inNamespace: [allow('get', '', 'secrets')],
      when: { paramKind: secrets },
      want: mustGet,
    },
    {
      name: 'attack: names a kind that is not served',
      holds: [allow('get', '', 'secrets')],
      when: { paramKind: { apiVersion: 'v1', kind: 'Secrets' } },
      want: mustGet.replace('kind=Secret,', 'kind=Secrets,'),
    },
    {
      name: 'that is not served is among all of the group',
      holds: [allow('get', 'ex.io', '*')],
      when: { paramKind: { apiVersion: 'ex.io/v1', kind: 'Later' } },
      want: 'allowed',
    },
    {
      name: 'is not asked about what is unchanged',
      old: { paramKind: secrets },
      when: { paramKind: { ...secrets } },
      want: 'allowed',
    },
    {
      name: 'is asked about what changes',
      old: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      when: { paramKind: secrets },
      want: mustGet,
    },
    {
      name: 'passes as a member of system:masters',
      by: { username: 'root', groups: [mastersGroup] },
      when: { paramKind: secrets },
      want: 'allowed',
    },
  ]
  it.each(rows)('$name', async (row) => {
    expect(await decide({ ...row, resource })).toBe(row.want)
  })
})

describe.each(['validating', 'mutating'])('the author of a binding of a %s policy', (kind) => {
  const resource = `${kind}admissionpolicybindings`
  const rows: readonly Omit<Case, 'resource'>[] = [
    { name: 'needs nothing without parameters', policy: secrets, when: { policyName: 'p' }, want: 'allowed' },
    { name: 'must be able to get the object', policy: secrets, when: named, want: mustRead('get') },
    {
      name: 'may if so, by name and in its namespace',
      inNamespace: [allow('get', '', 'secrets', 's')],
      policy: secrets,
      when: named,
      want: 'allowed',
    },
    {
      name: 'must be able to list what is selected',
      inNamespace: [allow('get', '', 'secrets')],
      policy: secrets,
      when: selected,
      want: mustRead('list'),
    },
    {
      name: 'may if so',
      inNamespace: [allow('list', '', 'secrets')],
      policy: secrets,
      when: selected,
      want: 'allowed',
    },
    {
      name: 'attack: without a namespace it is any',
      inNamespace: [allow('get', '', 'secrets')],
      policy: secrets,
      when: { policyName: 'p', paramRef: { name: 's' } },
      want: mustRead('get'),
    },
    {
      name: 'attack: the policy comes later',
      holds: [allow('get', '', 'secrets')],
      when: named,
      want: unknown('get policy p'),
    },
    {
      name: 'attack: its kind comes later',
      holds: [allow('get', '', 'secrets')],
      policy: { apiVersion: 'ex.io/v1', kind: 'Later' },
      when: named,
      want: unknown('resolve paramKind &{ex.io/v1 Later}'),
    },
    {
      name: 'may refer to anything who may read everything',
      holds: [allow('get', '*', '*')],
      when: named,
      want: 'allowed',
    },
    {
      name: 'of a policy without parameters must be able to read everything as well',
      holds: [allow('get', '', 'secrets')],
      policy: null,
      when: named,
      want: mustRead('get'),
    },
    { name: 'is not asked about what is unchanged', policy: secrets, old: named, when: named, want: 'allowed' },
    {
      name: 'is asked if the binding turns to another policy',
      policy: secrets,
      old: { ...named, policyName: 'q' },
      when: named,
      want: mustRead('get'),
    },
    {
      name: 'passes as a member of system:masters',
      by: { username: 'root', groups: [mastersGroup] },
      when: named,
      want: 'allowed',
    },
  ]
  it.each(rows)('$name', async (row) => {
    expect(await decide({ ...row, resource })).toBe(row.want)
  })
})
