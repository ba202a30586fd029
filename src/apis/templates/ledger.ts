/**
 * What the last attempt in each namespace came to, per template: what is held there, and what went wrong. Keeps the
 * figures of it too, so that a status costs the same whatever the number of namespaces.
 */
import { append } from '../../base/append.ts'
import { leastOf } from '../../base/least-of.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Matcher } from './match.ts'
import type { ObjectResult } from './object-result.ts'
import type { TemplateFailure } from './types.ts'

export interface LedgerEntry {
  /** The version of the template that was applied here last. */
  readonly version: Matcher
  /** False: it was pruned here, or is being pruned. */
  readonly isSelected: boolean
  /** See `Attempt`. */
  readonly isUnrendered?: boolean
  /** First those for which a rollout waits. */
  readonly failures: readonly TemplateFailure[]
  /** It failed, and no rollout waits for it: all that did is obstructed, or the namespace is new. */
  readonly takesNoPlace: boolean
  /** Something was left out, for want of a creator or owner. */
  readonly isSkipping: boolean
  /** Others have added something to what is held. */
  readonly isExtended: boolean
}

export interface Attempt {
  readonly version: Matcher
  readonly isSelected: boolean
  /** The newest version can't be rendered here: no rollout waits for it, and none stops because of it. */
  readonly isUnrendered?: boolean
  /** It is not open to its users yet. It waits for no rollout, and no rollout for it. */
  readonly isNew?: boolean
}

export const generationOf = ({ template }: Matcher): number => template.metadata.generation ?? 0

/** One generation of one template; a later template of the same name is another. */
export const isSameVersion = (a: Matcher | undefined, b: Matcher): boolean =>
  a !== undefined && generationOf(a) === generationOf(b) && a.template.metadata.uid === b.template.metadata.uid

/** Failures a status lists. */
const listedFailures = 10
/** Namespaces that a message names. */
const namedNamespaces = 3

export interface Tally {
  /** Namespaces of which anything is known. */
  readonly known: number
  /** Selected namespaces that hold all of this version. */
  readonly synced: number
  readonly failed: number
  /** Of them, those that failed with another version: this one has not been tried there. */
  readonly untried: number
  /** Selected namespaces that hold this version but for what names a creator or owner: none is recorded. */
  readonly skipped: number
  /** Selected namespaces that hold all of this version, and others have added to it. */
  readonly extended: number
  /** The first of these namespaces. */
  readonly extendedIn: readonly string[]
  /** The first of those that failed; before others, those for which a rollout waits. */
  readonly failures: readonly TemplateFailure[]
}

interface Page {
  /** By namespace. */
  readonly entries: Map<string, LedgerEntry>
  /** Namespaces with failures for which a rollout waits. */
  readonly failing: Set<string>
  /** Namespaces that failed too, and for which none waits. */
  readonly failingAside: Set<string>
  /** Generation → how many failed with it, those aside for which it could not be rendered. */
  readonly failingWith: Map<number, number>
  /** Of them, those for which no rollout waits. */
  readonly asideWith: Map<number, number>
  /** Version → selected namespaces that hold it whole. */
  readonly holding: Map<string, number>
  /** Version → selected namespaces that hold it but for what was left out. */
  readonly skipping: Map<string, number>
  /** Version → the selected namespaces that hold it and more. */
  readonly extending: Map<string, Set<string>>
}

const versionKey = (version: Matcher): string => `${version.template.metadata.uid} ${generationOf(version)}`

export class TemplateLedger {
  readonly #byTemplate = new Map<string, Page>()
  /** By template: the last entry without failures. Nearly all namespaces have it, and share it. */
  readonly #usual = new Map<string, LedgerEntry>()

  /** `attempts` by template name; templates that are not among it hold nothing here any more. Answers what changed. */
  record(
    namespace: string,
    attempts: ReadonlyMap<string, Attempt>,
    results: readonly ObjectResult[],
  ): ReadonlySet<string> {
    const touched = new Set<string>()
    for (const [template, { entries }] of this.#byTemplate) {
      if (!attempts.has(template) && entries.has(namespace)) {
        this.#set(template, namespace, undefined)
        touched.add(template)
      }
    }
    for (const [template, attempt] of attempts) {
      touched.add(template)
      const { failures, isObstructed } = failuresOf(namespace, template, results)
      const { version, isSelected, isUnrendered, isNew = false } = attempt
      const isKept = attempt.isSelected || failures.length > 0
      const isSkipping = results.some((r) => r.template === template && r.skipped !== undefined)
      const isExtended = results.some((r) => r.template === template && r.extended !== undefined)
      const tried = { version, isSelected, ...(isUnrendered === undefined ? {} : { isUnrendered }) }
      const takesNoPlace = failures.length > 0 && (isObstructed || isNew)
      const entry = { ...tried, failures, takesNoPlace, isSkipping, isExtended }
      this.#set(template, namespace, isKept ? this.#entry(entry) : undefined)
    }
    // Pruning may have emptied a namespace of a template that is going away.
    for (const r of results) touched.add(r.template)
    return touched
  }

  find(template: string, namespace: string): LedgerEntry | undefined {
    return this.#byTemplate.get(template)?.entries.get(namespace)
  }

  /** What a namespace holds of a template; undefined = it can't be told: this version could not be rendered there. */
  findHeld(version: Matcher, namespace: string): LedgerEntry | undefined {
    const entry = this.find(nameOf(version.template.metadata), namespace)
    return entry?.isUnrendered && isSameVersion(entry.version, version) ? undefined : entry
  }

