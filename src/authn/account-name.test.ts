/** Names that stand for accounts and nodes, and names that only look like it. */
import { expect, test } from 'vitest'
import { nodeOf, serviceAccountOf } from './account-name.ts'
import { constrainedModes } from './constrained-impersonation.ts'
import type { WantedUser } from './wanted-user.ts'

test.each<{ username: string; account?: { namespace: string; name: string }; node?: string }>([
  { username: 'system:serviceaccount:ns:bot', account: { namespace: 'ns', name: 'bot' } },
  { username: 'system:serviceaccount:ns:a.bot', account: { namespace: 'ns', name: 'a.bot' } },
  { username: 'system:node:n1', node: 'n1' },
  ...[
    ...['alice', '', 'system:serviceaccount', 'system:serviceaccount:ns', 'system:serviceaccount:ns:'],
    ...['system:serviceaccount::bot', 'system:serviceaccount:ns:bot:x', 'system:serviceaccount:n.s:bot'],
    ...['system:serviceaccount:ns:Bot', 'other:serviceaccount:ns:bot', 'system:user:ns:bot', 'xsystem:node:n1'],
    ...['system:node:', 'system:node:N1', 'system:node:a:b'],
  ].map((username) => ({ username })),
])('$username', ({ username, account, node }) => {
  expect(serviceAccountOf(username)).toEqual(account)
  expect(nodeOf(username)).toBe(node)
})

const wanted = (username: string, more: Partial<WantedUser> = {}): WantedUser => ({
  ...{ username, uid: '', groups: [], extra: new Map() },
  ...more,
})
const nodeName = 'authentication.kubernetes.io/node-name'
const on = (...names: string[]) => ({
  ...{ username: 'system:serviceaccount:ns:agent', groups: [] },
  ...(names.length > 0 ? { extra: { [nodeName]: names } } : {}),
})
const bot = 'system:serviceaccount:ns:bot'

test.each<{ name: string; who: WantedUser; real?: ReturnType<typeof on>; modes: string[] }>([
  { name: 'a user', who: wanted('alice', { uid: 'u', groups: ['g'] }), modes: ['user-info'] },
  { name: 'an account', who: wanted(bot), modes: ['serviceaccount'] },
  { name: 'an account with a uid, which is the server’s to say', who: wanted(bot, { uid: 'u' }), modes: [] },
  { name: 'an account with groups', who: wanted(bot, { groups: ['g'] }), modes: [] },
  { name: 'an account with extras', who: wanted(bot, { extra: new Map([['a', ['b']]]) }), modes: [] },
  { name: 'a node', who: wanted('system:node:n1'), modes: ['arbitrary-node'] },
  { name: 'a node with a uid', who: wanted('system:node:n1', { uid: 'u' }), modes: [] },
  {
    name: 'a node, by an account on it',
    ...{ who: wanted('system:node:n1'), real: on('n1'), modes: ['associated-node', 'arbitrary-node'] },
  },
  {
    name: 'a node, by an account on another',
    who: wanted('system:node:n1'),
    real: on('n2'),
    modes: ['arbitrary-node'],
  },
  {
    name: 'a node, by one that names two',
    who: wanted('system:node:n1'),
    real: on('n1', 'n2'),
    modes: ['arbitrary-node'],
  },
  {
    name: 'a node, by a user who says to be on it',
    ...{ who: wanted('system:node:n1'), real: { ...on('n1'), username: 'alice' }, modes: ['arbitrary-node'] },
  },
])('ways to impersonate $name', ({ who, real = on(), modes }) => {
  expect(constrainedModes(who, real)).toEqual(modes)
})
