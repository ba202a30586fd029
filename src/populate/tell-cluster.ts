/** Registers webhooks and policies with a cluster, and sees to it that namespaces come through. */
import type { KubeObject } from '../kube/types.ts'
import { admissionObjects, findAdmission, installAdmission, uninstallAdmission } from './admission.ts'
import { findFormerAddress } from './former-address.ts'
import { marked } from './keep-registered.ts'
import { installName } from './names.ts'
import type { PopulateOptions } from './populate-options.ts'
import { verifyAdmission } from './verify-admission.ts'
import type { ServerShare, WebhookPlace } from './webhook-configurations.ts'

/** `url`: where this process listens. */
export function registeredObjects(
  options: PopulateOptions,
  share: ServerShare,
  url: string,
  caBundle: string,
): KubeObject[] {
  const { namespace, failOpen = false } = options
  return marked(admissionObjects({ place: placeOf(options, url), caBundle, namespace, ...share, failOpen }))
}

/** `ValidatingAdmissionPolicy/borough-population-use`; bindings go without saying. */
export const titlesOf = (objects: readonly KubeObject[]): string[] =>
  objects
    .filter(({ kind }) => kind?.endsWith('Binding') === false)
    .map(({ kind, metadata }) => `${kind}/${metadata.name}`)

/** How long an API server may take to hear of it and to reach us; in a pod, until its readiness is known too. */
const reachMs = 10_000
const reachByServiceMs = 60_000

/**
 * Tells the cluster, and takes back what was told if namespaces do not come through: what was there before stands
 * again, or nothing where that does not let them through either. So where `signal` comes meanwhile: webhooks that
 * no process answers would refuse every namespace.
 * @throws Error in one line
 */
export async function tellCluster(
  options: PopulateOptions,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const { client, reachedAt, log } = options
  signal.throwIfAborted()
  const verify = (patienceMs: number): Promise<string | undefined> =>
    verifyAdmission({
      ...options,
      signal,
      patienceMs,
      onUntried: (why) => log.warn({ why }, 'it could not be tried whether namespaces come through'),
    })
  const before = await findAdmission(client)
  const former = await findFormerAddress(client, options.namespace, before, objects, options.clock.now())
  if (former !== undefined) {
    const told =
      'webhooks were registered at another address, whose process may still run: API servers ask here from now on. ' +
      'Processes that share a cluster need one address: --webhook-url'
    log.warn({ ...former }, told)
  }
  await installAdmission(client, objects)
  const problem = await verify(reachedAt === 'service' ? reachByServiceMs : reachMs)
  if (signal.aborted) {
    await (before.length > 0 ? installAdmission(client, before) : uninstallAdmission(client, {}, options.clock))
    signal.throwIfAborted()
  }
  if (problem === undefined) return
  await installAdmission(client, before)
  const isRestored = before.length > 0 && (await verify(reachMs)) === undefined
  if (!isRestored) await uninstallAdmission(client, {}, options.clock)
  const where =
    reachedAt === 'listen' ? 'the address of --listen' : reachedAt === 'service' ? 'its Service' : reachedAt.url
  throw new Error(
    `the cluster does not reach the webhooks at ${where} (${problem}): what was told to it is ` +
      `${isRestored ? 'as it was before' : 'taken off again'}; --webhook-url says where API servers reach them`,
  )
}

function placeOf({ namespace, reachedAt }: PopulateOptions, url: string): WebhookPlace {
  if (reachedAt === 'service') return { service: { namespace, name: installName } }
  return reachedAt === 'listen' ? { url } : reachedAt
}
