/** What a server says one may do in a namespace, as rows of a table: what is treated alike is one of them. */
import type { PolicyRule } from '../../../kube/rbac.ts'

/** The status of a SelfSubjectRulesReview. A server without RBAC may leave out any of it. */
export interface RulesAnswer {
  readonly resourceRules?: readonly PolicyRule[] | null
  readonly nonResourceRules?: readonly PolicyRule[] | null
  /** There may be more than the rules say: an authorizer can't list what it allows, or failed. */
  readonly incomplete?: boolean
  readonly evaluationError?: string
}

export interface OwnRule {
  readonly key: string
  /** `configmaps, pods` */
  readonly resources: string
  /** `core, apps`, `any group` */
  readonly groups: string
  readonly verbs: string
  readonly names: string
}

/** The verbs of the API in the order in which people think of them; others follow by name. */
const usualVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

interface Held {
  readonly resource: string
  readonly groups: string
  readonly names: string
  readonly verbs: Set<string>
}

/** Costs what the answer is long: groups of a rule are told together, not each with each of its resources. */
export function ownRules(rules: readonly PolicyRule[]): readonly OwnRule[] {
  const held = new Map<string, Held>()
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [] } of rules) {
    const groups = joined(apiGroups, groupWord, apiGroups.includes('*') ? 'any group' : undefined)
    const names = resourceNames.length === 0 ? 'any' : joined(resourceNames, quoted)
    for (const resource of resources) {
      const key = JSON.stringify([resource, groups, names])
      const known = held.get(key)
      if (known === undefined) held.set(key, { resource, groups, names, verbs: new Set(verbs) })
      else for (const verb of verbs) known.verbs.add(verb)
    }
  }
  const alike = new Map<string, Held[]>()
  for (const one of held.values()) {
    const key = JSON.stringify([one.groups, one.names, verbsText(one.verbs)])
    const others = alike.get(key)
    if (others === undefined) alike.set(key, [one])
    else others.push(one)
  }
  return [...alike].map(([key, list]) => rowOfAlike(key, list)).sort((a, b) => compare(sortKey(a), sortKey(b)))
}

function rowOfAlike(key: string, list: readonly Held[]): OwnRule {
  const [{ groups, names, verbs } = { groups: '', names: '', verbs: new Set<string>() }] = list
  const resources = list.map(({ resource }) => resource)
  return { key, resources: joined(resources, resourceWord), groups, verbs: verbsText(verbs), names }
}

const joined = (all: readonly string[], word: (one: string) => string, instead?: string): string =>
  instead ?? [...new Set(all)].sort(compare).map(word).join(', ')

const groupWord = (group: string): string => (group === '' ? 'core' : group)
const resourceWord = (resource: string): string => (resource === '*' ? 'everything' : resource)
/** An object may be named `any`, which is no leave to touch all. */
const quoted = (name: string): string => (name === 'any' ? '"any"' : name)

function verbsText(verbs: ReadonlySet<string>): string {
  if (verbs.has('*')) return 'anything'
  const others = [...verbs].filter((verb) => !usualVerbs.includes(verb)).sort(compare)
  return [...usualVerbs.filter((verb) => verbs.has(verb)), ...others].join(', ')
}

/** Everything first, then what is of all names, and what the API has for its own questions last. */
const sortKey = ({ resources, groups, names }: OwnRule): string =>
  [/^everything\b/.test(resources) ? 0 : isOfReviews(groups) ? 2 : 1, names === 'any' ? 0 : 1, resources].join(' ')

const isOfReviews = (groups: string): boolean => /^auth(?:orization|entication)\.k8s\.io$/.test(groups)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** What the server itself says of how far this can be relied on; undefined: it is all. */
export function shortfall({ incomplete = false, evaluationError = '' }: RulesAnswer): string | undefined {
  if (!incomplete && evaluationError === '') return undefined
  return incomplete
    ? 'The server says that this is incomplete: you may be allowed more than it can list.'
    : 'The server could not evaluate all rules: you may be allowed more.'
}

/** `/healthz, /version and 3 more` */
export function pathsText(rules: readonly PolicyRule[], most = 6): string {
  const paths = [...new Set(rules.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs))].sort(compare)
  const more = paths.length - most
  return paths.slice(0, most).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en')} more` : '')
}
