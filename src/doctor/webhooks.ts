/**
 * Webhooks that are registered, for admission and for conversion, and policies: can they be asked, how long are their
 * authorities and their certificates valid. A webhook is greeted by TLS and asked nothing.
 */
import type { Client } from '../client/client.ts'
import type { Resource } from '../kube/resource.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { examineCertificates, examineDates } from './certificates.ts'
import { type Finding, fail, ok, problemOf, warn } from './finding.ts'
import { handshake } from './server.ts'

interface ClientConfig {
  readonly url?: string
  readonly caBundle?: string
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number }
}

interface Webhook {
  readonly name: string
  readonly failurePolicy?: string
  readonly clientConfig: ClientConfig
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[]
}

interface Definition extends KubeObject {
  readonly spec?: {
    readonly conversion?: { readonly strategy?: string; readonly webhook?: { readonly clientConfig?: ClientConfig } }
  }
}

interface Policy extends KubeObject {
  readonly status?: { typeChecking?: { expressionWarnings?: readonly { fieldRef?: string }[] } }
}

interface Slice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[]
}

const registered = <T extends KubeObject>(resource: string): Resource<T> => ({
  ...{ group: 'admissionregistration.k8s.io', version: 'v1' },
  resource,
})
const definitions: Resource<Definition> = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1' },
  resource: 'customresourcedefinitions',
}
const services: Resource = { group: '', version: 'v1', resource: 'services' }
const slices: Resource<Slice> = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }

export interface WebhookExamination {
  readonly client: Client
  readonly nowMs: number
  readonly signal: AbortSignal
  /** The server may be told elsewhere where Services are. */
  readonly mayKnowAddresses: boolean
}

export async function examineWebhooks(examination: WebhookExamination): Promise<readonly Finding[]> {
  const { client, signal } = examination
  const findings: Finding[] = []
  for (const resource of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    try {
      const { items } = await client.list(registered<Configuration>(resource), { signal })
      const webhooks = items.flatMap(({ metadata, webhooks = [] }) =>
        webhooks.map((webhook) => ({ webhook, at: `${resource}/${metadata.name}: ${webhook.name}` })),
      )
      if (webhooks.length === 0) findings.push(ok(resource, 'none is registered'))
      for (const { webhook, at } of webhooks) findings.push(await examineWebhook(webhook, at, examination))
    } catch (error) {
      findings.push(warn(resource, `they can't be listed: ${problemOf(error)}`, 'ask as a user who may list them'))
    }
  }
  return [...findings, ...(await examineConversions(examination)), ...(await examinePolicies(examination))]
}

function examineWebhook(webhook: Webhook, check: string, examination: WebhookExamination): Promise<Finding> {
  const { clientConfig, failurePolicy } = webhook
  const isOpen = failurePolicy === 'Ignore'
  const consequence = isOpen ? 'it is passed over' : 'every write that it wants to see is refused'
  return examineClient(clientConfig, { check, isOpen, consequence }, examination)
}

async function examineConversions(examination: WebhookExamination): Promise<readonly Finding[]> {
  const { client, signal } = examination
  const check = definitions.resource
  try {
    const { items } = await client.list(definitions, { signal })
    const findings: Finding[] = []
    for (const { metadata, spec } of items) {
      const { strategy, webhook } = spec?.conversion ?? {}
      if (strategy !== 'Webhook') continue
      const at = `${check}/${metadata.name}: conversion`
      const consequence = 'objects that are stored in another version can be neither read nor written'
      findings.push(
        await examineClient(webhook?.clientConfig ?? {}, { check: at, isOpen: false, consequence }, examination),
      )
    }
    return findings.length > 0 ? findings : [ok(check, 'none converts by a webhook')]
  } catch (error) {
    return [warn(check, `they can't be listed: ${problemOf(error)}`, 'ask as a user who may list them')]
  }
}

interface Weight {
  readonly check: string
  /** Nothing is refused while it does not answer. */
  readonly isOpen: boolean
  /** Of its silence. */
  readonly consequence: string
}

