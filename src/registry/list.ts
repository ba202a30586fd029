/**
 * Lists, in key order, at one revision. Pages show the first page's revision however the world moves on: from memory
 * while the window reaches back that far, afterwards from the store's history.
 */
import { isPending } from '../base/eventual.ts'
import type { Slice } from '../base/turns.ts'
import type { NameView } from '../kube/name-view.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { expired, type StatusError } from '../kube/status-error.ts'
import { endOfCommit, isStorageError, type Revision, StorageError } from '../storage/storage.ts'
import type { Matches } from '../watch/shared-events.ts'
import type { ObjectVersion } from '../watch/stored-object.ts'
import { type KeySpan, spanOf, type TypeCache } from '../watch/type-cache.ts'
import type { Versions } from '../watch/version-snapshot.ts'
import { decodeContinue, encodeContinue, latest } from './continue-token.ts'
import { readerLeft } from './errors.ts'
import { refuseFormerNamespace } from './former-namespace.ts'
import { checkListOptions, parseVersion } from './list-options.ts'
import { historySource, type ListSource, mostUndone, namedSource, pastSource, presentSource } from './list-source.ts'
import type { RegistryParts } from './parts.ts'
import { waitForRevision } from './read-barrier.ts'
import type { ListPage, ListQuery, StoredObject } from './registry.ts'
import { isLongSelection, type Selection, selectionOf } from './selection.ts'
import { toServedVersion, toServedVersions } from './served-version.ts'

const expiredToken =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
  'without the continue parameter, or use the continue token in this response to retrieve the remainder of ' +
  'the results. Continuing with the provided token results in an inconsistent list - objects that were ' +
  'created, modified, or deleted between the time the first chunk was returned and now may show up in the ' +
  'list.'

interface Page {
  readonly type: ResourceType
  readonly selection: Selection
  /** What is listed, in relative keys, and the prefix that they lose in tokens. */
  readonly span: KeySpan
  readonly prefix: string
  /** Infinity = all. */
  readonly limit: number
  readonly slice: Slice
  readonly signal: AbortSignal | undefined
  readonly outside: ListQuery['outside']
}

export async function listObjects(parts: RegistryParts, type: ResourceType, query: ListQuery): Promise<ListPage> {
  const { cache, clock } = parts
  checkListOptions(query)
  if (isLongSelection(query)) await parts.turns.begin()
  const selection = selectionOf(type, parts.strategyOf(type), query)
  const objects = cache.type(type.storageName)
  const { namespace } = selection.scope
  const prefix = namespace === '' ? '' : `${namespace}/`
  const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
  const whole = spanOf(namespace)
  const { view, signal, outside } = query
  const slice = query.slice ?? parts.turns.slice()
  const now = (page: Page): Promise<ListPage> => {
    const names = view?.names()
    return readPage(parts, named(presentSource(objects), names), within(page, view, names), cache.revision)
  }

  if (query.continue) {
    const token = decodeContinue(query.continue)
    const span = { start: prefix + token.start, end: whole.end }
    const page: Page = { type, selection, span, prefix, limit, slice, signal, outside }
    if (token.revision === latest) {
      await cache.refresh()
      return now(page)
    }
    try {
      return await readAt(parts, objects, page, token.revision, query)
    } catch (e) {
      throw isStorageError(e, 'compacted') ? tokenExpired(token.start) : e
    }
  }

  const revision = parseVersion(query.resourceVersion, 'list')
  const page: Page = { type, selection, span: whole, prefix, limit, slice, signal, outside }
  if (revision === undefined) {
    if (query.caughtUp !== true && !cache.isFresh) await cache.refresh()
    await parts.beforeRead?.get(type)?.('')
    return now(page)
  }
  if (revision === 0) return now({ ...page, limit: Number.POSITIVE_INFINITY })
  const exact = query.resourceVersionMatch ? query.resourceVersionMatch === 'Exact' : limit !== Number.POSITIVE_INFINITY
  if (exact) return readAt(parts, objects, page, revision, query)
  await waitForRevision(cache, clock, revision, query)
  return now(page)
}

async function readAt(
  parts: RegistryParts,
  objects: TypeCache,
  page: Page,
  revision: Revision,
  query: ListQuery,
): Promise<ListPage> {
  const { view } = query
  await waitForRevision(parts.cache, parts.clock, revision, query)
  // There never was a state between two writes of a commit: who asks for one gets, and is told, the whole.
  const at = endOfCommit(revision)
  await refuseFormerNamespace(parts, page.selection.scope.namespace, at)
  // Many may have waited for the same revision, and each undoes what has changed since.
  if (objects.lastChange > at) await parts.turns.begin()
  const source = sourceAt(parts, objects, page.type, at)
  if (!view) return readPage(parts, source, page, at)
  // Seen then and now: a page neither shows what the caller may not see any more, nor how something was before.
  const past = view.past(at)
  if (!past) throw new StorageError('compacted', 'what the caller could see then is forgotten')
  const names = view.names()?.filter((name) => past.sees(name))
  return readPage(parts, source.count ? named(source, names) : source, within(page, view, names), at)
}

