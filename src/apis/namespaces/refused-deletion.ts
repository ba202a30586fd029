/**
 * Which webhook or policy refuses a deletion: found by the sentences in which every kube-apiserver says so, and by the
 * configuration that has the webhook. What helps is up to the owner of that object.
 */
import type { Client } from '../../client/client.ts'
import { findStatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { configurationResources, type WebhookPhase } from '../webhooks/types.ts'
import type { Help, Obstacle } from './explanation.ts'

/** One that refuses, once for each webhook or policy that the text names. */
export async function refusalsIn(
  client: Client,
  text: string,
  refusedWhat: string,
  signal: AbortSignal,
): Promise<Obstacle[]> {
  const webhooks = new Map<string, boolean>()
  for (const [, begin = '', name = ''] of text.matchAll(webhookSentence)) webhooks.set(name, begin.startsWith('failed'))
  const obstacles: Obstacle[] = []
  for (const [name, failed] of webhooks) {
    obstacles.push(webhookObstacle(name, failed, refusedWhat, await configurationsWith(client, name, signal)))
  }
  const policies = new Map<string, Obstacle>()
  for (const [sentence, policy = '', binding] of text.matchAll(policySentence)) {
    policies.set(sentence, policyObstacle(policy, binding, refusedWhat))
  }
  return [...obstacles, ...policies.values()]
}

/**
 * What deleting the namespace would meet, by a dry run as the caller. Empty where nothing refuses, or nothing is known.
 */
export async function dryRunRefusals(
  client: Client,
  dryRun: () => Promise<unknown>,
  refusedWhat: string,
  signal: AbortSignal,
): Promise<Obstacle[]> {
  try {
    await dryRun()
    return []
  } catch (error) {
    const status = findStatusError(error)
    // The caller may lack the right to delete: then there is nothing to tell of admission.
    return status === undefined ? [] : refusalsIn(client, status.message, refusedWhat, signal)
  }
}

const webhookSentence = /(failed calling webhook|admission webhook) "([^"]+)"(?: denied the request|: )/g
const policySentence = /ValidatingAdmissionPolicy '([^']+)'(?: with binding '([^']+)')? denied request/g

interface FoundConfiguration {
  readonly kind: string
  readonly resource: string
  readonly name: string
}

const kinds: Readonly<Record<WebhookPhase, string>> = {
  validating: 'ValidatingWebhookConfiguration',
  mutating: 'MutatingWebhookConfiguration',
}

/** Which configurations have a webhook of that name; undefined where the caller may not read them. */
async function configurationsWith(
  client: Client,
  webhook: string,
  signal: AbortSignal,
): Promise<FoundConfiguration[] | undefined> {
  const found: FoundConfiguration[] = []
  for (const phase of ['validating', 'mutating'] as const) {
    const type = configurationResources[phase]
    let items: readonly KubeObject[]
    try {
      items = (await client.list(type, { signal })).items
    } catch (error) {
      if (findStatusError(error) === undefined) throw error
      return undefined
    }
    for (const { metadata, ...rest } of items) {
      const { webhooks = [] } = rest as { webhooks?: readonly { readonly name: string }[] }
      if (!webhooks.some(({ name }) => name === webhook)) continue
      found.push({ kind: kinds[phase], resource: type.resource, name: metadata.name ?? '' })
    }
  }
  return found
}

function webhookObstacle(
  webhook: string,
  failed: boolean,
  refusedWhat: string,
  configurations: readonly FoundConfiguration[] | undefined,
): Obstacle {
  const says = failed ? `does not answer, and must be asked about ${refusedWhat}` : `refuses ${refusedWhat}`
  const what = `admission webhook ${webhook} ${says}`
  if (configurations === undefined || configurations.length === 0) {
    const why =
      configurations === undefined ? 'you may not read the configurations' : 'no configuration has it any more'
    const list = 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o wide'
    return {
      what,
      who: `the owner of the configuration of ${webhook} (${why})`,
      helps: [{ command: list, effect: `which of them has ${webhook}` }],
    }
  }
  const named = configurations.map(({ kind, name }) => `${kind} ${name}`).join(', ')
  return {
    what,
    who: `the owner of ${named}, which has it`,
    helps: configurations.flatMap(({ resource, name }): Help[] => [
      {
        command: `kubectl get ${resource} ${name} -o yaml`,
        effect: failed ? 'where it should answer: does it run there?' : 'what it is asked about, and where it answers',
      },
      {
        command: `kubectl delete ${resource} ${name}`,
        effect: 'only if it should not be asked at all: it is asked about nothing any more',
      },
    ]),
  }
}

function policyObstacle(policy: string, binding: string | undefined, refusedWhat: string): Obstacle {
  const read: Help = {
    command: `kubectl get validatingadmissionpolicy ${policy} -o yaml`,
    effect: 'what it demands',
  }
  if (binding === undefined) {
    return {
      what: `ValidatingAdmissionPolicy ${policy} refuses ${refusedWhat}: it can't be evaluated`,
      who: `the owner of ValidatingAdmissionPolicy ${policy}`,
      helps: [read],
    }
  }
  const warn = JSON.stringify({ spec: { validationActions: ['Warn'] } })
  return {
    what: `ValidatingAdmissionPolicy ${policy} refuses ${refusedWhat}`,
    who: `the owner of ValidatingAdmissionPolicyBinding ${binding}, by which it applies here`,
    helps: [
      read,
      {
        command: `kubectl patch validatingadmissionpolicybinding ${binding} --type=merge -p '${warn}'`,
        effect: 'only if it should not refuse this: it warns instead, here and wherever the binding applies',
      },
    ],
  }
}
