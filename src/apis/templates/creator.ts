/** Who created a namespace stands on it as an annotation, and as a label where the name makes a legal one. */
import type { Resumable } from '../../base/resumable.ts'
import { copyingMembers } from '../../kube/json-value.ts'
import { isLabelValue } from '../../kube/names.ts'
import type { JsonObject, Unvalidated } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { creatorKey } from './types.ts'

/** The user of this request is the creator, whatever the client says. */
export function* withCreator(namespace: Unvalidated, username: string): Resumable<Unvalidated> {
  const { labels, annotations } = namespace.metadata
  const isLegalLabel = isLabelValue(username).length === 0
  const marks = {
    labels: yield* marked(labels, isLegalLabel ? username : undefined),
    annotations: yield* marked(annotations, username),
  }
  return { ...namespace, metadata: { ...namespace.metadata, ...marks } }
}

/** The same object where nothing changes: what is changed goes through defaults once more. */
export function* keepCreator(
  next: Unvalidated,
  { metadata: old }: Pick<Namespace, 'metadata'>,
): Resumable<Unvalidated> {
  const { labels, annotations } = next.metadata
  const [label, annotation] = [old.labels?.[creatorKey], old.annotations?.[creatorKey]]
  const isLabelKept = labels?.[creatorKey] === label
  const isAnnotationKept = annotations?.[creatorKey] === annotation
  if (isLabelKept && isAnnotationKept) return next
  const marks = {
    ...(isLabelKept ? {} : { labels: yield* marked(labels, label) }),
    ...(isAnnotationKept ? {} : { annotations: yield* marked(annotations, annotation) }),
  }
  return { ...next, metadata: { ...next.metadata, ...marks } }
}

type Texts = Record<string, string>

function* marked(texts: Readonly<Texts> = {}, creator: string | undefined): Resumable<Texts> {
  const copy = (yield* copyingMembers(texts as JsonObject)) as Texts
  delete copy[creatorKey]
  if (creator !== undefined) copy[creatorKey] = creator
  return copy
}
