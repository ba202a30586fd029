import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  FakeRbacSource,
  group,
  role,
  roleBinding,
  user,
} from '../../../test/support/fake-rbac-source.ts'
import { failure, statusOf } from '../../../test/support/refusal.ts'
import { threadMs } from '../../../test/support/thread-time.ts'
import type { Attributes } from '../../admission/admission.ts'
import { RbacAuthorizer } from '../../authz/rbac-authorizer.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import type { ClusterRole, PolicyRule, Role } from '../../kube/rbac.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { rbacAdmission } from './admission.ts'
import { escalationRefusal } from './escalation.ts'
import { maxPermissions } from './rule-cover.ts'

const alice: UserInfo = { username: 'alice', groups: ['devs', 'system:authenticated'] }
const group_ = 'rbac.authorization.k8s.io'

function typeOf(object: KubeObject): ResourceType {
  const kind = object.kind ?? ''
  const type = {
    group: group_,
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced: !kind.startsWith('Cluster'),
  }
  return type as unknown as ResourceType
}

interface Case {
  readonly name: string
  /** What alice holds: the rules of a ClusterRole bound to her cluster-wide. */
  readonly holds?: readonly PolicyRule[]
  /** More of the world. */
  readonly given?: readonly KubeObject[]
  readonly old?: KubeObject
  readonly when: KubeObject
  readonly by?: UserInfo
  readonly want: 'allowed' | string
}

async function decide({ holds = [], given = [], old, when, by = alice }: Case): Promise<string> {
  const source = new FakeRbacSource()
  const roles = new Map<string, Role>()
  const all = [clusterRole('held', ...holds), clusterRoleBinding('held', 'held', user('alice')), ...given]
  for (const object of all) {
    source.put(object)
    if (object.kind?.endsWith('Role')) roles.set(`${object.metadata.namespace ?? ''}/${object.metadata.name}`, object)
  }
  const authorizer = new RbacAuthorizer(source, new FakeClock())
  const plugin = rbacAdmission({ authorizer, findRole: (ns, name) => roles.get(`${ns}/${name}`) })
  const type = typeOf(when)
  const operation = old ? 'UPDATE' : 'CREATE'
  if (!plugin.handles(operation, type, '')) throw new Error('not handled')
  const attributes: Attributes = {
    operation,
    type,
    subresource: '',
    namespace: when.metadata.namespace ?? '',
    name: when.metadata.name ?? '',
    object: when,
    oldObject: old,
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
    const status = statusOf(error)
    const { message, code = 0 } = status
    const [, kind = '', name = ''] = /^(\w+)\.\S+ "(.*?)"/.exec(message ?? '') ?? []
    const reason = code === 404 ? 'NotFound' : 'Forbidden'
    expect(status).toEqual(failure({ message: message ?? '', reason, details: { name, group: group_, kind }, code }))
    return `${code} ${message}`
  }
}

const refusal = (subject: string, ...rules: string[]): string =>
  `403 ${subject} is forbidden: user "alice" (groups=["devs" "system:authenticated"]) is attempting to grant ` +
  `RBAC permissions not currently held:\n${rules.join('\n')}`
const withMeta = <T extends KubeObject>(object: T, more: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...more },
})
const aggregating = (name: string): ClusterRole => ({
  ...clusterRole(name),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
})

