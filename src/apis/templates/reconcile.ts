/**
 * The population controller: two loops over one picture of the world.
 *
 *   namespaces   key = a namespace: apply and prune there, then open its gate
 *   templates    key = a template: sum up what the first loop found into its status; let a deleted one go
 *
 * A change of a template enqueues the namespaces it selects or has populated; a change of a namespace, or of an object
 * populated in it, enqueues that namespace.
 */
import { aborted } from '../../base/aborted.ts'
import { type Clock, rfc3339 } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import type { ControllerSpec, ObjectKey, Source } from '../../controller/controller.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { mergeConditions } from '../namespaces/conditions.ts'
import { inItself } from '../namespaces/event-subject.ts'
import { type Namespace, type NamespaceCondition, namespaceResource } from '../namespaces/types.ts'
import { isGateShut, openGate, tellingLabels } from './gate.ts'
import { TemplateLedger } from './ledger.ts'
import { compileMatcher, isDisabled, isOptedOut, type Matcher, matching } from './match.ts'
import { type ObjectResult, populate } from './populate.ts'
import { PopulatedIndex } from './populated-index.ts'
import { type NamespaceTemplate, templateControllerName, templateFinalizer, templateResource } from './types.ts'

export interface PopulationDeps {
  readonly client: Client
  readonly clock: Clock
  readonly events: EventRecorder
  readonly onError: (error: unknown) => void
}

const namespaceWorkers = 16
/** How long changes of a template's figures are gathered before they are written. */
const statusDelayMs = 200

const populatedCondition = 'Populated'

