/** What the last attempt in each namespace came to, per template: what is held there, and what went wrong. */
import type { Matcher } from './match.ts'
import type { ObjectResult } from './populate.ts'
import type { TemplateFailure } from './types.ts'

export interface LedgerEntry {
  /** The version of the template that was applied here last. */
  readonly version: Matcher
  /** False: it was pruned here, or is being pruned. */
  readonly isSelected: boolean
  readonly failures: readonly TemplateFailure[]
}

export interface Attempt {
  readonly version: Matcher
  readonly isSelected: boolean
}

export const generationOf = ({ template }: Matcher): number => template.metadata.generation ?? 0

/** One generation of one template; a later template of the same name is another. */
export const isSameVersion = (a: Matcher, b: Matcher): boolean =>
  generationOf(a) === generationOf(b) && a.template.metadata.uid === b.template.metadata.uid

export class TemplateLedger {
  /** template → namespace → entry */
  readonly #byTemplate = new Map<string, Map<string, LedgerEntry>>()
  /** template → namespaces with failures: counted at every turn of a rollout. */
  readonly #failing = new Map<string, Set<string>>()

  /** `attempts` by template name; templates that are not among it hold nothing here any more. Answers what changed. */
  record(
    namespace: string,
    attempts: ReadonlyMap<string, Attempt>,
    results: readonly ObjectResult[],
  ): ReadonlySet<string> {
    const touched = new Set<string>()
    for (const [template, entries] of this.#byTemplate) {
      if (!attempts.has(template) && entries.has(namespace)) {
        this.#drop(template, namespace)
        touched.add(template)
      }
    }
    for (const [template, attempt] of attempts) {
      touched.add(template)
      const failures = results
        .filter((r) => r.template === template && r.failure !== undefined)
        .map((r) => ({
          namespace,
          object: r.object,
          reason: r.failure?.reason ?? 'Error',
          message: r.failure?.message ?? '',
        }))
      if (attempt.isSelected || failures.length > 0) this.#put(template, namespace, { ...attempt, failures })
      else this.#drop(template, namespace)
    }
    // Pruning may have emptied a namespace of a template that is going away.
    for (const r of results) touched.add(r.template)
    return touched
  }

  find(template: string, namespace: string): LedgerEntry | undefined {
    return this.#byTemplate.get(template)?.get(namespace)
  }

  entriesOf(template: string): Iterable<LedgerEntry> {
    return this.#byTemplate.get(template)?.values() ?? []
  }

  /** Namespaces in which this generation of a template failed. */
  failing(template: string, generation: number): number {
    let n = 0
    for (const namespace of this.#failing.get(template) ?? []) {
      const entry = this.find(template, namespace)
      if (entry !== undefined && generationOf(entry.version) === generation) n++
    }
    return n
  }

  /** Answers the templates whose figures changed. */
  forgetNamespace(namespace: string): string[] {
    const touched: string[] = []
    for (const [template, entries] of this.#byTemplate) {
      if (!entries.has(namespace)) continue
      this.#drop(template, namespace)
      touched.push(template)
    }
    return touched
  }

  forgetTemplate(template: string): void {
    this.#byTemplate.delete(template)
    this.#failing.delete(template)
  }

  #put(template: string, namespace: string, entry: LedgerEntry): void {
    const entries = this.#byTemplate.get(template) ?? new Map<string, LedgerEntry>()
    this.#byTemplate.set(template, entries)
    entries.set(namespace, entry)
    const failing = this.#failing.get(template) ?? new Set<string>()
    this.#failing.set(template, failing)
    if (entry.failures.length > 0) failing.add(namespace)
    else failing.delete(namespace)
  }

  #drop(template: string, namespace: string): void {
    this.#byTemplate.get(template)?.delete(namespace)
    this.#failing.get(template)?.delete(namespace)
  }
}
