/**
 * The loop that every change of one existing object runs in: try on the version the cache shows; if another writer was
 * faster, again, in turn with the others; if it is refused, believe the refusal only of a cache that has caught up.
 */
import { StatusError } from '../kube/status-error.ts'
import type { ObjectVersion } from '../watch/stored-object.ts'
import { gaveUp } from './errors.ts'
import type { RegistryParts } from './parts.ts'
import type { WriteScope } from './registry.ts'
import { keyOf } from './scope-attributes.ts'

/**
 * `attempt` answers undefined for 'look again'; `version` undefined = there is none. Tries for `giveUpAfterMs`.
 * @throws StatusError ServerTimeout after that, and what `attempt` throws
 */
export async function untilSettled<T>(
  parts: RegistryParts,
  scope: WriteScope,
  operation: 'UPDATE' | 'DELETE',
  attempt: (version: ObjectVersion | undefined, deadlineMs: number) => Promise<T | undefined>,
): Promise<T> {
  const { type, namespace, name } = scope
  const deadlineMs = parts.clock.monotonic() + parts.giveUpAfterMs
  const objects = parts.cache.type(type.storageName)
  let caughtUp = false
  for (let tries = 0; ; tries++) {
    let version = objects.find(namespace, name)
    try {
      const result =
        tries === 0
          ? await attempt(version, deadlineMs)
          : await parts.commits.inTurn(keyOf(scope, name), () => {
              version = objects.find(namespace, name)
              return attempt(version, deadlineMs)
            })
      if (result !== undefined) return result
    } catch (e) {
      if (caughtUp || !(e instanceof StatusError)) throw e
      await parts.cache.refresh()
      caughtUp = true
      if (objects.find(namespace, name) === version) throw e
    }
    if (scope.caller.signal.aborted || parts.clock.monotonic() >= deadlineMs) throw gaveUp(operation, type.resource)
  }
}
