/**
 * Whether namespaces come through once an API server has been told of population: a namespace and a template are
 * created as dry runs, and each must come back with what only our admission puts on it. Webhooks that the API server
 * can't reach would otherwise refuse every namespace of the cluster.
 */
import { templateKind } from '../apis/templates/kind.ts'
import { creatorKey, templateFinalizer, templateResource } from '../apis/templates/types.ts'
import { type Clock, sleep } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Client } from '../client/client.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import { findStatusError, type StatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { installName } from './names.ts'

/** Undefined = they come through. */
export type AdmissionProblem = string | undefined

export interface VerifyOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly signal: AbortSignal
  /** How long an API server may take to hear of it, and to reach us. */
  readonly patienceMs: number
  /** A dry run that is refused to this account proves nothing. */
  onUntried(why: string): void
}

const pauseMs = 100
const namespaces: GroupVersionResource = { group: '', version: 'v1', resource: 'namespaces' }

export async function verifyAdmission(options: VerifyOptions): Promise<AdmissionProblem> {
  const name = `borough-check-${options.ids.nameSuffix()}`
  const isStamped = ({ metadata }: KubeObject): boolean => metadata.annotations?.[creatorKey] !== undefined
  const isFinalized = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(templateFinalizer) === true
  return (
    (await tryUntil(options, namespaces, { metadata: { name } }, isStamped)) ??
    (await tryUntil(options, templateResource, templateForNone(name), isFinalized))
  )
}

/** It holds nothing: no author lacks what it gives. */
const templateForNone = (name: string): KubeObject => ({
  apiVersion: `${templateResource.group}/${templateResource.version}`,
  kind: templateKind,
  metadata: { name },
  spec: { namespaces: { nameSelector: { exclude: ['*'] } }, templates: [] },
})

/** Policies of ours refuse what those that change objects have not written yet: a server hears of the two by turns. */
const isOurs = ({ message }: StatusError): boolean => message.includes(`ValidatingAdmissionPolicy '${installName}`)

async function tryUntil(
  { client, clock, signal, patienceMs, onUntried }: VerifyOptions,
  resource: GroupVersionResource,
  object: KubeObject,
  isAdmitted: (answer: KubeObject) => boolean,
): Promise<AdmissionProblem> {
  const deadline = clock.monotonic() + patienceMs
  let problem: AdmissionProblem
  while (!signal.aborted) {
    try {
      if (isAdmitted(await client.create(resource, object, { dryRun: true }))) return undefined
      problem = `${resource.resource} are created unasked ${Math.round(patienceMs / 1000)} s after it was told to ask`
    } catch (error) {
      const status = findStatusError(error)
      if (status === undefined) throw error
      if (status.code < 500 && !isOurs(status)) {
        onUntried(status.message)
        return undefined
      }
      problem = status.message
    }
    if (clock.monotonic() >= deadline) break
    await sleep(clock, pauseMs, signal)
  }
  return problem
}
