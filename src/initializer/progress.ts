/**
 * What an initializer says of its work, in the words of condition `Initializing`, where `kubectl describe` shows it.
 */
import { type Namespace, namespaceResource } from '../apis/namespaces/types.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { isConflict, isNotFound } from '../kube/status-error.ts'
import { turnOf } from './turn.ts'

export interface ProgressOptions {
  readonly client: Client
  readonly namespace: Namespace
  readonly initializer: string
  readonly turn: string
  readonly log: Log
}

const maxMessageLength = 1024
const maxConflicts = 3

/** Writes the newest of what is said; what is said while it writes replaces what waits. Never rejects. */
export function progressReporter(options: ProgressOptions): (message: string) => Promise<void> {
  const { namespace, initializer, log } = options
  let wanted: string | undefined
  let writing: Promise<void> | undefined
  const writeAll = async (): Promise<void> => {
    try {
      while (wanted !== undefined) {
        const message = wanted
        wanted = undefined
        await write(options, message)
      }
    } catch (error) {
      log.warn({ error, initializer, namespace: namespace.metadata.name }, 'progress could not be reported')
    } finally {
      writing = undefined
    }
  }
  return (message) => {
    wanted = message
    return (writing ??= writeAll())
  }
}

async function write({ client, namespace, initializer, turn }: ProgressOptions, said: string): Promise<void> {
  const { name = '' } = namespace.metadata
  for (let conflicts = 0; ; conflicts++) {
    try {
      const current = (await client.get(namespaceResource, { name })) as Namespace
      if (turnOf(current, initializer) !== turn) return
      const conditions = current.status?.conditions ?? []
      const condition = conditions.find((c) => c.type === 'Initializing')
      const since = condition?.lastTransitionTime ?? current.metadata.creationTimestamp ?? ''
      // What the server says of its turn (since when, until when) stands before what was said of it last.
      const [turnText = ''] = (condition?.message ?? `Waiting for initializer ${initializer} since ${since}`).split(
        ': ',
      )
      const message = `${turnText}: ${said}`.slice(0, maxMessageLength)
      if (condition === undefined || condition.message === message) return
      const { resourceVersion } = current.metadata
      const next = conditions.map((c) => (c === condition ? { ...c, message } : c))
      const options = { subresource: 'status', fieldManager: initializer }
      await client.patch(
        namespaceResource,
        { name },
        { metadata: { resourceVersion }, status: { conditions: next } },
        options,
      )
      return
    } catch (error) {
      if (isNotFound(error)) return
      if (!isConflict(error) || conflicts >= maxConflicts) throw error
    }
  }
}
