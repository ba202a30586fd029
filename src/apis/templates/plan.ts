/**
 * What templates would do to the namespaces that exist, before they do it: population with a client whose writes are
 * dry runs, so the server says itself what it would make of each object and what it would refuse. It acts as the user
 * who asks.
 */
import { untilAborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { ReportProgress } from '../../base/progress.ts'
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { AlikeAnswers, askedOfAlike } from './alike-answers.ts'
import type { ResolveClone } from './clones.ts'
import { type Difference, differences } from './differences.ts'
import { type DisplacedObject, displacedBy } from './displaced.ts'
import { startDryRun } from './dry-run-client.ts'
import { dryRunDeletion, dryRunTemplate } from './dry-run-template.ts'
import { kindsEverOf } from './kinds.ts'
import { listWithHeld } from './list-with-held.ts'
import { compileMatcher, isDisabled, isOptedOut, isRolloutPaused, type Matcher, selectTemplates } from './match.ts'
import { holdersOf, keysHeld } from './namespace-metadata.ts'
import type { ObjectResult } from './object-result.ts'
import { PlaceTexts } from './place-texts.ts'
import { populate } from './populate.ts'
import { PopulatedIndex, type PopulatedIndexDeps } from './populated-index.ts'
import { excessOf, namespacesToPrune } from './prunes.ts'
import { readClones } from './read-clones.ts'
import { type NamespaceTemplate, pauseRolloutAnnotation, templateGroups, templateResource } from './types.ts'

export interface PlannedObject {
  /** `RoleBinding/admin` */
  readonly object: string
  readonly action: 'create' | 'change' | 'prune' | 'orphan' | 'refuse' | 'skip'
  /** For change. */
  readonly differences?: readonly Difference[]
  /** For refuse and skip: why it would not be done. */
  readonly reason?: string
  readonly message?: string
}

export interface PlannedNamespace {
  readonly namespace: string
  readonly objects: readonly PlannedObject[]
}

export interface TemplatePlan {
  readonly template: string
  /** Is there none of this name yet. */
  readonly isNew: boolean
  /** It is the deletion of the template that is planned. */
  readonly isDeletion?: true
  /** Namespaces it would select. */
  readonly matched: number
  /** Only those where something would be done. */
  readonly namespaces: readonly PlannedNamespace[]
  /** Objects that other templates would give no more: the first by name gives them. */
  readonly displaces?: readonly DisplacedObject[]
  /** Why nothing would be done all the same. */
  readonly stop?: string
  /** Namespaces of which not all was asked: others, where it would be the same, answered alike. */
  readonly believed?: number
}

export interface PlanDeps {
  readonly client: Client
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly report?: ReportProgress
  /** Of more namespaces answers of some are believed to be those of others (`alike-answers.ts`). Default: 1,000. */
  readonly asksEachUpTo?: number
}

export function isTemplate({ apiVersion, kind }: Partial<KubeObject>): boolean {
  return kind === 'NamespaceTemplate' && templateGroups.some((group) => String(apiVersion).startsWith(`${group}/`))
}

const atOnce = 16
/** That many one by one take no more than a few seconds. */
const defaultAsksEachUpTo = 1000

/**
 * One plan for each of `templates`, as if all of them had been applied, and for each of `deletions`, by name, as if it
 * had been deleted.
 * @throws StatusError what the server would say to the template itself, or to its deletion
 */
export async function planTemplates(
  deps: PlanDeps,
  templates: readonly KubeObject[],
  deletions: readonly string[] = [],
): Promise<readonly TemplatePlan[]> {
  const { client, clock, report = () => undefined, asksEachUpTo = defaultAsksEachUpTo } = deps
  const stop = new AbortController()
  const signal = AbortSignal.any([deps.signal, stop.signal])
  try {
    const present = (await listWithHeld(client, templateResource, signal)) as NamespaceTemplate[]
    const known = new Map(present.map((t) => [nameOf(t.metadata), t]))
    const planned: NamespaceTemplate[] = []
    for (const template of templates) {
      planned.push(await dryRunTemplate(client, known.get(nameOf(template.metadata)), template, signal))
    }
    for (const name of deletions) planned.push(await dryRunDeletion(client, name, signal))
    const matchers = new Map([...present, ...planned].map((t) => [nameOf(t.metadata), compileMatcher(t)]))
    const toldRead = (done: number): void => report({ doing: 'reading', done, unit: 'namespaces' })
    const namespaces = (await listWithHeld(client, namespaceResource, signal, toldRead)) as Namespace[]
    const texts = namespaces.length > asksEachUpTo ? textsIn(namespaces) : undefined
    let broken: unknown
    const index = new PopulatedIndex({
      client,
      clock,
      onDrift() {},
      onRecorded() {},
      onLeft() {},
      onError(error) {
        broken ??= error
        stop.abort()
      },
      ...(texts === undefined ? {} : { unplaced: texts }),
    })
    await watchKinds(client, index, [...present, ...planned], signal, report).catch((error: unknown) => {
      throw broken ?? error
    })
    const clones = await readClones(
      client,
      index,
      [...matchers.values()].map((m) => m.template),
      signal,
    )
    const plans: TemplatePlan[] = []
    for (const template of planned) {
      const version = compileMatcher(template)
      const isNew = !known.has(nameOf(template.metadata))
      const isDeletion = isBeingDeleted(template) ? { isDeletion: true as const } : {}
      plans.push({
        isNew,
        ...isDeletion,
        ...(await planOne({ client, index, clones, matchers, namespaces, signal, report, asksEachUpTo }, version)),
      })
    }
    return plans
  } finally {
    stop.abort()
  }
}

/** What objects say but for what is their namespace's own. */
function textsIn(namespaces: readonly Namespace[]): NonNullable<PopulatedIndexDeps['unplaced']> {
  const texts = new Map(namespaces.map((n) => [n.metadata.name, new PlaceTexts(n)]))
  return (object) => texts.get(object.metadata.namespace)?.contentDigest(object)
}

interface World {
  readonly client: Client
  readonly index: PopulatedIndex
  readonly clones: ResolveClone
  readonly matchers: ReadonlyMap<string, Matcher>
  readonly namespaces: readonly Namespace[]
  readonly signal: AbortSignal
  readonly report: ReportProgress
  readonly asksEachUpTo: number
}

async function planOne(world: World, version: Matcher): Promise<Omit<TemplatePlan, 'isNew'>> {
  const { index, namespaces } = world
  const { template } = version
  const name = nameOf(template.metadata)
  const reachable = namespaces.filter((n) => n.metadata.deletionTimestamp === undefined && !isOptedOut(n))
  const isDeleted = isBeingDeleted(template)
  const selected = isDisabled(template) || isDeleted ? [] : reachable.filter((n) => version.selects(n))
  const holds = (n: Namespace): boolean => index.holdings.holds(name, nameOf(n.metadata)) || setsOn(name, n)
  // A template that is switched off takes nothing away.
  const concerned =
    isDisabled(template) && !isDeleted ? [] : reachable.filter((n) => (!isDeleted && version.selects(n)) || holds(n))
  const alike = concerned.length <= world.asksEachUpTo ? undefined : new AlikeAnswers()
  const planned: PlannedNamespace[] = []
  let believed = 0
  let done = 0
  const waiting = allOver(concerned).values()
  const worker = async (): Promise<void> => {
    for (const namespace of waiting) {
      world.report({ doing: `planning ${name}`, done: done++, total: concerned.length, unit: 'namespaces' })
      const { isShared, ...one } = await planNamespace(world, template, namespace, alike)
      if (isShared) believed++
      if (one.objects.length > 0) planned.push(one)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const stop = stopOf(version, index, namespaces, reachable.filter((n) => version.selects(n)).length)
  const displaces = displacedBy(version, world.matchers.values(), selected)
  return {
    template: name,
    matched: selected.length,
    namespaces: planned.sort((a, b) => (a.namespace < b.namespace ? -1 : 1)),
    ...(displaces.length === 0 ? {} : { displaces }),
    ...(stop === undefined ? {} : { stop }),
    ...(believed === 0 ? {} : { believed }),
  }
}

/** Not in their order: what is asked first should not all be of one team, or one age. */
function allOver(namespaces: readonly Namespace[]): readonly Namespace[] {
  const step = Math.max(1, Math.floor(namespaces.length / askedOfAlike))
  return Array.from({ length: step }, (_, from) => namespaces.filter((_n, i) => i % step === from)).flat()
}

async function planNamespace(
  { client, index, clones, matchers, signal }: World,
  template: NamespaceTemplate,
  namespace: Namespace,
  alike: AlikeAnswers | undefined,
): Promise<PlannedNamespace & { readonly isShared: boolean }> {
  const dryRun = startDryRun({ client, namespace, index, ...(alike === undefined ? {} : { alike }) })
  const name = nameOf(template.metadata)
  const results = await populate(
    { client: dryRun.client, index, clones },
    {
      namespace,
      templates: selectTemplates(matchers.values(), namespace),
      only: name,
      policyOf: (of) => (of === name ? (template.spec?.deletionPolicy ?? 'Delete') : 'Keep'),
      ignoresExtra: true,
      signal,
    },
  )
  const planned = results.flatMap((result) => planObject(result, dryRun.find(result.object)) ?? [])
  // What goes stands in the order in which the watches told of it: another in each namespace.
  const goes = planned.filter(isGoing).sort((a, b) => (a.object < b.object ? -1 : 1))
  const objects = [...planned.filter((o) => !isGoing(o)), ...goes]
  return { namespace: nameOf(namespace.metadata), objects, isShared: dryRun.isShared() }
}

const isGoing = ({ action }: PlannedObject): boolean => action === 'prune' || action === 'orphan'

function planObject(
  { object, outcome, failure, skipped, change: ofKey }: ObjectResult,
  change: ReturnType<ReturnType<typeof startDryRun>['find']>,
): PlannedObject | undefined {
  if (failure !== undefined) {
    return { object, action: 'refuse', reason: failure.reason, message: failure.message }
  }
  if (skipped !== undefined) return { object, action: 'skip', ...skipped }
  if (outcome === 'pruned') return { object, action: 'prune' }
  if (outcome === 'orphaned') return { object, action: 'orphan' }
  if (ofKey !== undefined) {
    return {
      object,
      action: ofKey.before === undefined ? 'create' : 'change',
      differences: [{ path: 'value', ...ofKey }],
    }
  }
  if (change === undefined) return undefined
  if (change.before === undefined) return { object, action: 'create' }
  const changed = differences(change.before, change.after).map((d) => (isSecret(change.after) ? hidden(d) : d))
  return changed.length === 0 ? undefined : { object, action: 'change', differences: changed }
}

const isSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === 'v1' && kind === 'Secret'

/** A plan is read by more people than the secret is. */
const hidden = ({ path, before, after }: Difference): Difference => ({
  path,
  ...(before === undefined ? {} : { before: '***' }),
  ...(after === undefined ? {} : { after: '***' }),
})

function stopOf(
  version: Matcher,
  index: PopulatedIndex,
  namespaces: readonly Namespace[],
  matched: number,
): string | undefined {
  const byName = new Map(namespaces.map((n) => [nameOf(n.metadata), n]))
  const name = nameOf(version.template.metadata)
  const withMetadata = namespaces.filter((n) => setsOn(name, n)).map((n) => nameOf(n.metadata))
  const reached = { find: (of: string) => byName.get(of), withMetadataOf: () => withMetadata }
  const pruned = namespacesToPrune(version, index, reached).length
  const holding = Math.max(index.holdings.countNamespaces(name), withMetadata.length)
  const excess = excessOf(version, pruned, () => Math.max(matched, holding))
  if (excess === undefined) {
    if (!isRolloutPaused(version.template)) return undefined
    return `its rollout is paused by annotation ${pauseRolloutAnnotation}`
  }
  return `it ${excess.consequence}`
}

/** Whether a template set labels or annotations of a namespace. */
const setsOn = (template: string, namespace: Namespace): boolean =>
  keysHeld(holdersOf(namespace)).some((held) => held.template === template)

const isBeingDeleted = ({ metadata }: NamespaceTemplate): boolean => metadata.deletionTimestamp !== undefined

async function watchKinds(
  client: Client,
  index: PopulatedIndex,
  templates: readonly NamespaceTemplate[],
  signal: AbortSignal,
  report: ReportProgress,
): Promise<void> {
  const kinds = new Set(templates.flatMap((t) => kindsEverOf(t)))
  let done = 0
  await Promise.all(
    [...kinds].map(async (text) => {
      const slash = text.lastIndexOf('/')
      const kind = await client.discovery.findKind(text.slice(0, slash), text.slice(slash + 1))
      if (kind?.namespaced && !(await untilAborted(index.watchKind(kind, signal), signal)))
        throw new Error(`objects of ${text} can not be read, so nobody knows what would be pruned`)
      report({ doing: 'reading what templates made', done: ++done, total: kinds.size, unit: 'kinds' })
    }),
  )
}
