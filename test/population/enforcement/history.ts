/**
 * All that was ever stored of ConfigMaps and of records, in order, and which of it the test wrote itself. What the
 * controller did is all the rest, so nothing that it does goes unseen.
 */
import type { AppliedObject } from '../../../src/apis/templates/applied-records.ts'
import { isMarked } from '../../../src/apis/templates/marks.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import type { Cluster } from './clusters.ts'
import type { Ledger, NamespaceRecord } from './ledger.ts'

/** One object, from its create to its end. */
export interface Life {
  /** `namespace/name` */
  readonly place: string
  readonly versions: KubeObject[]
  isGone: boolean
  /** At some time a record named it. */
  wasRecorded: boolean
}

export class History {
  readonly #ledger: Ledger
  readonly #stop = new AbortController()
  readonly #following: Promise<void>
  /** By uid. */
  readonly lives: Map<string, Life> = new Map()
  /** What requests of the test were answered: uid and resourceVersion. */
  readonly #ownWrites = new Set<string>()
  /** uids that requests of the test deleted. */
  readonly #ownDeletes = new Set<string>()
  /** Places where the outcome of a request of the test is not known. */
  readonly #unsure = new Set<string>()
  /** Places that a record named, with a uid or without. */
  readonly #named: Set<string> = new Set()
  readonly #emptied: Set<string> = new Set()
  /** Templates that may adopt, now or at some time. */
  readonly adopting: Set<string> = new Set()
  /** Key of the record → what it says. */
  readonly records: Map<string, NamespaceRecord> = new Map()
  /** Key and name of a recorded object that is known to be there → uid. */
  readonly #claims = new Map<string, string>()
  /** What was recorded, and why it might not have been: judged when the test has heard all answers. */
  readonly #taken: { readonly uid: string; readonly claimed: boolean; readonly entry: AppliedObject }[] = []
  #seen = 0
  #waiting: (readonly [revision: number, resolve: () => void])[] = []

  constructor({ ledger }: Cluster) {
    this.#ledger = ledger
    this.#following = this.#follow()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#following
  }

  /** Resolves when everything that is stored now was seen. */
  async upToDate(): Promise<void> {
    const revision = await this.#ledger.currentRevision()
    if (this.#seen < revision) await new Promise<void>((resolve) => this.#waiting.push([revision, resolve]))
  }

  wrote({ metadata }: KubeObject): void {
    this.#ownWrites.add(`${metadata.uid} ${metadata.resourceVersion}`)
  }

  deleted(uid: string): void {
    this.#ownDeletes.add(uid)
  }

  /** The namespace is deleted, and everything in it goes. */
  isEmptied(namespace: string): void {
    this.#emptied.add(namespace)
  }

  isUnsureOf(place: string): void {
    this.#unsure.add(place)
  }

  /** A client of the test created it. */
  isTheirs({ versions: [first] }: Life): boolean {
    return first !== undefined && this.#isOwnWrite(first)
  }

  /** It is gone, and no client of the test had a hand in it. */
  wasTaken(uid: string): boolean {
    const life = this.lives.get(uid)
    const [namespace = ''] = life?.place.split('/') ?? []
    if (life?.isGone !== true || this.#ownDeletes.has(uid)) return false
    return !this.#unsure.has(life.place) && !this.#emptied.has(namespace)
  }

  /** What the controller did to objects that are not its own. */
  faults(): string[] {
    const faults: string[] = []
    for (const [uid, life] of this.lives) {
      const [namespace = ''] = life.place.split('/')
      if (this.#unsure.has(life.place) || !this.isTheirs(life) || life.wasRecorded) continue
      // Who forges both marks at a place that a template holds gives the object to the template.
      if (this.#named.has(life.place) && this.#isForged(life)) continue
      const isDeletion = ({ metadata }: KubeObject): boolean =>
        metadata.deletionTimestamp !== undefined && this.#ownDeletes.has(uid)
      const changed = life.versions.find(
        (version) => !this.#isOwnWrite(version) && !isDeletion(version) && !this.#isAdopted(version),
      )
      if (changed !== undefined && !this.#emptied.has(namespace))
        faults.push(`${life.place}, a tenant's, was changed: ${JSON.stringify(changed)}`)
      if (life.isGone && !this.#ownDeletes.has(uid) && !this.#emptied.has(namespace))
        faults.push(`${life.place}, a tenant's, was deleted`)
    }
    for (const { uid, claimed, entry } of this.#taken) {
      const life = this.lives.get(uid)
      if (life === undefined || claimed || this.#unsure.has(life.place) || !this.isTheirs(life)) continue
      if (!this.#isForged(life, entry.template) && !this.adopting.has(entry.template)) {
        faults.push(`${life.place}, a tenant's, was taken over by template ${entry.template}`)
      }
    }
    return faults
  }

  /** By a template that may, also where its controller was killed before it recorded that. */
  #isAdopted(version: KubeObject): boolean {
    return [...this.adopting].some((template) => isMarked(version, template))
  }

  #isForged({ versions }: Life, template?: string): boolean {
    return versions.some((version) => this.#isOwnWrite(version) && isMarked(version, template))
  }

  #isOwnWrite({ metadata }: KubeObject): boolean {
    return this.#ownWrites.has(`${metadata.uid} ${metadata.resourceVersion}`)
  }

  async #follow(): Promise<void> {
    for await (const { entries, revision } of this.#ledger.follow(this.#stop.signal)) {
      for (const entry of entries) {
        if ('record' in entry) this.#seeRecord(entry.record, entry.says)
        else this.#seeObject(entry.place, entry.revision, entry.object)
      }
      this.#seen = Math.max(this.#seen, revision)
      const due = this.#waiting.filter(([revision]) => revision <= this.#seen)
      this.#waiting = this.#waiting.filter(([revision]) => revision > this.#seen)
      for (const [, resolve] of due) resolve()
    }
  }

  #seeObject(place: string, revision: number, stored: KubeObject | undefined): void {
    if (stored === undefined) {
      for (const life of this.lives.values()) if (life.place === place) life.isGone = true
      return
    }
    const { uid = '' } = stored.metadata
    const life = this.lives.get(uid) ?? { place, versions: [], isGone: false, wasRecorded: false }
    life.versions.push({ ...stored, metadata: { ...stored.metadata, resourceVersion: String(revision) } })
    this.lives.set(uid, life)
  }

  #seeRecord(key: string, says: NamespaceRecord | undefined): void {
    const { namespace, objects } = says ?? { namespace: this.records.get(key)?.namespace ?? '', objects: [] }
    const old = this.records.get(key)?.objects ?? []
    for (const { name } of old) {
      if (!objects.some((entry) => entry.name === name)) this.#claims.delete(`${key} ${name}`)
    }
    for (const entry of objects) {
      const { name, uid } = entry
      this.#named.add(`${namespace}/${name}`)
      const claim = `${key} ${name}`
      if (uid === '' || this.#claims.get(claim) === uid) continue
      this.#taken.push({ uid, claimed: this.#claims.has(claim), entry })
      this.#claims.set(claim, uid)
      const life = this.lives.get(uid)
      if (life !== undefined) life.wasRecorded = true
      else this.lives.set(uid, { place: `${namespace}/${name}`, versions: [], isGone: false, wasRecorded: true })
    }
    if (objects.length === 0) this.records.delete(key)
    else this.records.set(key, { namespace, objects })
  }
}
