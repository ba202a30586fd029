/**
 * Create. The order is upstream's (SEMANTICS of a create, v1.36):
 *
 *   clean metadata → track fields → mutating admission → uid, time, name → prepare → validate → validating admission
 *   → [what admission adds to it] → decide and commit
 *
 * So a refusal by mutating admission is answered before one by validation, and both before AlreadyExists.
 * @see k8s.io/apiserver/pkg/registry/rest/create.go, pkg/endpoints/handlers/create.go v0.36
 */
import { alreadyExists, StatusError } from '../kube/status-error.ts'
import { parseStored } from '../kube/stored-form.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { Entry } from '../storage/storage.ts'
import { createWithOthers } from './create-also.ts'
import type { RegistryParts } from './parts.ts'
import { admitNew, commitNew, type HowToCreate, hasVersion, validateForCreate } from './prepare-create.ts'
import type { StoredObject, WriteScope } from './registry.ts'
import { storedAs } from './written-version.ts'

/** As upstream: a name with five random characters that is taken eight times in a row is no accident. */
const generatedNameTries = 8
const generatedBaseLength = 58

/**
 * Takes `object` over. `tracked`: its managedFields are right already (server-side apply).
 * @throws StatusError
 */
export async function createObject(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject | Unvalidated,
  tracked = false,
): Promise<StoredObject> {
  const how: HowToCreate = {
    now: formatTime(parts.clock.now()),
    deadlineMs: parts.clock.monotonic() + parts.giveUpAfterMs,
    tracked,
    versioned: hasVersion(object),
  }
  const next = await admitNew(parts, scope, object, how)
  const { metadata } = next
  const generateName = metadata.name ? '' : (metadata.generateName ?? '')
  for (let tries = 1; ; tries++) {
    if (generateName !== '') {
      metadata.name = generateName.slice(0, generatedBaseLength) + parts.ids.nameSuffix()
    }
    const name = metadata.name ?? ''
    const valid = await validateForCreate(parts, scope, next, how)
    const others = parts.chain.createAlso(valid.attributes)
    const created = { scope, valid, how }
    const outcome = await (others.length > 0 ? createWithOthers(parts, created, others) : commitNew(parts, created))
    if (outcome.done) {
      return storedAs(scope, name, scope.dryRun ? 0 : outcome.revision, outcome.value)
    }
    if (generateName === '') throw nameTaken(scope, name, outcome.current)
    if (tries >= generatedNameTries) throw noUniqueName(scope, name)
  }
}

function nameTaken(scope: WriteScope, name: string, current: Entry | undefined): StatusError {
  const error = alreadyExists(scope.type, name)
  if (!current || !parseStored(current.value, scope.type, current.revision).metadata.deletionTimestamp) return error
  return new StatusError(`object is being deleted: ${error.message}`, {
    reason: 'AlreadyExists',
    ...(error.details ? { details: error.details } : {}),
  })
}

function noUniqueName(scope: WriteScope, name: string): StatusError {
  const { message, details } = alreadyExists(scope.type, name)
  return new StatusError(`${message}, the server was not able to generate a unique name for the object`, {
    reason: 'AlreadyExists',
    details: { ...details, retryAfterSeconds: 1 },
  })
}
