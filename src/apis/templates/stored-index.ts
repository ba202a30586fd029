/**
 * What is there of what templates made, asked of the store of this process: nothing is kept of an object.
 *
 * One thing is remembered: the namespaces in which something may differ from the record (`#unsettled`). In all others
 * every recorded object is as its record says, so the record answers for it and the object need not be read. Each
 * change of a templated kind is judged by its content as it comes.
 *
 * A start believes the mark that an earlier process left (`verified-mark.ts`): what has not changed since is as it was
 * then. It reads the records, compares revisions, and reads only objects that changed after the mark.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { restBetween } from '../../base/rest-between.ts'
import type { ServedKind } from '../../client/client.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { ObjectVersion, StoreView } from '../../registry/registry.ts'
import {
  type AppliedObject,
  type AppliedRecords,
  identityOfApplied,
  type RecordListener,
  type RecordVersion,
} from './applied-records.ts'
import { ExtendedObjects } from './extended-objects.ts'
import { Holdings } from './holdings.ts'
import { claimed, describe, groupOf, isAsRecorded, isLabelled, servedKind } from './live-object.ts'
import {
  believed,
  type MarkedObjects,
  objectPlace,
  type PopulatedChanges,
  type PopulatedObject,
  type PopulatedObjects,
  type Written,
} from './populated-objects.ts'
import type { VerifiedMark } from './verified-mark.ts'

export interface StoredIndexDeps extends PopulatedChanges {
  readonly stored: Pick<StoreView, 'find' | 'glance' | 'glances' | 'follow' | 'revision'>
  readonly records: Pick<AppliedRecords, 'of'>
  readonly mark: Pick<VerifiedMark, 'read' | 'write'>
  /** A mark that could not be written: the next one says as much. */
  readonly onError: (error: unknown) => void
  readonly clock: Clock
  /** What is served now. */
  readonly findKind: (apiVersion: string, kind: string) => ResourceType | undefined
  /** For kinds whose objects another server converts: the store does not tell what clients see of them. */
  readonly watched: PopulatedObjects
}

/** How often what was verified is marked, if anything has changed. */
const markIntervalMs = 60_000
/** A controller that stops waits no longer than this for its mark. */
const lastMarkMs = 1000
/** Namespaces that are looked at in one step. */
const stepNamespaces = 50
/** Objects that are looked at in one step. */
const stepObjects = 200

interface Change {
  readonly type: ResourceType
  readonly next: ObjectVersion | undefined
  readonly old: ObjectVersion | undefined
}

const transactionOf = (revision: number): number => Math.floor(revision / 1024)

export class StoredIndex implements PopulatedObjects {
  readonly holdings: Holdings
  readonly #deps: StoredIndexDeps
  /** storage name → `apiVersion/kind` of templates → the kind */
  readonly #kinds = new Map<string, Map<string, ResourceType>>()
  readonly #unsettled = new Set<string>()
  readonly #extended = new ExtendedObjects()
  /** Told since the last judgement: an object and its record come one after the other. */
  #changes: Change[] = []
  #records: Parameters<RecordListener>[] = []
  readonly #writing = new Map<string, Change[]>()
  readonly #verified: ReturnType<VerifiedMark['read']>
  /** Something changed since the last mark. */
  #hasMoved = true
  /** Until every record has been told, `#unsettled` does not say where something differs. */
  #hasReadRecords = false

  constructor(deps: StoredIndexDeps) {
    this.#deps = deps
    this.holdings = new Holdings(deps.onLeft)
    this.#verified = deps.mark.read()
  }

