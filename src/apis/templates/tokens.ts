/**
 * Tokens in the objects of a template: `$(CREATOR)`, `$(OWNER)`, `$(NAMESPACE)` and `$(name)` for each of its
 * parameters. They are replaced inside string values only, never in keys, and what they stand for is put in as text: a
 * value can't change the structure of an object. `$$(name)` is the text `$(name)`.
 *
 * Where Kubernetes itself expands `$(VAR)` (command, args, values of env, subPathExpr of containers) only known tokens
 * are replaced: the rest is of the container, the escape included. In what a token stands for each `$` is doubled
 * there, which is how Kubernetes escapes it.
 */
import { setMember } from '../../base/json-text.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'

export const namedTokens = ['CREATOR', 'OWNER', 'NAMESPACE'] as const

/** What each token stands for, by its name. */
export type Meanings = ReadonlyMap<string, string>

/** Spaces are part of the form, so that a token written with them is found to be wrong. */
const form = /(\$?)\$\((\s*[A-Za-z_][A-Za-z0-9_.-]*\s*)\)/g

/** Whether a text has the form of a token in it, known or not, escaped or not. */
export const hasToken = (text: string): boolean => text.includes('$(') && text.search(form) >= 0

/** Lists of containers, in whatever kind. */
const containerLists: ReadonlySet<string> = new Set(['containers', 'initContainers', 'ephemeralContainers'])

/** Where in an object a value stands, as far as it matters to tokens. */
export type Place = 'plain' | 'container' | 'env' | 'mount' | 'expanded' | 'env value'

/** The place of a field in an object that stands in `place`; items of a list stand where the list does. */
export function placeBelow(place: Place, key: string): Place {
  if (containerLists.has(key)) return 'container'
  if (place === 'container') {
    if (key === 'command' || key === 'args') return 'expanded'
    return key === 'env' ? 'env' : key === 'volumeMounts' ? 'mount' : 'plain'
  }
  if (place === 'env' && key === 'value') return 'env value'
  return place === 'mount' && key === 'subPathExpr' ? 'expanded' : 'plain'
}

/** Kubernetes expands `$(VAR)` there. */
export const isExpanded = (place: Place): boolean => place === 'expanded' || place === 'env value'

export interface FoundToken {
  readonly name: string
  readonly isEscaped: boolean
}

export const tokensIn = (text: string): FoundToken[] =>
  text.includes('$(')
    ? [...text.matchAll(form)].map(([, escape, name = '']) => ({ name, isEscaped: escape !== '' }))
    : []

export function replaceTokens(text: string, meanings: Meanings, place: Place = 'plain'): string {
  if (!text.includes('$(')) return text
  // Each token once, in one pass: what a token stands for is not looked at again.
  return text.replace(form, (found: string, escape: string, name: string) => {
    if (escape !== '') return isExpanded(place) ? found : found.slice(1)
    const meaning = meanings.get(name)
    if (meaning === undefined) return found
    // The kubelet would look at it again, and put the value of another variable (a password) in its place.
    return place !== 'plain' && isExpanded(place) ? meaning.replaceAll('$', '$$$$') : meaning
  })
}

/** Say of what kind an object is. Taken as they stand in the template. */
export const identifyingFields = ['apiVersion', 'kind'] as const

/** An object of a template with its tokens replaced. */
export function substituteIn(source: JsonObject, meanings: Meanings): JsonObject {
  const object = substitute(source, meanings, 'plain') as JsonObject
  for (const key of identifyingFields) if (source[key] !== undefined) object[key] = source[key]
  return object
}

function substitute(value: JsonValue, meanings: Meanings, place: Place): JsonValue {
  if (typeof value === 'string') return replaceTokens(value, meanings, place)
  if (Array.isArray(value)) return value.map((v) => substitute(v, meanings, place))
  if (typeof value !== 'object' || value === null) return value
  const next: JsonObject = {}
  for (const [key, v] of Object.entries(value)) {
    const meant = substitute(v, meanings, placeBelow(place, key))
    // Else checks would find in it what is not stored.
    if (key === '__proto__') setMember(next, key, meant)
    else next[key] = meant
  }
  return next
}

export interface TextInObject {
  readonly text: string
  readonly path: readonly (string | number)[]
  readonly place: Place
  /** A key, and not a value. */
  readonly isKey: boolean
}

/** Every text of a value, keys included. */
export function* textsIn(
  value: JsonValue | undefined,
  path: readonly (string | number)[] = [],
  place: Place = 'plain',
): Generator<TextInObject> {
  if (typeof value === 'string') yield { text: value, path, place, isKey: false }
  else if (Array.isArray(value)) for (const [i, v] of value.entries()) yield* textsIn(v, [...path, i], place)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, v] of Object.entries(value)) {
      yield { text: key, path, place, isKey: true }
      yield* textsIn(v, [...path, key], placeBelow(place, key))
    }
  }
}
