/** What a service says counts by its status and size, not by its words alone. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { AskElsewhere } from './authz.ts'
import { openAuthorizationWebhook } from './open-authorization-webhook.ts'

const yes = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed: true } }
const attributes = {
  ...{ user: { username: 'alice', groups: [] }, verb: 'get', group: '', resource: 'pods', namespace: 'a', name: 'p' },
}

/** Asks a service that answers so; `heard` is told what it was asked. */
async function ask(
  status: number,
  body: string,
  heard: (request: IncomingMessage, review: string) => void = () => {},
): Promise<Awaited<ReturnType<AskElsewhere>>> {
  const server = createServer((request, response) => {
    void text(request).then((review) => {
      heard(request, review)
      response.writeHead(status).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const kubeconfigPath = join(mkdtempSync(join(tmpdir(), 'authorization-')), 'kubeconfig')
    const clusters = [
      { name: 'w', cluster: { server: `http://127.0.0.1:${port}/authorize`, 'insecure-skip-tls-verify': true } },
    ]
    const contexts = [{ name: 'w', context: { cluster: 'w', user: 'w' } }]
    const config = { apiVersion: 'v1', kind: 'Config', clusters, contexts, users: [{ name: 'w', user: {} }] }
    writeFileSync(kubeconfigPath, JSON.stringify({ ...config, 'current-context': 'w' }), { mode: 0o600 })
    const askElsewhere = await openAuthorizationWebhook(
      { kubeconfigPath, allowedForMs: 0, deniedForMs: 0 },
      systemClock,
    )
    return await askElsewhere(attributes)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('a yes is a yes', async () => expect(await ask(200, JSON.stringify(yes))).toMatchObject({ allowed: true }))

test('it is asked as kube-apiserver asks: the review in JSON, posted to the address of the kubeconfig', async () => {
  const asked: unknown[] = []
  await ask(200, JSON.stringify(yes), ({ method, url, headers }, review) => {
    const { 'content-type': type, accept, 'user-agent': agent } = headers
    asked.push([method, url, type, accept, agent], JSON.parse(review))
  })
  expect(asked).toEqual([
    ['POST', '/authorize', 'application/json', 'application/json', 'borough'],
    {
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
      spec: { user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'a', name: 'p' } },
    },
  ])
})

test('a yes may have any status of success, and be a mebibyte long', async () => {
  expect(await ask(299, JSON.stringify(yes))).toMatchObject({ allowed: true })
  const bare = JSON.stringify({ ...yes, long: '' }).length
  const long = JSON.stringify({ ...yes, long: 'x'.repeat(1024 * 1024 - bare) })
  expect(await ask(200, long)).toMatchObject({ allowed: true })
})

test.each([300, 404, 500])('a yes in an answer of status %i is none', async (status) => {
  await expect(ask(status, JSON.stringify(yes))).rejects.toThrow(`answered ${status}`)
})

test('a kubeconfig with a token that others may read is refused', async () => {
  const kubeconfigPath = join(mkdtempSync(join(tmpdir(), 'authorization-')), 'kubeconfig')
  const named = (name: string, more: object): object[] => [{ name, ...more }]
  writeFileSync(
    kubeconfigPath,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'w' },
      clusters: named('w', { cluster: { server: 'http://127.0.0.1:1' } }),
      contexts: named('w', { context: { cluster: 'w', user: 'w' } }),
      users: named('w', { user: { token: 'secret' } }),
    }),
    { mode: 0o644 },
  )
  const opened = openAuthorizationWebhook({ kubeconfigPath, allowedForMs: 0, deniedForMs: 0 }, systemClock)
  await expect(opened).rejects.toThrow(kubeconfigPath)
})

test('a yes in an answer of more than a mebibyte is none', async () => {
  const padded = { ...yes, metadata: { annotations: { long: 'x'.repeat(1024 * 1024) } } }
  await expect(ask(200, JSON.stringify(padded))).rejects.toThrow('answered too much')
})