const cases: readonly Case[] = [
  {
    name: 'a role of rules that the writer holds is fine',
    holds: [allow('get,list', '', 'pods,secrets')],
    when: role('ns', 'r', allow('get', '', 'pods')),
    want: 'allowed',
  },
  {
    name: 'attack: a ClusterRole with more than the writer holds',
    when: clusterRole('esc', allow('get', '', 'pods')),
    want: refusal(`clusterroles.${group_} "esc"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
  },
  {
    name: 'what is missing is told one rule a line, sorted, with the verbs together',
    holds: [allow('get', '', 'pods')],
    when: clusterRole('esc', allow('get,list,watch', '', 'secrets,pods'), allow('get', 'apps', 'deployments', 'a,b'), {
      verbs: ['get'],
      nonResourceURLs: ['/x'],
    }),
    want: refusal(
      `clusterroles.${group_} "esc"`,
      '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
      '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}',
      '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["b"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ),
  },
  {
    name: 'attack: a star where the writer holds single verbs',
    holds: [allow('get,list,watch,create,update,patch,delete,deletecollection', '', 'pods')],
    when: role('ns', 'r', allow('*', '', 'pods')),
    want: refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'),
  },
  {
    name: 'attack: all objects where the writer holds one by name',
    holds: [allow('get', '', 'secrets', 'mine')],
    when: role('ns', 'r', allow('get', '', 'secrets')),
    want: refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
  },
  {
    name: 'attack: a sub-resource of what the writer holds',
    holds: [allow('create', '', 'pods')],
    when: role('ns', 'r', allow('create', '', 'pods/exec')),
    want: refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["pods/exec"], Verbs:["create"]}'),
  },
  {
    name: 'attack: the kind of a CRD that happens to be called like one the writer holds',
    holds: [allow('get', 'ex.io', 'secrets')],
    when: role('ns', 'r', allow('get', '', 'secrets')),
    want: refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
  },
  {
    name: '*/scale covers a scale',
    holds: [allow('get', 'apps', '*/scale')],
    when: role('ns', 'r', allow('get', 'apps', 'deployments/scale')),
    want: 'allowed',
  },
  {
    name: 'all names cover one',
    holds: [allow('get', '', 'secrets')],
    when: role('ns', 'r', allow('get', '', 'secrets', 'mine')),
    want: 'allowed',
  },
  {
    name: 'a path prefix covers what is below',
    holds: [{ verbs: ['get'], nonResourceURLs: ['/apis/*'] }],
    when: clusterRole('r', { verbs: ['get'], nonResourceURLs: ['/apis/apps', '/apis/a/*'] }),
    want: 'allowed',
  },
  {
    name: 'rights inside a namespace may be passed on there',
    given: [role('ns', 'own', allow('get', '', 'pods')), roleBinding('ns', 'own', 'Role/own', group('devs'))],
    when: role('ns', 'r', allow('get', '', 'pods')),
    want: 'allowed',
  },
  {
    name: 'attack: rights inside a namespace passed on elsewhere',
    given: [role('ns', 'own', allow('get', '', 'pods')), roleBinding('ns', 'own', 'Role/own', group('devs'))],
    when: role('other', 'r', allow('get', '', 'pods')),
    want: refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
  },
  {
    name: 'verb escalate on the role lifts the check',
    holds: [allow('escalate', group_, 'roles', 'r')],
    when: role('ns', 'r', allow('*', '*', '*')),
    want: 'allowed',
  },
  {
    name: 'but for that role alone',
    holds: [allow('escalate', group_, 'roles', 'other')],
    when: role('ns', 'r', allow('get', '', 'pods')),
    want: refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
  },
  {
    name: 'system:masters may write anything',
    by: { username: 'root', groups: ['system:masters'] },
    when: clusterRole('r', allow('*', '*', '*')),
    want: 'allowed',
  },
  {
    name: 'attack: a label on a role that its writer could not write',
    old: clusterRole('r', allow('get', '', 'pods')),
    when: withMeta(clusterRole('r', allow('get', '', 'pods')), {
      labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' },
    }),
    want: refusal(`clusterroles.${group_} "r"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
  },
  {
    name: 'the garbage collector may change finalizers and owners',
    old: withMeta(clusterRole('r', allow('get', '', 'pods')), { finalizers: ['x/y'], resourceVersion: '1' }),
    when: withMeta(clusterRole('r', allow('get', '', 'pods')), {
      resourceVersion: '1',
      managedFields: [{ manager: 'gc' }],
    }),
    want: 'allowed',
  },
  {
    name: 'attack: a rule smuggled in with a finalizer',
    old: withMeta(clusterRole('r'), { finalizers: ['x/y'] }),
    when: clusterRole('r', allow('get', '', 'pods')),
    want: refusal(`clusterroles.${group_} "r"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
  },
  {
    name: 'attack: gathering what others will add',
    holds: [allow('get,list,create,update', '*', '*')],
    when: aggregating('r'),
    want: `403 clusterroles.${group_} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  },
  {
    name: 'who holds everything may gather',
    holds: [allow('*', '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }],
    when: aggregating('r'),
    want: 'allowed',
  },
  {
    name: 'attack: editing a role that gathers',
    old: aggregating('r'),
    when: clusterRole('r'),
    want: `403 clusterroles.${group_} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  },
  {
    name: 'a binding to a role whose rules the writer holds is fine',
    holds: [allow('get', '', 'pods')],
    given: [role('ns', 'r', allow('get', '', 'pods'))],
    when: roleBinding('ns', 'b', 'Role/r', user('bob')),
    want: 'allowed',
  },
  {
    name: 'attack: binding oneself to more',
    given: [clusterRole('cluster-admin', allow('*', '*', '*'))],
    when: clusterRoleBinding('b', 'cluster-admin', user('alice')),
    want: refusal(`clusterrolebindings.${group_} "b"`, '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'),
  },
  {
    name: 'verb bind on the role lifts the check',
    holds: [allow('bind', group_, 'clusterroles', 'edit')],
    given: [clusterRole('edit', allow('*', '*', '*'))],
    when: roleBinding('ns', 'b', 'ClusterRole/edit', user('bob')),
    want: 'allowed',
  },
  {
    name: 'attack: bind on a Role used for the ClusterRole of that name',
    holds: [allow('bind', group_, 'roles', 'edit')],
    given: [clusterRole('edit', allow('get', '', 'pods'))],
    when: roleBinding('ns', 'b', 'ClusterRole/edit', user('bob')),
    want: refusal(`rolebindings.${group_} "b"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'),
  },
  {
    name: 'a binding to a missing role is 404',
    when: roleBinding('ns', 'b', 'Role/gone', user('bob')),
    want: `404 roles.${group_} "gone" not found`,
  },
  {
    name: 'unless the writer may bind it',
    holds: [allow('bind', group_, 'roles')],
    when: roleBinding('ns', 'b', 'Role/gone', user('bob')),
    want: 'allowed',
  },
  {
    name: 'missing roles of the writer are told',
    given: [clusterRoleBinding('lost', 'gone', user('alice'))],
    when: role('ns', 'r', allow('get', '', 'pods')),
    want:
      `${refusal(`roles.${group_} "r"`, '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}')}; resolution ` +
      `errors: [clusterrole.${group_} "gone" not found]`,
  },
]

describe('writing roles and bindings', () => {
  test.each(cases)('$name', async (given) => {
    expect(await decide(given)).toBe(given.want)
  })

  test('deleting, sub-resources and other kinds are not its business', () => {
    const authorizer = new RbacAuthorizer(new FakeRbacSource(), new FakeClock())
    const plugin = rbacAdmission({ authorizer, findRole: () => undefined })
    const type = typeOf(clusterRole('r'))
    expect(plugin.handles('DELETE', type, '')).toBe(false)
    expect(plugin.handles('UPDATE', type, 'status')).toBe(false)
    expect(plugin.handles('CREATE', { ...type, group: 'ex.io' }, '')).toBe(false)
    expect(plugin.handles('UPDATE', type, '')).toBe(true)
  })

  test('attack: a role made to be compared for ever is refused at once', () => {
    const authorizer = new RbacAuthorizer(new FakeRbacSource(), new FakeClock())
    const many = Array.from({ length: 400 }, (_, i) => `x${i}`)
    const rule = { verbs: many, apiGroups: many, resources: many }
    const began = threadMs()
    expect(escalationRefusal(authorizer, alice, '', [rule])).toContain(`at most ${maxPermissions}`)
    expect(threadMs() - began).toBeLessThan(1000)
  })

  describe('attack: a user with very many rules', () => {
    const bound = (count: number, rule: (i: number) => PolicyRule): RbacAuthorizer => {
      const source = new FakeRbacSource()
      source.put(clusterRole('many', ...Array.from({ length: count }, (_, i) => rule(i))))
      source.put(clusterRoleBinding('many', 'many', user('alice')))
      return new RbacAuthorizer(source, new FakeClock())
    }
    const list = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

    test('is compared with many wanted ones within a second', () => {
      const authorizer = bound(10_000, (i) => ({ ...allow('get', '', 'pods'), resourceNames: [`n${i}`] }))
      const wanted = { ...allow('get', '', 'pods'), resourceNames: list('other', 24_000) }
      const began = threadMs()
      const refusal = escalationRefusal(authorizer, alice, '', [wanted])
      expect(threadMs() - began).toBeLessThan(1000)
      const told = refusal?.split('\n') ?? []
      expect([told.length, told[1], told.at(-1)]).toEqual([
        1002,
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["other0"], Verbs:["get"]}',
        'and more',
      ])
    })

    test('is refused where even looking at them takes too long', () => {
      const names = list('n', 60_000)
      const authorizer = bound(10, () => ({ ...allow('get', '', 'pods'), resourceNames: names }))
      expect(escalationRefusal(authorizer, alice, '', [allow('get', '', 'pods')])).toBe(
        'your own permissions are too many to compare with: at most 500000',
      )
    })
  })
})
