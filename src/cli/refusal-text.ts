/** Why a user may not do something, as a terminal shows it. */
import type { AccessAnswer } from '../apis/rbac/why-denied.ts'
import {
  bindingName,
  type OthersBinding,
  type RefusalExplanation,
  type RoleName,
  toWhom,
} from '../authz/explain-refusal.ts'
import { append } from '../base/append.ts'

/** Things of a kind that are listed one by one. */
const listed = 10

export function refusalText(answer: AccessAnswer): string {
  const { allowed, reason, explanation } = answer
  const lines = [`${sentence(answer)}${allowed && reason !== '' ? `\n  ${reason}` : ''}`]
  if (!allowed && reason !== '') lines.push(`The server says: ${reason}`)
  if (explanation) append(lines, explain(answer, explanation))
  return `${lines.join('\n')}\n`
}

function sentence({ user, attributes: a, allowed }: AccessAnswer): string {
  const who = user.username === '' ? 'You' : user.username
  const may = `${who} ${allowed ? 'may' : 'may not'} ${a.verb}`
  if (a.path !== undefined) return `${may} ${a.path}.`
  const group = a.group === '' ? '' : `.${a.group}`
  const what = `${a.resource}${group}${a.subresource ? `/${a.subresource}` : ''}${a.name === '' ? '' : ` ${a.name}`}`
  const itself = a.resource === 'namespaces' && a.group === ''
  return `${may} ${what}${itself ? '' : a.namespace === '' ? ' at the cluster scope' : ` in namespace ${a.namespace}`}.`
}

function explain(answer: AccessAnswer, { bindings, roles, broken, unread }: RefusalExplanation): string[] {
  const role = ({ kind, name }: RoleName): string => `${kind} ${name}`
  const others = (b: OthersBinding): string => `${bindingName(b)} of ${role(b.role)}: ${toWhom(b)}`
  const [narrowest] = roles
  return [
    ...section(
      'Bindings of this user that refer to a role which is not there:',
      broken.map((b) => `${bindingName(b)} of ${role(b.role)}`),
    ),
    ...section('Bindings that allow it to others:', bindings.map(others)),
    ...section('Roles that allow it, narrowest first:', roles.map(role)),
    ...(bindings.length === 0 && roles.length === 0 && unread.length === 0
      ? ['', 'No role allows it: one would have to be written.']
      : []),
    ...(narrowest && answer.user.username !== '' ? ['', 'What helps:', `  ${command(answer, narrowest)}`] : []),
    ...section(
      'Not read, so not considered:',
      unread.map((resource) => `${resource} (you may not list them)`),
    ),
  ]
}

function section(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  const more = items.length > listed ? [`  and ${items.length - listed} more`] : []
  return ['', title, ...items.slice(0, listed).map((item) => `  ${item}`), ...more]
}

/** A command that gives the narrowest role. */
function command({ user, attributes }: AccessAnswer, role: RoleName): string {
  const namespace = attributes.path === undefined ? attributes.namespace : ''
  const [kind, where] = namespace === '' ? ['clusterrolebinding', ''] : ['rolebinding', ` -n ${shellWord(namespace)}`]
  const [system, sort, home, account] = user.username.split(':')
  const isAccount = system === 'system' && sort === 'serviceaccount' && home && account
  const to = isAccount ? `--serviceaccount=${home}:${account}` : `--user=${user.username}`
  const name = `${role.name}-${isAccount ? account : user.username}`.replace(/[^A-Za-z0-9.-]+/g, '-')
  return (
    `kubectl create ${kind} ${shellWord(name)}${where} --${role.kind.toLowerCase()}=${shellWord(role.name)} ` +
    `${shellWord(to)}`
  )
}

/** Nothing that a shell would read as more than a word. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
