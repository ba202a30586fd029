/** How the labels and annotations of a namespace are brought to what its templates say. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { ObjectResult } from './object-result.ts'
import {
  type MetadataRequest,
  planMetadata,
  settleMetadata,
  takesAwayMetadata,
  wantsMetadata,
} from './settle-metadata.ts'
import type { NamespaceTemplate } from './types.ts'

type Texts = Record<string, string>
const holders = 'policy.borough.dev/set-by-templates'
const versions = 'policy.borough.dev/settles'
const template = (name: string, labels: Texts, annotations: Texts = {}, more: object = {}): NamespaceTemplate => ({
  metadata: { name, generation: 4 },
  spec: { namespaceMetadata: { labels, annotations }, ...more },
})
const record = (labels: Texts, annotations: Texts = {}): string => JSON.stringify({ labels, annotations })
const namespace = (labels: Texts, held?: string, annotations: Texts = {}): Namespace => ({
  metadata: {
    ...{ name: 'n', uid: 'u', resourceVersion: '7', labels },
    annotations: { ...annotations, ...(held === undefined ? {} : { [holders]: held }) },
  },
})
const enforce = 'pod-security.kubernetes.io/enforce'
const warn = 'pod-security.kubernetes.io/warn'
const size = { name: 'size', fromLabel: 'size', enum: ['small'] }

const planned = (request: Partial<MetadataRequest>): string[] =>
  planMetadata({ namespace: namespace({}), templates: [], policyOf: () => 'Delete', ...request }).changes.map(
    ({ part, key, before, value, template: by, generation, outcome }) =>
      `${outcome} ${part} ${key}: ${before} to ${value} by ${by} ${generation}`,
  )

describe('a plan', () => {
  test.each<{ name: string; request: Partial<MetadataRequest>; changes: string[] }>([
    { name: 'has nothing to do without templates', request: {}, changes: [] },
    {
      name: 'sets what is not there, and what is otherwise',
      request: {
        templates: [template('t', { a: '1', b: '2', c: '3' })],
        namespace: namespace({ b: '2', c: 'x' }, record({ b: 't' })),
      },
      changes: ['configured labels a: undefined to 1 by t 4', 'configured labels c: x to 3 by t 4'],
    },
    {
      name: 'takes over what is there already, and is recorded of none or of another',
      request: {
        templates: [template('t', { a: '1', b: '2' })],
        namespace: namespace({ a: '1', b: '2' }, record({ b: 'u' })),
      },
      changes: ['unchanged labels a: 1 to 1 by t 4', 'unchanged labels b: 2 to 2 by t 4'],
    },
    {
      name: 'sets what one template says, if it is about one',
      request: { templates: [template('t', { a: '1' }), template('u', { b: '1' })], only: 'u' },
      changes: ['configured labels b: undefined to 1 by u 4'],
    },
    {
      name: 'takes away what a template set and does no more',
      request: {
        templates: [template('t', { a: '1' })],
        namespace: namespace({ a: '1', b: '2' }, record({ a: 't', b: 't' }, { c: 'u' }), { c: '3' }),
      },
      changes: [
        'pruned labels b: 2 to undefined by t undefined',
        'pruned annotations c: 3 to undefined by u undefined',
      ],
    },
    {
      name: 'leaves behind what a template orphans',
      request: { namespace: namespace({ b: '2' }, record({ b: 't' })), policyOf: () => 'Orphan' },
      changes: ['orphaned labels b: 2 to undefined by t undefined'],
    },
    {
      name: 'does not touch what is kept',
      request: { namespace: namespace({ b: '2' }, record({ b: 't' })), policyOf: () => 'Keep' },
      changes: [],
    },
    {
      name: 'takes away nothing of others, if it is about one',
      request: { namespace: namespace({ a: '1', b: '2' }, record({ a: 't', b: 'u' })), only: 'u' },
      changes: ['pruned labels b: 2 to undefined by u undefined'],
    },
    {
      name: 'keeps what can not be set as its template says',
      request: {
        templates: [template('t', { b: '$(CREATOR)' })],
        namespace: namespace({ b: '2' }, record({ b: 't' })),
      },
      changes: [],
    },
    {
      name: 'keeps what a template set that can not be rendered now, and no other’s',
      request: {
        templates: [template('t', { b: '$(size)' }, {}, { parameters: [size] })],
        namespace: namespace({ a: '1', b: 'small', size: 'huge' }, record({ a: 'u', b: 't' })),
      },
      changes: ['pruned labels a: 1 to undefined by u undefined'],
    },
    {
      name: 'takes away what such a template set and does no more, once it can be rendered',
      request: {
        templates: [template('t', {}, {}, { parameters: [size] })],
        namespace: namespace({ b: 'small', size: 'small' }, record({ b: 't' })),
      },
      changes: ['pruned labels b: small to undefined by t undefined'],
    },
    {
      name: 'takes away an older version of a level of Pod Security that stood there before',
      request: {
        templates: [template('t', { [enforce]: 'restricted', [warn]: 'baseline' })],
        namespace: namespace({
          [enforce]: 'restricted',
          [`${enforce}-version`]: 'v1.0',
          [`${warn}-version`]: 'latest',
        }),
      },
      changes: [
        `unchanged labels ${enforce}: restricted to restricted by t 4`,
        `configured labels ${warn}: undefined to baseline by t 4`,
        `configured labels ${enforce}-version: v1.0 to undefined by t 4`,
      ],
    },
    {
      name: 'leaves a version that a template sets itself, and those of levels of others',
      request: {
        templates: [template('t', { [enforce]: 'restricted' }), template('u', { [`${enforce}-version`]: 'v1.30' })],
        namespace: namespace(
          { [enforce]: 'restricted', [`${enforce}-version`]: 'v1.30', [`${warn}-version`]: 'v1.0' },
          record({ [enforce]: 't', [`${enforce}-version`]: 'u' }),
        ),
      },
      changes: [],
    },
    {
      name: 'leaves an older version to the pass about the template that sets the level',
      request: {
        templates: [template('t', { [enforce]: 'restricted' }), template('u', { b: '1' })],
        namespace: namespace({ [enforce]: 'restricted', [`${enforce}-version`]: 'v1.0' }, record({ [enforce]: 't' })),
        only: 'u',
      },
      changes: ['configured labels b: undefined to 1 by u 4'],
    },
  ])('$name', ({ request, changes }) => expect(planned(request)).toEqual(changes))

  test('tells what can not be set, of the template that it is about', () => {
    const templates = [template('t', { a: '$(CREATOR)' }), template('u', { b: '$(CREATOR)' })]
    const unsettable = (only?: string): string[] =>
      planMetadata({
        ...{ namespace: namespace({}), templates, policyOf: () => 'Delete' },
        ...(only === undefined ? {} : { only }),
      }).unsettable.map(({ key }) => key)
    expect(unsettable()).toEqual(['a', 'b'])
    expect(unsettable('u')).toEqual(['b'])
  })
})

test.each<{ name: string; of: Namespace; templates: NamespaceTemplate[]; wants: boolean }>([
  {
    name: 'all is set',
    of: namespace({ a: '1' }, record({ a: 't' })),
    templates: [template('t', { a: '1' })],
    wants: false,
  },
  { name: 'something is not', of: namespace({}), templates: [template('t', { a: '1' })], wants: true },
  { name: 'something can not be', of: namespace({}), templates: [template('t', { a: '$(OWNER)' })], wants: true },
  {
    name: 'something is to go',
    of: namespace({ a: '1' }, record({ a: 't' })),
    templates: [template('t', {})],
    wants: true,
  },
  {
    name: 'another template holds something',
    of: namespace({ a: '1' }, record({ a: 'u' })),
    templates: [],
    wants: false,
  },
])('where $name, templates want a write: $wants', ({ of, templates, wants }) => {
  expect(wantsMetadata(templates, of)).toBe(wants)
})

test('a version takes away what it set and does no more, of its own alone', () => {
  const held = namespace({ a: '1', b: '2' }, record({ a: 't', b: 'u' }))
  expect(takesAwayMetadata(template('t', {}), held)).toBe(true)
  expect(takesAwayMetadata(template('t', { a: '3' }), held)).toBe(false)
  expect(takesAwayMetadata(template('x', { c: '3' }), held)).toBe(false)
})

describe('settled', () => {
  const { signal } = new AbortController()
  async function settled(request: Partial<MetadataRequest>, error?: Error) {
    const patches: unknown[] = []
    const client = {
      patch: async (...given: unknown[]) => {
        patches.push(given.slice(1))
        if (error !== undefined) throw error
      },
    } as unknown as Pick<Client, 'patch'>
    const whole: MetadataRequest = { namespace: namespace({}), templates: [], policyOf: () => 'Delete', ...request }
    return { patches, results: await settleMetadata(client, whole, signal) }
  }
  const patched = (labels: object, annotations: object, settles: object) => [
    { name: 'n' },
    {
      metadata: {
        ...{ uid: 'u', resourceVersion: '7', labels },
        annotations: { ...annotations, [versions]: JSON.stringify(settles) },
      },
    },
    { signal },
  ]

  test('needs no write where all is as it is wanted', async () => {
    const of = namespace({ a: '1' }, record({ a: 't' }))
    expect(await settled({ namespace: of, templates: [template('t', { a: '1' })] })).toEqual({
      patches: [],
      results: [],
    })
  })

  test('is what is new, what changes and what goes, in one write of what was looked at', async () => {
    const of = namespace({ a: 'x', c: '3' }, record({ a: 't', c: 'u' }))
    const { patches, results } = await settled({ namespace: of, templates: [template('t', { a: '1' }, { b: '2' })] })
    expect(patches).toEqual([patched({ a: '1', c: null }, { b: '2' }, { t: 4 })])
    expect(results).toEqual([
      { template: 't', object: 'label a', outcome: 'configured', change: { before: 'x', after: '1' } },
      { template: 't', object: 'annotation b', outcome: 'configured', change: { after: '2' } },
      { template: 'u', object: 'label c', outcome: 'pruned', isDeleted: true },
    ] satisfies ObjectResult[])
  })

  test('is what a template leaves behind, by the record alone', async () => {
    const of = namespace({ a: '1' }, record({ a: 't' }))
    const { patches, results } = await settled({ namespace: of, policyOf: () => 'Orphan' })
    expect(patches).toEqual([patched({}, { [holders]: null }, {})])
    expect(results).toEqual([{ template: 't', object: 'label a', outcome: 'orphaned' }])
  })

  test('tells what can not be set: a failure, or left out for want of a name', async () => {
    const templates = [template('t', { a: '1', b: '$(CREATOR)', c: '$(OWNER)' }), template('u', { a: '2' })]
    const { results } = await settled({ namespace: namespace({ a: '1' }, record({ a: 't' })), templates })
    const none = (name: string) => `it names $(${name}), and none is recorded of this namespace`
    expect(results).toEqual([
      { template: 't', object: 'label b', skipped: { reason: 'CreatorUnknown', message: none('CREATOR') } },
      { template: 't', object: 'label c', skipped: { reason: 'OwnerUnknown', message: none('OWNER') } },
      {
        ...{ template: 'u', object: 'label a' },
        failure: { reason: 'Conflict', message: 'template "t" sets it to "1" and comes first', retriable: false },
      },
    ])
  })

  test('a value that comes second is in its own way, also where the namespace chooses it', async () => {
    const chosen = template('u', { a: '$(team)' })
    const spec = { ...chosen.spec, parameters: [{ name: 'team', fromLabel: 'team' }] }
    const templates = [template('t', { a: '1' }), { ...chosen, spec }]
    const { results } = await settled({ namespace: namespace({ a: '1', team: 'x' }, record({ a: 't' })), templates })
    expect(results.map(({ failure }) => failure)).toEqual([
      { reason: 'Conflict', message: 'template "t" sets it to "1" and comes first', retriable: false },
    ])
  })

  test('who fills the annotations, or gives what is no label, is in the way of none but itself', async () => {
    const causes = [{ reason: 'FieldValueTooLong', field: 'metadata.annotations', message: 'Too long' }]
    const refused = new StatusError('too long', { reason: 'Invalid', details: { causes } })
    expect((await settled({ templates: [template('t', { a: '1' })] }, refused)).results[0]?.failure).toEqual({
      ...{ reason: 'Invalid', message: 'too long' },
      ...{ retriable: true, isObstructed: true },
    })
    for (const reason of ['RequestEntityTooLarge', 'InternalError'] as const) {
      const large = new StatusError('etcdserver: request is too large', { reason })
      const { results } = await settled({ templates: [template('t', { a: '1' })] }, large)
      expect(results[0]?.failure).toMatchObject({ reason, isObstructed: true })
    }
    const free = template('t', { a: '$(team)' })
    const parameters = [{ name: 'team', fromLabel: 'team' }]
    const chosen = { ...free, spec: { ...free.spec, parameters } }
    const fixed = { ...free, spec: { ...free.spec, parameters: [{ ...parameters[0], name: 'team', pattern: '.*' }] } }
    const failureOf = async (of: NamespaceTemplate) =>
      (await settled({ namespace: namespace({ team: 'no label' }), templates: [of] })).results[0]?.failure
    expect(await failureOf(chosen)).toMatchObject({ reason: 'Invalid', isObstructed: true })
    expect(await failureOf(fixed)).not.toHaveProperty('isObstructed')
  })

  test('a refusal fails each change; a conflict and what is no answer are thrown', async () => {
    const templates = [template('t', { a: '1', b: '2' })]
    const refused = new StatusError('not you', { reason: 'Forbidden' })
    const failure = { reason: 'Forbidden', message: 'not you', retriable: true }
    expect((await settled({ templates }, refused)).results).toEqual([
      { template: 't', object: 'label a', failure },
      { template: 't', object: 'label b', failure },
    ])
    for (const thrown of [new StatusError('changed', { reason: 'Conflict' }), new Error('no connection')]) {
      await expect(settled({ templates }, thrown)).rejects.toBe(thrown)
    }
  })
})
