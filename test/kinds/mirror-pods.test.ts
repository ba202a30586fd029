/**
 * The kubelet's part: pods in files and behind a URL, shown as mirror pods; with everything that can be wrong with
 * them.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { podsIn } from '../../src/apis/mirrorpods/manifest.ts'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const pods = core('pods')
const namespaces = core('namespaces')

let root: string
let folder: string
let plane: TestControlPlane
let client: Client

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-manifests-'))
  folder = join(root, 'manifests')
  await mkdir(folder)
})
afterEach(async () => {
  await plane?.[Symbol.asyncDispose]()
  await rm(root, { recursive: true, force: true })
})

async function start(manifests: { path?: string; url?: string } = { path: folder }): Promise<void> {
  plane = await startControlPlane({ manifests: { clusterId: 'east', pollMs: 20, ...manifests } })
  client = plane.client
}

const yaml = (name: string, image = 'nginx', more = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, labels: {app: web}}\nspec:\n  containers:\n  - ` +
  `{name: main, image: ${image}}\n${more}`
const json = (name: string, image = 'nginx'): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image }] },
})

/** As an editor does: never half written. */
async function put(name: string, text: string): Promise<void> {
  await writeFile(join(root, 'next'), text)
  await rename(join(root, 'next'), join(folder, name))
}
const remove = (name: string): Promise<void> => rm(join(folder, name))

const shown = (name: string, want = isThere, namespace = 'east') => waitFor(client, pods, { namespace, name }, want)
const imageOf = (pod: KubeObject | undefined): string | undefined =>
  (pod?.['spec'] as { containers: { image: string }[] } | undefined)?.containers[0]?.image
const withImage = (image: string) => (pod: KubeObject | undefined) => imageOf(pod) === image
const names = async (namespace = 'east'): Promise<string[]> =>
  (await client.list(pods, { namespace })).items.map((p) => p.metadata.name ?? '')

/** The Event that tells of it. */
async function told(text: RegExp, namespace = 'east'): Promise<void> {
  await expect
    .poll(
      async () => {
        const { items } = await client.list(core('events'), { namespace })
        return items.filter((e) => e['reason'] === 'FailedManifest').map((e) => String(e['message']))
      },
      { interval: 20 },
    )
    .toContainEqual(expect.stringMatching(text))
}

describe('pods that files describe', () => {
  it('are shown as mirror pods in the namespace of the cluster id, which is made for them', async () => {
    await put('a.yaml', yaml('web'))
    await put('b', JSON.stringify(json('plain')))
    await put('c.json', JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [json('one'), json('two')] }))
    await put('d.yaml', `# two of them\n---\n${yaml('three')}---\n${yaml('four')}`)
    await start()
    for (const name of ['web', 'plain', 'one', 'two', 'three', 'four']) await shown(`${name}-east`)
    const namespace = await client.get(namespaces, { name: 'east' })
    expect(namespace.metadata.labels).toMatchObject({ 'borough.dev/cluster-id': 'east' })
    const { metadata, ...pod } = (await shown('web-east')) as KubeObject
    const hash = metadata.annotations?.['kubernetes.io/config.mirror']
    expect(metadata).toMatchObject({
      labels: { app: 'web' },
      annotations: {
        'kubernetes.io/config.hash': hash,
        'kubernetes.io/config.mirror': expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        'kubernetes.io/config.source': 'file',
      },
    })
    expect(pod['spec']).toMatchObject({ nodeName: 'east' })
    // It has no account, so it is given nothing of one.
    expect(pod['spec']).not.toHaveProperty('serviceAccountName')
    expect(pod['spec']).not.toHaveProperty('volumes')
  })

  it('are shown in the namespace that is labelled with the cluster id, and move when the label does', async () => {
    await put('a.yaml', yaml('web'))
    await start()
    await shown('web-east')
    await client.create(namespaces, { metadata: { name: 'edge', labels: { 'borough.dev/cluster-id': 'east' } } })
    await client.patch(namespaces, { name: 'east' }, { metadata: { labels: { 'borough.dev/cluster-id': null } } })
    await shown('web-east', isThere, 'edge')
    await shown('web-east', isGone)
  })

  it('do not wait for initializers of their namespace', async () => {
    await put('a.yaml', yaml('web'))
    await start()
    await shown('web-east')
    await client.create(
      { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'namespaceinitializerconfigurations' },
      { metadata: { name: 'c' }, initializers: [{ name: 'never.ex.io' }] },
    )
    await client.delete(namespaces, { name: 'east' })
    const again = await waitFor(client, namespaces, { name: 'east' }, (n) =>
      JSON.stringify(n ?? {}).includes('Initializing'),
    )
    expect(again?.metadata.uid).toBeDefined()
    await shown('web-east')
  })

  it('follow their files: made anew when they change, removed when they are gone', async () => {
    await put('a.yaml', yaml('web'))
    await put('b.yaml', yaml('other'))
    await start()
    const first = await shown('web-east')
    const other = await shown('other-east')
    await put('a.yaml', yaml('web', 'nginx:2'))
    const second = await shown('web-east', withImage('nginx:2'))
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid)
    await remove('a.yaml')
    await shown('web-east', isGone)
    expect((await shown('other-east'))?.metadata.uid).toBe(other?.metadata.uid)
  })

  it('come back when somebody deletes them', async () => {
    await put('a.yaml', yaml('web'))
    await start()
    const { metadata } = (await shown('web-east')) as KubeObject
    await client.delete(pods, { namespace: 'east', name: 'web-east' })
    await shown('web-east', (p) => p !== undefined && p.metadata.uid !== metadata.uid)
  })

  it('leave pods of others alone that have the same name', async () => {
    await start()
    await client.create(namespaces, { metadata: { name: 'east' } })
    await client.create(pods, {
      ...json('web-east', 'mine'),
      metadata: { name: 'web-east', namespace: 'east' },
    } as never)
    await put('a.yaml', yaml('web'))
    await told(/pod web-east of .*a\.yaml: a pod of that name is in namespace east already/)
    expect(imageOf(await shown('web-east'))).toBe('mine')
  })
})

