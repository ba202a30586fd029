/** Which refusals of an apply say nothing of the template, but of what is in the namespace. */
import { describe, expect, test } from 'vitest'
import { conflict, forbidden, internalError, invalid, notFound, StatusError } from '../../kube/status-error.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../kube/types.ts'
import { contentDigest } from './marks.ts'
import { isChosenFreely, isTooLarge, type RefusedApply, refusedBesides, refusedFor } from './object-failures.ts'
import type { NamespaceTemplate } from './types.ts'

const configMaps = { group: '', resource: 'configmaps' }
const refused = invalid({ group: '', kind: 'ConfigMap' }, 'c', [])
const ours = { manager: 'namespace-template', operation: 'Apply', fieldsV1: { 'f:data': {} } } as ManagedFieldsEntry
const object: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } },
  metadata: { name: 'c', namespace: 'n', uid: 'u', managedFields: [ours] },
}
const template: NamespaceTemplate = { metadata: { name: 't' } }

interface Given {
  readonly there?: KubeObject | Error | undefined
  readonly claim?: object
  readonly known?: object
  readonly template?: NamespaceTemplate
}

async function isObstructed(status: StatusError, given: Given = {}): Promise<boolean> {
  const there = 'there' in given ? given.there : object
  const apply = {
    client: {
      async get() {
        if (there === undefined) throw notFound(configMaps, 'c')
        if (there instanceof Error) throw there
        return there
      },
    },
    rendered: { template: given.template ?? template, object, held: { source: { data: { a: '$(size)' } } } },
    claim: { uid: 'u', content: contentDigest(object), ...given.claim },
    known: given.known,
    namespace: { metadata: { name: 'n', annotations: { size: 'x' } } },
  } as unknown as RefusedApply
  const { failure } = await refusedFor(apply, status)
  expect(failure).toMatchObject({ message: status.message, retriable: true })
  return failure?.isObstructed === true
}

