/** What may be said of the end of a namespace, by whom, and what a write makes of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Client } from '../../src/client/client.ts'
import { clusterRoleBindingsResource, clusterRolesResource } from '../../src/kube/rbac.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, user } from '../support/fake-rbac-source.ts'
import { forbidden, invalidObject, refusal } from '../support/refusal.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const at = 'borough.dev/expires-at'
const ttl = 'borough.dev/ttl'
const source = 'borough.dev/expiry-template'
const noTime = 'must be a time as RFC 3339 has it, such as 2030-12-31T18:00:00Z'
const of72h = 'NamespaceTemplate "preview" lets its namespaces live for 72h'
const noLifetime = 'must be a duration of a second or more, such as 90m or 720h: there are no days'
const tooLong = 'must not be longer than 2562047h, which is as long as a duration can be'
const field = `metadata.annotations[${at}]`

let plane: TestControlPlane
let admin: Client
// It stands still at 2026-01-01T00:00:00Z.
const clock = new FakeClock()

async function grant(name: string, ...verbs: string[]): Promise<Client> {
  await admin.create(clusterRolesResource, clusterRole(name, allow(verbs.join(), '', 'namespaces')))
  await admin.create(clusterRoleBindingsResource, clusterRoleBinding(name, name, user(name)))
  return plane.clientAs(name)
}
const template = (name: string, spec: JsonObject, by = admin): Promise<KubeObject> =>
  by.create(templates, {
    metadata: { name },
    spec: { templates: [], namespaces: { labelSelector: { matchLabels: { kind: name } } }, ...spec },
  })

beforeAll(async () => {
  plane = await startControlPlane({ clock })
  admin = plane.client
  await template('preview', { expiry: { default: '24h', max: '72h' } })
  await template('short', { expiry: { max: '1h' } })
  await template('lasting', { expiry: { default: '48h' } })
  await template('named', { namespaces: { nameSelector: { include: ['demo-*'] } }, expiry: { default: '2h' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

type Annotations = Record<string, string | null>

let count = 0
async function make(annotations: Annotations = {}, labels: JsonObject = {}, by = admin): Promise<KubeObject> {
  const metadata = { name: `team-${++count}`, annotations, labels }
  return by.create(namespaces, { metadata } as KubeObject)
}
const edit = (o: KubeObject, annotations: Annotations, labels: JsonObject = {}, by = admin): Promise<KubeObject> =>
  by.patch(namespaces, { name: o.metadata.name ?? '' }, { metadata: { annotations, labels } })
/** Expiry as it is stored. */
const endOf = ({ metadata }: KubeObject): unknown[] => [at, ttl, source].map((key) => metadata.annotations?.[key])
const invalidNamespace = (o: { readonly metadata: KubeObject['metadata'] } | string, ...faults: string[]): object =>
  invalidObject({ kind: 'Namespace', name: typeof o === 'string' ? o : (o.metadata.name ?? '') }, faults)

