/**
 * Which templates select a namespace and have given it nothing, though nothing holds it: created while no process of
 * `borough populate --fail-open` answered, or not reached yet. And who populates, if any process does. Read with the
 * rights of the caller: of templates and kinds that the caller may not read nothing is said.
 */
import type { Client } from '../../client/client.ts'
import { ifReadable } from '../../client/if-readable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Resource } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Help, Obstacle } from '../namespaces/explanation.ts'
import type { Namespace } from '../namespaces/types.ts'
import { resolveNameOnly } from './clones.ts'
import { haltOf, isHeldIn } from './explain.ts'
import { templateKind } from './kind.ts'
import { askKindNamed } from './kinds.ts'
import { compileMatcher, isOptedOut } from './match.ts'
import { populateLease } from './population-config.ts'
import { render } from './render.ts'
import {
  type NamespaceTemplate,
  populatedCondition,
  templateGroupAlias,
  templateResource,
  templateVersion,
} from './types.ts'

type Asked = Pick<Client, 'list' | 'get' | 'discovery'>

/** None where some of it was given, or where it was told what could not be. */
export async function explainUnpopulated(
  client: Asked,
  namespace: Namespace,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly Obstacle[]> {
  const isTold = namespace.status?.conditions?.some(({ type }) => type === populatedCondition) === true
  if (isTold || isOptedOut(namespace)) return []
  const listed = await ifReadable(client.list(templateResource, { signal }))
  const names: string[] = []
  for (const template of (listed?.items ?? []) as NamespaceTemplate[]) {
    if (template.metadata.deletionTimestamp !== undefined || haltOf(template) !== undefined) continue
    if (!compileMatcher(template).selects(namespace)) continue
    if (await isWithout(client, template, namespace, signal)) names.push(JSON.stringify(nameOf(template.metadata)))
  }
  if (names.length === 0) return []
  const [kind, select, have] =
    names.length === 1 ? ['NamespaceTemplate', 'selects', 'has'] : ['NamespaceTemplates', 'select', 'have']
  const what = `${kind} ${names.join(', ')} ${select} this namespace, and ${have} given it nothing yet`
  const { who, helps } = await whoPopulates(client, nowMs, signal)
  return [{ what, who, helps }]
}

/** Whether nothing is there of what it says for the namespace. False where that can't be told. */
async function isWithout(
  client: Asked,
  template: NamespaceTemplate,
  namespace: Namespace,
  signal: AbortSignal,
): Promise<boolean> {
  const { objects } = render([template], namespace, resolveNameOnly)
  const kinds = [...new Set(objects.map(({ object }) => `${object.apiVersion}/${object.kind}`))]
  if (kinds.length === 0) return false
  return (await isHeldIn(client, { template, kinds }, namespace, signal)) === false
}

/** Quoted, those that the caller may list, with a comma between; empty: none is known. */
export async function namesSelecting(client: Asked, namespace: Namespace, signal: AbortSignal): Promise<string> {
  const listed = await ifReadable(client.list(templateResource, { signal }))
  const selecting = ((listed?.items ?? []) as NamespaceTemplate[]).filter(
    (template) => haltOf(template) === undefined && compileMatcher(template).selects(namespace),
  )
  return selecting.map(({ metadata }) => JSON.stringify(nameOf(metadata))).join(', ')
}

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly renewTime?: string
    readonly leaseDurationSeconds?: number
  }
}

const leases: Resource<Lease> = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
/** By how much the clock of the caller may be wrong. */
const skewMs = 60_000

const { name: leaseName, namespace: leaseNamespace } = populateLease
const leaseText = `Lease ${leaseNamespace}/${leaseName}`
const lookAtLease: Help = {
  command: `kubectl get lease ${leaseName} -n ${leaseNamespace} -o yaml`,
  effect: 'which process populates, and when it said so last',
}
const start: Help = {
  command: `kubectl get deployments -n ${leaseNamespace}`,
  effect: 'start it where it is to run, or borough populate elsewhere: it goes on by itself',
}

interface Populates extends Pick<Obstacle, 'who' | 'helps'> {
  /** True: no process does, so nothing is tried again. */
  readonly rests?: true
}

/** Who gives namespaces their templates here, as far as the caller may know. */
export async function whoPopulates(client: Asked, nowMs: number, signal: AbortSignal): Promise<Populates> {
  const applies = 'applies the NamespaceTemplates that match'
  const { served } = await askKindNamed(client, `${templateGroupAlias}/${templateVersion}/${templateKind}`)
  if (served !== undefined) return { who: `namespace-template-controller: it ${applies}`, helps: [] }
  const lease = await ifReadable(client.get(leases, populateLease, { signal }))
  if (lease === undefined) return { who: `borough populate: its controller ${applies}`, helps: [lookAtLease] }
  const { holderIdentity: holder = '', renewTime = '', leaseDurationSeconds = 0 } = lease.spec ?? {}
  const endMs = Date.parse(renewTime) + leaseDurationSeconds * 1000
  if (holder !== '' && endMs + skewMs >= nowMs) {
    return { who: `borough populate, which runs as ${holder}: its controller ${applies}`, helps: [] }
  }
  const since = `${holder === '' ? 'was given back' : 'was renewed last'} at ${renewTime}`
  const who = `who runs borough populate: no process of it populates now (${leaseText} ${since})`
  return { who, helps: [start], rests: true }
}
