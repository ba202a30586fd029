/** Odd things that authors of templates and of namespaces write: each is taken for what it says, or refused whole. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { AnyWorld, anyCluster, refusalAnywhere } from './any-world.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
const held = (name: string, data: Record<string, string>): JsonObject => ({ template: configMap(name, data) })

describe.each(anyCluster)('$where', ({ where, start }) => {
  let world: AnyWorld
  let admin: Client
  beforeAll(async () => {
    world = new AnyWorld(await start(), where !== 'on Borough')
    admin = world.admin
  }, 120_000)
  afterAll(() => world?.[Symbol.asyncDispose]())

  const create = (name: string, metadata: JsonObject): Promise<KubeObject> =>
    admin.create(namespaceResource, { metadata: { ...metadata, name } })

  test('null is as if it were not said, in each field of a template', async () => {
    const spec = {
      ...{ parameters: null, templates: null, namespaceMetadata: { labels: null, annotations: null } },
      ...{ expiry: { default: null, max: null }, rollout: null, deletionPolicy: null, driftPolicy: null, adopt: null },
    }
    const parts = { when: null, drift: null, protect: null, yieldTo: null, cloneFrom: null }
    await world.template('nulls', [{ ...held('x', { a: '1' }), ...parts }], spec as JsonObject)
    await world.namespace('nulls-1')
    await world.data('nulls-1', 'x', { a: '1' })
    await world.synced('nulls')
  })

  test('an object of the list that is null, or holds nothing, is refused with its place', async () => {
    for (const one of [null, {}, { template: null }]) {
      const { code, message } = await refusalAnywhere(world.template('nothing', [one as JsonObject]))
      const invalid = 'NamespaceTemplate.policy.borough.dev "nothing" is invalid: spec.objects[0]: '
      const required = 'Required value: must have a template or a cloneFrom'
      // Elsewhere the schema of the definition comes before our webhook.
      const notObject = 'Invalid value: "null": spec.objects[0] in body must be of type object: "null"'
      expect([code, message]).toEqual([422, invalid + (one === null && world.isElsewhere ? notObject : required)])
    }
  })

  test('parameters have the names of anything that an object inherits', async () => {
    const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty']
    const parameters = names.map((name) => ({ name, fromLabel: name, default: `no ${name}` }))
    const data = Object.fromEntries(names.map((name) => [name, `$(${name})`]))
    await world.template('inherits', [held('x', data)], { parameters })
    await world.namespace('inherits-1', { valueOf: 'given' })
    const { constructor: _, ...none } = Object.fromEntries(names.map((name) => [name, `no ${name}`]))
    await world.data('inherits-1', 'x', { constructor: 'no constructor', ...none, valueOf: 'given' } as never)
  })

  test('two templates that read one label allow what both allow', async () => {
    const namespaces = { nameSelector: { include: ['both-*'] } }
    const reads = (values: string[]): JsonObject => ({
      namespaces,
      parameters: [{ name: 'size', fromLabel: 'size', enum: values }],
    })
    await world.template('both-a', [held('a', { size: '$(size)' })], reads(['s', 'm']))
    await world.template('both-b', [held('b', { size: '$(size)' })], reads(['m', 'l']))
    await world.namespace('both-1', { size: 'm' })
    await world.data('both-1', 'a', { size: 'm' })
    await world.data('both-1', 'b', { size: 'm' })
    for (const [size, template, allowed] of [
      ['s', 'both-b', '"m", "l"'],
      ['l', 'both-a', '"s", "m"'],
    ] as const) {
      const { code, message } = await refusalAnywhere(create(`both-${size}`, { labels: { size } }))
      expect(code).toBe(422)
      expect(message).toContain(`parameter "size" of template "${template}" must be one of ${allowed}`)
    }
  })

  test('a group with any name owns what is given to its members, and not to a user of that name', async () => {
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: '$(OWNER)' }]
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' }
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'owners' } }
    await world.template('group', [{ template: { ...binding, roleRef, subjects } }])
    const owner = 'oidc:team "ä" $(NAMESPACE)/b'
    await create('group-1', { annotations: { 'borough.dev/owner': owner } })
    const made = await waitFor(admin, roleBindings, { namespace: 'group-1', name: 'owners' }, (o) => o !== undefined)
    expect(made?.['subjects']).toEqual([{ ...subjects[0], name: owner }])
    await world.synced('group')
    await world.ready('group-1')
    const configMapIn = (name: string) => ({ metadata: { namespace: 'group-1', name } })
    const groups = [owner, 'system:authenticated']
    const zoe = world.cluster.plane.client({ username: 'zoe', groups })
    await waitUntilAllowed(zoe, 'create', configMapResource, 'group-1')
    await zoe.create(configMapResource, configMapIn('hers'))
    const { code } = await refusalAnywhere(world.clientAs(owner).create(configMapResource, configMapIn('theirs')))
    expect(code).toBe(403)
  })

  test('a source in a namespace that goes is followed until it is gone, and its copies stay', async () => {
    await world.namespace('going')
    await admin.create(configMapResource, {
      metadata: {
        ...{ namespace: 'going', name: 's', finalizers: ['example.com/held'] },
        annotations: { 'policy.borough.dev/clone-to': '*' },
      },
      data: { key: '1' },
    })
    const cloneFrom = { namespace: 'going', apiVersion: 'v1', kind: 'ConfigMap', name: 's' }
    await world.template('copy', [{ cloneFrom }])
    await world.namespace('copy-1')
    await world.data('copy-1', 's', { key: '1' })
    await admin.delete(namespaceResource, { name: 'going' })
    await world.failures('copy', 'SourceMissing')
    expect((await admin.get(configMapResource, { namespace: 'copy-1', name: 's' }))['data']).toEqual({ key: '1' })
    await admin.patch(configMapResource, { namespace: 'going', name: 's' }, { metadata: { finalizers: null } })
    await waitFor(admin, namespaceResource, { name: 'going' }, (n) => n === undefined)
    expect((await admin.get(configMapResource, { namespace: 'copy-1', name: 's' }))['data']).toEqual({ key: '1' })
  })

  test('of an end and a ttl that are given at once the end counts; either must make sense', async () => {
    const end = '2099-01-01T00:00:00Z'
    const made = await create('ends-1', { annotations: { 'borough.dev/ttl': '1h', 'borough.dev/expires-at': end } })
    expect(made.metadata.annotations).toMatchObject({ 'borough.dev/ttl': '1h', 'borough.dev/expires-at': end })
    const ends = { 'borough.dev/expires-at': ['2001-01-01T00:00:00Z', 'tomorrow', '2099-02-30T00:00:00Z', ''] }
    const cases = { ...ends, 'borough.dev/ttl': ['0s', '-1h', '1d', '99999999999h', ''] }
    for (const [key, values] of Object.entries(cases)) {
      for (const value of values) {
        const { code, message } = await refusalAnywhere(create('ends-2', { annotations: { [key]: value } }))
        expect([value, code]).toEqual([value, 422])
        expect(message).toMatch(/: must (?:be|not be longer than) /)
        expect(message).toContain(`metadata.annotations[${key}]: Invalid value: ${JSON.stringify(value)}: must `)
      }
    }
  })

  test('a template that gives a label away reads it from no namespace', async () => {
    const spec = {
      parameters: [{ name: 'size', fromLabel: 'example.com/size' }],
      namespaceMetadata: { labels: { 'example.com/size': 'large' } },
    }
    const { code, message } = await refusalAnywhere(world.template('circle', [], spec))
    expect([code, message]).toEqual([
      422,
      'NamespaceTemplate.policy.borough.dev "circle" is invalid: spec.namespaceMetadata.labels[example.com/size]: ' +
        'Forbidden: this template reads it from the namespace, by spec.parameters[0].fromLabel',
    ])
  })

  test('an escape stays a text, and what is nearly a token too', async () => {
    await world.template('texts', [
      held('x', { a: '$$(NAMESPACE)', b: '$(NAMESPACE', c: '$()', d: '$$', e: '$(NAMESPACE))' }),
    ])
    await world.namespace('texts-1')
    await world.data('texts-1', 'x', { a: '$(NAMESPACE)', b: '$(NAMESPACE', c: '$()', d: '$$', e: 'texts-1)' })
    await admin.delete(templateResource, { name: 'texts' })
  })
})
