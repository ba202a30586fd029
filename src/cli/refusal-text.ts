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
import { shellWord, visibleText } from '../base/shell-text.ts'
import { type Paint, plain } from './colour.ts'

/** Things of a kind that are listed one by one. */
const listed = 10

export function refusalText(answer: AccessAnswer, paint: Paint = plain, isWide = false): string {
  const { allowed, reason, explanation } = answer
  const lines = allowed && reason !== '' ? [`  ${reason}`] : []
  if (answer.unservedSubresource) lines.push(subresourceNote(answer))
  if (!allowed && reason !== '') lines.push(`The server says: ${reason}`)
  if (explanation) append(lines, explain(answer, explanation, isWide ? Number.POSITIVE_INFINITY : listed))
  // Names of users, roles and bindings may hold anything; in commands they are quoted.
  const head = paint(allowed ? 'good' : 'bad', visibleText(sentence(answer)))
  return `${[head, ...lines.map(visibleText)].join('\n')}\n`
}

function sentence({ user, attributes: a, allowed }: AccessAnswer): string {
  const who = user.username === '' ? 'You' : user.username
  const may = `${who} ${allowed ? 'may' : 'may not'} ${a.verb}`
  if (a.path !== undefined) return `${may} ${a.path}.`
  const group = a.group === '' ? '' : `.${a.group}`
  const what = `${a.resource}${group}${a.subresource ? `/${a.subresource}` : ''}${a.name === '' ? '' : ` ${a.name}`}`
  const named = a.resource === 'namespaces' && a.group === '' && a.name !== ''
  return `${may} ${what}${named ? '' : a.namespace === '' ? ' at the cluster scope' : ` in namespace ${a.namespace}`}.`
}

/** `pods/web` is the name of an object to kubectl, and the sub-resource `web` here. */
function subresourceNote({ attributes: a }: AccessAnswer): string {
  if (a.path !== undefined) return ''
  const { resource, subresource } = a
  return (
    `The server serves no sub-resource ${JSON.stringify(subresource)} of ${resource}. ` +
    `If that is the name of an object, leave a blank before it: ${resource} ${subresource}`
  )
}

function explain(answer: AccessAnswer, explanation: RefusalExplanation, most: number): string[] {
  const { bindings, roles, suggested, broken, unread } = explanation
  const section = (title: string, items: readonly string[]): string[] => sectionOf(title, items, most)
  const role = ({ kind, name }: RoleName): string => `${kind} ${name}`
  const others = (b: OthersBinding): string => `${bindingName(b)} of ${role(b.role)}: ${toWhom(b)}`
  return [
    ...section(
      'Bindings of this user that refer to a role which is not there:',
      broken.map((b) => `${bindingName(b)} of ${role(b.role)}`),
    ),
    ...section('Bindings that allow it to others:', bindings.map(others)),
    ...section('Roles that allow it, narrowest first, those of the system last:', roles.map(role)),
    ...(bindings.length === 0 && roles.length === 0 && unread.length === 0 ? ['', 'No role allows it.'] : []),
    ...help(answer, suggested, unread),
    ...section(
      'Not read, so not considered:',
      unread.map((resource) => `${resource} (you may not list them)`),
    ),
  ]
}

function sectionOf(title: string, items: readonly string[], most: number): string[] {
  if (items.length === 0) return []
  const more = items.length > most ? [`  and ${items.length - most} more`] : []
  return ['', title, ...items.slice(0, most).map((item) => `  ${item}`), ...more]
}

/**
 * The command that binds a role which may be given for this; where there is none, the rule of one that gives this and
 * nothing else. Not where roles could not be read: there may be one.
 */
function help(answer: AccessAnswer, role: RoleName | undefined, unread: readonly string[]): string[] {
  if (answer.user.username === '') return []
  if (role) return ['', 'What helps:', `  ${command(answer, role)}`]
  return unread.length > 0 ? [] : ['', `What helps: ${roleFor(answer)}, bound to the user`, `  ${ruleFor(answer)}`]
}

const roleFor = ({ attributes: a }: AccessAnswer): string =>
  a.path !== undefined || a.namespace === ''
    ? 'a ClusterRole of this rule'
    : `a Role of this rule in namespace ${a.namespace}`

function ruleFor({ attributes: a }: AccessAnswer): string {
  if (a.path !== undefined) return JSON.stringify({ verbs: [a.verb], nonResourceURLs: [a.path] })
  // A rule with names never allows these: their requests name no object when they are authorized.
  const nameless = a.name === '' || a.verb === 'create' || a.verb === 'deletecollection'
  return JSON.stringify({
    verbs: [a.verb],
    apiGroups: [a.group],
    resources: [a.subresource ? `${a.resource}/${a.subresource}` : a.resource],
    ...(nameless ? {} : { resourceNames: [a.name] }),
  })
}

/** A command that binds a role to the user. */
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