describe('at create', () => {
  test.each<{ name: string; given: Annotations; labels?: JsonObject; want: unknown[] }>([
    { name: 'no word', given: {}, want: [undefined, undefined, undefined] },
    {
      name: 'a time is kept as it is',
      given: { [at]: '2026-01-02T01:00:00+01:00' },
      want: ['2026-01-02T01:00:00+01:00'],
    },
    { name: 'ttl counts from the creation', given: { [ttl]: '1h30m' }, want: ['2026-01-01T01:30:00Z', '1h30m'] },
    { name: 'parts of a second are rounded up', given: { [ttl]: '1500ms' }, want: ['2026-01-01T00:00:02Z', '1500ms'] },
    {
      name: 'where both are given the time holds',
      given: { [ttl]: '1h', [at]: '2027-01-01T00:00:00Z' },
      want: ['2027-01-01T00:00:00Z', '1h'],
    },
    {
      name: 'a template gives its default',
      given: {},
      labels: { kind: 'preview' },
      want: ['2026-01-02T00:00:00Z', undefined, 'preview'],
    },
    {
      name: 'and its limit where it has no default',
      given: {},
      labels: { kind: 'short' },
      want: ['2026-01-01T01:00:00Z', undefined, 'short'],
    },
    {
      name: 'a namespace may say more, within the limit',
      given: { [ttl]: '72h' },
      labels: { kind: 'preview' },
      want: ['2026-01-04T00:00:00Z', '72h'],
    },
    {
      name: 'where a template came from is not for clients to say',
      given: { [source]: 'x' },
      want: [undefined, undefined, undefined],
    },
  ])('$name', async ({ given, labels, want }) => {
    expect(endOf(await make(given, labels))).toEqual([...want, undefined, undefined].slice(0, 3))
  })

  test.each<{ name: string; given: Annotations; labels?: JsonObject; fault: string }>([
    {
      name: 'no time',
      given: { [at]: 'tomorrow' },
      fault: `${field}: Invalid value: "tomorrow": ${noTime}`,
    },
    {
      name: 'no such day',
      given: { [at]: '2027-02-29T00:00:00Z' },
      fault: `${field}: Invalid value: "2027-02-29T00:00:00Z": ${noTime}`,
    },
    {
      name: 'a leap second',
      given: { [at]: '2026-12-31T23:59:60Z' },
      fault: `${field}: Invalid value: "2026-12-31T23:59:60Z": ${noTime}`,
    },
    {
      name: 'empty',
      given: { [at]: '' },
      fault: `${field}: Invalid value: "": ${noTime}`,
    },
    {
      name: 'the past',
      given: { [at]: '2025-12-31T23:59:59Z' },
      fault: `${field}: Invalid value: "2025-12-31T23:59:59Z": must be in the future: it is 2026-01-01T00:00:00Z`,
    },
    {
      name: 'now',
      given: { [at]: '2026-01-01T00:00:00Z' },
      fault: `${field}: Invalid value: "2026-01-01T00:00:00Z": must be in the future: it is 2026-01-01T00:00:00Z`,
    },
    ...['-1h', '0', '999ms', '1d', '300y', '24', '', '-99999999h'].map((given) => ({
      name: `ttl ${JSON.stringify(given)}`,
      given: { [ttl]: given },
      fault: `metadata.annotations[${ttl}]: Invalid value: ${JSON.stringify(given)}: ${noLifetime}`,
    })),
    ...['2562048h', '99999999h', '2562047h59m'].map((given) => ({
      name: `ttl ${given}`,
      given: { [ttl]: given },
      fault: `metadata.annotations[${ttl}]: Invalid value: "${given}": ${tooLong}`,
    })),
    {
      name: 'beyond the limit',
      given: { [at]: '2026-01-04T01:00:00Z' },
      labels: { kind: 'preview' },
      fault: `${field}: Invalid value: "2026-01-04T01:00:00Z": must not be after 2026-01-04T00:00:00Z: ${of72h}`,
    },
    {
      name: 'beyond the limit by its ttl',
      given: { [ttl]: '73h' },
      labels: { kind: 'preview' },
      fault:
        `metadata.annotations[${ttl}]: Invalid value: "73h": the namespace would end at 2026-01-04T01:00:00Z: ` +
        `must not be after 2026-01-04T00:00:00Z: ${of72h}`,
    },
    {
      name: 'a limit, and a ttl of which no end can be made',
      given: { [ttl]: '1d' },
      labels: { kind: 'preview' },
      fault: `metadata.annotations[${ttl}]: Invalid value: "1d": ${noLifetime}`,
    },
  ])('refused: $name', async ({ given, labels = {}, fault }) => {
    const name = `refused-${++count}`
    const metadata = { name, annotations: given, labels } as KubeObject['metadata']
    expect(await refusal(admin.create(namespaces, { metadata }))).toEqual(invalidNamespace(name, fault))
  })

  test('a name that the server makes decides which templates count', async () => {
    const made = (generateName: string): Promise<KubeObject> => admin.create(namespaces, { metadata: { generateName } })
    expect(endOf(await made('other-'))).toEqual([undefined, undefined, undefined])
    expect(endOf(await made('demo-'))).toEqual(['2026-01-01T02:00:00Z', undefined, 'named'])
  })

  test('it takes no right but that to create', async () => {
    const creator = await grant('creator', 'create')
    expect(endOf(await make({ [ttl]: '1h' }, {}, creator))[0]).toBe('2026-01-01T01:00:00Z')
  })
})

