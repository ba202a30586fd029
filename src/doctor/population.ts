/** Is a cluster ready for `borough populate`, and is what it installed there in order. Asks, and writes nothing. */

import { templateKind } from '../apis/templates/kind.ts'
import { templateGroupAlias, templateVersion } from '../apis/templates/types.ts'
import type { Client } from '../client/client.ts'
import { apiVersionOf } from '../kube/gvk.ts'
import type { PolicyRule } from '../kube/rbac.ts'
import type { Resource } from '../kube/resource.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { definitionName, installName, oldestMinor, rightsManifests, secretName } from '../populate/populate.ts'
import { examineCertificates } from './certificates.ts'
import { type Finding, fail, ok, problemOf } from './finding.ts'
import { examineVersion } from './server.ts'

export interface PopulationExamination {
  readonly client: Client
  readonly gitVersion: string
  /** Where its Secret and its Lease are. */
  readonly namespace: string
  readonly nowMs: number
  readonly signal: AbortSignal
}

export async function examinePopulation(examination: PopulationExamination): Promise<readonly Finding[]> {
  const own = await examination.client.discovery.findKind(`${templateGroupAlias}/${templateVersion}`, templateKind)
  if (own !== undefined) return [ok('population', 'this server is a Borough that populates namespaces by itself')]
  return [
    examineVersion(examination.gitVersion, oldestMinor),
    await examineRights(examination),
    await examineDefinition(examination),
    ...(await examineInstalled(examination)),
  ]
}

const reviewsPath = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

interface Right {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly name?: string
  readonly namespace?: string
}

async function examineRights({ client, namespace, signal }: PopulationExamination): Promise<Finding> {
  const check = 'rights for population'
  const missing: string[] = []
  try {
    const rights = rightsManifests(namespace, []).flatMap(rightsIn)
    for (const resourceAttributes of rights) {
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' }
      const body = { ...review, spec: { resourceAttributes } }
      const answer = await client.request('POST', reviewsPath, body, { signal })
      const { status } = answer as { readonly status?: { readonly allowed?: boolean } }
      if (status?.allowed !== true) missing.push(inWords(resourceAttributes))
    }
  } catch (error) {
    return fail(
      check,
      `they can't be asked for: ${problemOf(error)}`,
      'is the user of the kubeconfig known to the server?',
    )
  }
  const [first] = missing
  if (first === undefined) return ok(check, 'the user of the kubeconfig has all of them')
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  return fail(
    check,
    `the user of the kubeconfig may not ${first}${others}`,
    'have an administrator apply what borough populate --print-manifests prints',
  )
}

function rightsIn({ kind, metadata, ...object }: KubeObject): readonly Right[] {
  if (kind !== 'Role' && kind !== 'ClusterRole') return []
  const { rules = [] } = object as { readonly rules?: readonly PolicyRule[] }
  const inside = metadata.namespace === undefined ? {} : { namespace: metadata.namespace }
  return rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [''] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((full) => {
        const [resource = '', subresource] = full.split('/')
        const what = { group, resource, ...(subresource === undefined ? {} : { subresource }), ...inside }
        return resourceNames.flatMap((name) =>
          verbs.map((verb) => ({ verb, ...what, ...(name === '' ? {} : { name }) })),
        )
      }),
    ),
  )
}

function inWords({ verb, group, resource, subresource, name, namespace }: Right): string {
  const what = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in ${namespace}`}`
}

interface Definition extends KubeObject {
  readonly spec?: { readonly versions?: readonly { readonly name: string; readonly served?: boolean }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function examineDefinition({ client, signal }: PopulationExamination): Promise<Finding> {
  const version = templateVersion
  const check = `customresourcedefinition ${definitionName}`
  try {
    const found = await find<Definition>(
      client,
      'apiextensions.k8s.io',
      'customresourcedefinitions',
      definitionName,
      signal,
    )
    if (found === undefined) return ok(check, 'not there yet: borough populate installs it at its start')
    const served = found.spec?.versions?.some(({ name, served }) => name === version && served) ?? false
    const isEstablished =
      found.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True') ?? false
    if (served && isEstablished) return ok(check, `served as ${version}`)
    const problem = served ? 'it is not established' : `it is not served as ${version}`
    return fail(check, problem, 'start borough populate of this version: it brings the definition up to date')
  } catch (error) {
    return fail(check, `it can't be read: ${problemOf(error)}`, 'see rights for population')
  }
}

async function examineInstalled(examination: PopulationExamination): Promise<readonly Finding[]> {
  const { client, namespace, nowMs, signal } = examination
  const findings: Finding[] = []
  try {
    const hooks = await find(
      client,
      'admissionregistration.k8s.io',
      'mutatingwebhookconfigurations',
      installName,
      signal,
    )
    if (hooks === undefined) return [ok('population', 'not installed: borough populate does so at its start')]
    const certificate = await find<Secret>(client, '', 'secrets', secretName, signal, namespace)
    const lease = await find<Lease>(client, 'coordination.k8s.io', 'leases', installName, signal, namespace)
    const place = `secret ${namespace}/${secretName}`
    const restart = 'start borough populate again: it makes what is missing'
    const pem = Buffer.from(certificate?.data?.['tls.crt'] ?? '', 'base64').toString('utf8')
    findings.push(
      certificate === undefined
        ? fail(place, 'it is missing', restart)
        : examineCertificates(place, pem, nowMs, restart),
    )
    findings.push(examineLease(lease, `lease ${namespace}/${installName}`, nowMs))
  } catch (error) {
    findings.push(fail('population', `it can't be read: ${problemOf(error)}`, 'see rights for population'))
  }
  return findings
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly renewTime?: string
    readonly leaseDurationSeconds?: number
  }
}

function examineLease(lease: Lease | undefined, check: string, nowMs: number): Finding {
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {}
  const endMs = Date.parse(renewTime) + leaseDurationSeconds * 1000
  if (holderIdentity !== '' && endMs >= nowMs) return ok(check, `held by ${holderIdentity}`)
  return fail(
    check,
    'no process populates namespaces, and its webhooks are registered: creates of namespaces are refused',
    "start borough populate, or take it off with 'borough populate --uninstall'",
  )
}

async function find<T extends KubeObject>(
  client: Client,
  group: string,
  resource: string,
  name: string,
  signal: AbortSignal,
  namespace?: string,
): Promise<T | undefined> {
  const of: Resource<T> = { group, version: 'v1', resource }
  try {
    return await client.get(of, { name, ...(namespace === undefined ? {} : { namespace }) }, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw new Error(`${apiVersionOf(of)} ${resource}: ${problemOf(error)}`, { cause: error })
  }
}