async function examineClient(
  clientConfig: ClientConfig,
  { check, isOpen, consequence }: Weight,
  examination: WebhookExamination,
): Promise<Finding> {
  const bad = (problem: string, remedy: string): Finding =>
    isOpen ? warn(check, `${problem}: ${consequence}`, remedy) : fail(check, `${problem}: ${consequence}`, remedy)
  const ca = clientConfig.caBundle === undefined ? '' : Buffer.from(clientConfig.caBundle, 'base64').toString('utf8')
  if (ca !== '') {
    const trust = examineCertificates(check, ca, examination.nowMs, 'write a caBundle that is valid')
    if (trust.status === 'fail') return bad(`caBundle: ${trust.message}`, 'write a caBundle that is valid')
    if (trust.status === 'warn') return { ...trust, message: `caBundle: ${trust.message}` }
  }
  try {
    const { url, service } = clientConfig
    if (url !== undefined) return await greet(url, ca, check, examination.nowMs)
    return service === undefined
      ? ok(check, 'it names no place')
      : await examineService(service, check, examination, bad)
  } catch (error) {
    return bad(`it does not answer (${problemOf(error)})`, 'start it, or delete its configuration')
  }
}

async function greet(text: string, ca: string, check: string, nowMs: number): Promise<Finding> {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const place = { host, port: Number(url.port || 443) }
  const shown = await handshake({ ...place, rejectUnauthorized: true, ...(ca === '' ? {} : { ca }) })
  const dates = { beginMs: Date.parse(shown.valid_from), endMs: Date.parse(shown.valid_to) }
  const trust = examineDates(check, dates, nowMs, 'renew the certificate that it serves with')
  const message = `it answers at ${url.host}`
  return trust.status === 'ok'
    ? ok(check, message)
    : { ...trust, message: `${message}, its certificate: ${trust.message}` }
}

/** Services are not reached from everywhere: what the server knows of them is looked at. */
async function examineService(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  check: string,
  { client, signal, mayKnowAddresses }: WebhookExamination,
  bad: (problem: string, remedy: string) => Finding,
): Promise<Finding> {
  const place = `Service ${namespace}/${name}`
  const hint = `start it, or delete its configuration`
  const told = `${hint}; if --service-address names it, this is no fault`
  const missing = (problem: string): Finding =>
    mayKnowAddresses ? warn(check, `${problem}, unless the server was told its address`, told) : bad(problem, hint)
  try {
    await client.get(services, { namespace, name }, { signal })
  } catch (error) {
    if (isNotFound(error)) return missing(`there is no ${place}`)
    throw error
  }
  const labelSelector = `kubernetes.io/service-name=${name}`
  const { items } = await client.list(slices, { namespace, labelSelector, signal })
  const ready = items.flatMap(({ endpoints = [] }) => endpoints).filter(({ conditions }) => conditions?.ready !== false)
  if (ready.length === 0) return missing(`${place} has no endpoint that is ready`)
  return ok(check, `${place} has ${ready.length} ready endpoints; it was not greeted from here`)
}

async function examinePolicies({ client, signal }: WebhookExamination): Promise<readonly Finding[]> {
  const check = 'validatingadmissionpolicies'
  try {
    const { items } = await client.list(registered<Policy>(check), { signal })
    const doubtful = items.filter(({ status }) => (status?.typeChecking?.expressionWarnings?.length ?? 0) > 0)
    if (doubtful.length === 0) return [ok(check, `${items.length} are registered, none with warnings`)]
    return doubtful.map(({ metadata }) =>
      warn(
        `${check}/${metadata.name}`,
        'its expressions do not fit the types that it concerns',
        `kubectl get ${check} ${metadata.name} -o jsonpath={.status.typeChecking}`,
      ),
    )
  } catch (error) {
    return [warn(check, `they can't be listed: ${problemOf(error)}`, 'ask as a user who may list them')]
  }
}
