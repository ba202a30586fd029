/**
 * Every path that the URL grammar makes of what discovery shows. A route is a question without its method, labelled
 * with its kind: the form of path, the sort of type, the place. Nothing here is a list of types.
 */
import { held, mine, nowhere, other, theirs, young } from './identities.ts'
import type { Facts, Question, ServedType } from './question.ts'

export interface Route extends Omit<Question, 'method' | 'watch'> {
  /** `named plain / namespaced / theirs` */
  readonly kind: string
}

const namespaces = [mine, theirs, young, nowhere]
const placeNames = new Map([
  [mine, 'mine'],
  [theirs, 'theirs'],
  [young, 'young'],
  [nowhere, 'missing'],
])

interface Place {
  readonly name: string
  readonly under?: string
  /** Of a cluster-scoped type: its name and that of an object, in front of everything. */
  readonly before: readonly string[]
}

interface Shape {
  readonly name: string
  /** After the resource. */
  readonly rest: readonly string[]
  readonly pinned?: string
}

export function routesOf(types: readonly ServedType[], facts: Facts): Route[] {
  const routes: Route[] = []
  for (const type of [...types, ...unservedTypes]) {
    for (const place of placesOf(type, types)) {
      for (const shape of shapesOf(type, place, facts)) {
        for (const legacy of [undefined, 'watch', 'list'] as const) {
          // The grammar knows `list/{resource}` and nothing longer.
          if (legacy === 'list' && (place.name !== 'cluster' || shape.rest.length > 0)) continue
          routes.push({
            kind: `${shape.name} ${legacy ?? 'plain'} / ${sortOf(type)} / ${place.name}`,
            ...(legacy ? { legacy } : {}),
            group: type.group,
            version: type.version,
            ...(place.under === undefined ? {} : { under: place.under }),
            parts: [...place.before, type.resource, ...shape.rest],
            ...(shape.pinned === undefined ? {} : { pinned: shape.pinned }),
          })
        }
      }
    }
  }
  return routes
}

/** How a route is asked: method, and whether as a watch. Legacy forms answer GET alone. */
export function asksOf({ legacy, kind }: Route): readonly Pick<Question, 'method' | 'watch'>[] {
  const isOdd = legacy !== undefined || /^(?:beyond|unknown)/.test(kind)
  const methods = isOdd ? ['GET', 'POST', 'DELETE'] : ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
  const plain = methods.map((method) => ({ method, watch: false }))
  return isOdd ? plain : [{ method: 'GET', watch: true }, ...plain]
}

/** As a path, with the options that this way of asking needs. */
export function pathOf({ legacy, group, version, under, parts, pinned, watch, method }: Question): string {
  const front = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const place = under === undefined ? '' : `/namespaces/${under}`
  const query = new URLSearchParams()
  if (pinned !== undefined) query.set('fieldSelector', `metadata.name=${pinned}`)
  if (watch) query.set('watch', 'true')
  const watches = legacy === 'watch' || (watch && parts.length === 1)
  if (watches && method === 'GET') {
    query.set('sendInitialEvents', 'true')
    query.set('resourceVersionMatch', 'NotOlderThan')
    query.set('allowWatchBookmarks', 'true')
  }
  // Nothing that is allowed changes anything.
  if (!['GET', 'HEAD', 'OPTIONS'].includes(method)) query.set('dryRun', 'All')
  const text = query.toString()
  return `${front}${legacy ? `/${legacy}` : ''}${place}/${parts.join('/')}${text === '' ? '' : `?${text}`}`
}

const unserved = { kind: 'Nothing', custom: false, verbs: [], subresources: new Map<string, readonly string[]>() }
const unservedTypes: readonly ServedType[] = [
  { ...unserved, group: '', version: 'v1', resource: 'nothings', namespaced: true },
  { ...unserved, group: 'apps', version: 'v9', resource: 'deployments', namespaced: true },
  { ...unserved, group: 'nobody.io', version: 'v1', resource: 'nothings', namespaced: false },
]

const isNamespaces = ({ group, resource }: ServedType): boolean => group === '' && resource === 'namespaces'

function sortOf(type: ServedType): string {
  if (isNamespaces(type)) return 'namespaces'
  if (type.verbs.length === 0) return 'unserved'
  const kept = type.verbs.includes('get') ? '' : ' review'
  return `${type.namespaced ? 'namespaced' : 'cluster-scoped'}${kept}`
}

function placesOf(type: ServedType, types: readonly ServedType[]): Place[] {
  const holder = types.find((t) => t.group === type.group && t.version === type.version && !t.namespaced)
  return [
    { name: 'cluster', before: [] },
    ...namespaces.map((under) => ({ name: placeNames.get(under) ?? '', under, before: [] })),
    { name: 'empty namespace', under: '', before: [] },
    // `namespaces/x/pods` is the namespaced form: what is meant are other types.
    ...(holder && !isNamespaces(holder) ? [{ name: 'cluster-scoped type', before: [holder.resource, mine] }] : []),
    ...(type.group === '' ? [{ name: 'cluster-scoped type', before: ['nodes', mine] }] : []),
  ]
}

function shapesOf(type: ServedType, place: Place, facts: Facts): Shape[] {
  const shapes: Shape[] = [{ name: 'collection', rest: [] }]
  for (const [label, name] of namesIn(type, place, facts)) {
    const suffix = label === '' ? '' : ` ${label}`
    shapes.push({ name: `pinned${suffix}`, rest: [], pinned: name }, { name: `named${suffix}`, rest: [name] })
    if (label !== '' && !isNamespaces(type)) continue
    const parts = [...type.subresources.keys()]
    for (const part of parts) shapes.push({ name: `part${suffix}`, rest: [name, part] })
    const part = parts[0] ?? 'status'
    shapes.push({ name: `beyond a part${suffix}`, rest: [name, part, 'deeper'] })
    // `namespaces/x/anything` is about a type of that name.
    if (!isNamespaces(type)) shapes.push({ name: 'unknown part', rest: [name, 'nothing'] })
  }
  return shapes
}

/** Label → name: of an object that is there, of another one, of one that is elsewhere. */
function namesIn(type: ServedType, { under }: Place, facts: Facts): [string, string][] {
  if (isNamespaces(type)) return namespaces.map((name) => [placeNames.get(name) ?? '', name])
  if (!type.namespaced) return [['', (type.verbs.includes('list') && facts.namesOf(type, '')[0]) || 'none']]
  const here = under === undefined || under === '' || under === nowhere ? theirs : under
  return [
    ['', held(here)],
    ['other', other(here)],
    ['elsewhere', held(here === mine ? theirs : mine)],
  ]
}
