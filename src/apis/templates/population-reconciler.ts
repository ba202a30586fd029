/** The loop over namespaces: applies what the templates say and prunes what they no longer say, then opens the gate. */
import { Turns } from '../../base/turns.ts'
import type { ObjectKey, Reconciler } from '../../controller/controller.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { CloneSources } from './clone-sources.ts'
import { cloneResolver, type ResolveClone } from './clones.ts'
import { Conditions } from './conditions.ts'
import { Corrections } from './corrections.ts'
import { FormerVersions } from './former-versions.ts'
import { isGateShut, openGate } from './gate.ts'
import { JudgingPasses } from './judge-ahead.ts'
import { findBeyond, isDisabled, isOptedOut, selectTemplates } from './match.ts'
import { holdersOf } from './namespace-metadata.ts'
import { type NamespacePass, planPass } from './namespace-pass.ts'
import { type ObjectResult, shortened } from './object-result.ts'
import { isPopulated, type PopulateRequest, populate, resultOf, settledIn } from './populate.ts'
import type { PopulationDeps } from './population-deps.ts'
import type { PopulationState } from './population-state.ts'
import { reportCondition, tell, tellCorrected, tellDeleted } from './report.ts'
import { planMetadata } from './settle-metadata.ts'
import { type NamespaceTemplate, templateControllerName } from './types.ts'

type Outcome = { readonly requeueAfterMs: number } | undefined

/** What is without our label is on no watch of ours. */
const lookAgainMs = 60_000
/** No change of what we watch tells that these are over. */
const mayMend: ReadonlySet<string> = new Set(['AlreadyExists', 'DriftStopped'])

export class PopulationReconciler implements Reconciler {
  readonly #deps: PopulationDeps
  readonly #state: PopulationState
  readonly #corrections: Corrections
  readonly #sources: CloneSources
  readonly #clones: ResolveClone
  readonly #former: FormerVersions
  readonly #judging: JudgingPasses

