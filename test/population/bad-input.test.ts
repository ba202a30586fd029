/**
 * Templates that are wrong: told when they are written where that can be known then; else an event and a condition that
 * name the object and the reason, and everything else is applied.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { notSubdomain } from '../support/name-faults.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  conditionOf,
  configMap,
  configMapResource,
  namespaceResource,
  ofUsers,
  PopulationWorld,
  refusal,
  templateResource,
} from './population-world.ts'

let world: PopulationWorld
beforeEach(async () => {
  world = await PopulationWorld.start()
})
afterEach(() => world[Symbol.asyncDispose]())

const good = configMap('good')
const widget: JsonObject = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } }
const secondary = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'b' } }

const invalidTemplate = (faults: readonly string[]): Status =>
  invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 't' }, faults)

describe('refused when it is written, with the field', () => {
  const rows: { name: string; objects: JsonObject[]; want: Status }[] = [
    {
      name: 'a cluster-scoped kind',
      objects: [good, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }],
      want: invalidTemplate(['spec.templates[1].kind: Invalid value: "Namespace": does not live in namespaces']),
    },
    {
      name: 'a kind that nobody can keep',
      objects: [
        good,
        { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', metadata: { name: 'x' } },
      ],
      want: invalidTemplate([
        'spec.templates[1].kind: Invalid value: "LocalSubjectAccessReview": is only asked and never kept: ' +
          'its API knows no patch and delete',
      ]),
    },
    {
      name: 'objects that say nothing of themselves',
      objects: [good, {}],
      want: invalidTemplate([
        'spec.templates[1].apiVersion: Required value',
        'spec.templates[1].kind: Required value',
        'spec.templates[1].metadata.name: Required value',
      ]),
    },
    {
      name: 'objects that say it in another type',
      objects: [
        good,
        { apiVersion: 7, kind: ['x'], metadata: { name: { toString: 1 }, namespace: 7 } },
        { metadata: 'x' },
      ],
      want: invalidTemplate([
        'spec.templates[1].apiVersion: Invalid value: 7: must be a string',
        'spec.templates[1].kind: Invalid value: ["x"]: must be a string',
        'spec.templates[1].metadata.name: Invalid value: {"toString":1}: must be a string',
        'spec.templates[1].metadata.namespace: Invalid value: 7: must be a string',
        'spec.templates[2].metadata: Invalid value: "x": must be an object',
      ]),
    },
    {
      name: 'a name clash inside the template',
      objects: [good, good],
      want: invalidTemplate(['spec.templates[1]: Duplicate value: "ConfigMap/good"']),
    },
    {
      name: 'an invalid object: its name',
      objects: [good, configMap('Not_Legal')],
      want: invalidTemplate([
        'spec.templates[1].metadata.name: Invalid value: "Not_Legal": a lowercase RFC 1123 subdomain must ' +
          "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
          "alphanumeric character (e.g. 'example.com', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ]),
    },
    {
      name: 'an invalid object: a value of the wrong type',
      objects: [good, { ...configMap('x'), data: { a: 1 } }],
      want: invalidTemplate([
        'spec.templates[1]: Invalid value: "ConfigMap": json: cannot unmarshal number into Go struct field ' +
          'ConfigMap.data of type string',
      ]),
    },
    {
      name: 'an invalid object: what its kind requires',
      objects: [good, { ...secondary, subjects: [] }],
      want: invalidTemplate([
        'spec.templates[1].roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
        'spec.templates[1].roleRef.name: Required value',
      ]),
    },
    {
      name: 'an invalid object: a field that its kind lacks',
      objects: [good, { ...configMap('x'), dada: {} }],
      want: invalidTemplate(['spec.templates[1].dada: Forbidden: unknown field']),
    },
    {
      name: 'a token in a key',
      objects: [good, configMap('x', { '$(CREATOR)': 'x' })],
      want: invalidTemplate([
        'spec.templates[1]: Invalid value: "$(CREATOR)": tokens are replaced in values, never in keys',
        'spec.templates[1].data[$(CREATOR)]: Invalid value: "$(CREATOR)": a valid config key must consist ' +
          "of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex " +
          "used for validation is '[-._a-zA-Z0-9]+')",
      ]),
    },
    {
      name: 'an object with a namespace of its own',
      objects: [{ ...configMap('x'), metadata: { name: 'x', namespace: 'kube-system' } }],
      want: invalidTemplate([
        'spec.templates[0].metadata.namespace: Invalid value: "kube-system": must be empty: every namespace gets one',
      ]),
    },
  ]
  test.each(rows)('$name', async ({ objects, want }) => {
    const status = await refusal(world.template('t', objects))
    expect(status).toEqual(want)
  })

  test('everything that is wrong, at once', async () => {
    const status = await refusal(
      world.template(
        't',
        [good, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } }, configMap('X_Y'), { kind: 'ConfigMap' }],
        { rollout: { maxUnavailable: 0, maxPrune: 'x' } },
      ),
    )
    expect(status).toEqual(
      invalidTemplate([
        'spec.rollout.maxUnavailable: Invalid value: 0: must be at least 1, or a share like "10%"',
        'spec.rollout.maxPrune: Invalid value: "x": must be 0 or more, or a share like "10%"',
        'spec.templates[1].kind: Invalid value: "Node": does not live in namespaces',
        'spec.templates[3].apiVersion: Required value',
        'spec.templates[3].metadata.name: Required value',
        `spec.templates[2].metadata.name: Invalid value: "X_Y": ${notSubdomain}`,
      ]),
    )
  })

  test('a name clash between templates', async () => {
    await world.template('a', [good])
    const status = await refusal(world.template('b', [configMap('other'), good]))
    expect(status.details?.causes).toMatchObject([
      { field: 'spec.templates[1]', message: expect.stringContaining('template "a" gives it to the same namespaces') },
    ])
  })

  test('more than 1.5 MiB of objects', async () => {
    const big = Array.from({ length: 4 }, (_, i) => configMap(`c${i}`, { a: 'x'.repeat(450_000) }))
    expect(await refusal(world.template('t', big))).toEqual(
      failure({ message: 'Request entity too large: limit is 1556480', reason: 'RequestEntityTooLarge', code: 413 }),
    )
  })

  test('a template that grants more than its author has', async () => {
    const author = await world.creator('author')
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
    await world.admin.patch(
      { ...rbac, resource: 'clusterroles' },
      { name: 'test-creator' },
      {
        rules: [
          { verbs: ['*'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
          { verbs: ['*'], apiGroups: [rbac.group], resources: ['rolebindings'] },
        ],
      },
    )
    const binding = {
      ...secondary,
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', apiGroup: rbac.group, name: '$(CREATOR)' }],
    }
    const write = author.create(templateResource, {
      metadata: { name: 't' },
      spec: { namespaces: ofUsers, templates: [binding] },
    })
    const status = await refusal(write)
    expect(status.code).toBe(403)
    expect(status.message).toContain("can't give through a template what they may not do themselves: spec.templates[0]")
  })

  test('an object that was accepted before stands in nobody’s way', async () => {
    await world.template('t', [good])
    await world.edit('t', { adopt: true })
    await world.admin.patch(templateResource, { name: 't' }, { metadata: { labels: { a: 'b' } } })
  })
})

describe('a warning when it is written', () => {
  const body = (objects: JsonObject[], spec: JsonObject = {}): object => ({
    metadata: { name: 't' },
    spec: { namespaces: ofUsers, ...spec, templates: objects },
  })
  const path = '/apis/policy.borough.dev/v1alpha1/namespacetemplates'

  test('an unknown kind, with what it means for new namespaces', async () => {
    expect(await world.createWarnings(path, body([widget]))).toEqual([
      'spec.templates[0]: no kind Widget in ex.io/v1 is served: new namespaces wait until there is one; ' +
        'spec.failurePolicy: Ignore would let them go',
    ])
  })
})

describe('1 MB of objects', () => {
  test('is accepted and given', async () => {
    await world.template(
      't',
      Array.from({ length: 10 }, (_, i) => configMap(`c${i}`, { a: 'x'.repeat(100_000) })),
    )
    await world.namespace('team')
    expect(await world.data('team', 'c9')).toEqual({ a: 'x'.repeat(100_000) })
    await world.status('t', (s) => s['synced'] === 1)
  })
})

describe('what shows at population', () => {
  interface Row {
    name: string
    given?: () => Promise<unknown>
    bad: JsonObject
    spec?: JsonObject
    by?: string
    want: { object: string; reason: string; message: string }
  }
  const rows: Row[] = [
    {
      name: 'an unknown kind',
      bad: widget,
      want: { object: 'Widget/w', reason: 'UnknownKind', message: 'no kind Widget in ex.io/v1 is served' },
    },
    {
      name: 'an unknown kind of a group that is served',
      bad: { ...widget, apiVersion: 'apps/v1' },
      want: { object: 'Widget/w', reason: 'UnknownKind', message: 'no kind Widget in apps/v1 is served' },
    },
    {
      name: 'an object that becomes invalid by its tokens',
      by: 'Not_Legal',
      bad: configMap('of-$(CREATOR)'),
      want: { object: 'ConfigMap/of-Not_Legal', reason: 'Invalid', message: 'RFC 1123' },
    },
    {
      name: 'an object that admission refuses',
      bad: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: { serviceAccountName: 'nobody', containers: [{ name: 'c', image: 'i' }] },
      },
      want: { object: 'Pod/p', reason: 'Forbidden', message: 'serviceaccount "nobody" not found' },
    },
    {
      name: 'an object that was there before',
      given: () =>
        world.admin.create(configMapResource, { ...configMap('bad'), metadata: { namespace: 'team', name: 'bad' } }),
      bad: configMap('bad', { a: '2' }),
      want: { object: 'ConfigMap/bad', reason: 'AlreadyExists', message: 'it was there before' },
    },
  ]
  test.each(rows)('$name: events and conditions name it, the others are applied', async (row) => {
    await world.namespace('team', {}, row.by === undefined ? world.admin : await world.creator(row.by))
    await row.given?.()
    await world.template('t', [configMap('first'), row.bad, configMap('last')])
    const { object, reason, message } = row.want
    const status = await world.status('t', (s) => s['failed'] === 1)
    expect(status).toMatchObject({ matched: 1, synced: 0, failures: [{ namespace: 'team', object, reason }] })
    expect((status['failures'] as JsonObject[])[0]?.['message']).toContain(message)
    expect(conditionOf(status, 'Synced')).toMatchObject({ status: 'False', reason })
    const team = await waitFor(world.admin, namespaceResource, { name: 'team' }, (n) => populated(n) !== undefined)
    expect(populated(team)).toMatchObject({ status: 'False', reason, message: expect.stringContaining(`${object}: `) })
    for (const [kind, where] of [
      ['Namespace', 'team'],
      ['NamespaceTemplate', 'default'],
    ] as const) {
      const told = await world.eventsAbout(kind, `Population${reason}`, where)
      expect(told, kind).toHaveLength(1)
      expect(told[0]).toContain(object)
      expect(told[0]).toContain(message)
    }
    expect(await world.data('team', 'first')).toEqual({ a: '1' })
    expect(await world.data('team', 'last')).toEqual({ a: '1' })
  })

  const populated = (namespace: KubeObject | undefined): JsonObject | undefined =>
    conditionOf((namespace?.['status'] ?? {}) as JsonObject, 'Populated')
})

describe('the gate', () => {
  const uninitialized = { includeUninitialized: true }
  const phaseOf = (o: KubeObject | undefined): unknown => (o?.['status'] as JsonObject | undefined)?.['phase']

  test('stays shut while an object can not be made, and opens when it can', async () => {
    await world.template('t', [good, widget])
    const made = await world.admin.create(namespaceResource, { metadata: { name: 'team' } }, uninitialized)
    expect(phaseOf(made)).toBe('Initializing')
    await world.status('t', (s) => s['failed'] === 1)
    expect(phaseOf(await world.admin.get(namespaceResource, { name: 'team' }))).toBe('Initializing')
    expect(await world.data('team', 'good')).toEqual({ a: '1' })
    await world.edit('t', { templates: [good] })
    await waitFor(world.admin, namespaceResource, { name: 'team' }, (n) => phaseOf(n) === 'Active')
  })

  test('opens with failurePolicy Ignore, and what is missing is told', async () => {
    await world.template('t', [good, widget], { failurePolicy: 'Ignore' })
    expect(phaseOf(await world.namespace('team'))).toBe('Active')
    expect(await world.data('team', 'good')).toEqual({ a: '1' })
    await world.status('t', (s) => s['failed'] === 1)
  })

  test('one template that holds is enough to hold', async () => {
    await world.template('a', [widget], { failurePolicy: 'Ignore' })
    await world.template('b', [{ ...widget, metadata: { name: 'v' } }])
    await world.admin.create(namespaceResource, { metadata: { name: 'team' } }, uninitialized)
    await world.status('b', (s) => s['failed'] === 1)
    expect(phaseOf(await world.admin.get(namespaceResource, { name: 'team' }))).toBe('Initializing')
  })
})

describe('never destroys by accident', () => {
  const one = { namespace: 'team', name: 'one' }
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: one, data: { theirs: 'x' } }

  test('an object that somebody else applies too is let go, not deleted, and it is told', async () => {
    await world.template('t', [configMap('one')])
    await world.namespace('team')
    await world.admin.apply(configMapResource, theirs, { fieldManager: 'gitops' })
    await world.edit('t', { templates: [] })
    const left = await waitFor(
      world.admin,
      configMapResource,
      one,
      (o) => o?.metadata.labels?.['policy/namespace-template-name'] === undefined,
    )
    expect(left?.['data']).toEqual({ a: '1', theirs: 'x' })
    await expect
      .poll(() => world.eventsAbout('NamespaceTemplate', 'PopulationTakenOver', 'default'))
      .toEqual([
        'ConfigMap/one in namespace team: it is not deleted, only its label is taken off: "gitops" applies it too',
      ])
  })
})