describe('afterwards', () => {
  test('a changed ttl counts from the creation, an unchanged one changes nothing', async () => {
    const made = await make({ [ttl]: '1h' })
    expect(endOf(await edit(made, { [ttl]: '2h' }))).toEqual(['2026-01-01T02:00:00Z', '2h', undefined])
    expect(endOf(await edit(made, { [at]: '2026-06-01T00:00:00Z' }))[0]).toBe('2026-06-01T00:00:00Z')
    // As `kubectl replace` of a manifest that says ttl alone.
    const { name = '' } = made.metadata
    const replaced = { ...made, metadata: { name, annotations: { [ttl]: '2h' } } }
    expect(endOf(await admin.update(namespaces, replaced))).toEqual(['2026-06-01T00:00:00Z', '2h', undefined])
  })

  test('another applier leaves what it does not name', async () => {
    const made = await make({ [ttl]: '1h' })
    const { name = '' } = made.metadata
    const config = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { a: 'b' } } }
    expect(endOf(await admin.apply(namespaces, config, { fieldManager: 'other' }))[0]).toBe('2026-01-01T01:00:00Z')
  })

  test('null, as a patch or in an apply, takes it off', async () => {
    const made = await make({ [at]: '2026-02-01T00:00:00Z' })
    expect(endOf(await edit(made, { [at]: null }))).toEqual([undefined, undefined, undefined])
  })

  test('shortening takes delete, lengthening and taking it off the verb extend', async () => {
    const by = {
      patcher: await grant('patcher', 'patch'),
      deleter: await grant('deleter', 'patch', 'delete'),
      extender: await grant('extender', 'patch', 'extend'),
    }
    const made = await make({ [at]: '2026-02-01T00:00:00Z' })
    const { name = '' } = made.metadata
    const cannot = (who: string, what: string, verb: string, key: string = at): object =>
      forbidden(
        { kind: 'namespaces', name },
        `user "${who}" cannot ${what} the life of this namespace: its annotation ${key} needs the verb "${verb}" on it`,
      )
    const [sooner, later] = ['2026-01-15T00:00:00Z', '2026-03-01T00:00:00Z']
    for (const who of ['patcher', 'extender'] as const) {
      expect(await refusal(edit(made, { [at]: sooner }, {}, by[who]))).toEqual(cannot(who, 'shorten', 'delete'))
    }
    for (const who of ['patcher', 'deleter'] as const) {
      for (const to of [later, null]) {
        expect(await refusal(edit(made, { [at]: to }, {}, by[who]))).toEqual(cannot(who, 'lengthen', 'extend'))
      }
    }
    expect(endOf(await edit(made, { [at]: sooner }, {}, by.deleter))[0]).toBe(sooner)
    expect(endOf(await edit(made, { [at]: later }, {}, by.extender))[0]).toBe(later)
    // The same moment in other words.
    expect(endOf(await edit(made, { [at]: '2026-03-01T02:00:00+02:00' }, {}, by.patcher))[0]).toBe(
      '2026-03-01T02:00:00+02:00',
    )
    expect(endOf(await edit(made, { [at]: null }, {}, by.extender))[0]).toBeUndefined()
    expect(await refusal(edit(made, { [ttl]: '1h' }, {}, by.patcher))).toEqual(
      cannot('patcher', 'shorten', 'delete', ttl),
    )
  })

  test('protection that keeps a namespace beyond its end takes the verb extend', async () => {
    const kept = { 'borough.dev/deletion-protection': 'true' }
    const tenant = await grant('protector', 'create', 'patch', 'delete')
    const extender = await grant('keeper', 'create', 'patch', 'extend')
    const cannot = (name: string): object =>
      forbidden(
        { kind: 'namespaces', name },
        'user "protector" cannot keep this namespace beyond its end: annotation borough.dev/deletion-protection ' +
          'needs the verb "extend" on it',
      )
    const limited = await make({}, { kind: 'preview' })
    expect(await refusal(edit(limited, kept, {}, tenant))).toEqual(cannot(limited.metadata.name ?? ''))
    await edit(limited, kept, {}, extender)
    // It is kept already, and other writes ask for nothing.
    await edit(limited, { note: 'x' }, {}, tenant)
    await edit(limited, { 'borough.dev/deletion-protection': null }, {}, tenant)

    for (const annotations of [kept, { ...kept, [ttl]: '1h' }]) {
      const status = await refusal(make(annotations, { kind: 'preview' }, tenant))
      expect(status).toEqual(cannot(`team-${count}`))
    }
    // Under no template an end is its creator's own affair, until it comes to one.
    for (const annotations of [kept, { ...kept, [ttl]: '1h' }]) {
      const free = await make(annotations, {}, tenant)
      expect(await refusal(edit(free, {}, { kind: 'preview' }, tenant))).toEqual(cannot(free.metadata.name ?? ''))
    }
  })

  test('a sub-resource is no way around', async () => {
    const made = await make({ [at]: '2026-02-01T00:00:00Z' })
    const { name = '' } = made.metadata
    const rules = clusterRole('status', allow('update,patch', '', 'namespaces/status,namespaces/finalize'))
    await admin.create(clusterRolesResource, rules)
    await admin.create(clusterRoleBindingsResource, clusterRoleBinding('status', 'status', user('status')))
    const patch = { metadata: { annotations: { [at]: '2026-01-02T00:00:00Z' } } }
    const tried = plane.clientAs('status').patch(namespaces, { name }, patch, { subresource: 'status' })
    expect((await refusal(tried)).code).toBe(403)
  })

  test('another write is not refused for what was said before', async () => {
    const made = await make({}, { kind: 'lasting' })
    await admin.patch(templates, { name: 'lasting' }, { spec: { expiry: { max: '1h', default: null } } })
    expect(endOf(await edit(made, {}, { a: 'b' }))).toEqual(['2026-01-03T00:00:00Z', undefined, 'lasting'])
    await admin.patch(templates, { name: 'lasting' }, { spec: { expiry: null } })
    expect(endOf(await edit(made, {}, { a: 'c' }))).toEqual(['2026-01-03T00:00:00Z', undefined, 'lasting'])
    expect(endOf(await edit(made, { [at]: '2026-01-03T00:00:01Z' }))[2]).toBeUndefined()
  })

  test('a limit is no more lifted than exceeded', async () => {
    const made = await make({}, { kind: 'preview' })
    expect(await refusal(edit(made, { [at]: null }))).toEqual(
      invalidNamespace(made, `${field}: Required value: ${of72h}`),
    )
    expect(await refusal(edit(made, { [at]: '2026-01-05T00:00:00Z' }))).toEqual(
      invalidNamespace(
        made,
        `${field}: Invalid value: "2026-01-05T00:00:00Z": must not be after 2026-01-04T00:00:00Z: ${of72h}`,
      ),
    )
  })

  test('a namespace that moves to another template is given its default, and held to its limit', async () => {
    const free = await make()
    expect(endOf(await edit(free, {}, { kind: 'preview' }))).toEqual(['2026-01-02T00:00:00Z', undefined, 'preview'])
    // What it has been given it keeps.
    expect(endOf(await edit(free, {}, { kind: null }))).toEqual(['2026-01-02T00:00:00Z', undefined, 'preview'])
    expect(await refusal(edit(free, {}, { kind: 'short' }))).toEqual(
      invalidNamespace(
        free,
        `${field}: Invalid value: "2026-01-02T00:00:00Z": must not be after 2026-01-01T01:00:00Z: ` +
          'NamespaceTemplate "short" lets its namespaces live for 1h',
      ),
    )
    const patcher = plane.clientAs('patcher')
    expect((await refusal(edit(await make(), {}, { kind: 'preview' }, patcher))).message).toContain(
      'needs the verb "delete"',
    )
  })

  test.each(['default', 'kube-system', 'kube-public', 'kube-node-lease'])('%s does not expire', async (name) => {
    const tried = admin.patch(namespaces, { name }, { metadata: { annotations: { [ttl]: '1h' } } })
    expect(await refusal(tried)).toEqual(
      invalidNamespace(
        name,
        `metadata.annotations[${ttl}]: Invalid value: "1h": the namespace would end at 2026-01-01T01:00:00Z: ` +
          'this namespace does not expire: the cluster needs it',
      ),
    )
    const named = admin.patch(namespaces, { name }, { metadata: { annotations: { [at]: '2026-01-01T01:00:00Z' } } })
    expect(await refusal(named)).toEqual(
      invalidNamespace(
        name,
        `${field}: Invalid value: "2026-01-01T01:00:00Z": this namespace does not expire: the cluster needs it`,
      ),
    )
  })
})