export function populationControllers({ client, clock, events, onError }: PopulationDeps): ControllerSpec[] {
  const ledger = new TemplateLedger()
  let matchers = new Map<string, Matcher>()
  let enqueueNamespace: (name: string) => void = () => {}
  let enqueueTemplate: (name: string) => void = () => {}

  const namespaces = new Informer({
    client,
    clock,
    resource: namespaceResource,
    includeUninitialized: true,
    onError,
    onChange(next, old) {
      const name = next?.metadata.name ?? old?.metadata.name ?? ''
      if (next === undefined) for (const template of ledger.forgetNamespace(name)) enqueueTemplate(template)
      else if (matters(next, old)) enqueueNamespace(name)
    },
  })
  const templates = new Informer({
    client,
    clock,
    resource: templateResource,
    onError,
    onChange(next, old) {
      const name = next?.metadata.name ?? old?.metadata.name ?? ''
      const changed = new Map(matchers)
      if (next) changed.set(name, compileMatcher(next as NamespaceTemplate))
      else changed.delete(name)
      matchers = changed
      kindsKnown = undefined
      if (next && old && sameIntent(next, old)) return
      const before = old && compileMatcher(old as NamespaceTemplate)
      const after = next && changed.get(name)
      for (const namespace of namespaces.values()) {
        if (before?.selects(namespace) || after?.selects(namespace)) enqueueNamespace(namespace.metadata.name ?? '')
      }
      for (const namespace of index.namespacesOf(name)) enqueueNamespace(namespace)
      enqueueTemplate(name)
    },
  })
  const index = new PopulatedIndex({
    client,
    clock,
    onDrift: (namespace) => enqueueNamespace(namespace),
    onError,
  })
  const findTemplate = (name: string): NamespaceTemplate | undefined =>
    templates.find('', name) as NamespaceTemplate | undefined

  /** All kinds of all templates, or those of them that are served: resolves when what exists of them is known. */
  const watchKinds = async (signal: AbortSignal): Promise<{ readonly complete: boolean }> => {
    const kinds = new Set<string>()
    for (const template of templates.values()) for (const kind of kindsEverOf(template)) kinds.add(kind)
    const watched = await Promise.all(
      [...kinds].map(async (text) => {
        const slash = text.lastIndexOf('/')
        const kind = await client.discovery.findKind(text.slice(0, slash), text.slice(slash + 1))
        if (!kind?.namespaced) return false
        await index.watchKind(kind, signal)
        return true
      }),
    )
    return { complete: watched.every(Boolean) }
  }
  let kindsKnown: ReturnType<typeof watchKinds> | undefined
  /** As `watchKinds`, but asked again only when a template changed or a kind was not served the last time. */
  const knowKinds = async (signal: AbortSignal): Promise<void> => {
    const asked = (kindsKnown ??= watchKinds(signal))
    try {
      if (!(await asked).complete && kindsKnown === asked) kindsKnown = undefined
    } catch (error) {
      if (kindsKnown === asked) kindsKnown = undefined
      throw error
    }
  }
  /** template → passes under way that apply it: a deleted template goes only after the last of them. */
  const applying = new Map<string, number>()
  const count = (wanted: readonly NamespaceTemplate[], step: 1 | -1): void => {
    for (const { metadata } of wanted) {
      const n = (applying.get(metadata.name ?? '') ?? 0) + step
      if (n === 0) applying.delete(metadata.name ?? '')
      else applying.set(metadata.name ?? '', n)
    }
  }

  const reconcileNamespace = async ({ name }: ObjectKey, signal: AbortSignal): Promise<undefined> => {
    const namespace = namespaces.find('', name) as Namespace | undefined
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) {
      for (const template of ledger.forgetNamespace(name)) enqueueTemplate(template)
      return undefined
    }
    if (isOptedOut(namespace)) {
      for (const template of ledger.forgetNamespace(name)) enqueueTemplate(template)
      await openGate(client, namespace, signal)
      return undefined
    }
    await knowKinds(signal)
    const wanted = matching(matchers.values(), namespace)
    count(wanted, 1)
    let results: readonly ObjectResult[]
    try {
      results = await populate(
        { client, index },
        {
          namespace,
          templates: wanted,
          policyOf: (template) => policyOf(findTemplate(template)),
          signal,
        },
      )
    } finally {
      count(wanted, -1)
    }
    for (const template of ledger.record(name, wanted, results)) enqueueTemplate(template)
    const failures = results.filter((r) => r.failure !== undefined)
    await Promise.all(failures.map((f) => tell(events, namespace, findTemplate(f.template), f)))
    await reportCondition(client, clock, namespace, failures, signal)
    const blocking = failures.filter((f) => f.failure?.retriable)
    if (blocking.length > 0) throw new Error(blocking.map((f) => `${f.object}: ${f.failure?.message}`).join('; '))
    await openGate(client, namespace, signal)
    return undefined
  }

  const reconcileTemplate = async ({ name }: ObjectKey, signal: AbortSignal): Promise<undefined> => {
    const template = findTemplate(name)
    if (template === undefined) {
      ledger.forgetTemplate(name)
      return undefined
    }
    if (template.metadata.deletionTimestamp !== undefined) {
      await knowKinds(signal)
      const holds = applying.has(name) || !index.namespacesOf(name)[Symbol.iterator]().next().done
      if (!holds) await letGo(client, template, signal)
      return undefined
    }
    if (!template.metadata.finalizers?.includes(templateFinalizer)) {
      // The next version brings the key back, for its status.
      await takeHold(client, template, signal)
      return undefined
    }
    const status = ledger.statusOf(template, kindsOf(template), clock.now())
    if (JSON.stringify(status) === JSON.stringify(template.status)) return undefined
    try {
      await client.update(templateResource, { ...template, status }, { subresource: 'status', signal })
    } catch (error) {
      // A newer version is on its way to the informer and brings the key back.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
    return undefined
  }

  const informers: Source = {
    async run(enqueue, signal) {
      const ready: string[] = []
      let started = false
      enqueueNamespace = (name) => {
        if (started) enqueue({ namespace: '', name })
        else ready.push(name)
      }
      const running = [namespaces.run(signal), templates.run(signal)]
      await Promise.race([Promise.all([namespaces.whenSynced(), templates.whenSynced()]), aborted(signal)])
      if (!signal.aborted) await knowKinds(signal)
      started = true
      for (const name of ready) enqueue({ namespace: '', name })
      await Promise.all(running)
    },
  }
  const figures: Source = {
    async run(enqueue, signal) {
      const due = new Set<string>()
      enqueueTemplate = (name) => {
        if (due.has(name)) return
        due.add(name)
        clock.after(statusDelayMs, () => {
          due.delete(name)
          if (!signal.aborted) enqueue({ namespace: '', name })
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

function kindsEverOf(template: NamespaceTemplate): readonly string[] {
  return [...(template.status?.kinds ?? []), ...kindsOf(template)]
}

/** `networking.k8s.io/v1/NetworkPolicy` */
function kindsOf(template: NamespaceTemplate): string[] {
  const kinds = (template.spec?.templates ?? []).map((o) => `${String(o['apiVersion'])}/${String(o['kind'])}`)
  return [...new Set(kinds)].sort()
}

async function tell(
  events: EventRecorder,
  namespace: Namespace,
  template: NamespaceTemplate | undefined,
  { object, failure }: ObjectResult,
): Promise<void> {
  if (failure === undefined) return
  const where = namespace.metadata.name ?? ''
  const message = `${object} of template ${template?.metadata.name}: ${failure.message}`
  const about = inItself(namespace)
  const records = [
    events.record({ object: about, namespace: where, type: 'Warning', reason: `Population${failure.reason}`, message }),
  ]
  if (template !== undefined) {
    records.push(
      events.record({
        object: template,
        namespace: 'default',
        type: 'Warning',
        reason: `Population${failure.reason}`,
        message: `${object} in namespace ${where}: ${failure.message}`,
      }),
    )
  }
  await Promise.all(records)
}

/** Success is silent unless a failure had been reported before: a healthy namespace carries no condition of ours. */
async function reportCondition(
  client: Client,
  clock: Clock,
  namespace: Namespace,
  failures: readonly ObjectResult[],
  signal: AbortSignal,
): Promise<void> {
  const old = namespace.status?.conditions ?? []
  const first = failures[0]
  if (first === undefined && !old.some((c) => c.type === populatedCondition)) return
  const condition: NamespaceCondition =
    first === undefined
      ? {
          type: populatedCondition,
          status: 'True',
          reason: 'Populated',
          message: 'Everything its templates hold is there',
        }
      : {
          type: populatedCondition,
          status: 'False',
          reason: first.failure?.reason ?? 'Error',
          message: failures
            .map((f) => `${f.object}: ${f.failure?.message}`)
            .slice(0, 5)
            .join('; '),
        }
  // On what is there now: the picture may be older than somebody else's last write, and no later event of ours would
  // bring a lost condition back.
  for (let seen = namespace; ; ) {
    const conditions = mergeConditions(seen.status?.conditions ?? [], [condition], rfc3339(clock.now()))
    if (conditions === undefined) return
    try {
      await client.update(
        namespaceResource,
        { ...seen, status: { ...seen.status, conditions } },
        { subresource: 'status', signal },
      )
      return
    } catch (error) {
      if (isNotFound(error)) return
      if (!isConflict(error)) throw error
      const { name = '', uid } = seen.metadata
      seen = (await client.get(namespaceResource, { name }, { signal })) as Namespace
      if (seen.metadata.uid !== uid) return
    }
  }
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