  constructor(deps: PopulationDeps, state: PopulationState) {
    this.#deps = deps
    this.#state = state
    this.#judging = new JudgingPasses({ turns: deps.turns ?? new Turns(), now: () => deps.clock.monotonic() })
    this.#corrections = new Corrections(deps.clock)
    this.#sources = new CloneSources({ ...deps, onChange: (name) => this.#lookAgain(name) })
    this.#clones = cloneResolver({
      find: (from) => this.#sources.find(from),
      madeIn: (namespace) => state.index.claimsIn(namespace),
    })
    this.#former = new FormerVersions(deps.client, state, this.#clones)
  }

  async reconcile({ name }: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const state = this.#state
    const seen = state.findNamespace(name)
    if (seen === undefined || seen.metadata.deletionTimestamp !== undefined) {
      state.forgetNamespace(name)
      this.#judging.forget(name)
      return undefined
    }
    const namespace = state.openedGates.asLeft(seen)
    if (isOptedOut(namespace)) {
      await this.#leaveAlone(namespace, signal)
      return undefined
    }
    if (state.isPaused && !isGateShut(namespace)) return undefined
    await state.kinds.know(signal)
    const inForce = await this.#former.inForce(signal)
    await this.#sources.know(
      [...state.matchers(), ...inForce].map(({ template }) => template),
      signal,
    )
    const conditions = new Conditions(namespace)
    const requeueAfterMs = await this.#judgeAhead(conditions, signal)
    if (requeueAfterMs > 0) return { requeueAfterMs }
    return this.#report(namespace, await this.#pass(namespace, conditions, signal), signal)
  }

  /** What it copies has changed. */
  #lookAgain(name: string): void {
    const template = this.#state.findTemplate(name)
    this.#state.lookAgain(name, template && this.#former.knownInForce(template))
  }

  async #leaveAlone(namespace: Namespace, signal: AbortSignal): Promise<void> {
    const name = nameOf(namespace.metadata)
    this.#state.forgetNamespace(name)
    // A template that is being deleted waits for it no longer.
    this.#state.requestStatus(this.#state.index.claimsIn(name).map((claim) => claim.template))
    await this.#openGate(namespace, signal)
  }

  async #pass(namespace: Namespace, conditions: Conditions, signal: AbortSignal): Promise<readonly ObjectResult[]> {
    const state = this.#state
    const former = await this.#former.of(namespace, conditions, signal)
    const pass = planPass(state, namespace, { conditions, clones: this.#clones, former })
    state.activePasses.begin(pass.wanted)
    try {
      await Promise.all(pass.wanted.map((template) => state.recordedKinds.ensure(template, signal)))
      await this.#keepRevisions(pass.wanted, signal)
      const unrendered = pass.unrendered.map((skipped) => resultOf(skipped, namespace))
      const results = [...unrendered, ...(await this.#populate(conditions, namespace, pass, signal))].map(shortened)
      this.#note(namespace, pass, results)
      return results
    } finally {
      state.activePasses.end(pass.wanted)
      for (const giveBack of pass.places) giveBack()
    }
  }

  /** Passes over other namespaces, and requests, come in between. Answers in how many milliseconds it is to go on. */
  #judgeAhead(conditions: Conditions, signal: AbortSignal): Promise<number> {
    const { namespace } = conditions
    return this.#judging.judge(conditions, selectTemplates(this.#state.matchers(), namespace), {
      isAwaited: isGateShut(namespace),
      owner: { controller: templateControllerName },
      check: () => signal.throwIfAborted(),
    })
  }

  /**
   * Before anything is applied by it: the next process learns from a revision what was applied. One that can't be
   * written keeps no namespace waiting; the loop over templates tries again and tells.
   */
  async #keepRevisions(templates: readonly NamespaceTemplate[], signal: AbortSignal): Promise<void> {
    const { client, onError } = this.#deps
    const { pendingRevisions } = this.#state
    const kept = templates.map(({ metadata }) => pendingRevisions.keep(client, nameOf(metadata), signal))
    for (const outcome of await Promise.allSettled(kept)) if (outcome.status === 'rejected') onError(outcome.reason)
  }

  async #populate(
    conditions: Conditions,
    namespace: Namespace,
    { wanted, waiting, held, unrendered, planned }: NamespacePass,
    signal: AbortSignal,
  ): Promise<readonly ObjectResult[]> {
    const { client, records, events } = this.#deps
    const { index } = this.#state
    const clones = this.#clones
    const name = nameOf(namespace.metadata)
    const policyOf: PopulateRequest['policyOf'] = (template) =>
      waiting.has(template) ? 'Keep' : deletionPolicyOf(this.#state.findTemplate(template), planned.get(template))
    const older = new Set([...waiting].filter((template) => !held.has(template)))
    for (const { template } of unrendered) older.add(nameOf(template.metadata))
    const request = {
      namespace,
      templates: wanted,
      policyOf,
      isOlder: (name: string) => older.has(name),
      conditions,
      signal,
    }
    // An object that had to tell itself what was applied to it is noted as applied on the way.
    const isDone = !index.mustAsk(name) && isPopulated(wanted, index.claimsIn(name), { index, clones, conditions })
    if (isDone && planMetadata(settledIn(request)).changes.length === 0) return []
    // A template that is being deleted may have gone when the last of it is.
    const holding = [...index.claimsIn(name).map((claim) => claim.template), ...holdersOf(namespace).values()]
    const holders = new Map(holding.map((template) => [template, this.#state.findTemplate(template)]))
    const corrections = this.#corrections
    const results = await populate({ client, index, clones, records, corrections }, request)
    for (const result of results) tellCorrected(events, namespace, result)
    for (const [template, holder] of holders) {
      const deleted = results.filter((r) => r.isDeleted && r.template === template).map((r) => r.object)
      if (holder !== undefined && deleted.length > 0) tellDeleted(events, name, holder, deleted)
    }
    return results
  }

  #note(namespace: Namespace, { attempts, waiting }: NamespacePass, results: readonly ObjectResult[]): void {
    const state = this.#state
    const { uid } = namespace.metadata
    const name = nameOf(namespace.metadata)
    state.requestStatus(state.ledger.record(name, attempts, results))
    state.visited(name)
    const now = state.findNamespace(name)
    // It may have gone during the pass.
    if (now?.metadata.uid !== uid) state.releaseRecord(name, uid)
    if (now === undefined) state.forgetNamespace(name)
    else state.matchedNamespaces.namespaceChanged(now)
    state.requestStatus(waiting)
  }

  /** Opens the gate, if nothing must keep it shut. @throws Error where an object is to be tried again */
  async #report(namespace: Namespace, results: readonly ObjectResult[], signal: AbortSignal): Promise<Outcome> {
    const { client, clock, events } = this.#deps
    const templateOf = ({ template }: ObjectResult): NamespaceTemplate | undefined => this.#state.findTemplate(template)
    const failures = results.filter((r) => r.failure !== undefined)
    const worthTelling = results.filter((r) => r.failure ?? r.remark ?? r.skipped ?? r.extended)
    await Promise.all(worthTelling.map((r) => tell(events, namespace, templateOf(r), r)))
    await reportCondition(client, clock, namespace, failures, signal)
    const retriable = failures.filter((f) => f.failure?.retriable)
    const awaited = failures.filter((f) => f.failure?.retriable || f.failure?.isAwaited)
    const holding = awaited.filter((f) => templateOf(f)?.spec?.failurePolicy !== 'Ignore')
    if (holding.length === 0) await this.#openGate(namespace, signal)
    if (retriable.length > 0) throw new Error(retriable.map((f) => `${f.object}: ${f.failure?.message}`).join('; '))
    const isBlocked = results.some((r) => mayMend.has(r.failure?.reason ?? '') || r.isUnwatched)
    return isBlocked ? { requeueAfterMs: lookAgainMs } : undefined
  }

  async #openGate(namespace: Namespace, signal: AbortSignal): Promise<void> {
    const { openedGates } = this.#state
    await openGate(this.#deps.client, namespace, signal)
    openedGates.opened(namespace.metadata, this.#state.findNamespace(nameOf(namespace.metadata)))
  }
}

/** `planned`: as it was when the pass was planned. */
function deletionPolicyOf(
  template: NamespaceTemplate | undefined,
  planned: NamespaceTemplate | undefined,
): 'Delete' | 'Orphan' | 'Keep' {
  // Gone without our finalizer having held it: what was wanted is not known any more, so nothing is destroyed.
  if (template === undefined) return 'Keep'
  // What this pass does not want may be wanted now: the change brings the next pass.
  if (planned === undefined || !isSameHolder(template, planned)) return 'Keep'
  const isIdle = isDisabled(template) || findBeyond(template) !== undefined
  if (isIdle && template.metadata.deletionTimestamp === undefined) return 'Keep'
  const { deletionPolicy = 'Delete' } = template.spec ?? {}
  // One that a newer version knows destroys nothing here.
  return deletionPolicy === 'Delete' ? 'Delete' : 'Orphan'
}

/** What a template holds and where follows from these. */
const isSameHolder = (a: NamespaceTemplate, b: NamespaceTemplate): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  isDisabled(a) === isDisabled(b) &&
  findBeyond(a) === findBeyond(b)
