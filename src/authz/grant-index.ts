/**
 * Which subject has been granted which name, how that changed of late, and who wants to know.
 *
 * A grant is a pair (subject, name); several bindings may give the same one, so pairs are counted. Only the first and
 * the last of a pair are a change. What a user sees is the union over the user and each of their groups: finding out
 * costs look-ups in proportion to those, however many grants others have.
 *
 * A change of rights may move a grant from one subject of a user to another. Gains are applied before losses, so that
 * nothing goes out of view that is in view before and after.
 */
import type { Clock } from '../base/clock.ts'
import type { LiveViewChange, NameView, PastView, ViewChange, ViewListener } from '../kube/name-view.ts'
import type { UserInfo } from '../kube/user.ts'

export interface Grant {
  readonly subject: string
  /** '' = every name. */
  readonly name: string
}

/** Grants to a user's name and to a group of the same name are not the same. */
export const userSubject = (name: string): string => `user ${name}`
export const groupSubject = (name: string): string => `group ${name}`

export interface GrantHistoryLimits {
  readonly changes: number
  readonly ageMs: number
}

interface GrantChange extends Grant {
  readonly revision: number
  readonly gained: boolean
  readonly atMs: number
}

export class GrantIndex {
  readonly #clock: Clock
  readonly #limits: GrantHistoryLimits
  readonly #bySubject = new Map<string, Map<string, number>>()
  readonly #followers = new Map<string, Set<SubjectsView>>()
  #history: GrantChange[] = []
  #since = 0
  #recording = false