describe('an apply that is refused is obstructed', () => {
  const withFields = (entry: object): KubeObject => {
    const managedFields = [ours, { operation: 'Update', ...entry } as ManagedFieldsEntry]
    return { ...object, metadata: { ...object.metadata, managedFields } }
  }
  const causes = [{ reason: 'FieldValueTooLong', field: 'metadata.annotations', message: 'Too long' }]
  const tooMany = new StatusError('too long', { reason: 'Invalid', details: { causes } })
  test.each<{ name: string; status?: StatusError; given?: Given; is: boolean }>([
    { name: 'what is there is as it was left', is: false },
    { name: 'nothing is there', given: { there: undefined }, is: false },
    { name: 'it can not be read', given: { there: internalError('no') }, is: false },
    { name: 'another object is there', given: { claim: { uid: 'v' } }, is: true },
    { name: 'it says something else than was left there', given: { claim: { content: 'other' } }, is: true },
    {
      name: 'it says something else, and so it was found by us',
      given: { claim: { content: 'other' }, known: { uid: 'u', digest: contentDigest(object), applied: 'config' } },
      is: false,
    },
    {
      name: 'it was found with more than we gave',
      given: {
        claim: { content: '' },
        known: { uid: 'u', digest: contentDigest(object), applied: 'config', extended: 'more' },
      },
      is: true,
    },
    {
      name: 'it was found, and never applied by us',
      given: { claim: { content: '' }, known: { uid: 'u', digest: contentDigest(object) } },
      is: true,
    },
    {
      name: 'it has changed since it was found',
      given: { claim: { content: '' }, known: { uid: 'u', digest: 'former', applied: 'config' } },
      is: true,
    },
    {
      name: 'another manager holds fields',
      given: { there: withFields({ fieldsV1: { 'f:immutable': {} } }) },
      is: true,
    },
    {
      name: 'an update under our name holds fields',
      given: { there: withFields({ manager: 'namespace-template', fieldsV1: { 'f:immutable': {} } }) },
      is: true,
    },
    { name: 'another holds metadata', given: { there: withFields({ fieldsV1: { 'f:metadata': {} } }) }, is: false },
    {
      name: 'another holds its status',
      given: { there: withFields({ subresource: 'status', fieldsV1: { 'f:status': {} } }) },
      is: false,
    },
    { name: 'annotations of it are too many', status: tooMany, is: true },
    { name: 'its own annotations are too many', status: tooMany, given: { there: undefined }, is: false },
    { name: 'it is too large', status: new StatusError('large', { reason: 'RequestEntityTooLarge' }), is: true },
    { name: 'etcd finds it too large', status: internalError('etcdserver: request is too large'), is: true },
    {
      name: 'the client of etcd finds it too large',
      status: internalError(
        'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097440 vs. 2097152)',
      ),
      is: true,
    },
    {
      name: 'etcd finds too large what is not there',
      status: internalError('etcdserver: request is too large'),
      given: { there: undefined },
      is: false,
    },
    {
      name: 'a server that is down refuses it',
      status: internalError('no'),
      given: { claim: { uid: 'v' } },
      is: false,
    },
    {
      name: 'a policy refuses what others have changed',
      status: forbidden(configMaps, 'c', 'no'),
      given: { claim: { content: 'other' } },
      is: true,
    },
    { name: 'a policy refuses it', status: forbidden(configMaps, 'c', 'no'), is: false },
    {
      name: 'a quota is used up',
      status: forbidden(
        configMaps,
        'c',
        'exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
      ),
      given: { there: undefined },
      is: true,
    },
    {
      name: 'a quota asks for what it does not say',
      status: forbidden(configMaps, 'c', 'failed quota: q: must specify cpu'),
      given: { there: undefined },
      is: false,
    },
    {
      name: 'the namespace gives a value that may be anything',
      given: { template: { ...template, spec: { parameters: [{ name: 'size', fromAnnotation: 'size' }] } } },
      is: true,
    },
    {
      name: 'a value that may be anything makes it unreadable, and no reason is given',
      status: new StatusError('unable to convert merged object'),
      given: { template: { ...template, spec: { parameters: [{ name: 'size', fromAnnotation: 'size' }] } } },
      is: true,
    },
    {
      name: 'a server that is down refuses a value that may be anything',
      status: internalError('no'),
      given: { template: { ...template, spec: { parameters: [{ name: 'size', fromAnnotation: 'size' }] } } },
      is: false,
    },
  ])('where $name: $is', async ({ status = refused, given, is }) => expect(await isObstructed(status, given)).toBe(is))

  test('and what is no answer of a server is thrown', async () => {
    const fault = new Error('a fault')
    await expect(isObstructed(refused, { there: fault })).rejects.toBe(fault)
  })
})

test.each([
  { name: 'has choices', parameter: { enum: ['x'] }, is: false },
  { name: 'has a pattern', parameter: { pattern: '.*' }, is: false },
  { name: 'is not given', parameter: { fromAnnotation: 'other' }, is: false },
  { name: 'does not stand there', parameter: { name: 'tier' }, is: false },
  { name: 'is free', parameter: {}, is: true },
])('a parameter that $name is chosen freely: $is', ({ parameter, is }) => {
  const spec = { parameters: [{ name: 'size', fromAnnotation: 'size', ...parameter }] }
  const namespace = { metadata: { name: 'n', annotations: { size: 'x' } } }
  expect(isChosenFreely('$(size)Gi', { ...template, spec }, namespace)).toBe(is)
  expect(isChosenFreely('$(size)Gi', template, namespace)).toBe(false)
})

test('what was applied, and could not be compared with what others added, is obstructed', () => {
  const rendered = { template, object } as unknown as RefusedApply['rendered']
  const said = (status: StatusError) => refusedBesides(rendered, status).failure?.isObstructed
  expect(said(refused)).toBe(true)
  expect(said(conflict(configMaps, 'c', 'changed'))).toBe(true)
  expect(said(internalError('no'))).toBeUndefined()
  expect(isTooLarge(refused)).toBe(false)
})
