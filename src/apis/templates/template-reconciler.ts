/**
 * The loop over templates: sums up in a status what the passes over namespaces found, keeps revisions, and lets a
 * deleted template go when nothing of it is left.
 */
import type { Client } from '../../client/client.ts'
import type { ObjectKey, Reconciler } from '../../controller/controller.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { heldGeneration } from './held-version.ts'
import { kindsEverOf, kindsOf } from './kinds.ts'
import { isOptedOut, type Matcher } from './match.ts'
import type { PopulationDeps } from './population-deps.ts'
import type { PopulationState } from './population-state.ts'
import { tellBlockedPrune, tellHalt } from './report.ts'
import { findHeldVersion } from './revisions.ts'
import { findRest, type Halt } from './rollout.ts'
import {
  letGoStatusOf,
  pausedStatusOf,
  populationPaused,
  statusOf,
  surveyingStatusOf,
  withLostVersion,
} from './status.ts'
import { isSameStatus } from './status-schedule.ts'
import { type NamespaceTemplate, type TemplateStatus, templateFinalizer, templateResource } from './types.ts'

export class TemplateReconciler implements Reconciler {
  readonly #deps: PopulationDeps
  readonly #state: PopulationState
  /** template → the halt of its rollout that was told of last. */
  readonly #toldHalts = new Map<string, string>()

  constructor(deps: PopulationDeps, state: PopulationState) {
    this.#deps = deps
    this.#state = state
  }

  async reconcile({ name }: ObjectKey, signal: AbortSignal): Promise<undefined> {
    const state = this.#state
    if (state.findTemplate(name) !== undefined) await state.kinds.know(signal)
    const template = state.findTemplate(name)
    const version = state.matcherOf(name)
    if (template === undefined || version === undefined) {
      state.forgetTemplate(name)
      this.#toldHalts.delete(name)
    } else if (template.metadata.deletionTimestamp !== undefined) {
      await this.#finalize(template, version, signal)
    } else if (!template.metadata.finalizers?.includes(templateFinalizer)) {
      // The next version brings the key back, for its status.
      await addFinalizer(this.#deps.client, template, signal)
    } else {
      await this.#sumUp(template, version, signal)
    }
    return undefined
  }

  /** @throws Error while it can't be known what is left */
  async #finalize(template: NamespaceTemplate, version: Matcher, signal: AbortSignal): Promise<void> {
    const { kinds, activePasses, recordedKinds } = this.#state
    const name = nameOf(template.metadata)
    const uid = uidOf(template.metadata)
    const unread = [...new Set(kindsEverOf(template))].filter((kind) => kinds.isUnread(kind))
    if (unread.length > 0) {
      const message = `it stays until somebody says what is left of it: ${unread.join(', ')} can not be read`
      await tellBlockedPrune(this.#deps.events, template, message)
      throw new Error(message)
    }
    if (activePasses.isApplying(name) || this.#isHeld(name, version)) {
      await this.#sumUp(template, version, signal)
      return
    }
    // Who still reads it gives what is in force to new namespaces: it goes when the status says that nothing is.
    if (heldGeneration(template) !== undefined) {
      await this.#replaceStatus(template, letGoStatusOf(template), signal)
      return
    }
    recordedKinds.forget(uid)
    await removeFinalizer(this.#deps.client, template, signal)
  }

  /**
   * What is in a namespace that opted out stays there, and the template does not wait for it; but for the confirmation
   * where it is much: it goes when those namespaces are opted in again. What is in a namespace that is being deleted
   * goes with it, which others may hold up for long.
   */
  #isHeld(template: string, version: Matcher): boolean {
    const { index, metadata, surveys, rollouts } = this.#state
    let isHeldAside = false
    for (const holding of [index.holdings.namespacesOf(template), metadata.namespacesOf(template)]) {
      for (const name of holding) {
        const namespace = this.#state.findNamespace(name)
        if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) continue
        if (!isOptedOut(namespace)) return true
        isHeldAside = true
      }
    }
    return isHeldAside && (!surveys.isDone(version) || rollouts.review(version)?.reason === 'TooManyPrunes')
  }