describe('a file that is', () => {
  const brokenRows = [
    { name: 'broken YAML', text: 'apiVersion: v1\nkind: Pod\nmetadata: {name: x', says: /FILE: yaml: line \d/ },
    {
      name: 'no pod',
      text: 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}',
      says: /FILE: it holds "Secret" of "v1", not a Pod/,
    },
    { name: 'text', text: 'hello', says: /FILE: it is neither a Pod nor a list of Pods/ },
    { name: 'empty', text: '', says: /FILE: it is empty/ },
    { name: 'binary', text: '\u0000', says: /FILE: (yaml|it is)/ },
    {
      name: 'a pod without a name',
      text: 'apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {}',
      says: /FILE: a pod in it has no metadata\.name/,
    },
    {
      name: 'an invalid pod',
      text: yaml('NAME', '""'),
      says: /pod NAME-east of .*FILE: Pod "NAME-east" is invalid: spec\.containers\[0\]\.image/,
    },
    {
      name: 'a pod with an account',
      text: yaml('NAME', 'nginx', '  serviceAccountName: default\n'),
      says: /FILE: pods "NAME-east" is forbidden: a mirror pod may not reference service accounts/,
    },
    { name: 'huge', text: `# ${'x'.repeat(1024 * 1024)}\n${yaml('x')}`, says: /FILE: it is larger than 1 MiB/ },
  ]
  it(`${brokenRows.map((row) => row.name).join(', ')}: each is told of, and harms no other`, async () => {
    await put('a.yaml', yaml('web'))
    await start()
    await shown('web-east')
    for (const [i, { text }] of brokenRows.entries()) await put(`x${i}.yaml`, text.replace('NAME', `x${i}`))
    await put('z.yaml', yaml('last'))
    await shown('last-east')
    for (const [i, { says }] of brokenRows.entries()) {
      await told(new RegExp(says.source.replaceAll('NAME', `x${i}`).replace('FILE', `x${i}\\.yaml`)))
    }
    expect(await names()).toEqual(['last-east', 'web-east'])
    await put('x0.yaml', yaml('mended'))
    await shown('mended-east')
  })

  it('broken by a change keeps what it held before, until it is mended or gone', async () => {
    await put('a.yaml', yaml('web'))
    await start()
    const { metadata } = (await shown('web-east')) as KubeObject
    await put('a.yaml', 'kind: [')
    await told(/a\.yaml: yaml/)
    expect((await shown('web-east'))?.metadata.uid).toBe(metadata.uid)
    await put('a.yaml', yaml('web', 'nginx:2'))
    await shown('web-east', withImage('nginx:2'))
  })

  it('a duplicate does not count, and takes over when the first is gone', async () => {
    await put('a.yaml', yaml('web', 'first'))
    await put('b.yaml', yaml('web', 'second'))
    await start()
    await shown('web-east', withImage('first'))
    await told(/b\.yaml: pod web is described in .*a\.yaml already/)
    await remove('a.yaml')
    await shown('web-east', withImage('second'))
  })

  it('none of its business is passed over: hidden ones, folders, pipes, links to nothing', async () => {
    await put('.hidden.yaml', yaml('hidden'))
    await mkdir(join(folder, 'inner'))
    await writeFile(join(folder, 'inner', 'a.yaml'), yaml('inner'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    await symlink('/nowhere', join(folder, 'link'))
    await put('z.yaml', yaml('web'))
    await start()
    await shown('web-east')
    expect(await names()).toEqual(['web-east'])
  })
})

it('a folder that is gone takes its pods along, says so, and brings them back with it', async () => {
  await put('a.yaml', yaml('web'))
  await start()
  await shown('web-east')
  await rename(folder, `${folder}-away`)
  await shown('web-east', isGone)
  await told(/manifests: there is no such file or folder/)
  await rename(`${folder}-away`, folder)
  await shown('web-east')
})

it('one file may be named instead of a folder', async () => {
  await put('a.yaml', yaml('web'))
  await put('b.yaml', yaml('other'))
  await start({ path: join(folder, 'a.yaml') })
  await shown('web-east')
  expect(await names()).toEqual(['web-east'])
})

describe('pods that a URL describes', () => {
  let server: Server
  let answer: { status?: number; body: string } | 'hang'

  beforeEach(async () => {
    answer = { body: JSON.stringify(json('web')) }
    server = createServer((_, response) => {
      if (answer === 'hang') return
      response.writeHead(answer.status ?? 200)
      response.end(answer.body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`

  it('follow what it answers; what it can not say keeps what it said before', async () => {
    await start({ url: url() })
    await shown('web-east')
    answer = { body: yaml('web', 'nginx:2') }
    const { metadata } = (await shown('web-east', withImage('nginx:2'))) as KubeObject
    expect(metadata.annotations).toMatchObject({ 'kubernetes.io/config.source': 'http' })
    const faults: [typeof answer, RegExp][] = [
      [{ status: 500, body: 'oops' }, /it answers 500 Internal Server Error/],
      [{ body: '{"kind":' }, /pods: yaml: line 1/],
      [{ body: '' }, /pods: it is empty/],
      [{ body: `#${'x'.repeat(2 * 1024 * 1024)}` }, /pods: it is larger than 1 MiB/],
    ]
    for (const [wrong, says] of faults) {
      answer = wrong
      await told(says)
      expect((await shown('web-east'))?.metadata.uid).toBe(metadata.uid)
    }
    answer = { body: '{"apiVersion":"v1","kind":"PodList","items":[]}' }
    await shown('web-east', isGone)
  })

  it('stand behind those of files where both have the same name', async () => {
    answer = { body: JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [json('web', 'http'), json('two')] }) }
    await put('a.yaml', yaml('web', 'file'))
    await start({ path: folder, url: url() })
    await shown('two-east')
    await told(/pods: pod web is described in .*a\.yaml already/)
    expect(imageOf(await shown('web-east'))).toBe('file')
    await remove('a.yaml')
    await shown('web-east', withImage('http'))
  })

  it('may be nowhere: that is told', async () => {
    server.closeAllConnections()
    const gone = url()
    await new Promise((resolve) => server.close(resolve))
    await start({ url: gone })
    await told(/pods: .*ECONNREFUSED/, 'default')
  })
})

it('a manifest is a pod, a list or several documents, within bounds', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  expect(podsIn(bytes(yaml('a'))).map((p) => p.metadata.name)).toEqual(['a'])
  const many = { apiVersion: 'v1', kind: 'PodList', items: Array.from({ length: 501 }, (_, i) => json(`p-${i}`)) }
  expect(() => podsIn(bytes(JSON.stringify(many)))).toThrow('it holds 501 pods, and may hold 500')
  expect(() => podsIn(new Uint8Array([0xff, 0xfe, 0x00]))).toThrow('it is not UTF-8 text')
  expect(() => podsIn(bytes('# nothing\n'))).toThrow('it is empty')
})
