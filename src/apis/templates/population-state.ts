/**
 * What both loops of the population controller know: what the cluster holds, and what earlier passes came to. It turns
 * each change into the namespaces and templates that must be looked at again.
 */

import type { Informer } from '../../client/informer.ts'
import type { Keys } from '../../controller/source.ts'
import { Watches } from '../../controller/watches.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { ActivePasses } from './active-passes.ts'
import { isGateShut, OpenedGates, tellingLabels } from './gate.ts'
import { NamespaceKeeper } from './kept-namespace.ts'
import { RecordedKinds } from './kinds.ts'
import { type KnownKinds, openKnownKinds } from './known-kinds.ts'
import { TemplateLedger } from './ledger.ts'
import { compileMatcher, isDisabled, isOptedOut, type Matcher } from './match.ts'
import { MatchedNamespaces } from './matched-namespaces.ts'
import { MetadataIndex } from './metadata-index.ts'
import { PopulatedIndex, type PopulatedIndexDeps } from './populated-index.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import { isPaused, populationConfig } from './population-config.ts'
import type { PopulationDeps } from './population-deps.ts'
import { excessOf, isPruneLimited, prunes, prunesIn } from './prunes.ts'
import { PendingRevisions } from './revisions.ts'
import { Rollouts } from './rollout.ts'
import { isSameStatus, StatusSchedule } from './status-schedule.ts'
import { Surveys } from './surveys.ts'
import { type NamespaceTemplate, type TemplateStatus, templateResource } from './types.ts'

const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' } as const

const keyOf = (name: string) => ({ namespace: '', name })

export class PopulationState {
  readonly #deps: PopulationDeps
  readonly ledger: TemplateLedger = new TemplateLedger()
  readonly activePasses: ActivePasses = new ActivePasses()
  readonly pendingRevisions: PendingRevisions = new PendingRevisions()
  readonly recordedKinds: RecordedKinds
  readonly matchedNamespaces: MatchedNamespaces
  readonly index: PopulatedObjects
  /** Labels and annotations that templates set on the namespaces themselves. */
  readonly metadata: MetadataIndex
  readonly kinds: KnownKinds
  readonly rollouts: Rollouts
  readonly surveys: Surveys
  readonly openedGates: OpenedGates = new OpenedGates()
  /** What feeds the loop over namespaces. */
  readonly watches: Watches
  /** What feeds the loop over templates. */
  readonly statuses: StatusSchedule
  /** Template → what this process wrote last, the newest first. */
  readonly #writtenStatuses = new Map<string, readonly TemplateStatus[]>()
  readonly #namespaces: Informer
  readonly #templates: Informer
  readonly #config: Informer
  readonly #matchers = new Map<string, Matcher>()
  /** Namespaces over which a pass has gone. */
  readonly #visited = new Set<string>()
  /** Records of namespaces that went while no controller ran: name and uid. */
  #left: (readonly [string, string])[] = []
  #running: AbortSignal = AbortSignal.abort()

