/**
 * The Helm chart, rendered with Go's text/template as Helm renders it, and given to Borough. The renderer is
 * `test/support/go-template/`, since no registry that the tests may use has Helm itself.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { packageVersion } from '../../src/base/package-version.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const chart = join(root, 'deploy/helm')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

type Values = { readonly [key: string]: unknown }
const defaults = parse(read('deploy/helm/values.yaml')) as Values
const schema = JSON.parse(read('deploy/helm/values.schema.json')) as Schema

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly minItems?: number
}

interface Deployment {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Values[] } } }
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** As Helm lays the values of a user over those of the chart. */
function merged(base: Values, over: Values): Values {
  const pairs = Object.entries(over).map(([key, value]) => {
    const below = base[key]
    return [key, isMap(below) && isMap(value) ? merged(below, value) : value]
  })
  return { ...base, ...Object.fromEntries(pairs) }
}

describe('values.schema.json', () => {
  const paths = (value: Values, at = ''): string[] =>
    Object.entries(value).flatMap(([key, below]) =>
      isMap(below) && Object.keys(below).length > 0 ? paths(below, `${at}${key}.`) : [`${at}${key}`],
    )
  const declared = (of: Schema, at = ''): string[] =>
    Object.entries(of.properties ?? {}).flatMap(([key, below]) => [`${at}${key}`, ...declared(below, `${at}${key}.`)])

  test('knows every value of values.yaml', () => {
    const known = new Set(declared(schema))
    const free = (path: string): boolean => /\.resources\.(?:requests|limits)\./.test(path)
    expect(paths(defaults).filter((path) => !known.has(path) && !free(path))).toEqual([])
  })

  test('knows no value that values.yaml does not say', () => {
    const at = (path: string): unknown => path.split('.').reduce<unknown>((v, key) => (v as Values)?.[key], defaults)
    expect(declared(schema).filter((path) => path !== 'global' && at(path) === undefined)).toEqual([])
  })

  test('takes no other keys anywhere but in maps of a user', () => {
    const open = (of: Schema, at: string): string[] => [
      ...(of.properties !== undefined && of.additionalProperties !== false ? [at] : []),
      ...Object.entries(of.properties ?? {}).flatMap(([key, below]) => open(below, `${at}.${key}`)),
    ]
    expect(open(schema, 'values')).toEqual([])
  })
})

test('population asks for the same in the chart as in the other manifests', () => {
  const [base] = parseAllDocuments(read('deploy/deployment.yaml')).map((document) => document.toJS() as Deployment)
  const { resources } = defaults['population'] as Values
  expect(base?.spec.template.spec.containers.map((container) => container['resources'])).toEqual([resources])
})

describe('Chart.yaml', () => {
  test('says the version of the package', () => {
    expect(parse(read('deploy/helm/Chart.yaml'))).toMatchObject({ version: packageVersion, appVersion: packageVersion })
  })
})

const go = spawnSync('go', ['version']).status === 0

