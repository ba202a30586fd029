/**
 * One stored object after the other is damaged behind the server's back. It starts, names what is damaged, fails what
 * depends on it, and serves everything else.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import type { UserInfo } from '../../src/kube/user.ts'

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly text: string
}

interface Plane extends AsyncDisposable {
  send(method: string, path: string, body?: object, user?: UserInfo): Promise<Answer>
}

const admin: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const ann: UserInfo = { username: 'ann', groups: ['system:authenticated'] }
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const admission = '/apis/admissionregistration.k8s.io/v1'

async function start(dataDir: string): Promise<Plane> {
  const plane = await createControlPlane({ ...defaultConfig, dataDir, storage: { engine: 'sqlite' } })
  return {
    async send(method, path, body, user = admin) {
      const request = {
        method,
        ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
      }
      const answer = await fetchAdapter(plane.serve, user)(new Request(new URL(path, 'https://borough.test'), request))
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.includes('json') === true
      return { status: answer.status, text, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} }
    },
    [Symbol.asyncDispose]: async () => plane[Symbol.asyncDispose](),
  }
}

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const createOfSecrets = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }
const made: readonly (readonly [string, object])[] = [
  ['/api/v1/namespaces', { metadata: { name: 'team-a' } }],
  ['/api/v1/namespaces', { metadata: { name: 'team-b' } }],
  ['/api/v1/namespaces/team-a/configmaps', { metadata: { name: 'c' } }],
  ['/api/v1/namespaces/team-a/resourcequotas', { metadata: { name: 'q' }, spec: { hard: { configmaps: '10' } } }],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets],
  [
    `${admission}/validatingadmissionpolicies`,
    {
      metadata: { name: 'p' },
      spec: { matchConstraints: { resourceRules: [createOfSecrets] }, validations: [{ expression: 'true' }] },
    },
  ],
  [
    `${rbac}/namespaces/team-a/rolebindings`,
    {
      metadata: { name: 'v' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  ],
]

let root: string
let revisions: ReadonlyMap<string, number>

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-damaged-'))
  await using plane = await start(join(root, 'sound'))
  for (const [path, body] of made) expect(await plane.send('POST', path, body)).toMatchObject({ status: 201 })
  await vi.waitFor(async () =>
    expect(await plane.send('GET', '/apis/example.com/v1/widgets')).toMatchObject({ status: 200 }),
  )
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A server on a copy of the store in which one byte of the object's value is another one. */
async function startDamaged(key: string): Promise<Plane> {
  const dataDir = join(root, 'damaged')
  await rm(dataDir, { recursive: true, force: true })
  await cp(join(root, 'sound'), dataDir, { recursive: true })
  const database = new DatabaseSync(join(dataDir, 'store/state.db'))
  const rows = database.prepare('SELECT p.key, p.revision, l.value FROM present p JOIN log l USING (revision)').all()
  revisions = new Map(rows.map((row) => [String(row['key']), Number(row['revision'])]))
  const value = Buffer.from(rows.find((row) => row['key'] === key)?.['value'] as Uint8Array)
  value.writeUInt8((value[20] ?? 0) ^ 1, 20)
  database.prepare('UPDATE log SET value = ? WHERE revision = ?').run(value, revisions.get(key) ?? 0)
  database.close()
  return start(dataDir)
}

/** The whole refusal of a request that needs the object. */
function unreadable(key: string): object {
  const words = `the stored value of ${key} at revision ${revisions.get(key)} is damaged: its checksum is `
  const message = expect.stringMatching(
    new RegExp(`^${words.replaceAll('.', '\\.')}[0-9a-f]{8}, [0-9a-f]{8} was written with it$`),
  )
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'StoreReadError',
    details: { causes: [{ message }] },
    code: 500,
  }
}