  constructor(deps: PopulationDeps) {
    this.#deps = deps
    const { client, clock, records } = deps
    this.recordedKinds = new RecordedKinds(client)
    this.statuses = new StatusSchedule(clock, () => this.watches.isComplete)
    this.matchedNamespaces = new MatchedNamespaces(
      (version, namespace) => this.#counts(version, namespace),
      (template) => this.statuses.request(template),
    )
    this.watches = new Watches(deps)
    const keeper = new NamespaceKeeper()
    const keep = (namespace: KubeObject): KubeObject => keeper.keep(namespace)
    const ofNamespaces = { resource: namespaceResource, includeUninitialized: true, keep }
    this.#namespaces = this.watches.on(ofNamespaces, (next, old) => this.#namespaceChanged(next, old))
    this.#templates = this.watches.on({ resource: templateResource }, (next, old) => this.#templateChanged(next, old))
    const { namespace, name } = populationConfig
    const ofConfig = { resource: configMapsResource, namespace, fieldSelector: `metadata.name=${name}` }
    this.#config = this.watches.on(ofConfig, (next, old) => this.#configChanged(next, old))
    this.index = this.#openIndex()
    this.metadata = new MetadataIndex((template) => this.statuses.request(template))
    this.rollouts = new Rollouts({
      ledger: this.ledger,
      findTemplate: (name) => this.findTemplate(name),
      countMatched: (version) => this.matchedNamespaces.counted(nameOf(version.template.metadata)),
      excessOf: (version, pruned) => excessOf(version, pruned, () => this.#countReached(version)),
      wake: (waiting) => this.#enqueueMany(waiting),
    })
    this.surveys = this.#openSurveys()
    this.kinds = this.#openKinds()
    this.watches.beside((signal) => this.surveys.walks.run(signal))
    this.watches.beside((signal) => this.index.run(signal))
    this.watches.beside((signal) => this.kinds.awaited.run(signal))
    this.watches.waitFor(async (signal) => {
      this.#running = signal
      await this.#namespaces.whenSynced()
      await records.follow((...change) => this.#recorded(...change), signal)
      if (!signal.aborted) this.index.recordsRead()
    })
    this.watches.onSynced(() => {
      for (const version of this.#matchers.values()) this.surveys.begin(version)
      this.surveys.walks.begin('left', this.#releaseLeftRecords())
    })
  }

  /** An administrator stopped all templates. */
  get isPaused(): boolean {
    return isPaused(this.#config.find(populationConfig.namespace, populationConfig.name))
  }

  findNamespace(name: string): Namespace | undefined {
    return this.#namespaces.find('', name)
  }

  findTemplate(name: string): NamespaceTemplate | undefined {
    return this.#templates.find('', name)
  }

  /** All templates, with their selectors parsed. */
  matchers(): Iterable<Matcher> {
    return this.#matchers.values()
  }

  matcherOf(template: string): Matcher | undefined {
    return this.#matchers.get(template)
  }

  countNamespaces(): number {
    return this.#namespaces.size
  }

  /** Every namespace that it selects or has populated, or that `inForce`, another version of it, selects. */
  lookAgain(template: string, inForce?: Matcher): void {
    const concerns = (name: string): boolean => {
      const namespace = this.findNamespace(name)
      if (namespace === undefined) return false
      if (inForce?.selects(namespace)) return true
      return this.#matchers.get(template)?.selects(namespace) || this.index.holdings.holds(template, name)
    }
    this.surveys.walks.again(`look again ${template}`, this.#enqueueIf(concerns))
  }

  /** A pass has gone over this namespace. */
  visited(name: string): void {
    this.#visited.add(name)
  }

  /** It is gone, or left alone from now on. */
  forgetNamespace(name: string): void {
    this.#visited.delete(name)
    this.requestStatus(this.ledger.forgetNamespace(name))
    this.rollouts.forgetNamespace(name)
  }

  forgetTemplate(name: string): void {
    this.#writtenStatuses.delete(name)
    this.ledger.forgetTemplate(name)
    this.rollouts.forgetTemplate(name)
    this.pendingRevisions.forget(name)
    this.statuses.forget(name)
  }

  /** The figures of these templates may have changed. */
  requestStatus(templates: Iterable<string>): void {
    for (const template of templates) this.statuses.request(template)
  }

  /** The namespace of this uid is gone. What can't be released now is released when the controller starts again. */
  releaseRecord(name: string, uid = ''): void {
    this.#deps.records.release(name, uid, this.#running).catch(this.#deps.onError)
  }

  #openIndex(): PopulatedObjects {
    const { client, clock, onError, records, openIndex } = this.#deps
    const told: PopulatedIndexDeps = {
      client,
      clock,
      onError,
      records,
      onDrift: (namespace) => this.watches.enqueue(keyOf(namespace)),
      // Mostly its first pass is still to come, and will find it.
      onRecorded: (namespace) => this.watches.enqueue(this.#visited.has(namespace) ? keyOf(namespace) : undefined),
      // A template that is being deleted may have waited for this.
      onLeft: (template) => this.statuses.request(template),
    }
    const watched = new PopulatedIndex(told)
    return openIndex?.(told, watched) ?? watched
  }

  #openKinds(): KnownKinds {
    const templates = (): Iterable<KubeObject> => this.#templates.values()
    const findNamespace = (name: string): Namespace | undefined => this.findNamespace(name)
    return openKnownKinds(this.#deps, this.index, templates, findNamespace, (name) => this.lookAgain(name))
  }

  /** Namespaces that it selects, or that it selected and holds something in. */
  #countReached({ template }: Matcher): number {
    const name = nameOf(template.metadata)
    const holding = Math.max(this.index.holdings.countNamespaces(name), this.metadata.namespacesOf(name).size)
    return Math.max(this.matchedNamespaces.counted(name), holding)
  }

  #openSurveys(): Surveys {
    const holds = ({ template: { metadata } }: Matcher, name: string): boolean =>
      this.index.holdings.holds(nameOf(metadata), name) || this.metadata.holds(nameOf(metadata), name)
    return new Surveys({
      turns: this.#deps.turns,
      onError: this.#deps.onError,
      names: () => this.#names(),
      findNamespace: (name) => this.findNamespace(name),
      countAnew: (version) => this.matchedNamespaces.countAnew(version),
      count: (version, namespace) => this.matchedNamespaces.count(version, namespace),
      holds,
      mayBeStopped: (version) => !this.rollouts.isSettled(version) && prunes(version) && isPruneLimited(version),
      wouldPrune: (version, namespace) =>
        holds(version, nameOf(namespace.metadata)) && prunesIn(version, this.index, namespace),
      enqueue: (name) => this.watches.enqueue(keyOf(name)),
      onProgress: ({ template }) => this.statuses.request(nameOf(template.metadata)),
      onDone: (version, pruned) => {
        const isStopped = this.rollouts.surveyed(version, pruned)
        this.statuses.request(nameOf(version.template.metadata))
        return isStopped
      },
    })
  }

  *#names(): Generator<string> {
    for (const { metadata } of this.#namespaces.values()) yield nameOf(metadata)
  }

  #enqueueMany(names: readonly string[]): void {
    if (names.length <= enqueuedAtOnce) this.watches.enqueue(names.map(keyOf))
    else
      this.surveys.walks.begin(
        {},
        this.#enqueueIf(() => true, names),
      )
  }

  *#enqueueIf(concerns: (name: string) => boolean, names: Iterable<string> = this.#names()): Generator<void> {
    for (const name of names) {
      if (concerns(name)) this.watches.enqueue(keyOf(name))
      yield
    }
  }

  /** A namespace that is being created counts from when it was tried first. */
  #counts(version: Matcher, namespace: Namespace): boolean {
    const { template } = version
    const { deletionTimestamp } = namespace.metadata
    const name = nameOf(namespace.metadata)
    if (isDisabled(template) || deletionTimestamp !== undefined || isOptedOut(namespace)) return false
    if (!version.selects(namespace)) return false
    return !isGateShut(namespace) || this.ledger.find(nameOf(template.metadata), name) !== undefined
  }

  /** Called twice for what exists at the start. */
  #namespaceChanged(next: Namespace | undefined, old: Namespace | undefined): Keys {
    const name = (next ?? old)?.metadata.name ?? ''
    if (old !== undefined && old.metadata.uid !== next?.metadata.uid) this.releaseRecord(name, old.metadata.uid)
    this.metadata.changed(name, next)
    this.openedGates.changed(name, next)
    this.surveys.changed(name)
    if (next === undefined) {
      this.matchedNamespaces.namespaceGone(name)
      this.forgetNamespace(name)
      return undefined
    }
    this.matchedNamespaces.namespaceChanged(next)
    return needsPass(next, old) ? keyOf(name) : undefined
  }