const named = (source: ListSource, names: readonly string[] | undefined): ListSource =>
  names === undefined ? source : namedSource(source, names)

/** The page, with nothing on it but what the view shows. */
function within(page: Page, view: NameView | undefined, names: readonly string[] | undefined): Page {
  if (!view) return page
  const { matches } = page.selection
  const shown = names && new Set(names)
  const test: Matches = (stored) => (!shown || shown.has(stored.name)) && (!matches || matches(stored))
  return { ...page, selection: { ...page.selection, matches: test } }
}

function sourceAt(parts: RegistryParts, objects: TypeCache, type: ResourceType, revision: Revision): ListSource {
  if (objects.lastChange <= revision) return presentSource(objects)
  const changes = objects.history.since <= revision ? objects.history.after(revision) : undefined
  if (changes !== undefined && changes.length <= mostUndone) return pastSource(objects, changes)
  return historySource(parts.storage, type, revision)
}

/** @throws StatusError Timeout when the client has gone, so that work for it ends */
function checkReader({ signal }: Page): void {
  if (signal?.aborted) throw readerLeft()
}

async function readPage(parts: RegistryParts, source: ListSource, page: Page, revision: Revision): Promise<ListPage> {
  const { type, selection, span, limit } = page
  const { scope, matches } = selection
  if (scope.name !== '' && (scope.namespace !== '' || !type.namespaced)) {
    const version = await source.find(scope.namespace, scope.name)
    const one = version && (await toServedVersion(type, version, page))
    return { revision, items: one && (!matches || matches(one)) ? [one] : [] }
  }
  const remote = type.conversion?.remote !== undefined
  // To look into objects takes time, in which the present changes: it is read in one go before.
  const atOnce = matches ? Number.POSITIVE_INFINITY : limit
  const items: StoredObject[] = []
  let { start } = span
  for (;;) {
    const left = { start, end: span.end }
    // What another server shows of an object may have other labels than what is stored.
    const selected = remote || selection.labels.length === 0 ? undefined : source.select?.(left, selection.labels)
    const found = selected ?? source.read(left, atOnce)
    // The present answers at once; then nothing may come between the revision and what was read.
    const { values, more } = isPending(found) ? await found : found
    checkReader(page)
    const behind = more && !matches ? remainingAfter(source, span, values) : undefined
    const full = await take(values, remote ? await toServedVersions(type, [...values], page) : undefined, page, items)
    const last = values.at(full ?? -1)
    if (!last || (full === undefined && (!more || selected !== undefined))) return { revision, items }
    if (full !== undefined) {
      return more || full < values.length - 1 ? cut(page, revision, items, last, behind) : { revision, items }
    }
    start = `${last.key}\0`
  }
}

/** Objects that are taken between two looks at the time, where there is nothing to look at in them. */
const takenAtOnce = 256

/** Adds what matches until there are `limit` items: then answers the index of the last one taken. */
async function take(
  values: Versions,
  shown: readonly StoredObject[] | undefined,
  page: Page,
  items: StoredObject[],
): Promise<number | undefined> {
  const { type, limit, slice } = page
  const { matches } = page.selection
  let i = -1
  for (const value of values) {
    i++
    if (matches || i % takenAtOnce === takenAtOnce - 1) {
      const pause = slice.pause()
      if (pause) await pause
      if (pause) checkReader(page)
    }
    const stored = shown?.[i] ?? value.as(type)
    if (matches && !matches(stored)) continue
    items.push(stored)
    if (items.length === limit) return i
  }
  return undefined
}

/** How many there are behind these; undefined where counting would mean reading. */
function remainingAfter(source: ListSource, { end }: KeySpan, values: Versions): number | undefined {
  return source.count?.({ start: `${values.at(-1)?.key ?? ''}\0`, end })
}

/** A page that is not the last; `behind` it there are so many. */
function cut(
  page: Page,
  revision: Revision,
  items: readonly StoredObject[],
  last: ObjectVersion,
  behind: number | undefined,
): ListPage {
  const token = encodeContinue(revision, last.key.slice(page.prefix.length))
  return { revision, items, continue: token, ...(behind === undefined ? {} : { remainingItemCount: behind }) }
}

/** The client may go on from the same place, at the price of consistency. */
function tokenExpired(start: string): StatusError {
  return expired(expiredToken, encodeContinue(latest, start.endsWith('\0') ? start.slice(0, -1) : start))
}
