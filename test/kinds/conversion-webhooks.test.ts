/** Conversion of custom resources by a webhook: a real HTTPS server converts, a whole control plane asks it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, definitionsPath, install, objectOf, uninstall } from '../support/definitions.ts'
import { freePort } from '../support/free-port.ts'
import { failure } from '../support/refusal.ts'
import {
  type ConversionServer,
  patchReply,
  startConversionServer,
  startWebhookServer,
} from '../support/webhook-server.ts'
import { type Answer, type AnswerBody, Wire } from '../support/wire.ts'

/** v1 has hostPort `h:p`; v2 has host and port. */
function convert(object: KubeObject, desired: string): KubeObject {
  const { hostPort, host, port, ...rest } = object as KubeObject & { hostPort?: string; host?: string; port?: string }
  if (desired === 'ex.io/v2') {
    const [h = '', p = ''] = (hostPort ?? '').split(':')
    return { ...rest, apiVersion: desired, host: h, port: p }
  }
  return { ...rest, apiVersion: desired, hostPort: `${host}:${port}` }
}

let plane: TestControlPlane
let wire: Wire
let server: ConversionServer
const name = 'routes.ex.io'
const at = (version: string) => `/apis/ex.io/${version}/namespaces/team-a/routes`

beforeAll(async () => {
  server = await startConversionServer(convert)
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a' } })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const text = { type: 'string' }
const versionOf = (version: string, storage: boolean) => ({
  name: version,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: objectOf(
      version === 'v1'
        ? { hostPort: text, note: text, zone: { type: 'string', default: 'z1' } }
        : { host: text, port: text, zone: text, note: { type: 'string', default: 'none' } },
    ),
  },
  selectableFields: version === 'v1' ? [{ jsonPath: '.hostPort' }] : [{ jsonPath: '.host' }],
})

beforeEach(async () => {
  server.convert = convert
  server.answer = undefined
  await install(
    plane,
    definition({
      plural: 'routes',
      kind: 'Route',
      versions: [versionOf('v1', true), versionOf('v2', false)],
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { url: `${server.url}/convert`, caBundle: server.caBundle },
          },
        },
      },
    }),
  )
  server.received.length = 0
})
afterEach(() => uninstall(plane, name))

const route = (version: string, routeName: string, content: object, labels?: Record<string, string>): object => ({
  apiVersion: `ex.io/${version}`,
  kind: 'Route',
  metadata: { name: routeName, ...(labels ? { labels } : {}) },
  ...content,
})
const apply = (version: string, manager: string, content: object): Promise<Answer> =>
  wire.call(
    'PATCH',
    `${at(version)}/a?fieldManager=${manager}`,
    route(version, 'a', content),
    'application/apply-patch+yaml',
  )
const createV1 = (n: string, hostPort: string, labels?: Record<string, string>): Promise<AnswerBody> =>
  wire.must('POST', at('v1'), route('v1', n, { hostPort }, labels))

/** Makes v2 the version that is stored. */
const moveStorage = async (): Promise<void> => {
  await wire.must(
    'PATCH',
    `${definitionsPath}/${name}`,
    [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ],
    'application/json-patch+json',
  )
}

