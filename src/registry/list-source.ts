/**
 * Where the items of a list come from: the present, the recent past (the present with the window's changes undone), or
 * the store's history. All answer the same questions in relative keys, so `list.ts` has one way to make pages.
 */
import { bytesLess } from '../base/key-order.ts'
import type { LabelSelector } from '../kube/label-selector.ts'
import { objectsPrefixOf } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Revision, Storage } from '../storage/storage.ts'
import type { ObjectChange } from '../watch/change-window.ts'
import { ObjectVersion } from '../watch/stored-object.ts'
import type { KeySpan, TypeCache } from '../watch/type-cache.ts'
import type { Versions } from '../watch/version-snapshot.ts'

export interface Found {
  readonly values: Versions
  /** The limit cut some off. */
  readonly more: boolean
}

export interface ListSource {
  find(namespace: string, name: string): Promise<ObjectVersion | undefined> | ObjectVersion | undefined
  /** In key order. */
  read(span: KeySpan, limit: number): Promise<Found> | Found
  /**
   * In key order, of the span what may match; `more` says that there is something behind it. undefined = an index does
   * not tell: `read`.
   */
  select?(span: KeySpan, selector: LabelSelector): Found | undefined
  /** Absent where counting would mean reading. */
  count?(span: KeySpan): number
}

export function presentSource(objects: TypeCache): ListSource {
  return {
    find: (namespace, name) => objects.find(namespace, name),
    read: (span, limit) => objects.snapshot(span, limit),
    select(span, selector) {
      const values = objects.select(span, selector)
      return values && { values, more: objects.count({ start: after(values, span), end: span.end }) > 0 }
    },
    count: (span) => objects.count(span),
  }
}

/** Where what comes behind these begins. */
function after(values: readonly ObjectVersion[], { start }: KeySpan): string {
  const last = values.at(-1)
  return last === undefined ? start : `${last.key}\0`
}

/** Of `source`, which answers at once, only these names; for cluster-scoped types. */
export function namedSource(source: ListSource, names: readonly string[]): ListSource {
  const ordered = [...names].sort((a, b) => (bytesLess(a, b) ? -1 : 1))
  return {
    find: (namespace, name) => source.find(namespace, name),
    read({ start, end }, limit) {
      const values: ObjectVersion[] = []
      for (const name of ordered) {
        if (bytesLess(name, start) || !bytesLess(name, end)) continue
        const version = source.find('', name)
        if (!(version instanceof ObjectVersion)) continue
        if (values.length === limit) return { values, more: true }
        values.push(version)
      }
      return { values, more: false }
    },
  }
}

/** So many changes are undone in one piece: a millisecond or two. Where there are more, the store is read, in turns. */
export const mostUndone = 1000

/** `changes`: all of this type since then. Costs as much as there are. */
export function pastSource(objects: TypeCache, changes: readonly ObjectChange[]): ListSource {
  /** What each key that has changed since held then. */
  const then = new Map<string, ObjectVersion | undefined>()
  for (const { next, old } of changes) {
    const key = (next ?? old)?.key ?? ''
    if (!then.has(key)) then.set(key, old)
  }
  const restored = [...then.values()].filter((v) => v !== undefined).sort(byKey)
  const inSpan = (key: string, span: KeySpan): boolean => !bytesLess(key, span.start) && bytesLess(key, span.end)
  const count = (span: KeySpan): number => {
    let there = objects.count(span)
    for (const [key, old] of then) {
      if (inSpan(key, span)) there += (old ? 1 : 0) - (objects.findKey(key) ? 1 : 0)
    }
    return there
  }
  return {
    find(namespace, name) {
      const key = namespace === '' ? name : `${namespace}/${name}`
      return then.has(key) ? then.get(key) : objects.findKey(key)
    },
    read(span, limit) {
      // So many that at least `limit` of them are as they were, or all there are.
      const { values, more } = objects.collect(span, limit + then.size)
      const unchanged = values.filter((v) => !then.has(v.key))
      const merged = merge(
        unchanged,
        restored.filter((v) => inSpan(v.key, span)),
      )
      return { values: merged.slice(0, limit), more: more || merged.length > limit }
    },
    select(span, selector) {
      const now = objects.select(span, selector)
      if (now === undefined) return undefined
      const unchanged = now.filter((v) => !then.has(v.key))
      const values = merge(
        unchanged,
        restored.filter((v) => inSpan(v.key, span)),
      )
      return { values, more: count({ start: after(values, span), end: span.end }) > 0 }
    },
    count,
  }
}

/** @throws StorageError code=compacted from `read` and `find`. */
export function historySource(storage: Storage, type: ResourceType, revision: Revision): ListSource {
  const prefix = objectsPrefixOf(type.storageName)
  const read = async (span: KeySpan, limit: number): Promise<Found> => {
    const { entries, more } = await storage.range(
      { start: prefix + span.start, end: prefix + span.end },
      { at: revision, limit: Math.min(limit, rangeLength) },
    )
    const values = entries.map((e) => {
      const key = e.key.slice(prefix.length)
      return ObjectVersion.of(key, e.revision, e.value)
    })
    return { values, more }
  }
  return {
    read,
    async find(namespace, name) {
      const key = namespace === '' ? name : `${namespace}/${name}`
      return (await read({ start: key, end: `${key}\0` }, 1)).values.at(0)
    },
  }
}

/** Most entries that are read from the store at a time. */
const rangeLength = 1000

const byKey = (a: ObjectVersion, b: ObjectVersion): number => (bytesLess(a.key, b.key) ? -1 : 1)

function merge(a: readonly ObjectVersion[], b: readonly ObjectVersion[]): readonly ObjectVersion[] {
  if (b.length === 0) return a
  const merged: ObjectVersion[] = []
  let i = 0
  for (const value of b) {
    for (let next = a[i]; next && bytesLess(next.key, value.key); next = a[++i]) merged.push(next)
    merged.push(value)
  }
  return merged.concat(a.slice(i))
}
