/**
 * Whose turn it is: how a new version of a template reaches the namespaces that exist.
 *
 *   edit ──▶ would it prune in more than maxPrune namespaces? ──yes──▶ stopped until it is confirmed: every
 *                      │ no                                          namespace keeps what it has. So is a deletion.
 *                      ▼
 *            is it paused by its annotation? ──yes──▶ all wait, until that is taken off
 *                      │ no
 *                      ▼
 *            ┌─▶ a free place? (under way + failed < maxUnavailable) ──no──▶ the namespace waits
 *            │         │ yes
 *            │         ▼
 *            └── applied, the place is free again          failed: the place stays taken until it is mended,
 *                                                          with pauseOnFailure all others wait meanwhile
 *
 * A failure that only says that something of the namespace's own is in the way takes no place: who squats a name in as
 * many namespaces as there are places would keep the change from all others. `pauseOnFailure` counts it with the rest.
 *
 * All of it is memory: after a restart, a rollout that the status calls complete is complete, and one that was under
 * way goes on from the start, where namespaces that are done cost one comparison each.
 */
import { nameOf } from '../../kube/metadata.ts'
import { heldGeneration } from './held-version.ts'
import { generationOf, isSameVersion, type TemplateLedger } from './ledger.ts'
import { findBeyond, isDisabled, isRolloutPaused, type Matcher } from './match.ts'
import { type PruneExcess, stopText } from './prunes.ts'
import { limitOf } from './rollout-limits.ts'
import { applyAnnotation, type NamespaceTemplate, pauseRolloutAnnotation } from './types.ts'

const haltReasons = ['Paused', 'PopulationPaused', 'TooManyPrunes'] as const

export const isHaltReason = (reason: string): boolean => (haltReasons as readonly string[]).includes(reason)

export interface Halt {
  readonly reason: (typeof haltReasons)[number] | 'Disabled' | typeof unreadReason
  readonly message: string
}

export interface RolloutDeps {
  readonly ledger: TemplateLedger
  /** As it is stored now: annotations make no version. */
  findTemplate(name: string): NamespaceTemplate | undefined
  /** Namespaces that a version selects. */
  countMatched(version: Matcher): number
  /** Whether it may, in so many namespaces. */
  excessOf(version: Matcher, pruned: number): PruneExcess | undefined
  /** Their turn may have come. */
  wake(namespaces: readonly string[]): void
}

/** Gives the place back. Call it once, after the outcome is in the ledger. */
export type Release = () => void

interface RolloutState {
  readonly version: Matcher
  /** Known to be complete: no namespace has to wait. */
  readonly settled: boolean
  /** undefined until every namespace has been looked at. */
  limit: number | undefined
  readonly busy: Set<string>
  readonly waiting: Set<string>
  /** Not selected by this version, while the status says that another is in force. */
  readonly leaving: Set<string>
  prunes: Halt | undefined
}

export const progressingCondition = 'Progressing'
export const completeReason = 'Complete'
/** Of a template that says more than this version understands, or what can't be read. */
export const unreadReason = 'NewerTemplate'
/** Every selected namespace has been reached, and in some it failed: there it is tried again, and nothing waits. */
export const failedReason = 'CompleteWithFailures'

export class Rollouts {
  readonly #deps: RolloutDeps
  readonly #states = new Map<string, RolloutState>()
  /** Templates that rested while this process looked: what the status says of them is not how far they have come. */
  readonly #rested = new Set<string>()

  constructor(deps: RolloutDeps) {
    this.#deps = deps
  }

