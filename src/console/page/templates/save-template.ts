/** The write of an edited template: what another author wrote meanwhile is not undone unseen. */
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import type { Client } from '../../../client/client.ts'
import { lastAppliedAnnotation } from '../../../kube/apply/last-applied.ts'
import { isAlreadyExists, isConflict, isNotFound, StatusError } from '../../../kube/status-error.ts'
import { type LostAnswer, writeOrLook } from '../lost-answer.ts'
import { textOf } from './template-text.ts'

/** Its status is written once a second while it rolls out. */
const mostTries = 20

/**
 * Where the answer is lost, what is stored says whether it was saved; where it is neither that nor what it was, another
 * author wrote it.
 * @param present what the edit began with; undefined = a new one
 * @throws StatusError Conflict, …; NotStored
 */
export function saveTemplate(
  client: Client,
  present: NamespaceTemplate | undefined,
  template: NamespaceTemplate,
  { clock, onLost }: Pick<LostAnswer<NamespaceTemplate>, 'clock' | 'onLost'>,
): Promise<NamespaceTemplate> {
  const { name = '' } = template.metadata
  const before = present?.metadata.name === name ? textOf(present) : ''
  return writeOrLook(() => write(client, present, template), {
    clock,
    ...(onLost === undefined ? {} : { onLost }),
    async look() {
      const now = await client.get(templateResource, { name }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      })
      const text = now === undefined ? '' : textOf(now)
      if (text === textOf(template)) return now
      if (text === before) return undefined
      throw new StatusError('another author wrote it while the connection was lost', { reason: 'Conflict' })
    },
  })
}

async function write(
  client: Client,
  present: NamespaceTemplate | undefined,
  template: NamespaceTemplate,
): Promise<NamespaceTemplate> {
  const { name = '' } = template.metadata
  if (present === undefined || present.metadata.name !== name) return client.create(templateResource, template)
  let seen = present
  for (let tries = 1; ; tries++) {
    const { uid, resourceVersion, finalizers, annotations } = seen.metadata
    // The text is without it, and `kubectl apply` needs it to know what it once set.
    const applied = annotations?.[lastAppliedAnnotation]
    const metadata = {
      ...template.metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(applied === undefined
        ? {}
        : { annotations: { [lastAppliedAnnotation]: applied, ...template.metadata.annotations } }),
    }
    try {
      return await client.update(templateResource, { ...template, metadata })
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error
      const now = await client.get(templateResource, { name })
      // Its status alone has changed.
      if (!saysTheSame(now, present)) throw error
      seen = now
    }
  }
}

/** What an author reads of it: its status, and what `kubectl apply` keeps there, may have changed. */
const saysTheSame = (a: NamespaceTemplate, b: NamespaceTemplate): boolean => textOf(a) === textOf(b)

/** What another author made of a template while it was edited. */
export interface SaveConflict {
  /** What the edit began with; empty for a new one. */
  readonly before: string
  /** What is stored now; empty where it was deleted. */
  readonly after: string
  readonly theirs: NamespaceTemplate | undefined
}

/** What stands in the way of a save that was refused; undefined = no other author. @throws StatusError */
export async function conflictOf(
  client: Client,
  present: NamespaceTemplate | undefined,
  { metadata: { name = '' } }: NamespaceTemplate,
  refusal: unknown,
): Promise<SaveConflict | undefined> {
  if (!isConflict(refusal) && !isAlreadyExists(refusal) && !isNotFound(refusal)) return undefined
  const before = present?.metadata.name === name ? textOf(present) : ''
  const theirs = await client.get(templateResource, { name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  const after = theirs === undefined ? '' : textOf(theirs)
  return after === before ? undefined : { before, after, theirs }
}
