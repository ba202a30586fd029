/** Whether a template is rendered differently after a change of a namespace's labels and annotations. Pure. */
import type { KubeObject } from '../../kube/types.ts'
import { resolveNameOnly } from './clones.ts'
import { wantedMetadata } from './namespace-metadata.ts'
import { identityOf, render } from './render.ts'
import type { NamespaceTemplate } from './types.ts'

type Named = Pick<KubeObject, 'metadata'>

/** Other objects by their conditions, other content by its parameters, other labels of the namespace itself. */
export const rendersDifferently = (template: NamespaceTemplate, next: Named, old: Named): boolean =>
  renderedOf(template, next) !== renderedOf(template, old)

function renderedOf(template: NamespaceTemplate, namespace: Named): string {
  const { objects, skipped } = render([template], namespace, resolveNameOnly)
  const { keys, unsettable } = wantedMetadata([template], namespace)
  return JSON.stringify([
    objects.map(({ object, config }) => [identityOf(object), config]),
    skipped.map(({ object, reason }) => [object, reason]),
    [...keys, ...unsettable].map(({ part, key, value }) => [part, key, value]),
  ])
}
