/**
 * Tells servers that delegate authentication to this one (aggregated API servers, controller managers, webhooks of
 * client-go) whom it trusts: a ConfigMap in kube-system, readable with the role
 * `extension-apiserver-authentication-reader`.
 * @see k8s.io/kubernetes/pkg/controlplane/controller/clusterauthenticationtrust v1.36
 */

import type { FrontProxy } from '../../authn/front-proxy.ts'
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { isAlreadyExists, isConflict } from '../../kube/status-error.ts'
import { authenticationTrustName } from '../rbac/bootstrap-policy.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'kube-system'

/** Lists are JSON in text, as upstream writes them. `clientCa`: PEM of who issues client certificates. */
export function authenticationTrust(clientCa: string, proxy: FrontProxy | undefined): Record<string, string> {
  if (proxy === undefined) return { 'client-ca-file': clientCa }
  return {
    'client-ca-file': clientCa,
    'requestheader-client-ca-file': proxy.ca,
    'requestheader-allowed-names': JSON.stringify(proxy.allowedNames),
    'requestheader-username-headers': JSON.stringify(proxy.usernameHeaders),
    'requestheader-uid-headers': JSON.stringify(proxy.uidHeaders),
    'requestheader-group-headers': JSON.stringify(proxy.groupHeaders),
    'requestheader-extra-headers-prefix': JSON.stringify(proxy.extraPrefixes),
  }
}

const attempts = 5

/**
 * Written only where it says something else; what others have added stays. Another replica may do the same meanwhile.
 */
export async function publishAuthenticationTrust(client: Client, data: Record<string, string>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await publish(client, data)
      return
    } catch (error) {
      if (attempt === attempts || !(isConflict(error) || isAlreadyExists(error))) throw error
    }
  }
}

async function publish(client: Client, data: Record<string, string>): Promise<void> {
  const metadata = { name: authenticationTrustName, namespace }
  const there = await findObject(client, configMaps, metadata)
  if (there === undefined) {
    await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
    return
  }
  const said = (there['data'] ?? {}) as Record<string, string>
  if (Object.entries(data).every(([key, value]) => said[key] === value)) return
  await client.update(configMaps, { ...there, data: { ...said, ...data } })
}
