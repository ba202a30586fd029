/** By which user of a kubeconfig the server calls a webhook, as upstream looks for it. */
import { describe, expect, it } from 'vitest'
import type { WebhookAddress } from '../../client/webhook-client.ts'
import { targetOf, userFor } from './webhook-credentials.ts'

const service = (name: string, namespace: string, port?: number): WebhookAddress => ({
  service: { name, namespace, ...(port === undefined ? {} : { port }) },
})

const rows: { name: string; address: WebhookAddress; users: string[]; want: string | undefined }[] = [
  { name: 'a Service and its port', address: service('h', 'n', 8), users: ['*', 'h.n.svc:8'], want: 'h.n.svc:8' },
  { name: 'a Service without its port: 443', address: service('h', 'n'), users: ['*', 'h.n.svc'], want: 'h.n.svc' },
  { name: 'no other port', address: service('h', 'n', 8), users: ['h.n.svc', 'h.n.svc:443'], want: undefined },
  { name: 'a namespace', address: service('h', 'n', 8), users: ['*.svc:8', '*.n.svc:8'], want: '*.n.svc:8' },
  { name: 'all Services', address: service('h', 'n'), users: ['*', '*.svc'], want: '*.svc' },
  { name: 'a port before none', address: service('h', 'n'), users: ['h.n.svc', '*.svc:443'], want: '*.svc:443' },
  { name: 'the host of a URL', address: { url: 'https://h.ex.io/p' }, users: ['h.ex.io', '*.ex.io'], want: 'h.ex.io' },
  { name: 'a domain', address: { url: 'https://h.ex.io:8/p' }, users: ['*.io:8', '*'], want: '*.io:8' },
  { name: 'an address', address: { url: 'https://[::1]/p' }, users: ['::1'], want: '::1' },
  { name: 'an address and its port', address: { url: 'https://[::1]:8/p' }, users: ['[::1]:8'], want: '[::1]:8' },
  { name: 'any host', address: { url: 'https://h/p' }, users: ['*', 'current'], want: '*' },
  { name: 'the current context', address: { url: 'https://h/p' }, users: ['current', 'other'], want: 'current' },
  { name: 'no user', address: { url: 'https://h/p' }, users: ['other'], want: undefined },
]

describe('the user of a webhook is that of', () => {
  it.each(rows)('$name', ({ address, users, want }) => {
    const byName = new Map(users.map((name) => [name, { credentials: async () => ({ headers: { name } }) }]))
    const found = userFor(targetOf(address), { users: byName, currentUser: 'current' })
    expect(found).toBe(want === undefined ? undefined : byName.get(want))
  })
})
