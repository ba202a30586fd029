/**
 * The credentials of a kubeconfig for webhooks: which of its users the server is to which host.
 *
 *   hooks.team-a.svc:8443 ──▶ that user ─▶ *.team-a.svc:8443 ─▶ *.svc:8443 ──▶ * ──▶ the current context's ──▶ none
 *
 * For port 443 the names without a port are looked for as well, before `*`.
 * @see k8s.io/apiserver/pkg/util/webhook/authentication.go v0.36
 */
import { append } from '../../base/append.ts'
import type { WebhookAddress } from '../../client/webhook-client.ts'
import type { KubeconfigUser, WebhookKubeconfig } from './webhook-kubeconfig.ts'

/** `host:port` of a webhook, as users are named. */
export function targetOf({ url, service }: Pick<WebhookAddress, 'url' | 'service'>): string {
  if (service !== undefined) return `${service.name}.${service.namespace}.svc:${service.port ?? 443}`
  const { host, port } = new URL(url ?? '')
  return port === '' ? `${host}:443` : host
}

/** The user that the server is to a webhook; undefined = none. */
export function userFor(target: string, { users, currentUser }: WebhookKubeconfig): KubeconfigUser | undefined {
  const names = namesOf(target)
  if (target.endsWith(':443')) append(names, namesOf(target.slice(0, -':443'.length).replace(/^\[(.*)\]$/, '$1')))
  const name = [...names, '*'].find((each) => users.has(each)) ?? currentUser
  return name === undefined ? undefined : users.get(name)
}

/** Itself, and with a star for one label after the other. */
function namesOf(target: string): string[] {
  const labels = target.split('.')
  return [target, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`)]
}