describe.skipIf(!go)('rendered by Go (skipped where there is no go)', () => {
  let folder: string
  let plane: TestControlPlane

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'borough-chart-'))
    const built = spawnSync('go', ['build', '-o', join(folder, 'render'), 'main.go'], {
      cwd: join(root, 'test/support/go-template'),
      env: { ...process.env, GO111MODULE: 'off', GOCACHE: process.env['GOCACHE'] ?? join(folder, 'cache') },
      encoding: 'utf8',
    })
    expect({ status: built.status, stderr: built.stderr }).toEqual({ status: 0, stderr: '' })
    plane = await startControlPlane({ population: false })
  }, 300_000)

  afterAll(async () => {
    await plane?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const one = { Name: 'one', Namespace: 'borough-system' }
  function rendered(
    values: Values,
    release = one,
  ): { readonly objects: readonly KubeObject[]; readonly error: string } {
    const names = readdirSync(join(chart, 'templates'))
    const files = Object.fromEntries(names.map((name) => [name, read(`deploy/helm/templates/${name}`)]))
    const data = {
      Values: merged(defaults, values),
      Release: { ...release, Service: 'Helm' },
      Chart: { Name: 'borough', Version: packageVersion, AppVersion: packageVersion },
    }
    const ran = spawnSync(join(folder, 'render'), { input: JSON.stringify({ files, data }), encoding: 'utf8' })
    if (ran.status !== 0) return { objects: [], error: ran.stderr.trim() }
    const objects = Object.entries(JSON.parse(ran.stdout) as Record<string, string>)
      .filter(([name]) => name.endsWith('.yaml'))
      .flatMap(([, text]) =>
        parseAllDocuments(text, { version: '1.1' }).map((document) => {
          expect(document.errors).toEqual([])
          return document.toJS() as KubeObject | null
        }),
      )
    return { objects: objects.filter((object) => object !== null), error: '' }
  }

  const objectsOf = (values: Values, release = one): readonly KubeObject[] => {
    const { objects, error } = rendered(values, release)
    expect(error).toBe('')
    return objects
  }
  const named = (objects: readonly KubeObject[], kind: string, name: string): KubeObject => {
    const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
    return found
  }

  test('with its defaults it is what deploy/install.yaml is, labels of Helm apart', () => {
    const strip = (object: KubeObject): unknown => {
      const text = JSON.stringify(object, (key, value: unknown) =>
        key === 'labels' && isMap(value)
          ? Object.fromEntries(
              Object.entries(value).filter(([name]) => !/\/(?:instance|version|managed-by)$/.test(name)),
            )
          : key === 'imagePullPolicy'
            ? undefined
            : value,
      )
      return JSON.parse(text.replace(',"--log-level","warn"', ''))
    }
    const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace}/${metadata.name}`
    const byKey = (objects: readonly KubeObject[]): Map<string, unknown> =>
      new Map(objects.map((object) => [keyOf(object), strip(object)] as const).sort(([a], [b]) => (a < b ? -1 : 1)))
    const whole = parseAllDocuments(read('deploy/install.yaml')).map((document) => document.toJS() as KubeObject)
    // Helm makes the one from `crds/`, its user the other.
    const apart = ['CustomResourceDefinition', 'Namespace']
    const wanted = whole.filter(({ kind }) => !apart.includes(kind ?? ''))
    expect(wanted.length).toBeGreaterThan(10)
    expect(byKey(objectsOf({}))).toEqual(byKey(wanted))
  })

  const everything: readonly { readonly name: string; readonly values: Values }[] = [
    { name: 'population', values: {} },
    {
      name: 'a control plane on a volume',
      values: { population: { enabled: false }, controlPlane: { enabled: true } },
    },
    {
      name: 'replicas on an etcd',
      values: {
        image: { repository: 'registry.example/borough', tag: '1', pullSecrets: [{ name: 'pull' }] },
        population: {
          extraRules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] }],
          nodeSelector: { zone: 'a' },
          tolerations: [{ operator: 'Exists' }],
        },
        controlPlane: {
          enabled: true,
          storage: 'etcd',
          etcd: {
            endpoints: ['etcd-0:2379', 'etcd-1:2379'],
            user: 'borough',
            prefix: '/clusters/one',
            tlsSecretName: 'etcd-tls',
            passwordSecretName: 'etcd-password',
          },
          names: ['api.example.com'],
          extraArgs: ['--max-memory=1024'],
          service: { type: 'LoadBalancer', annotations: { a: 'b' } },
          nodeSelector: { zone: 'a' },
          tolerations: [{ operator: 'Exists' }],
          networkPolicy: { from: [{ namespaceSelector: {} }] },
        },
      },
    },
  ]

  /** Names that Helm and Kubernetes take, and YAML takes for numbers, or that are as long as they may be. */
  const releases: readonly (typeof one)[] = [
    one,
    { Name: '2024', Namespace: '1e3' },
    { Name: `a.${'b'.repeat(51)}`, Namespace: 'null' },
  ]
  const tries = everything.flatMap((one) => releases.map((release) => ({ ...one, release })))
  test.each(tries)('a server takes every object of $name of release $release.Name', async ({ values, release }) => {
    const numbers: Values = { priorityClassName: '12', tolerations: [], nodeSelector: {} }
    const control = { ...(values['controlPlane'] as Values | undefined), ...numbers }
    const all = { ...values, controlPlane: control, population: { ...(values['population'] as Values), ...numbers } }
    for (const object of objectsOf(release === one ? values : all, release)) {
      const { group, plural, namespaced } = placeOf(object)
      const where = namespaced ? `namespaces/${object.metadata.namespace}/` : ''
      if (namespaced) await ensureNamespace(object.metadata.namespace ?? '')
      const answer = await plane.fetch(`${group}/${where}${plural}?fieldValidation=Strict&dryRun=All`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(object),
      })
      expect({ status: answer.status, text: await answer.text() }).toMatchObject({ status: 201 })
    }
  })

  async function ensureNamespace(name: string): Promise<void> {
    await plane.fetch('/api/v1/namespaces', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    })
  }

  test('replicas are told where their etcd is, and by what they are known there', () => {
    const objects = objectsOf(everything[2]?.values ?? {})
    const { args, image } = containerOf(named(objects, 'Deployment', 'one-control-plane'))
    expect(image).toBe('registry.example/borough:1')
    expect(args).toEqual([
      'up',
      '--data-dir=/data/borough',
      '--listen=0.0.0.0:6443',
      '--storage=etcd://borough@etcd-0:2379,etcd-1:2379',
      '--etcd-prefix=/clusters/one',
      '--etcd-cafile=/etc/borough/etcd-tls/ca.crt',
      '--etcd-certfile=/etc/borough/etcd-tls/tls.crt',
      '--etcd-keyfile=/etc/borough/etcd-tls/tls.key',
      '--etcd-password-file=/etc/borough/etcd-password/password',
      '--tls-san',
      'one-control-plane',
      'one-control-plane.borough-system',
      'one-control-plane.borough-system.svc',
      'api.example.com',
      '--log-level=warn',
      '--max-memory=1024',
    ])
    const budget = named(objects, 'PodDisruptionBudget', 'one-control-plane')
    expect(budget['spec']).toMatchObject({ maxUnavailable: 1 })
  })

  test('a rule of the user is in the role for templated kinds', () => {
    const role = named(objectsOf(everything[2]?.values ?? {}), 'ClusterRole', 'borough:population:templated-kinds')
    expect(role['rules']).toContainEqual({ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] })
  })

  test('Prometheus can not be told of the control plane without a token', () => {
    const values = { controlPlane: { enabled: true }, monitoring: { serviceMonitor: { enabled: true } } }
    expect(rendered(values).error).toContain(
      'monitoring.serviceMonitor.tokenSecretName is needed with controlPlane.enabled',
    )
  })

  test('nothing at all is no release, and is refused', () => {
    const { error } = rendered({ population: { enabled: false } })
    expect(error).toContain('nothing to install: set population.enabled or controlPlane.enabled')
  })

  test('its alerts ask for metrics that there are, and its monitors for the ports of the Services', async () => {
    const { PopulateMetrics } = await import('../../src/populate/metrics.ts')
    const exposed = `${await new PopulateMetrics().text()}\n${await (await plane.fetch('/metrics')).text()}`
    const objects = objectsOf({
      controlPlane: { enabled: true },
      monitoring: {
        serviceMonitor: { enabled: true, tokenSecretName: 'token', caSecretName: 'ca' },
        prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
      },
    })
    const rule = named(objects, 'PrometheusRule', 'one')
    const { groups } = rule['spec'] as { groups: { rules: { expr: string }[] }[] }
    const asked = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/\b(?:borough|apiserver)_\w+/g)))
    expect(asked.length).toBeGreaterThan(5)
    for (const metric of asked) expect(exposed).toContain(`# TYPE ${metric?.replace(/_count$/, '')} `)
    for (const name of ['borough-population', 'one-control-plane']) {
      const { endpoints } = named(objects, 'ServiceMonitor', name)['spec'] as { endpoints: { port: string }[] }
      const { ports } = named(objects, 'Service', name)['spec'] as { ports: { name: string }[] }
      expect(endpoints.map(({ port }) => port)).toEqual(ports.map((port) => port.name))
    }
  })
})

interface Container {
  readonly image: string
  readonly args: readonly string[]
}

function containerOf(workload: KubeObject): Container {
  const { template } = workload['spec'] as { template: { spec: { containers: Container[] } } }
  const [container] = template.spec.containers
  if (container === undefined) throw new Error('it has no container')
  return container
}

const clusterScoped = new Set(['ClusterRole', 'ClusterRoleBinding'])

function placeOf({ apiVersion = '', kind = '' }: KubeObject): {
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
} {
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return { group, plural: plural.toLowerCase(), namespaced: !clusterScoped.has(kind) }
}
