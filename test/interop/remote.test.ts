/** Our own client against a server on the network, by each kind of credentials that a kubeconfig can hold. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'

interface Kubeconfig {
  clusters: { name: string; cluster: Record<string, unknown> }[]
  contexts: { name: string; context: Record<string, unknown> }[]
  users: { name: string; user: Record<string, unknown> }[]
  'current-context': string
}

let plane: TestControlPlane
let folder: string
let token: string

beforeAll(async () => {
  plane = await startControlPlane({ port: 0 })
  folder = await mkdtemp(join(tmpdir(), 'borough-remote-'))
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = (await plane.client.request('POST', path, body)) as { status: { token: string } }
  token = status.token
}, 120_000)
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** The administrator's, changed. */
async function kubeconfig(name: string, change: (config: Kubeconfig) => void): Promise<string> {
  const config = parse(plane.kubeconfig) as Kubeconfig
  change(config)
  const path = join(folder, name)
  await writeFile(path, stringify(config))
  return path
}

const user =
  (credentials: Record<string, unknown>) =>
  (config: Kubeconfig): void => {
    for (const entry of config.users) entry.user = credentials
  }
const cluster =
  (change: Record<string, unknown>) =>
  (config: Kubeconfig): void => {
    for (const entry of config.clusters) entry.cluster = { ...entry.cluster, ...change }
  }

async function whoAmI(client: Client): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const review = (await client.request('POST', path, body)) as { status: { userInfo: { username: string } } }
  return review.status.userInfo.username
}

const account = 'system:serviceaccount:default:default'
const open = (kubeconfigPath: string, context?: string): Client =>
  openRemote({ kubeconfigPath, userAgent: 'test', ...(context === undefined ? {} : { context }) }).client

test('where there is no kubeconfig anywhere, it says so', () => {
  vi.stubEnv('KUBECONFIG', '')
  vi.stubEnv('HOME', folder)
  try {
    expect(() => openRemote({ userAgent: 'test' })).toThrow(/^there is no kubeconfig: name one with --kubeconfig/)
  } finally {
    vi.unstubAllEnvs()
  }
})

describe('a kubeconfig', () => {
  test('with a client certificate', async () => {
    expect(await whoAmI(open(await kubeconfig('certificate', () => {})))).toBe('kubernetes-admin')
  })

  test('that acts as another user, of any name', async () => {
    const asked = await kubeconfig('as', (config) => {
      for (const entry of config.users) entry.user['as'] = 'ünï→'
    })
    expect(await whoAmI(open(asked))).toBe('ünï→')
  })

  test('with a token', async () => {
    expect(await whoAmI(open(await kubeconfig('token', user({ token }))))).toBe(account)
  })

  test('with a file of a token, beside it, that is renewed', async () => {
    await writeFile(join(folder, 'token.txt'), 'expired')
    const client = open(await kubeconfig('token-file', user({ tokenFile: 'token.txt' })))
    await expect(whoAmI(client)).rejects.toMatchObject({ code: 401 })
    await writeFile(join(folder, 'token.txt'), `${token}\n`)
    expect(await whoAmI(client)).toBe(account)
  })

  test('with a plugin for credentials, which runs once while they are good', async () => {
    const calls = join(folder, 'calls')
    const script = join(folder, 'plugin.sh')
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token, expirationTimestamp: '2099-01-01T00:00:00Z' },
    }
    await writeFile(script, `#!/bin/sh\necho "$1" >> ${calls}\necho '${JSON.stringify(credential)}'\n`)
    await chmod(script, 0o755)
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: script,
      args: ['hello'],
      interactiveMode: 'Never',
    }
    const client = open(await kubeconfig('exec', user({ exec })))
    expect(await whoAmI(client)).toBe(account)
    expect(await whoAmI(client)).toBe(account)
    expect(await readFile(calls, 'utf8')).toBe('hello\n')
  })

  test('with another context than the current one', async () => {
    const path = await kubeconfig('contexts', (config) => {
      config.users.push({ name: 'robot', user: { token } })
      const [first] = config.clusters
      config.contexts.push({ name: 'robot', context: { cluster: first?.name, user: 'robot', namespace: 'ci' } })
    })
    expect(await whoAmI(open(path))).toBe('kubernetes-admin')
    expect(await whoAmI(open(path, 'robot'))).toBe(account)
    expect(openRemote({ kubeconfigPath: path, context: 'robot', userAgent: 'test' }).namespace).toBe('ci')
  })

  test('that trusts nobody who signed the server is refused by us', async () => {
    const path = await kubeconfig('untrusted', cluster({ 'certificate-authority-data': undefined }))
    await expect(whoAmI(open(path))).rejects.toThrow(/can't be reached: .*(self-signed|unable to verify)/)
  })

  test('that says so trusts anybody', async () => {
    const path = await kubeconfig(
      'insecure',
      cluster({ 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true }),
    )
    expect(await whoAmI(open(path))).toBe('kubernetes-admin')
  })

  test('names the server in the certificate as it says', async () => {
    const port = new URL(plane.url).port
    const wrong = await kubeconfig('server-name', cluster({ 'tls-server-name': 'other.example' }))
    await expect(whoAmI(open(wrong))).rejects.toThrow(/can't be reached: .*other\.example/)
    const right = await kubeconfig(
      'server-name-2',
      cluster({ server: `https://127.0.0.1:${port}`, 'tls-server-name': 'kubernetes.default.svc' }),
    )
    expect(await whoAmI(open(right))).toBe('kubernetes-admin')
  })

  test.each([
    { name: 'is not there', path: 'nowhere', context: undefined, want: /nowhere can't be read/ },
    { name: 'lacks the context', path: 'certificate', context: 'other', want: /has no context "other"/ },
  ])('that $name is a fault told in one line', ({ path, context, want }) => {
    expect(() => open(join(folder, path), context)).toThrow(want)
  })
})

test('controllers can follow a server on the network: list, watch, write, apply, delete', async () => {
  const client = open(await kubeconfig('certificate', () => {}))
  const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
  const ref = { namespace: 'default', name: 'seen' }
  const list = await client.list(configMaps, { namespace: 'default' })
  const stop = new AbortController()
  const { resourceVersion = '' } = list.metadata
  const events = client.watch(configMaps, { namespace: 'default', resourceVersion, signal: stop.signal })
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref, data: { a: '1' } }
  await client.apply(configMaps, object, { fieldManager: 'test' })
  await client.patch(configMaps, ref, { data: { a: '2' } })
  await client.delete(configMaps, ref)
  const seen: string[] = []
  for await (const { type, object: next } of events) {
    if (type === 'BOOKMARK') continue
    seen.push(`${type} ${JSON.stringify(next['data'])}`)
    if (type === 'DELETED') stop.abort()
  }
  expect(seen).toEqual(['ADDED {"a":"1"}', 'MODIFIED {"a":"2"}', 'DELETED {"a":"2"}'])
})
