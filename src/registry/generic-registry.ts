/**
 * The registry, put together: one file per verb, one watch cache, one way to commit. Start reading at `create.ts`; what
 * all writes share is in `commits.ts`.
 */

import { andThen, type Eventual, isPending } from '../base/eventual.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { notFound } from '../kube/status-error.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import { AdmissionChain } from './admission-chain.ts'
import { CacheLister } from './cache-lister.ts'
import { Commits } from './commits.ts'
import { createObject } from './create.ts'
import { createMissing } from './create-missing.ts'
import { deleteCollection, deleteObject } from './delete.ts'
import { fromStorage, translate } from './errors.ts'
import { listObjects } from './list.ts'
import { parseVersion } from './list-options.ts'
import type { RegistryDeps, RegistryParts } from './parts.ts'
import { getProjected, listProjected, type SourceReads } from './projection.ts'
import { waitForRevision } from './read-barrier.ts'
import type {
  DeleteOptions,
  DeleteResult,
  Lister,
  ReadOptions,
  Registry,
  StoredObject,
  Transform,
  UpdateOptions,
  UpdateResult,
  WriteScope,
} from './registry.ts'
import { attributesOf } from './scope-attributes.ts'
import { convertWritten, toServedVersion } from './served-version.ts'
import { updateObject } from './update.ts'
import { watchObjects } from './watch.ts'

const defaultGiveUpAfterMs = 10_000

export function createRegistry(deps: RegistryDeps): Registry & { readonly lister: Lister } {
  const chain = new AdmissionChain(deps.admission, deps.accountants)
  const commits = new Commits({ ...deps, chain })
  const parts: RegistryParts = {
    ...deps,
    chain,
    commits,
    giveUpAfterMs: deps.giveUpAfterMs ?? defaultGiveUpAfterMs,
  }
  const reads: SourceReads = {
    get: (type, name, options) => getObject(parts, type, '', name, options),
    list: (type, query) => listObjects(parts, type, query),
  }
  return {
    lister: new CacheLister(deps.cache, deps.types),
    get(type, namespace, name, options) {
      try {
        const projection = parts.projections?.get(type)
        const found =
          projection === undefined
            ? getObject(parts, type, namespace, name, options)
            : getProjected(type, projection, reads, { namespace, name, options })
        return isPending(found) ? translate(found) : found
      } catch (error) {
        throw fromStorage(error)
      }
    },
    list(type, query) {
      const projection = parts.projections?.get(type)
      if (projection !== undefined) return translate(listProjected(type, projection, reads, query))
      return translate(listObjects(parts, type, query))
    },
    watch: (type, query) => translate(watchObjects(parts, type, query)),
    create: (scope, object) =>
      translate(
        scope.type.conversion === undefined
          ? createObject(parts, scope, object)
          : createAndConvert(parts, scope, object),
      ),
    admit: (scope, object, operation = 'CREATE') => translate(admitOnly(parts, scope, object, operation)),
    update: (scope, transform, options) => translate(updateAndConvert(parts, scope, transform, options)),
    delete: (scope, options) => translate(deleteAndConvert(parts, scope, options)),
    deleteCollection: (scope, query, options) => translate(deleteCollection(parts, scope, query, options)),
    writeRecords: (decide) => translate(commits.writeRecords(decide, parts.giveUpAfterMs)),
  }
}

async function admitOnly(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject | Unvalidated,
  operation: 'CREATE' | 'CONNECT',
): Promise<Unvalidated> {
  const given = unvalidated(object)
  const mutated = await parts.chain.mutate(attributesOf(scope, operation, scope.name, given, undefined))
  const admitted = mutated ?? given
  // No strategy validates what is only answered: who answers does. As upstream, admission is asked before.
  await parts.chain.validate(attributesOf(scope, operation, scope.name, assumeValid(admitted), undefined))
  return admitted
}

async function createAndConvert(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject | Unvalidated,
): Promise<StoredObject> {
  return convertWritten(await createObject(parts, scope, object), !scope.dryRun, scope.caller)
}

async function updateAndConvert(
  parts: RegistryParts,
  scope: WriteScope,
  transform: Transform,
  options: UpdateOptions | undefined,
): Promise<UpdateResult> {
  const result = await updateObject(parts, scope, transform, createMissing, options)
  const stored = convertWritten(result.stored, !result.removed && !scope.dryRun, scope.caller)
  return stored === result.stored ? result : { ...result, stored: await stored }
}

/** What is gone is told by name: no converter is asked how it looked. */
async function deleteAndConvert(
  parts: RegistryParts,
  scope: WriteScope,
  options: DeleteOptions,
): Promise<DeleteResult> {
  const result = await deleteObject(parts, scope, options)
  if (result.removed) return result
  const stored = convertWritten(result.stored, !scope.dryRun, scope.caller)
  return stored === result.stored ? result : { ...result, stored: await stored }
}

/** At once where nothing has to be waited for: mostly, on a store that this process alone writes to. */
function getObject(
  parts: RegistryParts,
  type: ResourceType,
  namespace: string,
  name: string,
  options: ReadOptions | undefined,
): Eventual<StoredObject> {
  return andThen(freshEnough(parts, options), () => {
    const completing = parts.beforeRead?.get(type)
    return completing === undefined ? find() : completing(name).then(find)
  })

  function find(): Eventual<StoredObject> {
    const found = parts.cache.type(type.storageName).find(namespace, name)
    if (!found) throw notFound(type, name)
    return toServedVersion(type, found, options)
  }
}

function freshEnough({ cache, clock }: RegistryParts, options: ReadOptions | undefined): Eventual<unknown> {
  const revision = parseVersion(options?.resourceVersion, 'get')
  if (revision !== undefined) return revision > 0 ? waitForRevision(cache, clock, revision, options ?? {}) : undefined
  return options?.caughtUp === true || cache.isFresh ? undefined : cache.refresh()
}