describe('reads', () => {
  it('what was written in one version is read in the other', async () => {
    const made = await createV1('a', 'h:80', { l: '1' })
    expect(server.received).toEqual([])
    const read = await wire.must('GET', `${at('v2')}/a`)
    expect(read).toMatchObject({ apiVersion: 'ex.io/v2', kind: 'Route', host: 'h', port: '80', zone: 'z1' })
    expect(read).not.toHaveProperty('hostPort')
    expect(read, 'only the stored version adds defaults to what is read').not.toHaveProperty('note')
    expect(read.metadata).toEqual(made.metadata)
    expect(server.received).toEqual([
      {
        kind: 'ConversionReview',
        apiVersion: 'apiextensions.k8s.io/v1',
        request: {
          uid: expect.any(String),
          desiredAPIVersion: 'ex.io/v2',
          objects: [expect.objectContaining({ apiVersion: 'ex.io/v1', kind: 'Route', hostPort: 'h:80' })],
        },
      },
    ])
    await wire.must('GET', `${at('v1')}/a`)
    await wire.must('GET', `${at('v2')}/a`)
    expect(server.received, 'what was converted is remembered').toHaveLength(1)
  })

  it('what was written in the version that is not stored is converted on its way in, and as it is read', async () => {
    const made = await wire.must('POST', at('v2'), route('v2', 'a', { host: 'h', port: '80' }))
    expect(made, 'with the defaults of what is stored').toMatchObject({ apiVersion: 'ex.io/v2', host: 'h', zone: 'z1' })
    const [written, read] = server.received.map((r) => (r['request'] as unknown as { objects: object[] }).objects[0])
    expect(written, 'which are not stored').not.toHaveProperty('zone')
    expect(read, 'but told who converts').toHaveProperty('zone', 'z1')
    expect((await wire.must('GET', `${at('v1')}/a`))['hostPort']).toBe('h:80')
  })

  it('a list asks once about all its items, pages about theirs', async () => {
    for (const n of ['a', 'b', 'c']) await createV1(n, `${n}:1`, { app: n })
    const list = await wire.must('GET', at('v2'))
    expect(list).toMatchObject({ kind: 'RouteList', apiVersion: 'ex.io/v2' })
    expect(list.items.map((i) => i['host'])).toEqual(['a', 'b', 'c'])
    expect(server.received).toHaveLength(1)
    const page = await wire.must('GET', `${at('v2')}?limit=2`)
    expect(page.items.map((i) => [i.apiVersion, i['host']])).toEqual([
      ['ex.io/v2', 'a'],
      ['ex.io/v2', 'b'],
    ])
    const rest = await wire.must(
      'GET',
      `${at('v2')}?limit=2&continue=${(page.metadata as { continue?: string }).continue}`,
    )
    expect(rest.items.map((i) => i['host'])).toEqual(['c'])
    expect((await wire.must('GET', `${at('v2')}?labelSelector=app%3Db&limit=1`)).items.map((i) => i['host'])).toEqual([
      'b',
    ])
    expect((await wire.must('GET', `${at('v2')}?fieldSelector=host%3Dc`)).items.map((i) => i.metadata.name)).toEqual([
      'c',
    ])
    expect((await wire.must('GET', `${at('v1')}?fieldSelector=hostPort%3Dc:1`)).items).toHaveLength(1)
  })

  it('tables and metadata views are of the version asked for', async () => {
    await createV1('a', 'h:80')
    const accept = { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }
    const partial = (await (await plane.fetch(`${at('v2')}/a`, accept)).json()) as AnswerBody
    expect(partial).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    const yaml = await (await plane.fetch(`${at('v2')}/a`, { headers: { accept: 'application/yaml' } })).text()
    expect(yaml).toContain('host: h')
  })
})

describe('watches', () => {
  it('tell each change in their version', async () => {
    await createV1('a', 'h:80')
    const seen = await wire.events(
      `${at('v2')}?watch=true`,
      (e) => e.length === 4,
      () => {
        void (async () => {
          const made = await createV1('b', 'b:1')
          await wire.must('PATCH', `${at('v1')}/b`, { hostPort: 'b:2' }, 'application/merge-patch+json')
          await wire.must('DELETE', `${at('v1')}/${made.metadata.name}`)
        })()
      },
    )
    expect(seen.map((e) => [e.type, e.object.apiVersion, e.object['host'], e.object['port']])).toEqual([
      ['ADDED', 'ex.io/v2', 'h', '80'],
      ['ADDED', 'ex.io/v2', 'b', '1'],
      ['MODIFIED', 'ex.io/v2', 'b', '2'],
      ['DELETED', 'ex.io/v2', 'b', '2'],
    ])
    const versions = seen.map((e) => Number(e.object.metadata.resourceVersion))
    expect(versions).toEqual([...versions].sort((a, b) => a - b))
  })

  it('with a selector: what comes into sight, changes, and goes out of it', async () => {
    const seen = await wire.events(
      `${at('v2')}?watch=true&fieldSelector=host%3Din&resourceVersion=${await now()}`,
      (e) => e.length === 4,
      () => {
        void (async () => {
          await createV1('a', 'out:1')
          for (const hostPort of ['in:1', 'in:2', 'out:2', 'out:3']) {
            await wire.must('PATCH', `${at('v1')}/a`, { hostPort }, 'application/merge-patch+json')
          }
          await createV1('b', 'in:9')
        })()
      },
    )
    expect(seen.map((e) => `${e.type} ${e.object['host']}:${e.object['port']}`)).toEqual([
      'ADDED in:1',
      'MODIFIED in:2',
      'DELETED in:2',
      'ADDED in:9',
    ])
  })

  it('a thousand watchers cost one question a change', async () => {
    const stop = new AbortController()
    const resourceVersion = await now()
    const watchers = await Promise.all(
      Array.from({ length: 20 }, () =>
        plane.fetch(`${at('v2')}?watch=true&resourceVersion=${resourceVersion}`, { signal: stop.signal }),
      ),
    )
    server.received.length = 0
    await createV1('a', 'h:80')
    const lines = await Promise.all(
      watchers.map(async (w) => new TextDecoder().decode((await w.body?.getReader().read())?.value as Uint8Array)),
    )
    stop.abort()
    expect(new Set(lines).size).toBe(1)
    expect(lines[0]).toContain('"host":"h"')
    expect(server.received).toHaveLength(1)
  })

  it('end with an error if it can not be converted', async () => {
    await createV1('a', 'h:80')
    server.answer = () => ({ result: { status: 'Failure', message: 'no way' } })
    const [event] = await wire.events(`${at('v2')}?watch=true`, (e) => e.length === 1)
    expect(event).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 500, message: 'conversion webhook for ex.io/v1, Kind=Route failed: no way' },
    })
  })

  const now = async (): Promise<string> => (await wire.must('GET', at('v1'))).metadata.resourceVersion ?? ''
})

