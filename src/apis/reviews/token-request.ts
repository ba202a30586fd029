/**
 * TokenRequest: `POST …/serviceaccounts/<name>/token` answers a token of that account, for as long and for whom is
 * asked, bound to a pod, a secret or a node if wanted.
 * @see k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage/token.go v1.36
 */

import type { BoundResource, TokenGrant, TokenIssuer, TokenObjectLookup } from '../../authn/tokens.ts'
import type { Clock } from '../../base/clock.ts'
import { fieldInvalid } from '../../kube/field-error.ts'
import { quote } from '../../kube/go-quote.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import { badRequest, conflict, invalid, notFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'
import { authenticationGroup, type ReviewHandler, type TokenRequestSpec } from './types.ts'

export interface TokenRequestDeps {
  readonly tokens: Pick<TokenIssuer, 'issue'>
  readonly find: TokenObjectLookup
  readonly clock: Clock
}

const minSeconds = 600
const maxSeconds = 2 ** 32
const defaultSeconds = 3600

const bindable: ReadonlyMap<string, BoundResource> = new Map([
  ['Pod', 'pods'],
  ['Secret', 'secrets'],
  ['Node', 'nodes'],
])

export function tokenRequest({ tokens, find, clock }: TokenRequestDeps): ReviewHandler {
  return async (question, { namespace, name }) => {
    requireSame('name', question.metadata.name, name)
    requireSame('namespace', question.metadata.namespace, namespace)
    const account = find('serviceaccounts', namespace, name)
    if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts' }, name)

    const spec = (question['spec'] ?? {}) as TokenRequestSpec
    const { audiences = [], expirationSeconds = defaultSeconds, boundObjectRef } = spec
    checkDuration(expirationSeconds)
    const issued = await tokens.issue({
      namespace,
      serviceAccount: { name, uid: account.metadata.uid ?? '' },
      audiences,
      expirationSeconds,
      ...(boundObjectRef ? bind(find, boundObjectRef, namespace, name) : {}),
    })
    return {
      ...question,
      metadata: { ...question.metadata, name, namespace, creationTimestamp: formatTime(clock.now()) },
      spec: { ...spec, audiences: issued.audiences, expirationSeconds },
      status: { token: issued.token, expirationTimestamp: issued.expirationTimestamp },
    }
  }
}

function requireSame(what: 'name' | 'namespace', body: string | undefined, url: string): void {
  if (body && body !== url) {
    throw badRequest(`the ${what} of the provided object (${body}) does not match the ${what} on the URL (${url})`)
  }
}

function checkDuration(seconds: number): void {
  const field = 'spec.expirationSeconds'
  const errors = [
    ...(seconds < minSeconds ? [fieldInvalid(field, seconds, 'may not specify a duration less than 10 minutes')] : []),
    ...(seconds > maxSeconds
      ? [fieldInvalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
  ]
  if (errors.length > 0) throw invalid({ group: authenticationGroup, kind: 'TokenRequest' }, '', errors)
}

function bind(
  find: TokenObjectLookup,
  ref: NonNullable<TokenRequestSpec['boundObjectRef']>,
  namespace: string,
  account: string,
): Pick<TokenGrant, 'bound' | 'node'> {
  const { kind = '', apiVersion = '', name = '', uid = '' } = ref
  const parsed = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  const resource = parsed.group === '' ? bindable.get(kind) : undefined
  if (resource === undefined) {
    throw badRequest(`cannot bind token to object of type ${parsed.group}/${parsed.version}, Kind=${kind}`)
  }
  const object = find(resource, resource === 'nodes' ? '' : namespace, name)
  if (object === undefined) throw notFound({ group: '', resource }, name)
  const pod = resource === 'pods' ? podOf(object) : undefined
  if (pod && pod.account !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${quote(account)} to pod running with different serviceaccount name.`,
    )
  }
  const found = object.metadata.uid ?? ''
  if (uid !== '' && uid !== found) {
    const why =
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have ` +
      'been deleted and then recreated'
    throw conflict({ group: '', resource: kind }, name, why)
  }
  const node = pod?.node ? find('nodes', '', pod.node)?.metadata : undefined
  return {
    bound: { resource, name, uid: found },
    ...(node?.name && node.uid ? { node: { name: node.name, uid: node.uid } } : {}),
  }
}

function podOf(object: KubeObject): { readonly account: string; readonly node: string } {
  const { serviceAccountName = '', nodeName = '' } = (object['spec'] ?? {}) as {
    serviceAccountName?: string
    nodeName?: string
  }
  return { account: serviceAccountName, node: nodeName }
}