  constructor(clock: Clock, limits: GrantHistoryLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Until this is called, changes are the state that was found, and not remembered. */
  record(): void {
    this.#recording = true
  }

  apply(gains: readonly Grant[], losses: readonly Grant[], revision: number): void {
    const told = new Set<SubjectsView>()
    for (const { subject, name } of gains) {
      let names = this.#bySubject.get(subject)
      if (!names) {
        names = new Map()
        this.#bySubject.set(subject, names)
      }
      const count = names.get(name) ?? 0
      names.set(name, count + 1)
      if (count === 0) this.#changed(subject, name, true, revision, told)
    }
    for (const { subject, name } of losses) {
      const names = this.#bySubject.get(subject)
      const count = names?.get(name) ?? 0
      if (!names || count === 0) continue
      if (count > 1) {
        names.set(name, count - 1)
        continue
      }
      names.delete(name)
      if (names.size === 0) this.#bySubject.delete(subject)
      this.#changed(subject, name, false, revision, told)
    }
    for (const view of told) view.settled(revision)
  }

  viewOf(user: UserInfo): NameView {
    return new SubjectsView(this, [userSubject(user.username), ...new Set(user.groups.map(groupSubject))])
  }

  /** Names granted to one subject. */
  namesOf(subject: string): ReadonlyMap<string, unknown> | undefined {
    return this.#bySubject.get(subject)
  }

  /** Changes after `revision` of any of these subjects; undefined = forgotten. */
  changesAfter(revision: number, subjects: ReadonlySet<string>): readonly GrantChange[] | undefined {
    if (revision < this.#since) return undefined
    let low = 0
    let high = this.#history.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#history[middle] as GrantChange).revision <= revision) low = middle + 1
      else high = middle
    }
    const found: GrantChange[] = []
    for (let i = low; i < this.#history.length; i++) {
      const change = this.#history[i] as GrantChange
      if (subjects.has(change.subject)) found.push(change)
    }
    return found
  }

  addFollower(view: SubjectsView): void {
    for (const subject of view.subjects) {
      const there = this.#followers.get(subject)
      if (there) there.add(view)
      else this.#followers.set(subject, new Set([view]))
    }
  }

  removeFollower(view: SubjectsView): void {
    for (const subject of view.subjects) {
      const there = this.#followers.get(subject)
      if (there?.delete(view) && there.size === 0) this.#followers.delete(subject)
    }
  }

  #changed(subject: string, name: string, gained: boolean, revision: number, told: Set<SubjectsView>): void {
    if (!this.#recording) return
    const nowMs = this.#clock.monotonic()
    this.#history.push({ subject, name, gained, revision, atMs: nowMs })
    this.#trim(nowMs)
    for (const view of this.#followers.get(subject) ?? []) {
      if (view.changed({ subject, name }, gained, revision)) told.add(view)
    }
  }

  /**
   * A quarter more than the limit may be kept, so that the list is not copied at each change. The last change is of
   * now, so it is never dropped.
   */
  #trim(nowMs: number): void {
    const { changes, ageMs } = this.#limits
    const ageOf = (at: number): number => nowMs - (this.#history[at] as GrantChange).atMs
    if (this.#history.length <= changes + changes / 4 && ageOf(0) <= ageMs * 1.25) return
    let drop = Math.max(0, this.#history.length - changes)
    while (ageOf(drop) > ageMs) drop++
    this.#since = (this.#history[drop - 1] as GrantChange).revision
    this.#history = this.#history.slice(drop)
  }
}

/** What the subjects of one user see together. */
class SubjectsView implements NameView {
  readonly subjects: readonly string[]
  readonly #index: GrantIndex
  readonly #listeners = new Set<ViewListener>()

  constructor(index: GrantIndex, subjects: readonly string[]) {
    this.#index = index
    this.subjects = subjects
  }

  sees(name: string): boolean {
    return this.#some('') || this.#some(name)
  }

  names(): readonly string[] | undefined {
    const all = new Set<string>()
    for (const subject of this.subjects) for (const name of this.#index.namesOf(subject)?.keys() ?? []) all.add(name)
    return all.has('') ? undefined : [...all]
  }

  past(revision: number): PastView | undefined {
    const since = this.#index.changesAfter(revision, new Set(this.subjects))
    if (since === undefined || since.some((c) => c.name === '')) return undefined
    const count = (name: string): number =>
      this.subjects.reduce((sum, s) => sum + (this.#index.namesOf(s)?.has(name) ? 1 : 0), 0)
    /** How many of the subjects had the name at `revision`, for names that changed since. */
    const then = new Map<string, number>()
    for (const { name, gained } of since) then.set(name, (then.get(name) ?? count(name)) - (gained ? 1 : -1))
    const everything = this.#some('')
    const running = new Map(then)
    const changes: ViewChange[] = []
    for (const { name, gained, revision: at } of since) {
      const before = running.get(name) as number
      running.set(name, before + (gained ? 1 : -1))
      if (!everything && before === (gained ? 0 : 1)) changes.push({ revision: at, name, gained })
    }
    return {
      sees: (name) => everything || (then.get(name) ?? count(name)) > 0,
      changes,
    }
  }

  follow(listener: ViewListener): () => void {
    if (this.#listeners.size === 0) this.#index.addFollower(this)
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#index.removeFollower(this)
    }
  }

  /** Called by the index, right after one of the subjects gained or lost a name. True = that changed the view. */
  changed({ subject, name }: Grant, gained: boolean, revision: number): boolean {
    const otherwise = (granted: string, own: boolean): boolean =>
      this.subjects.some((s) => (own || s !== subject) && this.#index.namesOf(s)?.has(granted) === true)
    if (otherwise('', name !== '') || otherwise(name, false)) return false
    const change: LiveViewChange = {
      revision,
      name,
      gained,
      concerns: (asked) => (name === '' ? !this.#some(asked) : asked === name),
    }
    for (const listener of this.#listeners) listener.changed(change)
    return true
  }

  settled(revision: number): void {
    for (const listener of this.#listeners) listener.settled(revision)
  }

  #some(name: string): boolean {
    return this.subjects.some((s) => this.#index.namesOf(s)?.has(name) === true)
  }
}
