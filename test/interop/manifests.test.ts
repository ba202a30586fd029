/** `borough up --manifest-path … --manifest-url … --cluster-id …`: what is right about it after a restart. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { BoroughProcess, borough } from './borough-process.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const manifest = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'x' }] },
  })

test('a manifest that went while the server was down takes its pod along; a URL that is down keeps its own', {
  timeout: 120_000,
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'borough-manifests-'))
  const folder = join(root, 'manifests')
  await mkdir(folder)
  for (const name of ['stays', 'goes']) await writeFile(join(folder, `${name}.json`), manifest(name))
  const web = createServer((_, response) => response.end(manifest('far')))
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`
  const flags = ['--manifest-path', folder, '--manifest-url', url, '--cluster-id', 'east', '--no-population']
  await using server = await BoroughProcess.start(flags)
  const open = (): Client =>
    openRemote({ kubeconfigPath: join(server.dataDir, 'admin.kubeconfig'), userAgent: 'test' }).client
  const pod = (client: Client, name: string, want = isThere) =>
    waitFor(client, pods, { namespace: 'east', name: `${name}-east` }, want)
  let client = open()
  const [stays, far] = [await pod(client, 'stays'), await pod(client, 'far')]
  await pod(client, 'goes')

  await server.end('SIGTERM')
  await rm(join(folder, 'goes.json'))
  web.closeAllConnections()
  await new Promise((resolve) => web.close(resolve))
  await server.start()
  client = open()
  await pod(client, 'goes', isGone)
  expect((await pod(client, 'stays'))?.metadata.uid).toBe(stays?.metadata.uid)
  expect((await pod(client, 'far'))?.metadata.uid).toBe(far?.metadata.uid)
  await rm(root, { recursive: true })
})

test.each([
  { name: 'no cluster id', args: ['--manifest-path', '.'], says: /need --cluster-id/ },
  { name: 'a cluster id that is no name', args: ['--cluster-id', 'East'], says: /It names a namespace/ },
  {
    name: 'a URL that is none',
    args: ['--manifest-url', 'east', '--cluster-id', 'east'],
    says: /It must be an http or https URL/,
  },
])('$name is one line and exit code 1', async ({ args, says }) => {
  const { code, stderr } = await borough(['up', ...args])
  expect(code).toBe(1)
  expect(stderr).toMatch(says)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})
