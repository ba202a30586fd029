/** Templates whose newest generation is on its way: what they select may change yet, though nothing fails there. */
import { useMemo } from 'preact/hooks'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { isOptedOut } from '../../../apis/templates/match.ts'
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import { useFeed } from '../use-cluster.ts'
import { matcherOf } from './matcher.ts'
import { isDisabled, progressOf } from './template-state.ts'

export interface Update {
  readonly template: string
  readonly generation: number
  readonly done: number
  readonly matched: number
}

export type UpdatesOf = (namespace: Namespace) => readonly Update[]

/** Of those that have reached all they select nothing is to come. */
export function updatesIn(templates: readonly NamespaceTemplate[]): UpdatesOf {
  const underWay = templates.flatMap((template) => {
    const { metadata, status } = template
    const { name = '', generation = 0 } = metadata
    const { matched, synced, skipped, extended, failed, waiting, underWay: begun } = progressOf(template)
    const isSeen = status?.observedGeneration === generation
    if (isDisabled(template) || (isSeen && waiting + begun === 0)) return []
    const done = isSeen ? synced + skipped + extended + failed : 0
    return [{ matches: matcherOf(template), update: { template: name, generation, done, matched } }]
  })
  return (namespace) =>
    underWay.length === 0 || isOptedOut(namespace)
      ? []
      : underWay.flatMap(({ matches, update }) => (matches.selects(namespace) ? [update] : []))
}

/** Undefined where the user may not read templates: then it can't be told. */
export function useUpdates(): UpdatesOf | undefined {
  const { objects, refused } = useFeed<NamespaceTemplate>({ resource: templateResource })
  return useMemo(() => (refused === undefined ? updatesIn(objects) : undefined), [objects, refused])
}