describe('writes', () => {
  it('PUT, every patch and apply work in either version', async () => {
    await createV1('a', 'h:80')
    const v2 = `${at('v2')}/a`
    await wire.must('PATCH', v2, { port: '81' }, 'application/merge-patch+json')
    await wire.must('PATCH', v2, [{ op: 'replace', path: '/host', value: 'i' }], 'application/json-patch+json')
    expect((await wire.must('GET', `${at('v1')}/a`))['hostPort']).toBe('i:81')
    const read = await wire.must('GET', v2)
    await wire.must('PUT', v2, { ...read, port: '82' })
    expect((await wire.must('GET', `${at('v1')}/a`))['hostPort']).toBe('i:82')
    const applied = { apiVersion: 'ex.io/v2', kind: 'Route', metadata: { name: 'a' }, host: 'j' }
    await wire.must('PATCH', `${v2}?fieldManager=m&force=true`, applied, 'application/apply-patch+yaml')
    expect((await wire.must('GET', `${at('v1')}/a`))['hostPort']).toBe('j:82')
    const made = { ...applied, metadata: { name: 'b' }, port: '1' }
    await wire.must('PATCH', `${at('v2')}/b?fieldManager=m`, made, 'application/apply-patch+yaml')
    expect((await wire.must('GET', `${at('v1')}/b`))['hostPort']).toBe('j:1')
  })

  it('owners of either version are asked about in their own', async () => {
    await apply('v1', 'm1', { hostPort: 'h:80' })
    const refused = await apply('v2', 'm2', { host: 'i' })
    expect(refused.body).toMatchObject({
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "m1": .hostPort',
    })
    const shared = await apply('v2', 'm2', { host: 'h' })
    expect(shared.body.metadata.managedFields?.map((m) => [m.manager, m.apiVersion, m.fieldsV1])).toEqual([
      ['m1', 'ex.io/v1', { 'f:hostPort': {} }],
      ['m2', 'ex.io/v2', { 'f:host': {} }],
    ])
    const moved = await apply('v2', 'm1', { host: 'h', port: '80' })
    expect(moved.body).toMatchObject({ host: 'h', port: '80' })
    expect(moved.body.metadata.managedFields?.every((m) => m.apiVersion === 'ex.io/v2')).toBe(true)
  })

  it('while the webhook fails, an apply fails; a plain write of the stored version leaves owners alone', async () => {
    await apply('v1', 'm1', { hostPort: 'h:80' })
    await apply('v2', 'm2', { note: 'x' })
    server.answer = () => ({ result: { status: 'Failure', message: 'down' } })
    const refused = await apply('v1', 'm1', { hostPort: 'h:81' })
    expect(refused.body).toMatchObject({
      code: 500,
      message: 'conversion webhook for ex.io/v1, Kind=Route failed: down',
    })
    const before = await wire.must('GET', `${at('v1')}/a`)
    const written = await wire.must('PATCH', `${at('v1')}/a`, { hostPort: 'h:82' }, 'application/merge-patch+json')
    expect(written['hostPort']).toBe('h:82')
    expect(written.metadata.managedFields).toEqual(before.metadata.managedFields)
  })

  it('what changes nothing is no write', async () => {
    await createV1('a', 'h:80')
    const read = await wire.must('GET', `${at('v2')}/a`)
    // This one adds the default of v2.
    const before = await wire.must('PUT', `${at('v2')}/a`, read)
    const after = await wire.must('PUT', `${at('v2')}/a`, before)
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
  })

  it('a dry run is answered in its version, and remembered by nobody', async () => {
    await createV1('a', 'h:80')
    await wire.must('GET', `${at('v2')}/a`)
    const tried = await wire.must('PATCH', `${at('v2')}/a?dryRun=All`, { port: '9' }, 'application/merge-patch+json')
    expect(tried).toMatchObject({ host: 'h', port: '9' })
    expect(await wire.must('GET', `${at('v2')}/a`)).toMatchObject({ port: '80' })
  })

  it('a deletion with finalizers keeps the content', async () => {
    await wire.must('POST', at('v2'), {
      ...route('v2', 'a', { host: 'h', port: '80' }),
      metadata: { name: 'a', finalizers: ['ex.io/f'] },
    })
    const marked = await wire.must('DELETE', `${at('v2')}/a`)
    expect(marked).toMatchObject({ apiVersion: 'ex.io/v2', host: 'h', port: '80' })
    expect((await wire.must('GET', `${at('v1')}/a`))['hostPort']).toBe('h:80')
    const released = { metadata: { finalizers: null } }
    const last = await wire.must('PATCH', `${at('v2')}/a`, released, 'application/merge-patch+json')
    expect(last).toMatchObject({ host: 'h' })
    expect(last.metadata.finalizers).toBeUndefined()
    expect((await wire.call('GET', `${at('v1')}/a`)).status).toBe(404)
  })
})