  readonly recorded: RecordListener = (namespace, next, old, record) => {
    this.holdings.changed(namespace, next, old)
    if (!record.isFirst) this.#later(() => this.#records.push([namespace, next, old, record]))
    else if (!this.#isAsVerified(namespace, next, record)) this.#unsettled.add(namespace)
  }

  recordsRead(): void {
    this.#hasReadRecords = true
  }

  async run(signal: AbortSignal): Promise<void> {
    const { stored, clock, watched } = this.#deps
    this.#hasReadRecords = false
    const stop = stored.follow((storageName, next, old) => this.#told(storageName, next, old))
    const running = watched.run(signal)
    while (!signal.aborted) {
      await sleep(clock, markIntervalMs, signal)
      if (!signal.aborted) await this.#settleAndMark(signal)
    }
    await Promise.race([this.#mark(this.#seenRevision()), sleep(clock, lastMarkMs)])
    stop()
    await running
  }

  async watchKind(kind: ServedKind, signal: AbortSignal): Promise<boolean> {
    const type = this.#typeOf(kind)
    if (type === undefined) return this.#deps.watched.watchKind(kind, signal)
    this.#follow(type)
    return true
  }

  find(kind: ServedKind, namespace: string, name: string): PopulatedObject | undefined {
    const type = this.#typeOf(kind)
    return type === undefined
      ? this.#deps.watched.find(kind, namespace, name)
      : this.#find(type, kind, namespace, name, this.claimsIn(namespace))
  }

  claimsIn(namespace: string): readonly AppliedObject[] {
    return this.#deps.records.of(namespace)
  }

  async *marked(kinds: ReadonlySet<string>): AsyncIterable<MarkedObjects> {
    const rest = restBetween()
    for (const types of this.#kinds.values()) {
      for (const [apiVersionAndKind, type] of types) {
        if (!kinds.has(apiVersionAndKind)) continue
        for (const step of this.#deps.stored.glances(type.storageName, stepObjects)) {
          for (const version of step) {
            const object = describe(version.as(type).parsedOnce(), servedKind(type), version)
            if (object !== undefined) yield { namespace: version.namespace, objects: believed(object) }
          }
          if (step.length === stepObjects) await rest()
        }
      }
    }
    yield* this.#deps.watched.marked(kinds)
  }

  *livesIn(namespace: string): Iterable<PopulatedObject> {
    const claims = this.claimsIn(namespace)
    for (const { apiVersion, kind, name } of claims) {
      const type = this.#served(apiVersion, kind)
      const live = type && this.#find(type, servedKind(type), namespace, name, claims)
      if (live !== undefined) yield live
    }
    yield* this.#deps.watched.livesIn(namespace)
  }

  mustAsk(namespace: string): boolean {
    this.#judgeAll()
    if (!this.#unsettled.has(namespace)) return this.#deps.watched.mustAsk(namespace)
    for (const { held } of this.livesIn(namespace)) if (held !== undefined) return true
    return false
  }

  writing(kind: ServedKind, namespace: string, name: string): Written {
    if (this.#typeOf(kind) === undefined) return this.#deps.watched.writing(kind, namespace, name)
    const place = objectPlace(kind, namespace, name)
    const meanwhile: Change[] = []
    this.#judgeAll()
    this.#writing.set(place, meanwhile)
    return (written) => {
      this.#judgeAll()
      this.#writing.delete(place)
      if (written !== undefined) this.#extended.note(kind, written)
      const { resourceVersion } = written?.object.metadata ?? {}
      // Of ours the record tells: mostly it came with it.
      for (const change of meanwhile) if (String(change.next?.revision) !== resourceVersion) this.#judge(change)
    }
  }

  /** What it says now is recorded after the pass. */
  upToDate(object: PopulatedObject, config: string): void {
    if (this.#typeOf({ ...object.resource, kind: object.kind }) === undefined) {
      this.#deps.watched.upToDate(object, config)
    }
  }

  /** undefined = not served, or not to be told from the store. */
  #served(apiVersion: string, kind: string): ResourceType | undefined {
    const type = this.#deps.findKind(apiVersion, kind)
    return type === undefined || type.conversion?.remote !== undefined ? undefined : type
  }

  #typeOf({ group, version, kind }: Pick<ServedKind, 'group' | 'version' | 'kind'>): ResourceType | undefined {
    return this.#served(apiVersionOf({ group, version }), kind)
  }

  #follow(type: ResourceType): void {
    const types = this.#kinds.get(type.storageName) ?? new Map<string, ResourceType>()
    this.#kinds.set(type.storageName, types)
    types.set(`${apiVersionOf(type)}/${type.kind}`, type)
  }

  #followClaims(claims: readonly AppliedObject[]): void {
    for (const { apiVersion, kind } of claims) {
      const type = this.#served(apiVersion, kind)
      if (type !== undefined) this.#follow(type)
    }
  }

  #find(
    type: ResourceType,
    kind: ServedKind,
    namespace: string,
    name: string,
    claims: readonly AppliedObject[],
  ): PopulatedObject | undefined {
    this.#judgeAll()
    const version = this.#deps.stored.find(type.storageName, namespace, name)
    if (version === undefined) return undefined
    const claim = claims.find((c) => c.name === name && c.kind === type.kind && groupOf(c) === type.group)
    if (claim !== undefined && claim.uid !== '' && !this.#unsettled.has(namespace)) {
      return { ...claimed(claim, kind, namespace), revision: String(version.revision) }
    }
    if (version.damage !== undefined) return undefined
    const described = describe(version.as(type).object, kind, version, claim)
    return described && this.#extended.describe(described)
  }

  /** At the start: what has not changed since the mark is as it was then. */
  #isAsVerified(namespace: string, claims: readonly AppliedObject[], { revision }: RecordVersion): boolean {
    this.#followClaims(claims)
    const verified = this.#verified
    const isBelieved = verified !== undefined && revision <= verified.revision && !verified.except.has(namespace)
    return this.#areAsRecorded(namespace, claims, isBelieved ? verified.revision : 0)
  }

