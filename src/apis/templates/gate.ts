/**
 * What keeps others out of a new namespace until its templates have been applied. On Borough that is the first of its
 * initializers; on other clusters, which know none, a label that the webhook puts on and that selects the namespace for
 * the webhook which holds writes back.
 */
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceTemplateInitializer } from '../initializers/types.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { pendingLabel } from './types.ts'

/** It waits for us: we are first in its list. */
export function isGateShut(namespace: Namespace): boolean {
  return opening(namespace) !== undefined
}

/** A new namespace as it is once we are done; undefined = it does not wait for us, or not only by its list. */
export function withGateOpen(namespace: Namespace): Namespace | undefined {
  const { metadata, spec } = namespace
  const [first, ...pending] = spec?.initializers?.pending ?? []
  if (first?.name !== namespaceTemplateInitializer || metadata.labels?.[pendingLabel] !== undefined) return undefined
  return { ...namespace, spec: { ...spec, initializers: { ...spec?.initializers, pending } } }
}

/** Opens it, if it is our turn. */
export async function openGate(client: Client, seen: Namespace, signal: AbortSignal): Promise<void> {
  let namespace = seen
  for (;;) {
    const patch = opening(namespace)
    if (patch === undefined) return
    const { uid } = namespace.metadata
    const name = nameOf(namespace.metadata)
    try {
      await client.patch(namespaceResource, { name }, patch, { signal })
      return
    } catch (error) {
      if (isNotFound(error)) return
      if (!isConflict(error)) throw error
      namespace = (await client.get(namespaceResource, { name }, { signal })) as Namespace
      if (namespace.metadata.uid !== uid) return
    }
  }
}

/** As it is once we have opened it, whatever else it waits for. */
export function openedGate(namespace: Namespace): Namespace {
  const { metadata, spec } = namespace
  const labels = tellingLabels(namespace)
  const pending = spec?.initializers?.pending ?? []
  const left = pending[0]?.name === namespaceTemplateInitializer ? pending.slice(1) : pending
  return {
    ...namespace,
    metadata: { ...metadata, ...(labels === undefined ? {} : { labels }) },
    ...(spec?.initializers === undefined
      ? {}
      : { spec: { ...spec, initializers: { ...spec.initializers, pending: left } } }),
  }
}

/** As a merge patch; undefined when nothing of ours shuts it. */
function opening({ metadata, spec }: Namespace): object | undefined {
  const { resourceVersion, labels } = metadata
  const pending = spec?.initializers?.pending ?? []
  const isOurTurn = pending[0]?.name === namespaceTemplateInitializer
  const isLabelled = labels?.[pendingLabel] !== undefined
  if (!isOurTurn && !isLabelled) return undefined
  return {
    metadata: { resourceVersion, ...(isLabelled ? { labels: { [pendingLabel]: null } } : {}) },
    ...(isOurTurn ? { spec: { initializers: { pending: pending.slice(1) } } } : {}),
  }
}

/** Labels without the gate's own: what says which templates are for the namespace. */
export function tellingLabels({ metadata }: KubeObject): Readonly<Record<string, string>> | undefined {
  if (metadata.labels?.[pendingLabel] === undefined) return metadata.labels
  const { [pendingLabel]: _, ...labels } = metadata.labels
  return labels
}

/**
 * Gates that this process opened, until its watch tells of it. Till then its picture shows a namespace as new that
 * clients use already. What is new is given the newest version at once: past the rollout and its `maxPrune`, while all
 * templates are paused, and without a look at whose Roles are there.
 */
export class OpenedGates {
  /** Name → uid. */
  readonly #opened = new Map<string, string>()

  /** The namespace, at least as open as it was left. */
  asLeft(namespace: Namespace): Namespace {
    const { uid } = namespace.metadata
    const name = nameOf(namespace.metadata)
    const isKnown = isGateShut(namespace) && this.#opened.get(name) === uid
    return isKnown ? openedGate(namespace) : namespace
  }

  /** `seen`: the picture of it after the gate was opened. */
  opened({ name = '', uid = '' }: Namespace['metadata'], seen: Namespace | undefined): void {
    if (seen?.metadata.uid === uid && isGateShut(seen)) this.#opened.set(name, uid)
  }

  /** The picture has changed. */
  changed(name: string, next: Namespace | undefined): void {
    const isAwaited = next !== undefined && isGateShut(next) && next.metadata.uid === this.#opened.get(name)
    if (!isAwaited) this.#opened.delete(name)
  }
}
