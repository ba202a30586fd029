/**
 * Why a namespace is not ready, or not gone: what is left, who must act, and the command that helps. It is all read
 * through the API with the rights of the caller, from the object and its conditions, so it works against any cluster.
 * What a webhook or a policy says of a deletion is found out by a dry run.
 */
import type { Clock } from '../../base/clock.ts'
import { objectArguments } from '../../base/shell-text.ts'
import type { Client } from '../../client/client.ts'
import { isForbidden, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import { explainQuotas } from '../clusterquotas/explain.ts'
import { endText, expiresAtMs } from '../expiry/end.ts'
import { expiringCondition } from '../expiry/types.ts'
import { deadlineOf, mergeConfigurations } from '../initializers/configurations.ts'
import {
  initializerConfigurationResource,
  type NamespaceInitializerConfiguration,
  namespaceTemplateInitializer,
} from '../initializers/types.ts'
import { explainTemplates } from '../templates/explain.ts'
import { explainFailures, notTried, triedInVain } from '../templates/explain-failures.ts'
import { explainUnpopulated, namesSelecting, whoPopulates } from '../templates/explain-unpopulated.ts'
import { pendingLabel } from '../templates/types.ts'
import type { Explanation, Help, Obstacle } from './explanation.ts'
import { dryRunRefusals, refusalsIn } from './refused-deletion.ts'
import { type LeftContent, type LeftObject, remainingContent } from './remaining-content.ts'
import { afterDeadline } from './strategy.ts'
import {
  deletionProtectionAnnotation,
  kubernetesFinalizer,
  type Namespace,
  type NamespaceCondition,
  namespaceResource,
  phaseOf,
} from './types.ts'

export type { Explanation, Obstacle } from './explanation.ts'

/** @throws StatusError NotFound, Forbidden, … as for any GET of the namespace */
export async function explainNamespace(
  client: Client,
  name: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<Explanation> {
  const namespace = (await client.get(namespaceResource, { name }, { signal })) as Namespace
  if (namespace.metadata.deletionTimestamp !== undefined) return explainTerminating(client, namespace, clock, signal)
  if (namespace.spec?.initializers !== undefined) return explainInitializing(client, namespace, signal)
  if (namespace.metadata.labels?.[pendingLabel] !== undefined)
    return explainGate(client, namespace, clock.now(), signal)
  const dryRun = (): Promise<unknown> => client.delete(namespaceResource, { name }, { dryRun: true, signal })
  const unpopulated = await explainUnpopulated(client, namespace, clock.now(), signal)
  return {
    namespace: name,
    state: phaseOf(namespace),
    held: false,
    obstacles: await dryRunRefusals(client, dryRun, 'its deletion', signal),
    ...(unpopulated.length > 0 ? { lacking: unpopulated } : await explainFailures(client, namespace, signal)),
    reports: reportsOf(namespace),
    notes: [
      ...endNote(namespace),
      ...protectionNote(namespace),
      ...(await explainTemplates(client, namespace, signal)),
      ...(await explainQuotas(client, namespace, signal)),
    ],
  }
}

const conditionOf = ({ status }: Namespace, type: string): NamespaceCondition | undefined =>
  status?.conditions?.find((c) => c.type === type)

/** Whatever is wrong: of the conditions of a deletion True is bad, of an end all but False, of the others False. */
function reportsOf({ status }: Namespace): Explanation['reports'] {
  const bad = (c: NamespaceCondition): boolean => {
    if (c.type.startsWith('NamespaceDeletion')) return c.status === 'True'
    if (c.type === expiringCondition) return c.status !== 'False'
    return c.type === 'Populated' && c.status === 'False'
  }
  return (status?.conditions ?? [])
    .filter(bad)
    .map(({ type, reason = '', message = '' }) => ({ type, reason, message }))
}

/** Of one that is being deleted: whether that is because its time had come. */
function endNote(namespace: Namespace): string[] {
  const { deletionTimestamp } = namespace.metadata
  const endMs = expiresAtMs(namespace)
  if (!Number.isFinite(endMs)) return []
  if (deletionTimestamp === undefined) return [`it expires ${endText(namespace)}`]
  return endMs <= Date.parse(deletionTimestamp) ? [`it expired ${endText(namespace)}`] : []
}

function protectionNote({ metadata }: Namespace): string[] {
  if (metadata.annotations?.[deletionProtectionAnnotation] !== 'true') return []
  return [
    `it is protected from deletion; to lift that: kubectl annotate namespace ${metadata.name} ` +
      `${deletionProtectionAnnotation}-`,
  ]
}

async function explainInitializing(client: Client, namespace: Namespace, signal: AbortSignal): Promise<Explanation> {
  const { name = '', creationTimestamp } = namespace.metadata
  const { pending = [], result } = namespace.spec?.initializers ?? {}
  const [awaited = '', ...later] = pending.map((p) => p.name)
  const condition = conditionOf(namespace, 'Initializing')
  const since = condition?.lastTransitionTime ?? creationTimestamp
  const deadline = result ? undefined : await endOfTurn(client, namespace, awaited, condition, signal)
  const giveUp: Help = { command: `kubectl delete namespace ${name}`, effect: 'give the namespace up' }
  const failures = await explainFailures(client, namespace, signal)
  const obstacle: Obstacle = result
    ? {
        what: `initialization failed: ${result.message ?? result.reason ?? 'no reason given'}`,
        who: 'namespace-initializer-controller: it deletes the namespace',
        helps: [giveUp],
      }
    : {
        ...(awaited === namespaceTemplateInitializer && failures.lacking !== undefined
          ? triedInVain
          : { what: `initializer ${awaited} has not acted yet`, who: whoInitializes(awaited) }),
        ...(since ? { since } : {}),
        ...(deadline === undefined ? {} : { until: deadline.until }),
        ...progressOf(condition),
        helps: [
          ...lookAt(awaited),
          {
            command: `kubectl patch namespace ${name} --type=json -p '${JSON.stringify([
              { op: 'test', path: '/spec/initializers/pending/0/name', value: awaited },
              { op: 'remove', path: '/spec/initializers/pending/0' },
            ])}'`,
            effect: 'go on without it; needs the verb initialize on the namespace',
          },
          giveUp,
        ],
      }
  const explanation = heldBy(namespace, obstacle, [
    ...(deadline === undefined ? [] : [`when its time is over ${deadline.outcome}`]),
    ...(later.length > 0 ? [`after it, in this order: ${later.join(', ')}`] : []),
  ])
  return { ...explanation, ...failures }
}

/** On a cluster without initializers, where `borough populate` gives namespaces their templates. */
async function explainGate(
  client: Client,
  namespace: Namespace,
  nowMs: number,
  signal: AbortSignal,
): Promise<Explanation> {
  const { name = '', creationTimestamp } = namespace.metadata
  const failures = await explainFailures(client, namespace, signal)
  const { who, helps, rests } = await whoPopulates(client, nowMs, signal)
  const isTried = failures.lacking !== undefined
  const names = isTried ? '' : await namesSelecting(client, namespace, signal)
  const inVain = rests ? { ...triedInVain, who: `${who}, and who is named below` } : triedInVain
  const populated = conditionOf(namespace, 'Populated')
  const obstacle: Obstacle = {
    ...(isTried ? inVain : { what: names === '' ? notTried : `${notTried}: ${names}`, who }),
    ...(creationTimestamp ? { since: creationTimestamp } : {}),
    ...(populated?.status === 'False' && populated.message ? { progress: populated.message } : {}),
    helps: [
      ...(isTried && !rests ? [] : helps),
      ...lookAt(namespaceTemplateInitializer),
      {
        command: `kubectl label namespace ${name} ${pendingLabel}-`,
        effect: 'go on without them; needs the verb initialize on the namespace',
      },
      { command: `kubectl delete namespace ${name}`, effect: 'give the namespace up' },
    ],
  }
  return { ...heldBy(namespace, obstacle), ...failures }
}

function heldBy(namespace: Namespace, obstacle: Obstacle, notes: readonly string[] = []): Explanation {
  const { name = '', creationTimestamp } = namespace.metadata
  return {
    namespace: name,
    state: 'Initializing',
    ...(creationTimestamp ? { since: creationTimestamp } : {}),
    held: true,
    obstacles: [obstacle],
    reports: reportsOf(namespace),
    notes: [...notes, ...endNote(namespace), ...protectionNote(namespace)],
  }
}

/** The condition says whose turn it is, then what was said of it last. */
function progressOf(condition: NamespaceCondition | undefined): Pick<Obstacle, 'progress'> {
  const { message = '' } = condition ?? {}
  const at = message.indexOf(': ')
  return at < 0 ? {} : { progress: message.slice(at + 2) }
}

const whoInitializes = (name: string): string =>
  name === namespaceTemplateInitializer
    ? 'namespace-template-controller: it applies the NamespaceTemplates that match'
    : `the controller of initializer ${name}`

const lookAt = (name: string): readonly Help[] =>
  name === namespaceTemplateInitializer
    ? [{ command: 'kubectl get namespacetemplates', effect: 'templates that failed, with why in their status' }]
    : [
        {
          command: 'kubectl get namespaceinitializerconfigurations -o yaml',
          effect: 'who is named there, and for how long',
        },
      ]

/** From the configurations, as they are now; who may not read them has what the condition says. */
async function endOfTurn(
  client: Client,
  namespace: Namespace,
  awaited: string,
  condition: NamespaceCondition | undefined,
  signal: AbortSignal,
): Promise<{ readonly until: string; readonly outcome: string } | undefined> {
  let configurations: NamespaceInitializerConfiguration[]
  try {
    configurations = (await client.list(initializerConfigurationResource, { signal })).items
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error
    // No right to read them: the namespace itself says how it was when the turn began.
    const told = / until (\S+), then (.*?)(?:: |$)/.exec(condition?.message ?? '')
    return told ? { until: told[1] ?? '', outcome: told[2] ?? '' } : undefined
  }
  const deadline = deadlineOf(mergeConfigurations(configurations), namespace, awaited)
  const beganMs = Date.parse(condition?.lastTransitionTime ?? '')
  if (deadline === undefined || Number.isNaN(beganMs)) return undefined
  return { until: formatTime(beganMs + deadline.timeoutMs), outcome: afterDeadline(deadline.goesOn) }
}

async function explainTerminating(
  client: Client,
  namespace: Namespace,
  clock: Clock,
  signal: AbortSignal,
): Promise<Explanation> {
  const { name = '', deletionTimestamp = '' } = namespace.metadata
  const finalizers = namespace.spec?.finalizers ?? []
  const left: LeftContent = finalizers.includes(kubernetesFinalizer)
    ? await remainingContent(client, namespace, signal)
    : { total: 0, objects: [], unread: [] }
  const others = [...finalizers.filter((f) => f !== kubernetesFinalizer), ...(namespace.metadata.finalizers ?? [])]
  const failures = conditionOf(namespace, 'NamespaceDeletionContentFailure')
  const refusals =
    failures?.status === 'True'
      ? await refusalsIn(client, failures.message ?? '', 'the deletion of what is left', signal)
      : []
  const content = [...refusals, ...contentObstacles(name, left.objects, clock.now(), refusals.length > 0)]
  const own = others.map(
    (finalizer): Obstacle => ({
      what: `finalizer ${finalizer} holds the namespace itself`,
      who: `the controller of finalizer ${finalizer}: it has something outside of this namespace to clean up`,
      helps: [wayOut(name, finalizer)],
    }),
  )
  const nobody: Obstacle = {
    what: `nothing is left in it, and it was not let go`,
    who: 'namespace-controller: does it run? A server can be told to run without it (--controllers)',
    helps: [],
  }
  const isStuck = content.length === 0 && own.length === 0 && left.unread.length === 0
  const finalize = (): Promise<unknown> => {
    const spec = { ...namespace.spec, finalizers: finalizers.filter((f) => f !== kubernetesFinalizer) }
    const options = { subresource: 'finalize', dryRun: true, signal } as const
    return client.update(namespaceResource, { ...namespace, spec }, options)
  }
  const kept = isStuck ? await dryRunRefusals(client, finalize, 'the update that lets it go', signal) : []
  return {
    namespace: name,
    state: 'Terminating',
    since: deletionTimestamp,
    held: true,
    obstacles: isStuck ? (kept.length > 0 ? kept : [nobody]) : [...content, ...own],
    left,
    reports: reportsOf(namespace),
    notes: [...endNote(namespace), ...unreadNote(left)],
  }
}

/** Rights do not help where a value is damaged, or a server does not answer. */
function unreadNote({ unread }: LeftContent): readonly string[] {
  if (unread.length === 0) return []
  const isForRights = unread.some(({ why }) => why.includes(' is forbidden: '))
  if (isForRights) return ['not everything could be read: run it as a user with more rights']
  return [
    'not everything could be read, and rights are not what is missing: who runs the server must mend what it says',
  ]
}

const wayOut = (namespace: string, finalizer: string): Help => ({
  command: `borough finalize ${namespace} --remove ${finalizer}`,
  effect: 'only if its controller will not come back: what it cleans up stays behind',
})

/** Objects named in one sentence. */
const namedInOne = 3

function namesOf(objects: readonly LeftObject[]): string {
  const named = objects.slice(0, namedInOne).map((o) => `${o.resource}/${o.name}`)
  const more = objects.length - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** @param isRefused something refuses the deletion of some of them */
function contentObstacles(
  namespace: string,
  objects: readonly LeftObject[],
  nowMs: number,
  isRefused: boolean,
): Obstacle[] {
  const obstacles: Obstacle[] = []
  const byFinalizer = new Map<string, LeftObject[]>()
  for (const object of objects) {
    for (const finalizer of object.finalizers) {
      byFinalizer.set(finalizer, [...(byFinalizer.get(finalizer) ?? []), object])
    }
  }
  for (const [finalizer, held] of [...byFinalizer].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const since = held
      .map((o) => o.deletionTimestamp ?? '')
      .filter((t) => t !== '')
      .sort()[0]
    const [first] = held
    obstacles.push({
      what: `finalizer ${finalizer} holds ${namesOf(held)}`,
      who: ownerOf(finalizer),
      ...(since === undefined ? {} : { since }),
      helps: [
        {
          command: `kubectl get ${objectArguments(first?.resource ?? '', first?.name ?? '')} -n ${namespace} -o yaml`,
          effect: 'what it waits for may stand in its status',
        },
        // Before the object is deleted its finalizers hold nothing, and can't be taken off that way.
        ...(since === undefined ? [] : [wayOut(namespace, finalizer)]),
      ],
    })
  }
  const free = objects.filter((o) => o.finalizers.length === 0)
  const ending = free.filter((o) => o.deletionTimestamp !== undefined && (o.graceSeconds ?? 0) > 0)
  const last = ending
    .map((o) => o.deletionTimestamp ?? '')
    .sort()
    .at(-1)
  const [firstEnding] = ending
  if (firstEnding !== undefined && last !== undefined) {
    const over = Date.parse(last) < nowMs
    const node = firstEnding.nodeName === undefined ? 'their node' : `node ${firstEnding.nodeName}`
    obstacles.push({
      what: `${namesOf(ending)} ${ending.length === 1 ? 'was' : 'were'} given time to end`,
      who: `the kubelet of ${node}`,
      until: last,
      helps: [
        ...(firstEnding.nodeName === undefined
          ? []
          : [
              {
                command: `kubectl get ${objectArguments('node', firstEnding.nodeName)}`,
                effect: over ? 'its time is over: is the node there?' : 'is the node there?',
              },
            ]),
        {
          command:
            `kubectl delete ${objectArguments(firstEnding.resource, firstEnding.name)} -n ${namespace} ` +
            '--grace-period=0 --force',
          effect: 'only if its containers run no more',
        },
      ],
    })
  }
  const untold = free.filter((o) => o.deletionTimestamp === undefined)
  if (untold.length > 0) {
    const isLater = isRefused || obstacles.length > 0
    obstacles.push({
      what: `${namesOf(untold)} ${untold.length === 1 ? 'was' : 'were'} not deleted yet`,
      who: isLater
        ? 'namespace-controller: it goes on when the above is gone (pods go first, roles and their bindings last)'
        : 'namespace-controller: it tries again; what went wrong is reported below',
      helps: [],
    })
  }
  return obstacles
}

/** Whom well-known finalizers belong to. */
function ownerOf(finalizer: string): string {
  switch (finalizer) {
    case 'foregroundDeletion':
    case 'orphan':
      return 'generic-garbage-collector: dependents go, or are set free, first'
    case 'kubernetes.io/pvc-protection':
      return 'the controller of claims: a pod still uses the claim'
    case 'batch.kubernetes.io/job-tracking':
      return 'the job controller: it has not counted the pod yet'
    case 'service.kubernetes.io/load-balancer-cleanup':
      return 'the cloud controller: it removes the load balancer'
    default:
      return `the controller of finalizer ${finalizer}: it cleans up before the object may go`
  }
}
