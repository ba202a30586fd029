/**
 * What templates would do to the namespaces that exist, before they do it: population with a client whose writes are
 * dry runs, so the server says itself what it would make of each object and what it would refuse. It acts as the user
 * who asks.
 */
import { untilAborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { ReportProgress } from '../../base/progress.ts'
import type { Client } from '../../client/client.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { AlikeAnswers, askedOfAlike } from './alike-answers.ts'
import { type DisplacedObject, displacedBy } from './displaced.ts'
import { dryRunDeletion, dryRunTemplate } from './dry-run-template.ts'
import { askKindNamed, kindsEverOf } from './kinds.ts'
import { listWithHeld } from './list-with-held.ts'
import { compileMatcher, isDisabled, isOptedOut, isRolloutPaused, type Matcher } from './match.ts'
import { holdersOf, keysHeld } from './namespace-metadata.ts'
import { PlacedDigests } from './placed-digests.ts'
import { type PlannedObject, type PlannedWorld, planNamespace } from './plan-namespace.ts'
import { PopulatedIndex } from './populated-index.ts'
import { excessOf, namespacesToPrune, stopWarned } from './prunes.ts'
import { readClones } from './read-clones.ts'
import { readTakenNames } from './taken-names.ts'
import { type NamespaceTemplate, pauseRolloutAnnotation, templateGroups, templateResource } from './types.ts'

export type { PlannedObject }

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
  /** What else the server says to the template, or to its deletion: a source of a clone that is not there. */
  readonly warnings?: readonly string[]
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
  /** How many alike are asked then. Default: `askedOfAlike`. */
  readonly asksOfAlike?: number
}

export function isTemplate({ apiVersion, kind }: Partial<KubeObject>): boolean {
  return kind === 'NamespaceTemplate' && templateGroups.some((group) => String(apiVersion).startsWith(`${group}/`))
}

/** `policy.borough.dev/v1alpha1` */
export const servedTemplates: string = apiVersionOf(templateResource)

/** Of another version `kubectl apply` finds no kind: it is not planned as if it could be written. */
export const isServedTemplate = (object: Partial<KubeObject>): boolean =>
  isTemplate(object) && String(object.apiVersion).endsWith(`/${templateResource.version}`)

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
  const { client, clock, report = () => undefined, asksEachUpTo = defaultAsksEachUpTo, asksOfAlike } = deps
  const stop = new AbortController()
  const signal = AbortSignal.any([deps.signal, stop.signal])
  try {
    const present = (await listWithHeld(client, templateResource, signal)) as NamespaceTemplate[]
    const known = new Map(present.map((t) => [nameOf(t.metadata), t]))
    const planned: NamespaceTemplate[] = []
    const warnings: Set<string>[] = []
    const asking = (): Parameters<typeof dryRunDeletion>[2] => {
      const told = new Set<string>()
      warnings.push(told)
      return { signal, onWarning: (text) => told.add(text) }
    }
    for (const template of templates) {
      planned.push(await dryRunTemplate(client, known.get(nameOf(template.metadata)), template, asking()))
    }
    for (const name of deletions) planned.push(await dryRunDeletion(client, name, asking()))
    const matchers = new Map([...present, ...planned].map((t) => [nameOf(t.metadata), compileMatcher(t)]))
    const toldRead = (done: number): void => report({ doing: 'reading', done, unit: 'namespaces' })
    const namespaces = (await listWithHeld(client, namespaceResource, signal, toldRead)) as Namespace[]
    const digests = namespaces.length > asksEachUpTo ? new PlacedDigests(namespaces) : undefined
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
      ...(digests === undefined ? {} : { digests }),
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
    const alike = { asksEachUpTo, asksOfAlike }
    const world: World = { client, index, digests, clones, matchers, namespaces, signal, report, ...alike }
    const plans: TemplatePlan[] = []
    for (const [i, template] of planned.entries()) {
      const version = compileMatcher(template)
      const isNew = !known.has(nameOf(template.metadata))
      const isDeletion = isBeingDeleted(template) ? { isDeletion: true as const } : {}
      plans.push({
        isNew,
        ...isDeletion,
        ...(await planOne(world, version)),
        ...warningsOf(warnings[i]),
      })
    }
    return plans
  } finally {
    stop.abort()
  }
}

interface World extends PlannedWorld {
  readonly index: PopulatedIndex
  /** Where there are more namespaces than are asked each. */
  readonly digests: PlacedDigests | undefined
  readonly namespaces: readonly Namespace[]
  readonly report: ReportProgress
  readonly asksEachUpTo: number
  readonly asksOfAlike: number | undefined
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
  const { digests, asksEachUpTo, asksOfAlike } = world
  const alike =
    digests === undefined || concerned.length <= asksEachUpTo
      ? undefined
      : {
          digests,
          taken: await readTakenNames(world, template, selected),
          answers: new AlikeAnswers(asksOfAlike),
          plans: new AlikeAnswers(asksOfAlike),
        }
  const planned: PlannedNamespace[] = []
  let believed = 0
  let done = 0
  const waiting = allOver(concerned).values()
  const worker = async (): Promise<void> => {
    for (const namespace of waiting) {
      world.report({ doing: `planning ${name}`, done: done++, total: concerned.length, unit: 'namespaces' })
      const { objects, isShared } = await planNamespace(world, template, namespace, alike)
      if (isShared) believed++
      if (objects.length > 0) planned.push({ namespace: nameOf(namespace.metadata), objects })
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

/** Of a stop the plan speaks itself. */
function warningsOf(told: ReadonlySet<string> = new Set()): Pick<TemplatePlan, 'warnings'> {
  const warnings = [...told].filter((text) => stopWarned(text) === undefined)
  return warnings.length === 0 ? {} : { warnings }
}

/** Not in their order: what is asked first should not all be of one team, or one age. */
function allOver(namespaces: readonly Namespace[]): readonly Namespace[] {
  const step = Math.max(1, Math.floor(namespaces.length / askedOfAlike))
  return Array.from({ length: step }, (_, from) => namespaces.filter((_n, i) => i % step === from)).flat()
}

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
      const { served: kind, unanswered } = await askKindNamed(client, text)
      if (unanswered !== undefined)
        throw new Error(`objects of ${text} can not be read, so nobody knows what would be pruned: ${unanswered}`)
      if (kind?.namespaced && !(await untilAborted(index.watchKind(kind, signal), signal)))
        throw new Error(`objects of ${text} can not be read, so nobody knows what would be pruned`)
      report({ doing: 'reading what templates made', done: ++done, total: kinds.size, unit: 'kinds' })
    }),
  )
}
