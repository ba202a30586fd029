/**
 * What a template would do to one namespace: a pass whose writes are dry runs, or what was told of one that is alike in
 * all that a pass depends on (`alike-namespaces.ts`).
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AlikeAnswers } from './alike-answers.ts'
import { situationOf } from './alike-namespaces.ts'
import type { ResolveClone } from './clones.ts'
import { type Difference, differences } from './differences.ts'
import { digestOf } from './digest.ts'
import { type Questions, startDryRun } from './dry-run-client.ts'
import { type Matcher, selectTemplates } from './match.ts'
import type { ObjectResult } from './object-result.ts'
import type { PlacedDigests } from './placed-digests.ts'
import { type PopulateRequest, populate } from './populate.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import type { TakenNames } from './taken-names.ts'
import type { NamespaceTemplate } from './types.ts'

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

export interface PlannedWorld {
  readonly client: Client
  readonly index: PopulatedObjects
  readonly clones: ResolveClone
  readonly matchers: ReadonlyMap<string, Matcher>
  readonly signal: AbortSignal
}

/** What namespaces that are alike have told of each other. */
export interface Alike {
  readonly digests: PlacedDigests
  readonly taken: TakenNames
  readonly answers: AlikeAnswers
  readonly plans: AlikeAnswers
}

interface Planned {
  readonly objects: readonly PlannedObject[]
  /** Something is believed that was not asked here. */
  readonly isShared: boolean
  /** What was asked for it; undefined: it stands for no other namespace. */
  readonly questions?: Questions | undefined
}

interface KeptPlan {
  readonly objects: readonly PlannedObject[]
  /** The objects in JSON, with marks. */
  readonly text: string
  readonly questions: Questions
}

export async function planNamespace(
  world: PlannedWorld,
  template: NamespaceTemplate,
  namespace: Namespace,
  alike: Alike | undefined,
): Promise<Planned> {
  const name = nameOf(template.metadata)
  const request: PopulateRequest = {
    namespace,
    templates: selectTemplates(world.matchers.values(), namespace),
    only: name,
    policyOf: (of) => (of === name ? (template.spec?.deletionPolicy ?? 'Delete') : 'Keep'),
    ignoresExtra: true,
    signal: world.signal,
  }
  if (alike === undefined) return planAlone(world, request, undefined)
  const texts = alike.digests.textsOf(namespace)
  const { digest, lengths } = situationOf(world, request, { texts, taken: takenIn(namespace, alike) })
  const out = (value: unknown): string => texts.takeOut(JSON.stringify(value)).text
  return alike.plans.of<Planned>(digest, {
    ask: () => planAlone(world, request, alike),
    said: ({ objects, questions }) => (questions === undefined ? undefined : digestOf(out(objects))),
    keep: ({ objects, questions }) => ({ text: out(objects), objects, questions }),
    share(kept) {
      const { text, objects, questions } = kept as KeptPlan
      const here = texts.putIn(text)
      const planned = here === text ? objects : (parseJsonText(here) as readonly PlannedObject[])
      return { objects: planned, isShared: questions.isOfWrites }
    },
    isBelieved: (kept) => (kept as KeptPlan).questions.asked.every((question) => alike.answers.isAlike(question)),
    lengths,
    texts: texts.own(),
  })
}

async function planAlone(world: PlannedWorld, request: PopulateRequest, alike: Alike | undefined): Promise<Planned> {
  const { client, index, clones } = world
  const { namespace } = request
  const shared = alike && {
    alike: alike.answers,
    texts: alike.digests.textsOf(namespace),
    taken: takenIn(namespace, alike),
  }
  const dryRun = startDryRun({ client, namespace, index, ...shared })
  const results = await populate({ client: dryRun.client, index, clones }, request)
  const planned = results.flatMap((result) => planObject(result, dryRun.find(result.object)) ?? [])
  // What goes stands in the order in which the watches told of it: another in each namespace.
  const goes = planned.filter(isGoing).sort((a, b) => (a.object < b.object ? -1 : 1))
  const objects = [...planned.filter((o) => !isGoing(o)), ...goes]
  const isRefused = objects.some(({ action }) => action === 'refuse')
  return { objects, isShared: dryRun.isShared(), questions: isRefused ? undefined : dryRun.questions() }
}

const none: ReadonlySet<string> = new Set()
const takenIn = ({ metadata }: Namespace, { taken }: Alike): ReadonlySet<string> => taken.get(nameOf(metadata)) ?? none

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