  /** Its revisions first: the status may name one of them. */
  async #sumUp(template: NamespaceTemplate, version: Matcher, signal: AbortSignal): Promise<void> {
    const keeping = this.#state.pendingRevisions.keep(this.#deps.client, nameOf(template.metadata), signal)
    const [kept] = await Promise.allSettled([keeping])
    await this.#writeStatus(template, version, signal)
    if (kept.status === 'rejected') throw kept.reason
  }

  async #writeStatus(template: NamespaceTemplate, version: Matcher, signal: AbortSignal): Promise<void> {
    const { rollouts, matchedNamespaces, ledger, recordedKinds, surveys } = this.#state
    const { clock } = this.#deps
    const { generation } = template.metadata
    const name = nameOf(template.metadata)
    const rest = findRest(template)
    if (this.#state.isPaused && rest?.reason !== 'Disabled') return this.#writePaused(template, signal)
    if (!surveys.isDone(version)) return this.#writeSurveying(template, signal)
    // Never said to be complete: a later process would believe it, and let an edit pass that nothing has looked at.
    const halt = rest ?? rollouts.review(version)
    const matched = matchedNamespaces.counted(name)
    const tally = ledger.tally(version)
    // After a start: what the status says is true until as many namespaces were looked at as it speaks of.
    const seen = tally.known + rollouts.waiting(name)
    if (template.status?.observedGeneration === generation && seen < Math.min(matched, toldOf(template.status))) return
    const kinds = this.#remainingKinds(template)
    const [waiting, heldUpIn] = [rollouts.waiting(name), rollouts.heldUpIn(version)]
    const findings = { matched, ...tally, waiting, heldUpIn, halt, kinds }
    const status = statusOf(version, findings, clock.now())
    await this.#tellHaltOnce(template, rest === undefined ? halt : undefined)
    if (!isSameStatus(status, template.status)) recordedKinds.narrowed(template, kinds)
    await this.#replaceStatus(template, status, signal)
  }

  /** Figures stand as they are until it goes on: no namespace is looked at. */
  async #writePaused(template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
    await this.#tellHaltOnce(template, populationPaused)
    await this.#replaceStatus(template, pausedStatusOf(template, this.#deps.clock.now()), signal)
  }

  /** Figures stand as they are until all namespaces have been looked at. */
  async #writeSurveying(template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
    const { generation } = template.metadata
    const name = nameOf(template.metadata)
    if (template.status?.observedGeneration === generation) return
    const [looked, all] = [this.#state.surveys.looked(name), this.#state.countNamespaces()]
    await this.#replaceStatus(template, surveyingStatusOf(template, looked, all, this.#deps.clock.now()), signal)
  }

  async #tellLostVersion(
    template: NamespaceTemplate,
    status: TemplateStatus,
    signal: AbortSignal,
  ): Promise<TemplateStatus> {
    const told = { ...template, status }
    if (heldGeneration(told) === undefined) return status
    const held = await findHeldVersion(this.#deps.client, told, signal)
    return held === undefined ? withLostVersion(status, nameOf(template.metadata)) : status
  }

  async #replaceStatus(template: NamespaceTemplate, next: TemplateStatus, signal: AbortSignal): Promise<void> {
    const status = await this.#tellLostVersion(template, next, signal)
    if (isSameStatus(status, template.status)) return
    const { client } = this.#deps
    const { recordedKinds } = this.#state
    this.#state.writesStatus(nameOf(template.metadata), status)
    try {
      await client.update(templateResource, { ...template, status }, { subresource: 'status', signal })
    } catch (error) {
      // What the status says now must be read before it is relied on.
      recordedKinds.forget(uidOf(template.metadata))
      // A newer version is on its way to the informer and brings the key back.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  async #tellHaltOnce(template: NamespaceTemplate, halt: Halt | undefined): Promise<void> {
    const { generation } = template.metadata
    const name = nameOf(template.metadata)
    if (halt === undefined) {
      this.#toldHalts.delete(name)
      return
    }
    const text = `${generation} ${halt.reason}`
    if (this.#toldHalts.get(name) !== text) await tellHalt(this.#deps.events, template, halt)
    this.#toldHalts.set(name, text)
  }

  /** Kinds of which something may be there. */
  #remainingKinds(template: NamespaceTemplate): string[] {
    const { activePasses, index, kinds } = this.#state
    const name = nameOf(template.metadata)
    const old = template.status?.kinds ?? []
    // A kind that is not served now may be served again, with its objects.
    const unsure = activePasses.isApplying(name) ? old : old.filter((kind) => !kinds.isRead(kind))
    return [...new Set([...kindsOf(template), ...index.holdings.kindsOf(name), ...unsure])].sort()
  }
}

/** Of so many namespaces it says how they stand. */
const toldOf = ({ synced = 0, failed = 0, skipped = 0, extended = 0, waiting = 0 }: TemplateStatus = {}): number =>
  synced + failed + skipped + extended + waiting

/** Admission does it when a template is created. One that came before admission was there gets it here. */
async function addFinalizer(client: Client, template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
  const finalizers = [...(template.metadata.finalizers ?? []), templateFinalizer]
  await patchFinalizers(client, template, finalizers, signal)
}

async function removeFinalizer(client: Client, template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
  const finalizers = (template.metadata.finalizers ?? []).filter((f) => f !== templateFinalizer)
  await patchFinalizers(client, template, finalizers, signal)
}

async function patchFinalizers(
  client: Client,
  { metadata }: NamespaceTemplate,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion } = metadata
  const name = nameOf(metadata)
  try {
    await client.patch(templateResource, { name }, { metadata: { resourceVersion, finalizers } }, { signal })
  } catch (error) {
    // A newer version is on its way to the informer and brings the key back.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