  /** As above. */
  #templateChanged(next: NamespaceTemplate | undefined, old: NamespaceTemplate | undefined): Keys {
    const name = (next ?? old)?.metadata.name ?? ''
    const before = this.#matchers.get(name)
    const after = next && compileMatcher(next)
    if (after === undefined) this.#matchers.delete(name)
    else this.#matchers.set(name, after)
    if (next !== undefined && old !== undefined) this.#heldChanged(next, old)
    if (next !== undefined && old !== undefined && saysTheSame(next, old)) {
      if (this.#isOthersStatus(next, old)) this.#doubtStatus(name)
      return undefined
    }
    this.kinds.changed()
    if (next !== undefined && next.metadata.generation !== old?.metadata.generation) this.pendingRevisions.add(next)
    this.statuses.request(name)
    this.#survey(name, after, before)
    return undefined
  }

  /** Namespaces that came before another version was recorded as in force were given the newest, or nothing. */
  #heldChanged(next: NamespaceTemplate, old: NamespaceTemplate): void {
    const inForce = this.rollouts.statusChanged(next, old)
    const name = nameOf(next.metadata)
    // One that is being deleted may have waited for this.
    if (inForce === 'none') this.statuses.request(name)
    if (inForce !== 'other') return
    const mayLack = (namespace: string): boolean => !this.index.holdings.holds(name, namespace)
    this.surveys.walks.again(`in force ${name}`, this.#enqueueIf(mayLack))
  }

