/** The identities that ask, and the policy: names say what an identity is, `policy` alone says what it may. */
import type { Binding, Role } from '../../src/kube/rbac.ts'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  group,
  role,
  roleBinding,
  serviceAccount,
  user,
} from '../support/fake-rbac-source.ts'

/** Namespaces: most identities have rights in the first; one of other tenants, one that initializes, a missing one. */
export const mine = 'zqmine'
export const theirs = 'zqtheirs'
export const young = 'zqyoung'
export const nowhere = 'zqnowhere'

export interface User {
  readonly username: string
  readonly groups: readonly string[]
}

export interface Identity extends User {
  /** What a finding calls it. */
  readonly name: string
  /** Absent: no credentials are sent. Of a service account it is asked of the server. */
  readonly token?: string
  /** Whom the `Impersonate-*` headers name. */
  readonly as?: User
}

const known = 'system:authenticated'
const account = (namespace: string, name: string): User => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, known],
})

function someone(name: string, groups: readonly string[] = [], username: string = name): Identity {
  return { name, username, groups: [...groups, known], token: `token-of-${name.replaceAll(' ', '-')}` }
}

export const administrator: Identity = someone('administrator', ['system:masters'])
export const creator: Identity = someone('creator')
const owner = someone('owner')
const ruler = someone('ruler')
const member = someone('member', ['devs'])
const impersonator = someone('impersonator')

export const accounts: readonly { readonly namespace: string; readonly name: string }[] = [
  { namespace: theirs, name: 'robot' },
  { namespace: mine, name: 'robot' },
]

const acting = (by: Identity, name: string, username: string, groups: readonly string[] = []): Identity => ({
  ...by,
  name: `${by.name} as ${name}`,
  as: { username, groups },
})

export const identities: readonly Identity[] = [
  { name: 'anonymous', username: 'system:anonymous', groups: ['system:unauthenticated'] },
  someone('stranger'),
  creator,
  someone('viewer'),
  someone('editor'),
  owner,
  ruler,
  someone('author'),
  someone('initializer'),
  member,
  // Names that are nearly those that have rights, and names that have them as something else.
  someone('look-alike', ['Devs', 'devs ', 'owner', 'System:Masters'], 'Owner'),
  someone('called like a group', [], 'devs'),
  { name: 'account of theirs', ...account(theirs, 'robot'), token: 'asked' },
  { name: 'account of mine', ...account(mine, 'robot'), token: 'asked' },
  someone('looker of own'),
  someone('reader of one name'),
  someone('reader'),
  someone('lister'),
  someone('watcher'),
  someone('changer'),
  someone('without sub-resources'),
  someone('with sub-resources alone'),
  someone('bound to nothing'),
  administrator,
  impersonator,
  acting(impersonator, 'owner', owner.username),
  acting(impersonator, 'apprentice of devs', 'apprentice', ['devs']),
  acting(impersonator, 'owner in masters', owner.username, ['system:masters']),
  acting(impersonator, 'owner in devs and masters', owner.username, ['devs', 'system:masters']),
  acting(impersonator, 'administrator', administrator.username),
  acting(ruler, 'account of mine', account(mine, 'robot').username),
  acting(ruler, 'account of theirs', account(theirs, 'robot').username),
  acting(ruler, 'owner', owner.username),
  acting(someone('stranger'), 'owner', owner.username),
]

export const held = (namespace: string): string => `held-${namespace}`
export const other = (namespace: string): string => `other-${namespace}`

const all = allow('*', '*', '*')
const reads = allow('get,list,watch', '*', '*')

/** In the order in which it is to be made. */
export const policy: readonly (Role | Binding)[] = [
  clusterRoleBinding('zq-creator', 'borough:namespace-creator', user(creator.username)),
  roleBinding(young, 'zq-creator', 'ClusterRole/edit', user(creator.username)),
  ...(['view', 'edit', 'admin', 'cluster-admin'] as const).map((name, i) =>
    roleBinding(mine, `zq-${name}`, `ClusterRole/${name}`, user(['viewer', 'editor', 'owner', 'ruler'][i] ?? '')),
  ),
  clusterRoleBinding('zq-author', 'borough:template-author', user('author')),
  clusterRole('zq-initializer', allow('initialize,get,list,watch,update,patch', '', 'namespaces')),
  clusterRoleBinding('zq-initializer', 'zq-initializer', user('initializer')),
  role(mine, 'zq-devs', allow('get,list,watch', '*', 'configmaps,secrets,comets'), allow('get', '', 'pods/log')),
  roleBinding(mine, 'zq-devs', 'Role/zq-devs', group('devs')),
  roleBinding(theirs, 'zq-robot', 'ClusterRole/edit', serviceAccount('robot')),
  roleBinding(mine, 'zq-robot', 'ClusterRole/view', serviceAccount('robot', theirs)),
  role(mine, 'zq-look', allow('get', '', 'namespaces')),
  roleBinding(mine, 'zq-look', 'Role/zq-look', user('looker of own')),
  clusterRole('zq-look-at-young', allow('get', '', 'namespaces', young)),
  clusterRoleBinding('zq-look-at-young', 'zq-look-at-young', user('looker of own')),
  ...[mine, theirs].flatMap((namespace) => [
    role(namespace, 'zq-one', { ...all, resourceNames: [held(namespace), '*'] }),
    roleBinding(namespace, 'zq-one', 'Role/zq-one', user('reader of one name')),
  ]),
  clusterRole('zq-reader', reads),
  clusterRoleBinding('zq-reader', 'zq-reader', user('reader')),
  clusterRole('zq-lister', { ...reads, verbs: ['list', 'delete'] }, allow('list', '', 'namespaces')),
  clusterRoleBinding('zq-lister', 'zq-lister', user('lister')),
  clusterRole('zq-watcher', { ...reads, verbs: ['watch', 'deletecollection'] }),
  clusterRoleBinding('zq-watcher', 'zq-watcher', user('watcher')),
  clusterRole('zq-changer', { ...reads, verbs: ['update', 'create'] }),
  clusterRoleBinding('zq-changer', 'zq-changer', user('changer')),
  clusterRole('zq-plain', allow('*', ',apps,sky.io', 'pods,deployments,namespaces,nodes,serviceaccounts,comets,moons')),
  clusterRoleBinding('zq-plain', 'zq-plain', user('without sub-resources')),
  clusterRole('zq-parts', allow('*', '*', '*/status,*/scale,pods/exec')),
  clusterRoleBinding('zq-parts', 'zq-parts', user('with sub-resources alone')),
  roleBinding(mine, 'zq-nothing', 'Role/zq-none', user('bound to nothing')),
  clusterRole(
    'zq-impersonator',
    allow('impersonate', '', 'users', 'owner,apprentice'),
    allow('impersonate', '', 'groups', 'devs'),
  ),
  clusterRoleBinding('zq-impersonator', 'zq-impersonator', user('impersonator')),
]

/** As `--token-file` takes it: `token,user,uid,"group1,group2"`. */
export function tokenFileOf(all: readonly Identity[]): string {
  const lines = new Map<string, string>()
  for (const { token, username, groups } of all) {
    if (token === undefined || token === 'asked') continue
    const given = groups.filter((name) => name !== known)
    lines.set(token, `${token},${username},,"${given.join(',')}"`)
  }
  return `${[...lines.values()].join('\n')}\n`
}
