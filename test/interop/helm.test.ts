/**
 * The chart in deploy/helm, by Helm itself, 3 and 4: the one on the PATH, or those that `BOROUGH_HELM` names (paths,
 * separated by colons). Installed, upgraded, rolled back and uninstalled on Borough and on a real kube-apiserver.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { packageVersion } from '../../src/base/package-version.ts'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { KubeApiserver, kubeApiserverMissing, kubeApiserverVersion } from '../support/kube-apiserver.ts'

const chart = fileURLToPath(new URL('../../deploy/helm', import.meta.url))
const helmMissing = 'there is no helm on the PATH, and BOROUGH_HELM names none'
const helms = (process.env['BOROUGH_HELM'] ?? 'helm').split(':').flatMap((path) => {
  const { stdout } = spawnSync(path, ['version', '--short'], { encoding: 'utf8' })
  const version = /^v[34]\.\d+\.\d+/.exec(stdout ?? '')?.[0]
  if (version === undefined && path !== 'helm') throw new Error(`BOROUGH_HELM names ${path}, which is no Helm 3 or 4`)
  return version === undefined ? [] : [{ path, version }]
})
/** The one that is tried. */
let helm = ''

const folder = mkdtempSync(join(tmpdir(), 'borough-helm-'))
const kubeconfig = join(folder, 'kubeconfig')
// Helm warns where there is none.
writeFileSync(kubeconfig, 'apiVersion: v1\nkind: Config\n', { mode: 0o600 })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Not synchronous: the server that is asked may run in this process. */
async function run(args: readonly string[]): Promise<Ran> {
  const home = { HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder }
  const child = spawn(helm, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: kubeconfig, ...home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { status: child.exitCode, stdout, stderr }
}

async function succeed(args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run(args)
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' })
  return stdout
}

const forms: readonly { readonly name: string; readonly values: readonly string[]; readonly objects: number }[] = [
  { name: 'population', values: [], objects: 13 },
  {
    name: 'a control plane on a volume',
    values: ['population.enabled=false', 'controlPlane.enabled=true'],
    objects: 3,
  },
  {
    name: 'population and replicas on an etcd',
    values: [
      ...['controlPlane.enabled=true', 'controlPlane.storage=etcd', 'controlPlane.etcd.endpoints={etcd-0:2379}'],
      'controlPlane.etcd.tlsSecretName=etcd-tls',
    ],
    objects: 17,
  },
]
const set = (values: readonly string[]): string[] => values.flatMap((value) => ['--set', value])
const place = ['--namespace', 'borough-system']

test.skipIf(helms.length > 0)(helmMissing, ({ skip }) => skip(helmMissing))

describe.each(helms)('helm $version', ({ path }) => {
  beforeAll(() => {
    helm = path
  })

  test('lints the chart strictly, in each form', async () => {
    for (const { values } of forms)
      expect(await succeed(['lint', '--strict', chart, ...set(values)])).toContain('0 chart(s) failed')
  })

  test.each(forms)('renders $name', async ({ values, objects }) => {
    const rendered = await succeed(['template', 'one', chart, ...place, ...set(values)])
    expect(objectsIn(rendered).length).toBe(objects)
  })

  test('refuses a value that the chart does not know, and one of another type', async () => {
    const { status, stderr } = await run(['template', 'one', chart, ...set(['nonsense=1', 'population.replicas=x'])])
    expect(status).toBe(1)
    // Helm 3 before 3.18, and later ones.
    expect(stderr).toMatch(/Additional property nonsense is not allowed|additional properties 'nonsense' not allowed/)
    expect(stderr).toMatch(
      /population.replicas: Invalid type. Expected: integer, given: string|'\/population\/replicas': got string, want integer/,
    )
  })

  test('packages it under the version of Borough', async () => {
    expect(await succeed(['package', chart, '--destination', folder])).toContain(`borough-${packageVersion}.tgz`)
  })

  describe('on Borough', () => {
    lifeOn(async () => {
      // Where the templates are a kind of the server, the chart's definition of them has no place.
      const plane = await startControlPlane({ port: 0, population: false })
      return { kubeconfig: plane.kubeconfig, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() }
    })
  })

  describe.skipIf(kubeApiserverVersion === undefined)(
    `on kube-apiserver ${kubeApiserverVersion ?? `(skipped: ${kubeApiserverMissing})`}`,
    () => lifeOn(() => KubeApiserver.start()),
  )
})

interface Cluster extends AsyncDisposable {
  readonly kubeconfig: string
}

function lifeOn(start: () => Promise<Cluster>): void {
  let cluster: Cluster
  let client: Client

  beforeAll(async () => {
    cluster = await start()
    writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 })
    client = openRemote({ kubeconfigPath: kubeconfig, userAgent: 'test' }).client
  }, 120_000)
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  test.each(forms)(
    'a release of $name is installed, upgraded, rolled back and gone',
    async ({ values }) => {
      await succeed(['install', 'one', chart, ...place, '--create-namespace', ...set(values)])
      const made = objectsIn(await succeed(['get', 'manifest', 'one', ...place]))
      expect(await absent(made)).toEqual([])

      const pullPolicy = ['image.pullPolicy=Always']
      await succeed(['upgrade', 'one', chart, ...place, ...set([...values, ...pullPolicy])])
      expect(await pullPolicies(made)).toEqual(new Set(['Always']))
      await succeed(['rollback', 'one', '1', ...place])
      expect(await pullPolicies(made)).toEqual(new Set(['IfNotPresent']))

      await succeed(['uninstall', 'one', ...place])
      expect((await absent(made)).length).toBe(made.length)
      expect(await succeed(['list', '--all-namespaces', '--short'])).toBe('')
    },
    120_000,
  )

  test('its definition of templates stays after a release, with their objects', async () => {
    const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
    const { items } = await client.list(definitions, { signal: AbortSignal.timeout(10_000) })
    expect(items.map(({ metadata }) => metadata.name)).toContain('namespacetemplates.policy.borough.dev')
  })

  async function absent(objects: readonly KubeObject[]): Promise<string[]> {
    const missing: string[] = []
    for (const object of objects)
      if ((await read(object)) === undefined) missing.push(`${object.kind} ${object.metadata.name}`)
    return missing
  }

  async function pullPolicies(objects: readonly KubeObject[]): Promise<Set<unknown>> {
    const workloads = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    const found = await Promise.all(workloads.map(read))
    return new Set(found.flatMap((object) => containersOf(object).map(({ imagePullPolicy }) => imagePullPolicy)))
  }

  async function read({ apiVersion = '', kind = '', metadata }: KubeObject): Promise<KubeObject | undefined> {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    const resource = `${kind.toLowerCase().replace(/y$/, 'ie')}s`
    const namespaced = !kind.startsWith('Cluster')
    const fieldSelector = `metadata.name=${metadata.name}`
    const where = namespaced ? { namespace: metadata.namespace ?? 'borough-system' } : {}
    const { items } = await client.list({ group, version, resource }, { ...where, fieldSelector })
    return items[0]
  }
}

const objectsIn = (yaml: string): KubeObject[] =>
  parseAllDocuments(yaml).flatMap((document) => (document.toJS() as KubeObject | null) ?? [])

function containersOf(workload: KubeObject | undefined): { readonly imagePullPolicy?: string }[] {
  const spec = workload?.['spec'] as { template: { spec: { containers: { imagePullPolicy?: string }[] } } } | undefined
  return spec?.template.spec.containers ?? []
}
