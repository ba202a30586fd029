/**
 * The population controller: two loops over one picture of the world.
 *
 *   namespaces   key = a namespace: apply and prune there, then open its gate
 *   templates    key = a template: sum up what the first loop found into its status, keep its revisions; let a deleted
 *                one go
 *
 * A change of a template enqueues the namespaces it selects or has populated; a change of a namespace, or of an object
 * populated in it, enqueues that namespace. Whose turn it is during a rollout says `rollout.ts`.
 */
import { aborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import type { ControllerSpec, ObjectKey, Source } from '../../controller/controller.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import type { AppliedRecords } from './applied-records.ts'
import { believeMarks } from './believe-marks.ts'
import { Census } from './census.ts'
import { isGateShut, openGate, tellingLabels } from './gate.ts'
import { kindsEverOf, kindsOf, RecordedKinds } from './kinds.ts'
import { KnownKinds } from './known-kinds.ts'
import { type Attempt, TemplateLedger } from './ledger.ts'
import { compileMatcher, isDisabled, isOptedOut, type Matcher } from './match.ts'
import type { ObjectResult } from './object-result.ts'
import { isPopulated, populate } from './populate.ts'
import { PopulatedIndex } from './populated-index.ts'
import { namespacesToPrune } from './prunes.ts'
import { reportCondition, tell, tellBlockedPrune, tellHalt } from './report.ts'
import { keepRevision } from './revisions.ts'
import { type Release, Rollouts } from './rollout.ts'
import { statusOf } from './status.ts'
import { type NamespaceTemplate, templateControllerName, templateFinalizer, templateResource } from './types.ts'

export interface PopulationDeps {
  readonly client: Client
  readonly clock: Clock
  readonly events: EventRecorder
  readonly onError: (error: unknown) => void
  /** What templates made where. */
  readonly records: AppliedRecords
}

const namespaceWorkers = 16
/** How long changes of a template's figures are gathered before they are written, and what lies between two writes. */
const statusDelayMs = 200
const statusSpacingMs = 1000
/** What is without our label is on no watch of ours. */
const lookAgainMs = 60_000

export function populationControllers({ client, clock, events, onError, records }: PopulationDeps): ControllerSpec[] {
  const ledger = new TemplateLedger()
  const recorded = new RecordedKinds(client)
  let matchers = new Map<string, Matcher>()
  let enqueueNamespace: (name: string) => void = () => {}
  let enqueueTemplate: (name: string) => void = () => {}
  /** template → generations that were seen and are not kept as a revision yet. */
  const unkept = new Map<string, NamespaceTemplate[]>()
  /** template → what of its rollout's halt was told. */
  const toldHalts = new Map<string, string>()

  /** template → when its figures were summed up last. */
  const summedUp = new Map<string, number>()

  /** Namespaces over which a pass has gone. */
  const lookedAt = new Set<string>()

  const findNamespace = (name: string): Namespace | undefined => namespaces.find('', name) as Namespace | undefined
  /** A namespace that is being created counts from when it was tried first. */
  const census = new Census(
    (version, namespace) =>
      !isDisabled(version.template) &&
      namespace.metadata.deletionTimestamp === undefined &&
      !isOptedOut(namespace) &&
      version.selects(namespace) &&
      (!isGateShut(namespace) ||
        ledger.find(version.template.metadata.name ?? '', namespace.metadata.name ?? '') !== undefined),
  )
  const forgetNamespace = (name: string): void => {
    lookedAt.delete(name)
    for (const template of ledger.forgetNamespace(name)) enqueueTemplate(template)
    rollouts.forgetNamespace(name)
  }

  let running: AbortSignal = AbortSignal.abort()
  /** What cannot be released now is released when the controller starts again. */
  const releaseRecord = (name: string, uid = ''): void => {
    records.release(name, uid, running).catch(onError)
  }

  const namespaces = new Informer({
    client,
    clock,
    resource: namespaceResource,
    includeUninitialized: true,
    onError,
    onChange(next, old) {
      const name = next?.metadata.name ?? old?.metadata.name ?? ''
      if (next === undefined) {
        census.namespaceGone(name)
        forgetNamespace(name)
      }
      if (old !== undefined && old.metadata.uid !== next?.metadata.uid) releaseRecord(name, old.metadata.uid)
      if (next === undefined) return
      census.namespaceChanged(next as Namespace)
      if (matters(next, old)) enqueueNamespace(name)
    },
  })
  const templates = new Informer({
    client,
    clock,
    resource: templateResource,
    onError,
    onChange(next, old) {
      const name = next?.metadata.name ?? old?.metadata.name ?? ''
      const before = matchers.get(name)
      const after = next && compileMatcher(next as NamespaceTemplate)
      const changed = new Map(matchers)
      if (after) changed.set(name, after)
      else changed.delete(name)
      matchers = changed
      if (next && old && sameIntent(next, old)) return
      if (after) census.templateChanged(after, namespaces.values() as Iterable<Namespace>)
      else census.templateGone(name)
      kinds.changed()
      if (next && next.metadata.generation !== old?.metadata.generation) {
        unkept.set(name, [...(unkept.get(name) ?? []), next as NamespaceTemplate])
      }
      for (const namespace of namespaces.values() as Iterable<Namespace>) {
        if (before?.selects(namespace) || after?.selects(namespace)) enqueueNamespace(namespace.metadata.name ?? '')
      }
      for (const namespace of index.holdings.namespacesOf(name)) enqueueNamespace(namespace)
      enqueueTemplate(name)
    },
  })
  const index = new PopulatedIndex({
    client,
    clock,
    onDrift: (namespace) => enqueueNamespace(namespace),
    onBorn(namespace) {
      // Mostly its first pass is still to come, and will find it.
      if (lookedAt.has(namespace)) enqueueNamespace(namespace)
    },
    // One that is going may have waited for this.
    onLeft: (template) => enqueueTemplate(template),
    onError,
    records,
  })
  const rollouts = new Rollouts({
    ledger,
    countMatched: (version) => census.count(version.template.metadata.name ?? ''),
    wouldPrune: (version) => namespacesToPrune(version, index, findNamespace),
    wake: (waiting) => {
      for (const name of waiting) enqueueNamespace(name)
    },
  })
  const findTemplate = (name: string): NamespaceTemplate | undefined =>
    templates.find('', name) as NamespaceTemplate | undefined

  const kinds = new KnownKinds({
    client,
    index,
    onError,
    *wanted() {
      for (const template of templates.values()) yield* kindsEverOf(template)
    },
    async onRead(fresh, isAll, signal) {
      if (records.isComplete) return
      await believeMarks({ index, records, findNamespace }, fresh, signal)
      if (isAll) await records.complete(signal)
    },
  })
  /** template → passes under way that apply it: a deleted template goes only after the last of them. */
  const applying = new Map<string, number>()
  const count = (wanted: readonly NamespaceTemplate[], step: 1 | -1): void => {
    for (const { metadata } of wanted) {
      const n = (applying.get(metadata.name ?? '') ?? 0) + step
      if (n === 0) applying.delete(metadata.name ?? '')
      else applying.set(metadata.name ?? '', n)
    }
  }

  /** What one pass over a namespace does with which template. */
  interface Pass {
    /** In the order in which they apply. */
    readonly wanted: NamespaceTemplate[]
    readonly attempts: Map<string, Attempt>
    /** Templates whose turn has not come: nothing of theirs is pruned. */
    readonly waiting: Set<string>
    readonly places: Release[]
  }

  const passFor = (namespace: Namespace): Pass => {
    const pass: Pass = { wanted: [], attempts: new Map(), waiting: new Set(), places: [] }
    const { name = '' } = namespace.metadata
    for (const version of matchers.values()) {
      const { template } = version
      const templateName = template.metadata.name ?? ''
      if (isDisabled(template) || template.metadata.deletionTimestamp !== undefined) continue
      const isSelected = version.selects(namespace)
      const held = ledger.find(templateName, name)
      if (!isSelected && held === undefined && !index.holdings.holds(templateName, name)) continue
      // Whoever waits for a new namespace does not wait for a rollout as well.
      const isDone = (): boolean =>
        isSelected &&
        isPopulated(
          [template],
          namespace,
          index.claimsIn(name).filter((o) => o.template === templateName),
          index,
        )
      const place = isGateShut(namespace) ? () => {} : rollouts.begin(version, name, isDone)
      if (place !== undefined) {
        pass.places.push(place)
        pass.attempts.set(templateName, { version, isSelected })
        if (isSelected) pass.wanted.push(template)
        continue
      }
      pass.waiting.add(templateName)
      if (held === undefined) continue
      // Until its turn comes it is kept at what it has.
      pass.attempts.set(templateName, held)
      if (held.isSelected && held.version.selects(namespace)) pass.wanted.push(held.version.template)
    }
    pass.wanted.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    return pass
  }

  const reconcileNamespace = async (
    { name }: ObjectKey,
    signal: AbortSignal,
  ): Promise<{ readonly requeueAfterMs: number } | undefined> => {
    const namespace = findNamespace(name)
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) {
      forgetNamespace(name)
      return undefined
    }
    if (isOptedOut(namespace)) {
      forgetNamespace(name)
      // One that is going waits for it no longer.
      for (const { template } of index.claimsIn(name)) enqueueTemplate(template)
      await openGate(client, namespace, signal)
      return undefined
    }
    await kinds.know(signal)
    const { wanted, attempts, waiting, places } = passFor(namespace)
    count(wanted, 1)
    let results: readonly ObjectResult[]
    try {
      await Promise.all(wanted.map((template) => recorded.ensure(template, signal)))
      const policy = (template: string) => (waiting.has(template) ? 'Keep' : policyOf(findTemplate(template)))
      // What was asked what it holds is noted as applied on the way.
      const isDone = !index.mustAsk(name) && isPopulated(wanted, namespace, index.claimsIn(name), index)
      const request = { namespace, templates: wanted, policyOf: policy, signal }
      results = isDone ? [] : await populate({ client, index, records }, request)
      for (const template of ledger.record(name, attempts, results)) enqueueTemplate(template)
      lookedAt.add(name)
      const now = findNamespace(name)
      // It may have gone while we were at it.
      if (now?.metadata.uid !== namespace.metadata.uid) releaseRecord(name, namespace.metadata.uid)
      if (now === undefined) forgetNamespace(name)
      else census.namespaceChanged(now)
      for (const template of waiting) enqueueTemplate(template)
    } finally {
      count(wanted, -1)
      for (const giveBack of places) giveBack()
    }
    const failures = results.filter((r) => r.failure !== undefined)
    const worthTelling = results.filter((r) => r.failure !== undefined || r.remark !== undefined)
    await Promise.all(worthTelling.map((r) => tell(events, namespace, findTemplate(r.template), r)))
    await reportCondition(client, clock, namespace, failures, signal)
    const retriable = failures.filter((f) => f.failure?.retriable)
    const holding = retriable.filter((f) => findTemplate(f.template)?.spec?.failurePolicy !== 'Ignore')
    if (holding.length === 0) await openGate(client, namespace, signal)
    if (retriable.length > 0) throw new Error(retriable.map((f) => `${f.object}: ${f.failure?.message}`).join('; '))
    const isBlocked = results.some((r) => r.failure?.reason === 'AlreadyExists' || r.isUnwatched)
    return isBlocked ? { requeueAfterMs: lookAgainMs } : undefined
  }

  /** What is in a namespace that opted out stays there, and nobody waits for it. */
  const isHeldSomewhere = (template: string): boolean => {
    for (const name of index.holdings.namespacesOf(template)) {
      const namespace = findNamespace(name)
      if (namespace !== undefined && !isOptedOut(namespace)) return true
    }
    return false
  }

  const keepRevisions = async (name: string, signal: AbortSignal): Promise<void> => {
    for (;;) {
      const next = unkept.get(name)?.[0]
      if (next === undefined) break
      if (next.metadata.deletionTimestamp === undefined) await keepRevision(client, next, signal)
      unkept.get(name)?.shift()
    }
    unkept.delete(name)
  }

  /** Kinds of which something may be there. */
  const kindsThereOf = (template: NamespaceTemplate): string[] => {
    const name = template.metadata.name ?? ''
    const old = template.status?.kinds ?? []
    // A kind that is not served now may be served again, with its objects.
    const unsure = applying.has(name) ? old : old.filter((kind) => !kinds.isRead(kind))
    return [...new Set([...kindsOf(template), ...index.holdings.kindsOf(name), ...unsure])].sort()
  }

  const reconcileTemplate = async ({ name }: ObjectKey, signal: AbortSignal): Promise<undefined> => {
    if (findTemplate(name) !== undefined) await kinds.know(signal)
    const template = findTemplate(name)
    const version = matchers.get(name)
    if (template === undefined || version === undefined) {
      ledger.forgetTemplate(name)
      rollouts.forgetTemplate(name)
      unkept.delete(name)
      toldHalts.delete(name)
      summedUp.delete(name)
      return undefined
    }
    if (template.metadata.deletionTimestamp !== undefined) {
      const unread = [...new Set(kindsEverOf(template))].filter((kind) => kinds.isUnread(kind))
      if (unread.length > 0) {
        const message = `it stays until somebody says what is left of it: ${unread.join(', ')} can not be read`
        await tellBlockedPrune(events, template, message)
        throw new Error(message)
      }
      if (!applying.has(name) && !isHeldSomewhere(name)) {
        recorded.forget(template.metadata.uid ?? '')
        await letGo(client, template, signal)
      }
      return undefined
    }
    if (!template.metadata.finalizers?.includes(templateFinalizer)) {
      // The next version brings the key back, for its status.
      await takeHold(client, template, signal)
      return undefined
    }
    await sumUp(template, version, signal)
    await keepRevisions(name, signal)
    return undefined
  }

  const sumUp = async (template: NamespaceTemplate, version: Matcher, signal: AbortSignal): Promise<void> => {
    const { name = '' } = template.metadata
    const halt = isDisabled(template) ? undefined : rollouts.review(version)
    const matched = census.count(name)
    const tally = ledger.tally(version)
    // After a start: what the status says is true until every namespace was looked at.
    const seen = tally.known + rollouts.waiting(name)
    if (template.status?.observedGeneration === template.metadata.generation && seen < matched) return
    const kindsThere = kindsThereOf(template)
    const findings = { matched, ...tally, waiting: rollouts.waiting(name), halt, kinds: kindsThere }
    const status = statusOf(version, findings, clock.now())
    const haltText = halt && `${template.metadata.generation} ${halt.reason}`
    if (halt !== undefined && toldHalts.get(name) !== haltText) await tellHalt(events, template, halt)
    if (haltText === undefined) toldHalts.delete(name)
    else toldHalts.set(name, haltText)
    if (JSON.stringify(status) === JSON.stringify(template.status)) return
    recorded.narrowed(template, kindsThere)
    try {
      await client.update(templateResource, { ...template, status }, { subresource: 'status', signal })
    } catch (error) {
      // What it says now is for somebody to find out who asks again.
      recorded.forget(template.metadata.uid ?? '')
      // A newer version is on its way to the informer and brings the key back.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  const informers: Source = {
    async run(enqueue, signal) {
      const ready: string[] = []
      let started = false
      enqueueNamespace = (name) => {
        if (started) enqueue({ namespace: '', name })
        else ready.push(name)
      }
      running = signal
      const following = [namespaces.run(signal), templates.run(signal)]
      const told = records.follow((...record) => index.holdings.changed(...record), signal)
      await Promise.race([Promise.all([namespaces.whenSynced(), templates.whenSynced(), told]), aborted(signal)])
      if (!signal.aborted) {
        for (const { name, uid } of records.namespaces()) {
          if (findNamespace(name)?.metadata.uid !== uid) releaseRecord(name, uid)
        }
        await kinds.know(signal)
      }
      started = true
      for (const name of ready) enqueue({ namespace: '', name })
      await Promise.all(following)
    },
  }
  const figures: Source = {
    async run(enqueue, signal) {
      const due = new Set<string>()
      enqueueTemplate = (name) => {
        if (due.has(name)) return
        due.add(name)
        const spacingMs = (summedUp.get(name) ?? Number.NEGATIVE_INFINITY) + statusSpacingMs - clock.monotonic()
        clock.after(Math.max(statusDelayMs, spacingMs), () => {
          due.delete(name)
          if (signal.aborted) return
          summedUp.set(name, clock.monotonic())
          enqueue({ namespace: '', name })
        })
      }
      await aborted(signal)
    },
  }
  return [
    {
      name: templateControllerName,
      workers: namespaceWorkers,
      sources: [informers],
      reconciler: { reconcile: reconcileNamespace },
    },
    {
      name: `${templateControllerName}-status`,
      account: templateControllerName,
      workers: 2,
      sources: [figures],
      reconciler: { reconcile: reconcileTemplate },
    },
  ]
}

/** Our own status writes must not set us going again. */
function sameIntent(next: KubeObject, old: KubeObject): boolean {
  return (
    next.metadata.generation === old.metadata.generation &&
    next.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    JSON.stringify(next['spec']) === JSON.stringify(old['spec']) &&
    JSON.stringify(next.metadata.finalizers) === JSON.stringify(old.metadata.finalizers) &&
    JSON.stringify(next.metadata.annotations) === JSON.stringify(old.metadata.annotations)
  )
}

/** What decides about matching, opting out and whose turn it is. The opening of our own gate is not among it. */
function matters(next: Namespace, old: Namespace | undefined): boolean {
  if (old === undefined || old.metadata.uid !== next.metadata.uid) return true
  return (
    JSON.stringify(tellingLabels(next)) !== JSON.stringify(tellingLabels(old)) ||
    JSON.stringify(next.metadata.annotations) !== JSON.stringify(old.metadata.annotations) ||
    next.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    (isGateShut(next) && !isGateShut(old))
  )
}

function policyOf(template: NamespaceTemplate | undefined): 'Delete' | 'Orphan' | 'Keep' {
  // Gone without our finalizer having held it: nobody can say any more what was wanted, so nothing is destroyed.
  if (template === undefined) return 'Keep'
  if (isDisabled(template) && template.metadata.deletionTimestamp === undefined) return 'Keep'
  return template.spec?.deletionPolicy ?? 'Delete'
}

/** Admission does it when a template is created. One that came before admission was there gets it here. */
async function takeHold(client: Client, template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
  const finalizers = [...(template.metadata.finalizers ?? []), templateFinalizer]
  await patchFinalizers(client, template, finalizers, signal)
}

async function letGo(client: Client, template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
  const finalizers = (template.metadata.finalizers ?? []).filter((f) => f !== templateFinalizer)
  await patchFinalizers(client, template, finalizers, signal)
}

async function patchFinalizers(
  client: Client,
  { metadata }: NamespaceTemplate,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { name = '', resourceVersion } = metadata
  try {
    await client.patch(templateResource, { name }, { metadata: { resourceVersion, finalizers } }, { signal })
  } catch (error) {
    // A newer version is on its way to the informer and brings the key back.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
