/**
 * Whose turn it is: how a new version of a template reaches the namespaces that exist.
 *
 *   edit ──▶ would it prune in more than maxPrune namespaces? ──yes──▶ stopped: every namespace keeps what it has
 *                      │ no
 *                      ▼
 *            ┌─▶ a free place? (under way + failed < maxUnavailable) ──no──▶ the namespace waits
 *            │         │ yes
 *            │         ▼
 *            └── applied, the place is free again          failed: the place stays taken until it is mended,
 *                                                          with pauseOnFailure all others wait meanwhile
 *
 * All of it is memory: after a restart, a rollout that the status calls complete is complete, and one that was under
 * way goes on from the start, where namespaces that are done cost one comparison each.
 */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { generationOf, isSameVersion, type TemplateLedger } from './ledger.ts'
import type { Matcher } from './match.ts'
import type { NamespaceTemplate, Rollout } from './types.ts'

export interface Halt {
  readonly reason: 'Paused' | 'TooManyPrunes'
  readonly message: string
}

export interface RolloutDeps {
  readonly ledger: TemplateLedger
  /** Namespaces that a version selects. */
  countMatched(version: Matcher): number
  /** Namespaces in which a version would delete something that is there now. */
  wouldPrune(version: Matcher): readonly string[]
  /** Their turn may have come. */
  wake(namespaces: readonly string[]): void
}

/** Gives the place back. Call it once, after the outcome is in the ledger. */
export type Release = () => void

interface RolloutState {
  readonly version: Matcher
  /** Known to be complete: no namespace has to wait. */
  readonly settled: boolean
  readonly limit: number
  readonly busy: Set<string>
  readonly waiting: Set<string>
  prunes: Halt | undefined
}

/** Namespaces named in a message. */
const named = 5
export const progressingCondition = 'Progressing'
export const completeReason = 'Complete'

export class Rollouts {
  readonly #deps: RolloutDeps
  readonly #states = new Map<string, RolloutState>()

  constructor(deps: RolloutDeps) {
    this.#deps = deps
  }

  /**
   * Takes a place for one namespace; undefined = it has to wait, and is woken when that may have changed. `isDone`: it
   * holds already what the version says, so it need not wait.
   */
  begin(version: Matcher, namespace: string, isDone: () => boolean): Release | undefined {
    const state = this.#stateOf(version)
    const { ledger } = this.#deps
    const name = nameOf(version)
    const held = ledger.find(name, namespace)
    const isThere = held !== undefined && isSameVersion(held.version, version)
    if (state.settled || isThere) return () => this.#wake(state)
    if (this.#haltOf(state) !== undefined || this.#free(state) <= 0) {
      if (isDone()) return () => this.#wake(state)
      state.waiting.add(namespace)
      return undefined
    }
    state.waiting.delete(namespace)
    state.busy.add(namespace)
    return () => {
      state.busy.delete(namespace)
      this.#wake(state)
    }
  }

  /** Why nothing moves; undefined = it does. Looks again at what stopped it. */
  review(version: Matcher): Halt | undefined {
    const state = this.#stateOf(version)
    if (state.prunes !== undefined) {
      state.prunes = this.#tooManyPrunes(version)
      this.#wake(state)
    }
    const halt = this.#haltOf(state)
    // No namespace is left that a pause would hold.
    return halt?.reason === 'Paused' && state.waiting.size === 0 ? undefined : halt
  }

  waiting(template: string): number {
    return this.#states.get(template)?.waiting.size ?? 0
  }

  /** It has gone, and its failures are out of the ledger: the next in the queue may have its place. */
  forgetNamespace(namespace: string): void {
    for (const state of this.#states.values()) {
      state.busy.delete(namespace)
      state.waiting.delete(namespace)
      this.#wake(state)
    }
  }

  forgetTemplate(template: string): void {
    this.#states.delete(template)
  }

