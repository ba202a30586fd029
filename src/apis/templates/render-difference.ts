/** Whether a template is rendered differently after a change of a namespace's labels and annotations. Pure. */
import { resolveNameOnly } from './clones.ts'
import type { Conditions } from './conditions.ts'
import { wantedMetadata } from './namespace-metadata.ts'
import { identityOf, render } from './render.ts'
import type { NamespaceTemplate } from './types.ts'

/**
 * Other objects by their conditions, other content by its parameters, other labels of the namespace itself; said by the
 * conditions of the namespace as it will be, and as it was.
 */
export const rendersDifferently = (template: NamespaceTemplate, next: Conditions, old: Conditions): boolean =>
  renderedOf(template, next) !== renderedOf(template, old)

function renderedOf(template: NamespaceTemplate, conditions: Conditions): string {
  const { namespace } = conditions
  const { objects, skipped } = render([template], namespace, resolveNameOnly, conditions)
  const { keys, unsettable } = wantedMetadata([template], namespace)
  return JSON.stringify([
    objects.map(({ object, config }) => [identityOf(object), config]),
    skipped.map(({ object, reason }) => [object, reason]),
    [...keys, ...unsettable].map(({ part, key, value }) => [part, key, value]),
  ])
}