  tally(version: Matcher): Tally {
    const page = this.#byTemplate.get(nameOf(version.template.metadata)) ?? emptyPage()
    const failures: TemplateFailure[] = []
    // Who squats in ten namespaces must not hide what holds the rollout up.
    for (const namespaces of [page.failing, page.failingAside]) {
      for (const namespace of namespaces) {
        if (failures.length >= listedFailures) break
        append(failures, page.entries.get(namespace)?.failures ?? [])
      }
    }
    const extending = page.extending.get(versionKey(version)) ?? new Set<string>()
    return {
      known: page.entries.size,
      synced: page.holding.get(versionKey(version)) ?? 0,
      failed: page.failing.size + page.failingAside.size,
      untried: countUntried(page, generationOf(version)),
      skipped: page.skipping.get(versionKey(version)) ?? 0,
      extended: extending.size,
      extendedIn: leastOf(extending, namedNamespaces),
      failures: failures.slice(0, listedFailures),
    }
  }

  /** Namespaces in which this generation of a template failed. */
  failing(template: string, generation: number): number {
    return this.#byTemplate.get(template)?.failingWith.get(generation) ?? 0
  }

  /** Of them, those of which each has a place of the rollout until it is mended. */
  keepingPlaces(template: string, generation: number): number {
    const aside = this.#byTemplate.get(template)?.asideWith.get(generation) ?? 0
    return this.failing(template, generation) - aside
  }

  /** Answers the templates whose figures changed. */
  forgetNamespace(namespace: string): string[] {
    const touched: string[] = []
    for (const [template, { entries }] of this.#byTemplate) {
      if (!entries.has(namespace)) continue
      this.#set(template, namespace, undefined)
      touched.push(template)
    }
    return touched
  }

  forgetTemplate(template: string): void {
    this.#usual.delete(template)
    this.#byTemplate.delete(template)
  }

  #entry(entry: LedgerEntry): LedgerEntry {
    if (entry.failures.length > 0) return entry
    const template = nameOf(entry.version.template.metadata)
    const usual = this.#usual.get(template)
    if (usual !== undefined && isSameEntry(usual, entry)) return usual
    this.#usual.set(template, entry)
    return entry
  }

  #set(template: string, namespace: string, next: LedgerEntry | undefined): void {
    const known = this.#byTemplate.get(template)
    const page: Page = known ?? emptyPage()
    this.#byTemplate.set(template, page)
    const { entries, failing, failingAside } = page
    count(page, namespace, entries.get(namespace), -1)
    count(page, namespace, next, 1)
    if (next === undefined) entries.delete(namespace)
    else entries.set(namespace, next)
    const is = next === undefined || next.failures.length === 0 ? undefined : isAside(next) ? failingAside : failing
    for (const one of [failing, failingAside]) {
      if (one === is) one.add(namespace)
      else one.delete(namespace)
    }
  }
}

function countUntried({ failingWith }: Page, tried: number): number {
  let untried = 0
  for (const [generation, failed] of failingWith) if (generation !== tried) untried += failed
  return untried
}

const isAside = ({ takesNoPlace, isUnrendered }: LedgerEntry): boolean => takesNoPlace || isUnrendered === true

function failuresOf(
  namespace: string,
  template: string,
  results: readonly ObjectResult[],
): Pick<LedgerEntry, 'failures'> & { readonly isObstructed: boolean } {
  const own: TemplateFailure[] = []
  const obstructed: TemplateFailure[] = []
  for (const { template: of, object, failure } of results) {
    if (of !== template || failure === undefined) continue
    const { reason, message, isObstructed } = failure
    ;(isObstructed ? obstructed : own).push({ namespace, object, reason, message })
  }
  return { failures: [...own, ...obstructed], isObstructed: own.length === 0 && obstructed.length > 0 }
}

const emptyPage = (): Page => ({
  entries: new Map(),
  failing: new Set(),
  failingAside: new Set(),
  failingWith: new Map(),
  asideWith: new Map(),
  holding: new Map(),
  skipping: new Map(),
  extending: new Map(),
})

const isSameEntry = (a: LedgerEntry, b: LedgerEntry): boolean =>
  a.version === b.version &&
  a.isSelected === b.isSelected &&
  a.isSkipping === b.isSkipping &&
  a.isExtended === b.isExtended &&
  (a.isUnrendered ?? false) === (b.isUnrendered ?? false)

function count(page: Page, namespace: string, entry: LedgerEntry | undefined, step: 1 | -1): void {
  if (entry === undefined) return
  const { failingWith, asideWith, holding, skipping, extending } = page
  if (entry.failures.length > 0) {
    if (entry.isUnrendered) return
    const generation = generationOf(entry.version)
    add(failingWith, generation, step)
    if (entry.takesNoPlace) add(asideWith, generation, step)
  } else if (entry.isSelected) {
    const version = versionKey(entry.version)
    if (entry.isExtended) name(extending, version, namespace, step)
    else add(entry.isSkipping ? skipping : holding, version, step)
  }
}

function name(named: Map<string, Set<string>>, version: string, namespace: string, step: 1 | -1): void {
  const namespaces = named.get(version) ?? new Set()
  if (step === 1) named.set(version, namespaces.add(namespace))
  else if (namespaces.delete(namespace) && namespaces.size === 0) named.delete(version)
}

function add<K>(counts: Map<K, number>, key: K, step: 1 | -1): void {
  const n = (counts.get(key) ?? 0) + step
  if (n === 0) counts.delete(key)
  else counts.set(key, n)
}
