/**
 * `borough populate` in this process, beside a cluster that knows nothing of templates. kubectl tries it in
 * test/interop.
 */
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planTemplates } from '../../src/apis/templates/plan.ts'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { leases } from '../../src/controller/lease.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { namespaceManifest, serviceManifest } from '../../src/populate/manifests.ts'
import { type Populate, startPopulate } from '../../src/populate/populate.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { freePort } from '../support/free-port.ts'
import { notSubdomain } from '../support/name-faults.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { failure } from '../support/refusal.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import {
  conditionOf,
  configMap,
  configMapResource,
  eventResource,
  namespaceResource,
  refusal,
  templateResource,
} from './population-world.ts'

const plain = { population: false, featureGates: { NamespaceInitializers: false } } as const
const start = (client: Client, options: Partial<Parameters<typeof startPopulate>[0]> = {}): Promise<Populate> =>
  startPopulate({
    client,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'borough-system',
    reachedAt: 'listen',
    admission: 'webhooks',
    ...options,
  })

test('a Borough that populates by itself is left alone', async () => {
  await using plane = await startControlPlane()
  await expect(start(plane.client)).rejects.toThrow('populates namespaces by itself')
})

test.each([
  { major: '1', minor: '24', refused: true },
  { major: '1', minor: '24+', refused: true },
  { major: '1', minor: '25', refused: false },
])('Kubernetes $major.$minor: refused = $refused', async ({ refused, ...version }) => {
  const beyond = new Error('asked for more')
  const client = {
    request: () => Promise.resolve({ ...version, gitVersion: 'v1.x' }),
    discovery: { findKind: () => Promise.reject(beyond) },
  }
  const starting = start(client as unknown as Client)
  await (refused ? expect(starting).rejects.toThrow('1.25 or newer is needed') : expect(starting).rejects.toBe(beyond))
})