  /**
   * Takes a place for one namespace; undefined = it has to wait, and is woken when that may have changed. `isDone`: it
   * holds already what the version says, so it need not wait.
   */
  begin(version: Matcher, namespace: string, isDone: () => boolean): Release | undefined {
    const state = this.#stateOf(version)
    state.leaving.delete(namespace)
    const isThere = isSameVersion(this.#deps.ledger.findHeld(version, namespace)?.version, version)
    if (state.settled || isThere) return () => this.#wake(state)
    if (state.limit === undefined || this.#haltOf(state) !== undefined || this.#free(state) <= 0) {
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

  /**
   * Takes a place for one that the version does not select; undefined = as above. Until its status says that the
   * version is in force, admission judges the namespace by the one before, and would give it again what is taken away.
   */
  beginLeaving(version: Matcher, namespace: string): Release | undefined {
    const present = this.#deps.findTemplate(templateName(version))
    const isHeld = present !== undefined && heldGeneration(present) !== undefined
    if (!isHeld) return this.begin(version, namespace, () => false)
    const state = this.#stateOf(version)
    // It was looked at before the status said so, too.
    state.waiting.delete(namespace)
    state.leaving.add(namespace)
    return undefined
  }

  /** Whether its status names another version as in force now, or none any more; undefined = as before. */
  statusChanged(next: NamespaceTemplate, old: NamespaceTemplate): 'other' | 'none' | undefined {
    const held = heldGeneration(next)
    if (held === heldGeneration(old)) return undefined
    if (held !== undefined) return 'other'
    const state = this.#states.get(nameOf(next.metadata))
    if (state === undefined) return 'none'
    for (const namespace of state.leaving) state.waiting.add(namespace)
    state.leaving.clear()
    this.#wake(state)
    return 'none'
  }

  /** No namespace waits for a look at all of them. */
  isSettled(version: Matcher): boolean {
    return this.#stateOf(version).settled
  }

  /**
   * Every namespace has been looked at: in these the version would delete something that is there now. True: it is
   * stopped because of that, and must hear when they change.
   */
  surveyed(version: Matcher, pruned: ReadonlySet<string>): boolean {
    // It deletes nothing while it rests, which says nothing of when it goes on: annotations make no version.
    if (findRest(version.template) !== undefined) {
      this.#rest(templateName(version))
      return false
    }
    const state = this.#stateOf(version)
    if (!isSameVersion(state.version, version)) return false
    state.limit ??= this.#limitOf(version)
    state.prunes = state.settled ? undefined : this.#tooManyPrunes(version, pruned)
    this.#wake(state)
    return state.prunes !== undefined
  }

  /** Why nothing moves; undefined = it does. */
  review(version: Matcher): Halt | undefined {
    const state = this.#stateOf(version)
    const halt = this.#haltOf(state)
    // No namespace is left that a pause would hold.
    return halt?.reason === 'Paused' && state.waiting.size === 0 ? undefined : halt
  }

  waiting(template: string): number {
    const state = this.#states.get(template)
    return state === undefined ? 0 : state.waiting.size + state.leaving.size
  }

  /** The amount of places, where what failed has all of them and others wait. */
  heldUpIn(version: Matcher): number | undefined {
    const state = this.#stateOf(version)
    const isHeldUp = state.waiting.size > 0 && state.busy.size === 0 && this.#free(state) <= 0
    return isHeldUp ? state.limit : undefined
  }

  /** It is not for the template any more, and holds nothing of it. True: it had waited. */
  leave(template: string, namespace: string): boolean {
    const state = this.#states.get(template)
    if (state === undefined) return false
    const hadWaited = [state.waiting, state.leaving].filter((set) => set.delete(namespace)).length > 0
    // Where its turn had come, that of the next has.
    this.#wake(state)
    return hadWaited
  }

  /** It has gone, and its failures are out of the ledger: the next in the queue may have its place. */
  forgetNamespace(namespace: string): void {
    for (const state of this.#states.values()) {
      state.busy.delete(namespace)
      state.waiting.delete(namespace)
      state.leaving.delete(namespace)
      this.#wake(state)
    }
  }

  forgetTemplate(template: string): void {
    this.#states.delete(template)
    this.#rested.delete(template)
  }

  /** Nothing of it is applied or pruned for now, and namespaces may change meanwhile: all is looked at again then. */
  #rest(template: string): void {
    this.#states.delete(template)
    this.#rested.add(template)
  }

  #stateOf(version: Matcher): RolloutState {
    const name = templateName(version)
    const known = this.#states.get(name)
    if (known !== undefined && isNotBefore(known.version, version)) return known
    const state: RolloutState = {
      version,
      settled: known === undefined && !this.#rested.has(name) && isComplete(version.template),
      limit: undefined,
      busy: new Set(),
      waiting: new Set(),
      leaving: new Set(),
      prunes: undefined,
    }
    this.#states.set(name, state)
    return state
  }

  #limitOf(version: Matcher): number {
    const { spec, metadata } = version.template
    // What a deletion may take away is settled before it begins; it does not go by waves.
    if (metadata.deletionTimestamp !== undefined) return Number.POSITIVE_INFINITY
    return Math.max(
      1,
      limitOf(spec?.rollout?.maxUnavailable, () => this.#deps.countMatched(version)),
    )
  }

  #free({ version, limit = 0, busy }: RolloutState): number {
    return limit - busy.size - this.#deps.ledger.keepingPlaces(templateName(version), generationOf(version))
  }

  #haltOf({ version, prunes }: RolloutState): Halt | undefined {
    if (prunes !== undefined) return prunes
    const name = templateName(version)
    const present = this.#deps.findTemplate(name)
    if (present !== undefined && isRolloutPaused(present)) return pausedByAnnotation(name)
    if (version.template.spec?.rollout?.pauseOnFailure !== true) return undefined
    const failing = this.#deps.ledger.failing(name, generationOf(version))
    if (failing === 0) return undefined
    const message =
      `${failing} namespaces failed with generation ${generationOf(version)}; no other is begun until they are ` +
      'mended or the template is edited'
    return { reason: 'Paused', message }
  }

  #tooManyPrunes(version: Matcher, pruned: ReadonlySet<string>): Halt | undefined {
    const excess = this.#deps.excessOf(version, pruned.size)
    if (excess === undefined) return undefined
    return { reason: 'TooManyPrunes', message: stopText(version, pruned, excess) }
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

const pausedByAnnotation = (name: string): Halt => ({
  reason: 'Paused',
  message:
    `it is paused by annotation ${pauseRolloutAnnotation}: no other namespace is begun. Resume it with: ` +
    `kubectl annotate namespacetemplate ${name} ${pauseRolloutAnnotation}-`,
})

/** Why nothing of a template is applied or pruned, as long as it says so itself; undefined = it is. */
export function findRest(template: NamespaceTemplate): Halt | undefined {
  if (template.metadata.deletionTimestamp !== undefined) return undefined
  if (isDisabled(template)) {
    const message = `annotation ${applyAnnotation} disables it: what it made stays, and nothing is applied or deleted`
    return { reason: 'Disabled', message }
  }
  const beyond = findBeyond(template)
  return beyond === undefined ? undefined : { reason: unreadReason, message: `the template ${beyond}` }
}

/** A late event with an older version does not bring it back. */
const isNotBefore = (known: Matcher, version: Matcher): boolean =>
  known.template.metadata.uid === version.template.metadata.uid && generationOf(known) >= generationOf(version)

const templateName = ({ template }: Matcher): string => nameOf(template.metadata)

/** What the last process to look found. */
function isComplete({ metadata, status }: NamespaceTemplate): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.conditions ?? []).some(
      (c) => c.type === progressingCondition && (c.reason === completeReason || c.reason === failedReason),
    )
  )
}