const configMap = { metadata: { name: 'new' } }
const cases: readonly {
  readonly key: string
  /** Fail, and name it. */
  readonly failing: readonly (readonly [method: string, path: string, body?: object | undefined, user?: UserInfo])[]
  readonly served: readonly (readonly [method: string, path: string, body?: object | undefined, user?: UserInfo])[]
}[] = [
  {
    key: '/registry/configmaps/team-a/c',
    failing: [
      ['GET', '/api/v1/namespaces/team-a/configmaps/c'],
      ['GET', '/api/v1/namespaces/team-a/configmaps'],
      ['GET', '/api/v1/configmaps'],
      ['GET', '/api/v1/configmaps?labelSelector=a%3Db'],
      ['GET', '/api/v1/namespaces/team-a/configmaps?watch=true&timeoutSeconds=1'],
      ['GET', '/api/v1/namespaces/team-a/configmaps?watch=true&timeoutSeconds=1&resourceVersion=5000'],
      ['GET', '/api/v1/namespaces/team-a/configmaps/c?watch=true'],
      ['DELETE', '/api/v1/namespaces/team-a/configmaps/c'],
      ['DELETE', '/api/v1/namespaces/team-a/configmaps'],
    ],
    served: [
      ['GET', '/api/v1/namespaces/default/configmaps'],
      ['GET', '/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1'],
      ['POST', '/api/v1/namespaces/default/configmaps', configMap],
    ],
  },
  {
    key: '/registry/clusterrolebindings/cluster-admin',
    failing: [
      ['GET', '/api/v1/secrets', undefined, ann],
      ['GET', `${rbac}/clusterrolebindings`],
    ],
    served: [
      ['GET', '/api/v1/namespaces/team-a/configmaps', undefined, ann],
      ['GET', '/api/v1/secrets'],
    ],
  },
  {
    key: '/registry/rolebindings/team-a/v',
    failing: [['GET', '/api/v1/namespaces/team-a/configmaps', undefined, ann]],
    served: [['GET', '/api/v1/namespaces/team-a/configmaps']],
  },
  {
    key: '/registry/resourcequotas/team-a/q',
    failing: [['POST', '/api/v1/namespaces/team-a/configmaps', configMap]],
    served: [['POST', '/api/v1/namespaces/team-b/configmaps', configMap]],
  },
  {
    key: '/registry/validatingadmissionpolicies/p',
    failing: [['POST', '/api/v1/namespaces/team-b/configmaps', configMap]],
    served: [['GET', '/api/v1/configmaps']],
  },
  {
    key: '/registry/customresourcedefinitions/widgets.example.com',
    failing: [['GET', '/apis/example.com/v1/widgets']],
    served: [['POST', '/api/v1/namespaces/team-b/configmaps', configMap]],
  },
  ...['flowschemas/catch-all', 'prioritylevelconfigurations/workload-low'].map((each) => ({
    key: `/registry/${each}`,
    failing: [
      ['GET', `/apis/flowcontrol.apiserver.k8s.io/v1/${each}`],
      ['GET', `/apis/flowcontrol.apiserver.k8s.io/v1/${each.split('/')[0]}`],
    ] as const,
    served: [
      ['GET', '/api/v1/namespaces/team-a/configmaps', undefined, ann],
      ['POST', '/api/v1/namespaces/team-b/configmaps', configMap],
    ] as const,
  })),
  {
    key: '/registry/namespaces/team-a',
    failing: [
      ['POST', '/api/v1/namespaces/team-a/configmaps', configMap],
      ['GET', '/api/v1/namespaces'],
      ['DELETE', '/api/v1/namespaces/team-a'],
    ],
    served: [['GET', '/api/v1/namespaces/team-a/configmaps/c']],
  },
]

describe.each(cases)('damage of $key', ({ key, failing, served }) => {
  it('is named, fails what depends on it, and nothing else', async () => {
    await using plane = await startDamaged(key)
    for (const request of failing) {
      const { status, body } = await plane.send(...request)
      expect({ request, status, body }).toEqual({ request, status: 500, body: unreadable(key) })
    }
    for (const request of served) {
      const { status } = await plane.send(...request)
      expect({ request, status }).toEqual({ request, status: request[0] === 'POST' ? 201 : 200 })
    }
    const ready = await plane.send('GET', '/readyz?verbose')
    expect(ready.status).toBe(200)
    expect(ready.text).toContain(`[+]storage ok, with 1 warnings\nwarn: the stored value of ${key} at revision`)
    const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
    expect((await plane.send('GET', '/readyz?verbose', undefined, anonymous)).text).not.toContain(key)
    expect((await plane.send('GET', '/metrics')).text).toContain('\nborough_damaged_objects 1\n')
  })
})

it('a namespace that holds a damaged object stays until it is repaired', async () => {
  await using plane = await startDamaged('/registry/configmaps/team-a/c')
  expect(await plane.send('DELETE', '/api/v1/namespaces/team-a')).toMatchObject({ status: 200 })
  const condition = async (): Promise<unknown> => {
    const { body } = await plane.send('GET', '/api/v1/namespaces/team-a')
    const { conditions = [] } = body['status'] as { conditions?: { type: string; message: string }[] }
    return conditions.find(({ type }) => type === 'NamespaceDeletionContentFailure')?.message ?? ''
  }
  await expect.poll(condition, { timeout: 10_000 }).toContain('the stored value of /registry/configmaps/team-a/c')
})