test('in a pod it is reached by its Service, under the name in its certificate', async () => {
  await using plane = await startControlPlane(plain)
  const port = await freePort()
  await plane.client.create(namespaceResource, namespaceManifest('borough-system'))
  const services = { group: '', version: 'v1', resource: 'services' }
  await plane.client.create(services, serviceManifest('borough-system'))
  const endpointSlices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
  await plane.client.create(endpointSlices, {
    metadata: {
      namespace: 'borough-system',
      name: 'borough-population-x',
      labels: { 'kubernetes.io/service-name': 'borough-population' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'] }],
    ports: [{ name: 'webhooks', port, protocol: 'TCP' }],
  })
  await using _populate = await start(plane.client, { listen: { host: '127.0.0.1', port }, reachedAt: 'service' })
  const { metadata } = await plane.client.create(namespaceResource, { metadata: { name: 'team-a' } })
  expect(metadata.annotations).toMatchObject({ 'authorization.k8s.io/creator': 'kubernetes-admin' })
})

describe('on a cluster without templates', () => {
  let plane: OtherCluster
  let first: Populate
  let caBundle: string

  beforeAll(async () => {
    plane = await startOtherCluster()
    first = await start(plane.client)
    const resource = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      resource: 'validatingwebhookconfigurations',
    }
    const { webhooks } = (await plane.client.get(resource, { name: 'borough-population' })) as KubeObject & {
      webhooks: { clientConfig: { caBundle: string } }[]
    }
    caBundle = Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString()
  })
  afterAll(async () => {
    await first?.[Symbol.asyncDispose]()
    await plane?.[Symbol.asyncDispose]()
  })

  /** Trusting whom API servers are told to trust. */
  const ask = (path: string, method = 'GET', body = ''): Promise<{ code: number | undefined; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(`${first.url}${path}`, { method, ca: caBundle, agent: false }, (answer) => {
        text(answer).then((said) => resolve({ code: answer.statusCode, text: said }), reject)
      })
      sent.once('error', reject)
      sent.end(body)
    })

  test('a template is planned that is not there yet', async () => {
    const { client } = plane
    await client.create(namespaceResource, { metadata: { name: 'planned' } })
    const spec = { namespaces: { nameSelector: { include: ['planned'] } }, templates: [configMap('new')] }
    const template = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata: { name: 'p' } }
    const deps = { client, clock: systemClock, signal: new AbortController().signal }
    const namespaces = [{ namespace: 'planned', objects: [{ object: 'ConfigMap/new', action: 'create' }] }]
    expect(await planTemplates(deps, [{ ...template, spec }])).toEqual([
      { template: 'p', isNew: true, matched: 1, namespaces },
    ])
  })

  test('its own namespace is no template’s business', async () => {
    const { metadata } = await plane.client.get(namespaceResource, { name: 'borough-system' })
    expect(metadata.annotations).toMatchObject({ 'policy/namespace-template-opt-out': 'true' })
  })

  test.each([
    ['/healthz', 'GET', '', 200, 'ok'],
    ['/readyz/cluster', 'GET', '', 200, 'ok'],
    ['/metrics', 'GET', '', 200, 'borough_population_certificate_expiry_timestamp_seconds 1'],
    ['/admit', 'GET', '', 405, 'the server does not allow this method on the requested resource\n'],
    ['/admit', 'POST', 'nonsense', 400, 'the body is not JSON: '],
    [
      '/check',
      'POST',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
      400,
      'the body is not AdmissionReview of admission.k8s.io/v1\n',
    ],
    [
      '/hold',
      'POST',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
      400,
      'the review has no request\n',
    ],
    ['/elsewhere', 'GET', '', 404, 'the server could not find the requested resource\n'],
  ] as const)('%s answers %s %j with %i', async (path, method, body, code, said) => {
    const answer = await ask(path, method, body)
    expect(answer).toMatchObject({ code })
    expect(answer.text).toContain(said)
  })

  describe('a template that is wrong', () => {
    const good = configMap('good')
    const write = (name: string, objects: JsonObject[], spec: JsonObject = {}): Promise<KubeObject> =>
      plane.client.create(templateResource, {
        apiVersion: 'policy.borough.dev/v1alpha1',
        kind: 'NamespaceTemplate',
        metadata: { name },
        spec: { namespaces: { nameSelector: { include: [`${name}-*`] } }, ...spec, templates: objects },
      })

    const roles = 'supported values: "Role", "ClusterRole"'
    const untyped = 'failed to create typed patch object (default/x; /v1, Kind=ConfigMap):'
    const refused: { name: string; bad: JsonObject; want: [reason: string, field: string, message: string][] }[] = [
      {
        name: 'a cluster-scoped kind',
        bad: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } },
        want: [['FieldValueInvalid', '.kind', 'Invalid value: "Node": does not live in namespaces']],
      },
      {
        name: 'a token in a key',
        bad: configMap('x', { '$(CREATOR)': 'x' }),
        want: [['FieldValueInvalid', '', 'Invalid value: "$(CREATOR)": tokens are replaced in values, never in keys']],
      },
      { name: 'a name clash', bad: good, want: [['FieldValueDuplicate', '', 'Duplicate value: "ConfigMap/good"']] },
      {
        name: 'an invalid object: its name',
        bad: configMap('Not_Legal'),
        want: [['FieldValueInvalid', '.metadata.name', `Invalid value: "Not_Legal": ${notSubdomain}`]],
      },
      {
        name: 'an invalid object: a value of the wrong type',
        bad: { ...configMap('x'), data: { a: 1 } },
        want: [['FieldValueInvalid', '', `${untyped} .data.a: expected string, got &value.valueUnstructured{Value:1}`]],
      },
      {
        name: 'an invalid object: a field that its kind lacks',
        bad: { ...configMap('x'), dada: {} },
        want: [['FieldValueInvalid', '', `${untyped} .dada: field not declared in schema`]],
      },
      {
        name: 'an invalid object: what its kind requires',
        bad: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'b' } },
        want: [
          ['FieldValueNotSupported', '.roleRef.kind', `Unsupported value: "": ${roles}`],
          ['FieldValueRequired', '.roleRef.name', 'Required value'],
        ],
      },
    ]
    test.each(refused)('is refused when it is written: $name', async ({ bad, want }) => {
      const causes = want.map(([reason, at, message]) => ({ reason, message, field: `spec.templates[1]${at}` }))
      const faults = causes.map(({ field, message }) => `${field}: ${message}`)
      const list = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`
      expect(await refusal(write('bad', [good, bad]))).toEqual(
        failure({
          message:
            'admission webhook "check.population.borough.dev" denied the request: ' +
            `NamespaceTemplate.policy.borough.dev "bad" is invalid: ${list}`,
          reason: 'Invalid',
          details: { name: 'bad', group: 'policy.borough.dev', kind: 'NamespaceTemplate', causes },
          code: 422,
        }),
      )
    })

    test('an object of which one is in the trial namespace, in another form, is no mistake', async () => {
      const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
      const binding = (name: string): JsonObject => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      })
      await plane.client.create(bindings, { ...binding('view'), metadata: { name: 'b', namespace: 'default' } })
      await write('there', [binding('edit')])
    })

    test('1 MB of objects is accepted and given', async () => {
      await write(
        'big',
        Array.from({ length: 10 }, (_, i) => configMap(`c${i}`, { a: 'x'.repeat(100_000) })),
      )
      await plane.client.create(namespaceResource, { metadata: { name: 'big-a' } })
      await waitFor(plane.client, configMapResource, { namespace: 'big-a', name: 'c9' }, isThere)
    })

    test.each([
      {
        name: 'an unknown kind',
        namespace: 'odd-a',
        bad: { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } },
        want: { object: 'Widget/w', reason: 'UnknownKind', message: 'no kind Widget in ex.io/v1 is served' },
      },
      {
        name: 'an object that admission refuses',
        namespace: 'refused-a',
        bad: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p' },
          spec: { serviceAccountName: 'nobody', containers: [{ name: 'c', image: 'i' }] },
        },
        want: { object: 'Pod/p', reason: 'Forbidden', message: 'serviceaccount "nobody" not found' },
      },
    ])('$name: event and condition name it, the others are applied', async ({ namespace, bad, want }) => {
      const name = namespace.slice(0, -2)
      await write(name, [configMap('first'), bad, configMap('last')])
      await plane.client.create(namespaceResource, { metadata: { name: namespace } })
      await waitFor(plane.client, configMapResource, { namespace, name: 'last' }, isThere)
      const { object, reason, message } = want
      const written = await waitFor(plane.client, namespaceResource, { name: namespace }, (n) =>
        JSON.stringify(n?.['status']).includes('Populated'),
      )
      expect(conditionOf((written?.['status'] ?? {}) as JsonObject, 'Populated')).toMatchObject({
        status: 'False',
        reason,
        message: expect.stringContaining(`${object}: `),
      })
      await waitFor(plane.client, templateResource, { name }, (t) => JSON.stringify(t?.['status']).includes(object))
      for (const where of [namespace, 'default']) {
        const told = (await plane.client.list(eventResource, { namespace: where })).items.filter(
          (e) => e['reason'] === `Population${reason}` && String(e['message']).includes(object),
        )
        expect(told.map((e) => e['message']).join(), where).toContain(message)
      }
    })
  })

  test('the creator of an older namespace is unknown: what names it is skipped, the rest is given', async () => {
    await plane.client.create(templateResource, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name: 'older' },
      spec: {
        namespaces: { nameSelector: { include: ['default'] } },
        templates: [configMap('plain'), configMap('theirs', { who: '$(CREATOR)' })],
      },
    })
    await waitFor(plane.client, configMapResource, { namespace: 'default', name: 'plain' }, isThere)
    const told = await waitFor(
      plane.client,
      templateResource,
      { name: 'older' },
      (t) => (t?.['status'] as JsonObject | undefined)?.['skipped'] === 1,
    )
    expect(told?.['status']).toMatchObject({ matched: 1, synced: 0, failed: 0 })
    expect(told?.['status']).not.toHaveProperty('failures')
    const { items } = await plane.client.list(configMapResource, { namespace: 'default' })
    expect(items.map((c) => c.metadata.name)).not.toContain('theirs')
  })

  test('one of two leads; when it stops, the other does, and the work goes on', async () => {
    const leader = (object: KubeObject | undefined): boolean => isThere(object)
    await waitFor(plane.client, leases, { namespace: 'borough-system', name: 'borough-population' }, leader)
    const second = await start(plane.client, { reachedAt: { url: first.url } })
    expect([first.leading, second.leading]).toEqual([true, false])
    const metadata = { name: 'all' }
    const spec = { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [configMap('motd')] }
    await plane.client.create(templateResource, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata,
      spec,
    })
    await plane.client.create(namespaceResource, { metadata: { name: 'team-a' } })
    const motd = { namespace: 'team-a', name: 'motd' }
    await waitFor(plane.client, configMapResource, motd, isThere)

    await second[Symbol.asyncDispose]()
    const third = await start(plane.client)
    await first[Symbol.asyncDispose]()
    first = third
    await plane.client.delete(configMapResource, motd)
    await waitFor(plane.client, configMapResource, motd, isThere)
    expect(third.leading).toBe(true)
  })
})