describe('of a template', () => {
  test.each<{ given: JsonObject; faults: string[] }>([
    {
      given: { default: '1d' },
      faults: [`spec.expiry.default: Invalid value: "1d": ${noLifetime}`],
    },
    {
      given: { max: '99999999h' },
      faults: [`spec.expiry.max: Invalid value: "99999999h": ${tooLong}`],
    },
    {
      given: { max: '0s' },
      faults: [`spec.expiry.max: Invalid value: "0s": ${noLifetime}`],
    },
    {
      given: { default: '2h', max: '1h' },
      faults: ['spec.expiry.default: Invalid value: "2h": must not be longer than spec.expiry.max'],
    },
  ])('$given is refused', async ({ given, faults }) => {
    expect(await refusal(template('bad', { expiry: given }))).toEqual(
      invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'bad' }, faults),
    )
  })

  test('its author must hold delete on namespaces', async () => {
    await admin.create(
      clusterRolesResource,
      clusterRole('author', allow('create', 'policy.borough.dev', 'namespacetemplates')),
    )
    await admin.create(clusterRoleBindingsResource, clusterRoleBinding('author', 'author', user('author')))
    const refused = await refusal(template('bad', { expiry: { default: '1h' } }, plane.clientAs('author')))
    expect(refused).toMatchObject({
      code: 403,
      details: {
        causes: [{ reason: 'FieldValueForbidden', field: 'spec.expiry', message: 'needs "delete" on namespaces' }],
      },
    })
  })

  test('so must an author who takes the limit out of it', async () => {
    await template('limits', { expiry: { max: '1h' } })
    await admin.create(
      clusterRolesResource,
      clusterRole('editor', allow('patch', 'policy.borough.dev', 'namespacetemplates')),
    )
    await admin.create(clusterRoleBindingsResource, clusterRoleBinding('editor', 'editor', user('editor')))
    const edit = plane.clientAs('editor').patch(templates, { name: 'limits' }, { spec: { expiry: null } })
    expect(await refusal(edit)).toMatchObject({
      code: 403,
      details: {
        causes: [{ reason: 'FieldValueForbidden', field: 'spec.expiry', message: 'needs "delete" on namespaces' }],
      },
    })
  })
})
