/** Waits for a namespace that is being made ready, or deleted. */
import type { Client } from '../../client/client.ts'
import { objectStates } from '../../client/object-states.ts'
import { type Namespace, namespaceResource } from './types.ts'

/** Resolves when it is neither, or does not exist. @throws StatusError; the reason of `signal` */
export async function awaitSettled(client: Client, name: string, signal: AbortSignal): Promise<void> {
  for await (const object of objectStates(client, namespaceResource, name, signal)) {
    if (object === undefined || isSettled(object as Namespace)) return
  }
}

const isSettled = ({ metadata, spec }: Namespace): boolean =>
  metadata.deletionTimestamp === undefined && spec?.initializers === undefined