  #survey(name: string, after: Matcher | undefined, before: Matcher | undefined): void {
    if (after === undefined) {
      this.matchedNamespaces.templateGone(name)
      this.surveys.forget(name, before)
    } else if (!this.watches.isComplete) {
      // When all is there, all are counted.
      this.matchedNamespaces.countAnew(after)
    } else if (!this.surveys.isBegun(after)) this.surveys.change(after, before)
  }

  /** Called before it is written: what is not among these was written by another process. */
  writesStatus(name: string, status: TemplateStatus): void {
    const written = this.#writtenStatuses.get(name) ?? []
    this.#writtenStatuses.set(name, [status, ...written].slice(0, rememberedStatuses))
  }

  #isOthersStatus(next: NamespaceTemplate, old: NamespaceTemplate): boolean {
    if (isSameStatus(next.status, old.status)) return false
    const written = this.#writtenStatuses.get(nameOf(next.metadata)) ?? []
    return !written.some((status) => isSameStatus(next.status, status))
  }

  /** A process that led before this one may have written it late: it is not believed, as that of a start is. */
  #doubtStatus(name: string): void {
    this.statuses.request(name)
    this.lookAgain(name)
  }

  #configChanged(next: KubeObject | undefined, old: KubeObject | undefined): Keys {
    if (isPaused(next) === isPaused(old)) return undefined
    this.requestStatus(this.#matchers.keys())
    // What changed meanwhile was left undone.
    if (!isPaused(next))
      this.surveys.walks.again(
        'resumed',
        this.#enqueueIf(() => true),
      )
    return undefined
  }

  #recorded(...change: Parameters<PopulatedObjects['recorded']>): void {
    const [name, , , { namespaceUid, isFirst }] = change
    if (isFirst && this.findNamespace(name)?.metadata.uid !== namespaceUid) this.#left.push([name, namespaceUid])
    this.index.recorded(...change)
    this.surveys.changed(name)
  }

  *#releaseLeftRecords(): Generator<void> {
    for (const [name, uid] of this.#left.splice(0)) {
      if (this.findNamespace(name)?.metadata.uid !== uid) this.releaseRecord(name, uid)
      yield
    }
  }
}

/** Namespaces whose turn has come: more are enqueued in slices of the loop. */
const enqueuedAtOnce = 100
/** An event may tell of one status when the next is on its way. */
const rememberedStatuses = 4

/** Our own status writes must not set us going again. */
function saysTheSame(next: NamespaceTemplate, old: NamespaceTemplate): boolean {
  return (
    // A spec that changes gets another generation.
    next.metadata.uid === old.metadata.uid &&
    next.metadata.generation === old.metadata.generation &&
    next.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    JSON.stringify(next.metadata.finalizers) === JSON.stringify(old.metadata.finalizers) &&
    JSON.stringify(next.metadata.annotations) === JSON.stringify(old.metadata.annotations)
  )
}

/** What decides about matching, opting out and whose turn it is. The opening of our own gate is not among it. */
function needsPass(next: Namespace, old: Namespace | undefined): boolean {
  if (old === undefined || old.metadata.uid !== next.metadata.uid) return true
  return (
    JSON.stringify(tellingLabels(next)) !== JSON.stringify(tellingLabels(old)) ||
    JSON.stringify(next.metadata.annotations) !== JSON.stringify(old.metadata.annotations) ||
    next.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    (isGateShut(next) && !isGateShut(old))
  )
}
