/**
 * Lists, in key order, at one revision. Pages come from the cache while nothing of the type has changed since the first
 * page; afterwards from the store's history.
 */
import { objectsPrefixOf } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { expired, type StatusError } from '../kube/status-error.ts'
import { isStorageError, prefixSpan, type Revision } from '../storage/storage.ts'
import type { Matches } from '../watch/shared-events.ts'
import { ObjectVersion } from '../watch/stored-object.ts'
import { type KeySpan, spanOf, type TypeCache } from '../watch/type-cache.ts'
import { decodeContinue, encodeContinue, latest } from './continue-token.ts'
import { checkListOptions, parseVersion } from './list-options.ts'
import type { RegistryParts } from './parts.ts'
import { waitForRevision } from './read-barrier.ts'
import type { ListPage, ListQuery, StoredObject } from './registry.ts'
import { type Selection, selectionOf } from './selection.ts'

/** What is examined at a time when a selector leaves gaps. */
const scanLength = 1000

const expiredToken =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

interface Page {
  readonly type: ResourceType
  readonly selection: Selection
  /** What is listed, and the prefix that its keys lose in tokens. */
  readonly span: KeySpan
  readonly prefix: string
  /** Infinity = all. */
  readonly limit: number
}

export async function listObjects(parts: RegistryParts, type: ResourceType, query: ListQuery): Promise<ListPage> {
  const { cache, clock } = parts
  checkListOptions(query)
  const selection = selectionOf(type, parts.strategyOf(type), query)
  const objects = cache.type(type.storageName)
  const { namespace } = selection.scope
  const prefix = namespace === '' ? '' : `${namespace}/`
  const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
  const whole = spanOf(namespace)

  if (query.continue) {
    const token = decodeContinue(query.continue)
    const page: Page = { type, selection, span: { start: prefix + token.start, end: whole.end }, prefix, limit }
    if (token.revision === latest) {
      await cache.refresh()
      return fromCache(objects, page, cache.revision)
    }
    try {
      return await at(parts, objects, page, token.revision)
    } catch (e) {
      throw isStorageError(e, 'compacted') ? tokenExpired(token.start) : e
    }
  }

  const revision = parseVersion(query.resourceVersion, 'list')
  const page: Page = { type, selection, span: whole, prefix, limit }
  if (revision === undefined) {
    await cache.refresh()
    return fromCache(objects, page, cache.revision)
  }
  if (revision === 0) return fromCache(objects, { ...page, limit: Number.POSITIVE_INFINITY }, cache.revision)
  const exact =
    query.resourceVersionMatch === 'Exact' || (!query.resourceVersionMatch && limit !== Number.POSITIVE_INFINITY)
  if (exact) return at(parts, objects, page, revision)
  await waitForRevision(cache, clock, revision)
  return fromCache(objects, page, cache.revision)
}

async function at(parts: RegistryParts, objects: TypeCache, page: Page, revision: Revision): Promise<ListPage> {
  await waitForRevision(parts.cache, parts.clock, revision)
  if (objects.lastChange <= revision) return fromCache(objects, page, revision)
  return fromStore(parts, page, revision)
}

function fromCache(objects: TypeCache, page: Page, revision: Revision): ListPage {
  const { type, selection, span, prefix, limit } = page
  const { scope, matches } = selection
  if (scope.name !== '' && (scope.namespace !== '' || !type.namespaced)) {
    const one = objects.find(scope.namespace, scope.name)
    const found = one && one.key >= span.start ? one.as(type) : undefined
    return { revision, items: found && (!matches || matches(found)) ? [found] : [] }
  }
  if (!matches) {
    const { values, more } = objects.collect(span, limit)
    const items = values.map((v) => v.as(type))
    const last = values[values.length - 1]
    if (!more || !last) return { revision, items }
    return {
      revision,
      items,
      continue: encodeContinue(revision, last.key.slice(prefix.length)),
      remainingItemCount: objects.count({ start: `${last.key}\0`, end: span.end }),
    }
  }
  let start = span.start
  const items: StoredObject[] = []
  for (;;) {
    const { values, more } = objects.collect(
      { start, end: span.end },
      limit === Number.POSITIVE_INFINITY ? limit : scanLength,
    )
    const full = take(values, type, matches, items, limit)
    if (full !== undefined) {
      const rest = more || full < values.length - 1
      return rest ? { revision, items, continue: tokenAfter(revision, values[full], prefix) } : { revision, items }
    }
    if (!more) return { revision, items }
    start = `${values[values.length - 1]?.key}\0`
  }
}

async function fromStore(parts: RegistryParts, page: Page, revision: Revision): Promise<ListPage> {
  const { type, selection, span, prefix, limit } = page
  const { scope } = selection
  const matches: Matches = (stored) =>
    (scope.name === '' || stored.name === scope.name) && (selection.matches === undefined || selection.matches(stored))
  const typePrefix = objectsPrefixOf(type.storageName)
  const end = prefixSpan(objectsPrefixOf(type.storageName, scope.namespace)).end
  const items: StoredObject[] = []
  let start = typePrefix + (span.start === '' ? '' : span.start)
  for (;;) {
    const { entries, more } = await parts.storage.range(
      { start, end },
      { at: revision, limit: Math.min(limit + 1, scanLength) },
    )
    const values = entries.map((e) => {
      const key = e.key.slice(typePrefix.length)
      const namespace = type.namespaced ? key.slice(0, key.indexOf('/')) : ''
      return new ObjectVersion(key, namespace, e.revision, e.value)
    })
    const full = take(values, type, matches, items, limit)
    if (full !== undefined) {
      const rest = more || full < values.length - 1
      return rest ? { revision, items, continue: tokenAfter(revision, values[full], prefix) } : { revision, items }
    }
    if (!more) return { revision, items }
    start = `${entries[entries.length - 1]?.key}\0`
  }
}

/** Adds what matches until there are `limit` items: then answers the index of the last one taken. */
function take(
  values: readonly ObjectVersion[],
  type: ResourceType,
  matches: Matches,
  items: StoredObject[],
  limit: number,
): number | undefined {
  for (const [i, value] of values.entries()) {
    const stored = value.as(type)
    if (!matches(stored)) continue
    items.push(stored)
    if (items.length === limit) return i
  }
  return undefined
}

const tokenAfter = (revision: Revision, last: ObjectVersion | undefined, prefix: string): string =>
  encodeContinue(revision, (last?.key ?? '').slice(prefix.length))

/** The client may go on from the same place, at the price of consistency. */
function tokenExpired(start: string): StatusError {
  return expired(expiredToken, encodeContinue(latest, start.endsWith('\0') ? start.slice(0, -1) : start))
}