describe('the stored version', () => {
  it('can move: old objects stay readable in every version, and are moved when they are written', async () => {
    await createV1('old', 'old:1')
    await moveStorage()
    await wire.must('POST', at('v2'), route('v2', 'new', { host: 'new', port: '2' }))
    await wire.must('POST', at('v1'), route('v1', 'newer', { hostPort: 'newer:3' }))
    const hosts = async (): Promise<unknown[]> =>
      (await wire.must('GET', at('v2'))).items.map((i) => `${i['host']}:${i['port']}`)
    const hostPorts = async (): Promise<unknown[]> => (await wire.must('GET', at('v1'))).items.map((i) => i['hostPort'])
    expect(await hosts()).toEqual(['new:2', 'newer:3', 'old:1'])
    expect(await hostPorts()).toEqual(['new:2', 'newer:3', 'old:1'])
    expect((await wire.must('GET', `${definitionsPath}/${name}`)).status).toMatchObject({
      storedVersions: ['v1', 'v2'],
    })

    // A migration writes every object as it is.
    for (const item of (await wire.must('GET', at('v2'))).items) {
      const { resourceVersion } = item.metadata
      const written = await wire.must('PUT', `${at('v2')}/${item.metadata.name}`, item)
      if (item.metadata.name === 'old') expect(written.metadata.resourceVersion).not.toBe(resourceVersion)
      if (item.metadata.name === 'new') expect(written.metadata.resourceVersion).toBe(resourceVersion)
    }
    await wire.must(
      'PATCH',
      `${definitionsPath}/${name}/status`,
      { status: { storedVersions: ['v2'] } },
      'application/merge-patch+json',
    )
    server.received.length = 0
    expect(await hosts()).toEqual(['new:2', 'newer:3', 'old:1'])
    expect(server.received, 'all of it is stored in this version').toEqual([])
    expect(await hostPorts()).toEqual(['new:2', 'newer:3', 'old:1'])
  })

  it('is the one in which a namespace is emptied: nobody needs to be asked', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'going' } })
    await wire.must('POST', '/apis/ex.io/v1/namespaces/going/routes', route('v1', 'a', { hostPort: 'h:1' }))
    server.answer = () => ({ result: { status: 'Failure', message: 'gone with the namespace' } })
    const gone = wire.events('/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dgoing', (e) =>
      e.some((x) => x.type === 'DELETED'),
    )
    await wire.must('DELETE', '/api/v1/namespaces/going')
    expect((await gone).at(-1)?.type).toBe('DELETED')
  })
})