  #stateOf(version: Matcher): RolloutState {
    const name = nameOf(version)
    const known = this.#states.get(name)
    if (known !== undefined && isNotBefore(known.version, version)) return known
    const state: RolloutState = {
      version,
      settled: known === undefined && isComplete(version.template),
      limit: this.#limitOf(version),
      busy: new Set(),
      waiting: new Set(),
      prunes: undefined,
    }
    if (!state.settled) state.prunes = this.#tooManyPrunes(version)
    this.#states.set(name, state)
    return state
  }

  #limitOf(version: Matcher): number {
    const { maxUnavailable } = version.template.spec?.rollout ?? {}
    if (maxUnavailable === undefined) return Number.POSITIVE_INFINITY
    return Math.max(
      1,
      amountOf(maxUnavailable, () => this.#deps.countMatched(version)),
    )
  }

  #free({ version, limit, busy }: RolloutState): number {
    if (limit === Number.POSITIVE_INFINITY) return limit
    return limit - busy.size - this.#deps.ledger.failing(nameOf(version), generationOf(version))
  }

  #haltOf({ version, prunes }: RolloutState): Halt | undefined {
    if (prunes !== undefined) return prunes
    if (version.template.spec?.rollout?.pauseOnFailure !== true) return undefined
    const failing = this.#deps.ledger.failing(nameOf(version), generationOf(version))
    if (failing === 0) return undefined
    const message =
      `${failing} namespaces failed with generation ${generationOf(version)}; no other is begun until they are ` +
      'mended or the template is edited'
    return { reason: 'Paused', message }
  }

  #tooManyPrunes(version: Matcher): Halt | undefined {
    const { spec } = version.template
    const { maxPrune } = spec?.rollout ?? {}
    // Orphaning destroys nothing.
    if (maxPrune === undefined || spec?.deletionPolicy === 'Orphan') return undefined
    const namespaces = this.#deps.wouldPrune(version)
    const most = amountOf(maxPrune, () => this.#deps.countMatched(version))
    if (namespaces.length <= most) return undefined
    const more = namespaces.length > named ? ', ...' : ''
    const message =
      `generation ${generationOf(version)} would delete objects in ${namespaces.length} namespaces, ` +
      `spec.rollout.maxPrune allows ${maxPrune}: ${namespaces.slice(0, named).join(', ')}${more}; ` +
      'nothing is changed. Raise maxPrune if it is meant, or go back with: borough template rollback'
    return { reason: 'TooManyPrunes', message }
  }

  #wake(state: RolloutState): void {
    if (state.waiting.size === 0 || this.#haltOf(state) !== undefined) return
    const free = this.#free(state)
    const next: string[] = []
    for (const namespace of state.waiting) {
      if (next.length >= free) break
      next.push(namespace)
    }
    for (const namespace of next) state.waiting.delete(namespace)
    this.#deps.wake(next)
  }
}

/** A late event with an older version does not bring it back. */
const isNotBefore = (known: Matcher, version: Matcher): boolean =>
  known.template.metadata.uid === version.template.metadata.uid && generationOf(known) >= generationOf(version)

const nameOf = ({ template }: Matcher): string => template.metadata.name ?? ''

/** What the last process to look found. */
function isComplete({ metadata, status }: NamespaceTemplate): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.conditions ?? []).some((c) => c.type === progressingCondition && c.reason === completeReason)
  )
}

const sharePattern = /^(\d+)%$/

/** A number, or a share of `whole` rounded up; what is neither was refused when the template was written. */
export function amountOf(value: number | string, whole: () => number): number {
  if (typeof value === 'number') return value
  const share = sharePattern.exec(value)
  return share === null ? 0 : Math.ceil((Number(share[1]) * whole()) / 100)
}

export function rolloutErrors({ maxUnavailable, maxPrune }: Rollout): FieldError[] {
  const errors: FieldError[] = []
  if (maxUnavailable !== undefined && !isAmount(maxUnavailable, 1)) {
    errors.push(
      fieldInvalid('spec.rollout.maxUnavailable', maxUnavailable, 'must be at least 1, or a share like "10%"'),
    )
  }
  if (maxPrune !== undefined && !isAmount(maxPrune, 0)) {
    errors.push(fieldInvalid('spec.rollout.maxPrune', maxPrune, 'must be 0 or more, or a share like "10%"'))
  }
  return errors
}

const isAmount = (value: number | string, least: number): boolean =>
  typeof value === 'number' ? value >= least : sharePattern.test(value) && Number.parseInt(value, 10) <= 100
