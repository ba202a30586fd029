/** Which templates are for which namespaces. Pure. */
import {
  type LabelSelector,
  labelSelectorOf,
  matchesLabels,
  nothing,
  validateLabelSelector,
} from '../../kube/label-selector.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { findLevelBeyond, findUnknownIn } from './feature-level.ts'
import {
  applyAnnotation,
  creatorKey,
  featureLevelAnnotation,
  type NamespaceMatch,
  type NamespaceTemplate,
  optedOutNamespace,
  optOutAnnotation,
  ownerKey,
  pauseRolloutAnnotation,
} from './types.ts'

/** All that is asked of a namespace: it may be one that nothing has validated. */
type Named = Pick<KubeObject, 'metadata'>

export function isOptedOut(namespace: Named): boolean {
  return namespace.metadata.name === optedOutNamespace || namespace.metadata.annotations?.[optOutAnnotation] === 'true'
}

/** Mistyped, a stop must stop all the same. What is being deleted is not held: `maxPrune` guards that. */
export function isRolloutPaused({ metadata }: NamespaceTemplate): boolean {
  const said = metadata.annotations?.[pauseRolloutAnnotation] ?? ''
  return said !== '' && said !== 'false' && metadata.deletionTimestamp === undefined
}

export function isDisabled(template: NamespaceTemplate): boolean {
  return template.metadata.annotations?.[applyAnnotation] === 'disable'
}

export function creatorOf(namespace: Named): string | undefined {
  return namespace.metadata.annotations?.[creatorKey]
}

/** Named when it was created; until then, and without a word, its creator. */
export function ownerOf(namespace: Named): string | undefined {
  return namespace.metadata.annotations?.[ownerKey] ?? creatorOf(namespace)
}

/** A template with its selectors parsed. */
export interface Matcher {
  readonly template: NamespaceTemplate
  /**
   * Does it select the namespace; opting out and disabling not considered. One whose name the server is still to make
   * is selected by every name: it waits, and is let go with its name.
   */
  selects(namespace: Named): boolean
  /** The version that is in force while this one reaches no namespace (`held-version.ts`). */
  readonly held?: Matcher | undefined
}

/** As it is now, and as it is in force. */
export const templatesIn = ({ template, held }: Matcher): readonly NamespaceTemplate[] =>
  held === undefined ? [template] : [template, held.template]

/** The version that is for the namespace, opting out and disabling not considered; undefined = none of the template. */
export function versionFor(matcher: Matcher, namespace: Named): Matcher | undefined {
  const isDeleted = matcher.template.metadata.deletionTimestamp !== undefined
  if (!isDeleted && matcher.selects(namespace)) return matcher
  return matcher.held?.selects(namespace) ? matcher.held : undefined
}

export function compileMatcher(template: NamespaceTemplate): Matcher {
  const wanted = template.spec?.namespaces ?? {}
  const labels = labelsOf(wanted)
  const include = (wanted.nameSelector?.include ?? []).map(glob)
  const exclude = (wanted.nameSelector?.exclude ?? []).map(glob)
  const users = (wanted.creatorSelector?.users ?? []).map(glob)
  const accounts = (wanted.creatorSelector?.serviceAccounts ?? []).map(glob)
  return {
    template,
    selects(namespace) {
      const name = nameOf(namespace.metadata)
      if (!matchesLabels(labels, namespace.metadata.labels)) return false
      if (name !== '' && include.length > 0 && !include.some((matches) => matches(name))) return false
      if (name !== '' && exclude.some((matches) => matches(name))) return false
      if (wanted.creatorSelector === undefined) return true
      return selectsCreator(creatorOf(namespace), users, accounts)
    },
  }
}

/**
 * One that can't be read selects nothing, and `findBeyond` tells it: where no webhook answered when it was written it
 * is stored all the same, and must not keep other templates from being read.
 */
function labelsOf({ labelSelector = {} }: NamespaceMatch): LabelSelector {
  return validateLabelSelector(labelSelector, '').length > 0 ? nothing : labelSelectorOf(labelSelector)
}

type Glob = (text: string) => boolean

export const serviceAccountPrefix = 'system:serviceaccount:'

function selectsCreator(creator: string | undefined, users: readonly Glob[], accounts: readonly Glob[]): boolean {
  if (creator === undefined) return false
  if (users.some((matches) => matches(creator))) return true
  if (!creator.startsWith(serviceAccountPrefix)) return false
  const account = creator.slice(serviceAccountPrefix.length).replace(':', '/')
  return accounts.some((matches) => matches(account))
}

/**
 * `*` any run of characters, `?` any one. Matched by hand in linear steps per star: a pattern of a user must not be
 * able to make a regular expression backtrack for ever.
 */
export function glob(pattern: string): (text: string) => boolean {
  return (text) => {
    let p = 0
    let t = 0
    let star = -1
    let resume = 0
    while (t < text.length) {
      if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t]) && pattern[p] !== '*') {
        p++
        t++
      } else if (pattern[p] === '*') {
        star = p++
        resume = t
      } else if (star >= 0) {
        p = star + 1
        t = ++resume
      } else {
        return false
      }
    }
    while (pattern[p] === '*') p++
    return p === pattern.length
  }
}

/** Templates that populate the namespace, in the order in which they do. */
export function selectTemplates(matchers: Iterable<Matcher>, namespace: Named): NamespaceTemplate[] {
  if (isOptedOut(namespace)) return []
  const selected: NamespaceTemplate[] = []
  for (const matcher of matchers) {
    if (isDisabled(matcher.template)) continue
    const version = versionFor(matcher, namespace)
    if (version !== undefined) selected.push(version.template)
  }
  return selected.sort((a, b) => (nameOf(a.metadata) < nameOf(b.metadata) ? -1 : 1))
}

/**
 * Templates that a change of a namespace takes it out of. Neither opting out nor disabling a template is looked at:
 * both leave what is there, and both can be taken back, so a namespace that left meanwhile would lose it then.
 */
export function selectTemplatesLeft(matchers: Iterable<Matcher>, next: Named, old: Named): NamespaceTemplate[] {
  if (next.metadata.name === optedOutNamespace) return []
  return [...matchers].flatMap((matcher) => {
    const left = versionFor(matcher, old)
    return left === undefined || versionFor(matcher, next) !== undefined ? [] : [left.template]
  })
}

/** Specs are never changed: an edit brings another. */
const unknownIn = new WeakMap<object, { readonly unknown: string | undefined }>()

/** Why this version can't tell what the template gives, in words that follow `the template`; undefined = it can. */
export function findBeyond(template: NamespaceTemplate): string | undefined {
  if (template.metadata.annotations?.[featureLevelAnnotation] !== undefined) {
    const beyond = findLevelBeyond(template)
    if (beyond !== undefined) return beyond
  }
  const { spec } = template
  if (spec === undefined) return undefined
  let found = unknownIn.get(spec)
  if (found === undefined) {
    found = { unknown: findUnknownIn(spec) }
    unknownIn.set(spec, found)
  }
  return found.unknown
}