  /** A record has changed: each object is as it says, if that is known without reading any. */
  #isSettled(...[namespace, next, old, { revision }]: Parameters<RecordListener>): boolean {
    this.#followClaims(next)
    const before = new Map(old.map((claim) => [identityOfApplied(claim), claim]))
    return next.every((claim) => {
      const was = before.get(identityOfApplied(claim))
      if (was?.uid === claim.uid && was.content === claim.content) return !this.#unsettled.has(namespace)
      const type = this.#served(claim.apiVersion, claim.kind)
      const version = type && this.#deps.stored.find(type.storageName, namespace, claim.name)
      // What is written with its record is as the record says.
      return version !== undefined && transactionOf(version.revision) === transactionOf(revision)
    })
  }

  /** Objects that did not change after `since` are believed. */
  #areAsRecorded(namespace: string, claims: readonly AppliedObject[], since: number): boolean {
    const { stored } = this.#deps
    return claims.every((claim) => {
      const type = this.#served(claim.apiVersion, claim.kind)
      // Other watches tell of it; or it can't be there.
      if (type === undefined) return true
      const version = stored.find(type.storageName, namespace, claim.name)
      if (version === undefined || claim.uid === '') return false
      if (version.revision <= since) return true
      const glance = stored.glance(type.storageName, namespace, claim.name)
      return glance?.damage === undefined && isAsRecorded(glance?.as(type).parsedOnce(), claim)
    })
  }

  #told(storageName: string, next: ObjectVersion | undefined, old: ObjectVersion | undefined): void {
    const types = this.#kinds.get(storageName)
    if (types === undefined) return
    this.#later(() => {
      for (const type of types.values()) this.#changes.push({ type, next, old })
    })
  }

  #later(note: () => void): void {
    if (this.#changes.length === 0 && this.#records.length === 0) queueMicrotask(() => this.#judgeAll())
    this.#hasMoved = true
    note()
  }

  #judgeAll(): void {
    const changes = this.#changes
    const records = this.#records
    if (changes.length === 0 && records.length === 0) return
    this.#changes = []
    this.#records = []
    const settledIn = this.#judgeRecords(records)
    for (const change of changes) {
      const { namespace = '', name = '', revision = 0 } = change.next ?? change.old ?? {}
      const meanwhile = this.#writing.get(objectPlace(change.type, namespace, name))
      if (meanwhile !== undefined) meanwhile.push(change)
      else if (change.next === undefined || settledIn.get(namespace) !== transactionOf(revision)) this.#judge(change)
      else if (change.old === undefined) this.#deps.onRecorded(namespace)
    }
  }

  /** Answers in which transaction namespaces were settled. */
  #judgeRecords(records: readonly Parameters<RecordListener>[]): ReadonlyMap<string, number> {
    const settledIn = new Map<string, number>()
    for (const change of records) {
      const [namespace, next, , { revision }] = change
      if (next.length === 0) this.#unsettled.delete(namespace)
      else if (this.#isSettled(...change)) settledIn.set(namespace, transactionOf(revision))
      else this.#unsettled.add(namespace)
    }
    return settledIn
  }

  /** Whether a change leaves a recorded object as its record says. */
  #judge({ type, next, old }: Change): void {
    const { namespace = '', name = '' } = next ?? old ?? {}
    if (next === undefined) this.#extended.forget(type, namespace, name)
    const apiVersion = apiVersionOf(type)
    const claim = this.claimsIn(namespace).find(
      (c) => c.name === name && c.kind === type.kind && c.apiVersion === apiVersion,
    )
    if (claim === undefined) {
      if (isLabelled(next) || isLabelled(old)) this.#deps.onDrift(namespace)
      return
    }
    const wasSettled = !this.#unsettled.has(namespace)
    const isSame = next?.damage === undefined && isAsRecorded(next?.as(type).object, claim)
    if (!isSame) this.#unsettled.add(namespace)
    if (!isSame || !wasSettled) this.#deps.onDrift(namespace)
    else if (old === undefined) this.#deps.onRecorded(namespace)
  }

  /** Up to here every change has been judged, but those of objects that we write just now. */
  #seenRevision(): number {
    const { revision } = this.#deps.stored
    this.#judgeAll()
    return revision
  }

  async #settleAndMark(signal: AbortSignal): Promise<void> {
    const revision = this.#seenRevision()
    const rest = restBetween()
    let looked = 0
    for (const namespace of [...this.#unsettled]) {
      if (this.#areAsRecorded(namespace, this.claimsIn(namespace), 0)) this.#unsettled.delete(namespace)
      if (++looked % stepNamespaces === 0) await rest()
      if (signal.aborted) return
    }
    await this.#mark(revision)
  }

  async #mark(revision: number): Promise<void> {
    // The mark of the process before stands: this one has not compared all that changed since.
    if (!this.#hasMoved || !this.#hasReadRecords) return
    this.#hasMoved = false
    try {
      await this.#deps.mark.write({ revision, except: new Set([...this.#unsettled, ...this.#unjudged()]) })
    } catch (error) {
      // The store may be full: what is found here must go on being found.
      this.#hasMoved = true
      this.#deps.onError(error)
    }
  }

  /** Namespaces with a change that came while we write the object: it is judged when the answer is in hand. */
  *#unjudged(): Iterable<string> {
    for (const changes of this.#writing.values()) {
      for (const { next, old } of changes) yield (next ?? old)?.namespace ?? ''
    }
  }
}