describe('admission webhooks', () => {
  it('see the version that their rules name', async () => {
    await using hooks = await startWebhookServer()
    const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
    await wire.must('POST', configurations, {
      metadata: { name: 'v1' },
      webhooks: [
        {
          name: 'ports.ex.io',
          clientConfig: { url: `${hooks.url}/ports`, caBundle: hooks.caBundle },
          rules: [{ operations: ['*'], apiGroups: ['ex.io'], apiVersions: ['v1'], resources: ['routes'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    hooks.answer = () => patchReply({ op: 'replace', path: '/hostPort', value: 'changed:443' })
    const made = await wire.must('POST', at('v2'), route('v2', 'a', { host: 'h', port: '80' }))
    expect(hooks.received[0]?.review.request.object).toMatchObject({ apiVersion: 'ex.io/v1', hostPort: 'h:80' })
    expect(made).toMatchObject({ apiVersion: 'ex.io/v2', host: 'changed', port: '443' })
    expect((await wire.must('GET', `${at('v1')}/a`))['hostPort']).toBe('changed:443')
    await wire.must('DELETE', `${configurations}/v1`)
  })
})

describe('a webhook that fails', () => {
  it('to be there is what a client is told', async () => {
    await createV1('a', 'h:80')
    const port = await freePort()
    const url = `https://127.0.0.1:${port}/convert`
    await wire.must(
      'PATCH',
      `${definitionsPath}/${name}`,
      { spec: { conversion: { webhook: { clientConfig: { url } } } } },
      'application/merge-patch+json',
    )
    expect((await wire.call('GET', `${at('v2')}/a`)).body).toEqual(
      failure({
        message:
          `conversion webhook for ex.io/v1, Kind=Route failed: Post "${url}?timeout=30s": dial tcp ` +
          `127.0.0.1:${port}: connect: connection refused`,
        code: 500,
      }),
    )
  })

  const failing = [
    { name: 'refuses', answer: { result: { status: 'Failure', message: 'x' } }, want: 'failed: x' },
    { name: 'says nothing', answer: { result: {} }, want: "failed: response.result.status was '', not 'Success'" },
    {
      name: 'answers another question',
      answer: { uid: 'nope' },
      want: /failed: expected response.uid="[^"]+", got "nope"$/,
    },
    { name: 'loses objects', answer: { convertedObjects: [] }, want: 'returned 0 objects, expected 1' },
    {
      name: 'answers another version',
      answer: { convertedObjects: [{ apiVersion: 'ex.io/v3', kind: 'Route', metadata: { name: 'a' } }] },
      want: 'returned invalid converted object at index 0: invalid groupVersion (expected ex.io/v2, received ex.io/v3)',
    },
    {
      name: 'renames',
      answer: { convertedObjects: [{ apiVersion: 'ex.io/v2', kind: 'Route', metadata: { name: 'b' } }] },
      want: 'returned invalid converted object at index 0: must have the same name: a != b',
    },
    {
      name: 'moves to another namespace',
      answer: {
        convertedObjects: [{ apiVersion: 'ex.io/v2', kind: 'Route', metadata: { name: 'a', namespace: 'b' } }],
      },
      want: 'returned invalid converted object at index 0: must have the same namespace: team-a != b',
    },
    {
      name: 'takes for another object',
      answer: {
        convertedObjects: [
          { apiVersion: 'ex.io/v2', kind: 'Route', metadata: { name: 'a', namespace: 'team-a', uid: 'b' } },
        ],
      },
      want: /returned invalid converted object at index 0: must have the same UID: [^ ]+ != b$/,
    },
  ]
  it.each(failing)('and $name: the request fails with its words', async ({ answer, want }) => {
    await createV1('a', 'h:80')
    server.answer = () => answer
    const { status, body } = await wire.call('GET', `${at('v2')}/a`)
    expect(status).toBe(500)
    const prefix = 'conversion webhook for ex.io/v1, Kind=Route '
    expect(body.message.slice(0, prefix.length)).toBe(prefix)
    if (typeof want === 'string') expect(body.message).toBe(prefix + want)
    else expect(body.message).toMatch(want)
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: body.message,
      code: 500,
    })
    expect((await wire.call('GET', `${at('v1')}/a`)).status, 'the stored version needs nobody').toBe(200)
    expect((await wire.call('GET', at('v2'))).status, 'one that can not be converted spoils the list').toBe(500)
  })

  it('changes nothing but labels and annotations of metadata', async () => {
    await createV1('a', 'h:80')
    server.convert = (object, desired) => {
      const converted = convert(object, desired)
      const { name: n, uid } = object.metadata
      return {
        ...converted,
        metadata: {
          name: n,
          namespace: 'team-a',
          uid,
          labels: { by: 'webhook' },
          finalizers: ['x.io/y'],
        } as KubeObject['metadata'],
      }
    }
    const { metadata } = await wire.must('GET', `${at('v2')}/a`)
    expect(metadata.labels).toEqual({ by: 'webhook' })
    expect(metadata.finalizers).toBeUndefined()
    expect(metadata.creationTimestamp).toBeDefined()
  })
})
