/**
 * The permissions of an owner that matter to some wanted rules, found by what they name: a user may hold any number of
 * rules, and comparing each with each permission that is wanted would hold the event loop for minutes.
 */
import type { PolicyRule } from '../../kube/rbac.ts'

/** How much of the owner's rules is looked at, counted in their items and in single permissions. Our choice. */
export const maxHeldSteps = 500_000

/** Undefined: every object. */
type Names = Set<string> | undefined

interface PathRule {
  readonly verbs: ReadonlySet<string>
  readonly urls: readonly string[]
}

interface WantedItems {
  readonly verbs: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly resources: ReadonlySet<string>
  readonly names: ReadonlySet<string>
}

export class HeldPermissions {
  /** resource → group → verb → names */
  readonly #resources = new Map<string, Map<string, Map<string, Names>>>()
  readonly #paths: PathRule[] = []
  #steps = 0

  private constructor() {}

  /** Undefined: there is more than `maxSteps` to look at. */
  static of(held: readonly PolicyRule[], wanted: readonly PolicyRule[], maxSteps: number): HeldPermissions | undefined {
    const permissions = new HeldPermissions()
    const items = itemsOf(wanted)
    // What concerns every object comes first: `*` on everything, which administrators hold, ends the search.
    const wide = held.filter((rule) => (rule.resourceNames ?? []).length === 0)
    const narrow = held.filter((rule) => (rule.resourceNames ?? []).length > 0)
    for (const rule of wide) permissions.#addPaths(rule)
    for (const rules of [wide, narrow]) {
      for (const rule of rules) {
        if (permissions.#holdsEverything()) return permissions
        permissions.#addResources(rule, items, maxSteps)
        if (permissions.#steps > maxSteps) return undefined
      }
    }
    return permissions
  }

  /** What is held of `verb` on one resource: undefined for every object, else the names. */
  namesOf(group: string, resource: string, verb: string): readonly ReadonlySet<string>[] | undefined {
    const sets: ReadonlySet<string>[] = []
    for (const byGroup of found(this.#resources, spellingsOf(resource))) {
      for (const byVerb of found(byGroup, [group, '*'])) {
        for (const held of [verb, '*']) {
          if (!byVerb.has(held)) continue
          const names = byVerb.get(held)
          if (names === undefined) return undefined
          sets.push(names)
        }
      }
    }
    return sets
  }

  holdsPath(url: string, verb: string): boolean {
    return this.#paths.some(
      ({ verbs, urls }) => (verbs.has(verb) || verbs.has('*')) && urls.some((held) => coversUrl(held, url)),
    )
  }

  #holdsEverything(): boolean {
    const verbs = this.#resources.get('*')?.get('*')
    return verbs?.has('*') === true && verbs.get('*') === undefined
  }

  #addPaths({ verbs, nonResourceURLs: urls = [] }: PolicyRule): void {
    if (urls.length > 0) this.#paths.push({ verbs: new Set(verbs), urls })
  }

  #addResources(rule: PolicyRule, wanted: WantedItems, maxSteps: number): void {
    const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule
    this.#steps += verbs.length + apiGroups.length + resources.length + resourceNames.length
    if (this.#steps > maxSteps) return
    const groups = meeting(apiGroups, wanted.groups)
    const types = meeting(resources, wanted.resources)
    const actions = meeting(verbs, wanted.verbs)
    const names = resourceNames.length > 0 ? meeting(resourceNames, wanted.names) : undefined
    this.#steps += groups.length * types.length * actions.length * Math.max(1, names?.length ?? 1)
    if (this.#steps > maxSteps) return
    for (const resource of types) {
      const byGroup = entryOf(this.#resources, resource, () => new Map<string, Map<string, Names>>())
      for (const group of groups) {
        const byVerb = entryOf(byGroup, group, () => new Map<string, Names>())
        for (const verb of actions) addNames(byVerb, verb, names)
      }
    }
  }
}

function addNames(byVerb: Map<string, Names>, verb: string, names: readonly string[] | undefined): void {
  if (names === undefined) byVerb.set(verb, undefined)
  else if (!byVerb.has(verb)) byVerb.set(verb, new Set(names))
  else for (const name of names) byVerb.get(verb)?.add(name)
}

function itemsOf(wanted: readonly PolicyRule[]): WantedItems {
  const items = { verbs: new Set(['*']), groups: new Set(['*']), resources: new Set(['*']), names: new Set<string>() }
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } of wanted) {
    for (const verb of verbs) items.verbs.add(verb)
    for (const group of apiGroups) items.groups.add(group)
    for (const resource of resources) for (const spelling of spellingsOf(resource)) items.resources.add(spelling)
    for (const name of resourceNames) items.names.add(name)
  }
  return items
}

/** What a rule may call a resource: by its name, by a star, a sub-resource also by a star for its parent. */
function spellingsOf(resource: string): readonly string[] {
  const slash = resource.indexOf('/')
  return slash < 0 ? [resource, '*'] : [resource, '*', `*${resource.slice(slash)}`]
}

/** Each once. */
const meeting = (held: readonly string[], wanted: ReadonlySet<string>): string[] => [
  ...new Set(held.filter((item) => wanted.has(item))),
]

function found<T>(map: ReadonlyMap<string, T>, keys: readonly string[]): T[] {
  return keys.flatMap((key) => {
    const value = map.get(key)
    return value === undefined ? [] : [value]
  })
}

function entryOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  const there = map.get(key)
  if (there !== undefined) return there
  const made = make()
  map.set(key, made)
  return made
}

const coversUrl = (held: string, url: string): boolean =>
  held === url || (held.endsWith('*') && url.startsWith(held.slice(0, -1)))
