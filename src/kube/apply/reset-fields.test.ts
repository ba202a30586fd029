import { expect, it } from 'vitest'
import { configMap, configMapSchema } from '../../../test/support/apply-fixtures.ts'
import type { Subresource } from '../resource-type.ts'
import { resetFieldsOf } from './reset-fields.ts'
import { trackUpdate } from './track-update.ts'

const subresource: Subresource = { name: 'status', verbs: ['get'], kind: { group: '', version: 'v1', kind: 'X' } }
const withStatus = { subresources: new Map([['status', subresource]]), custom: false }
const without = { subresources: new Map<string, Subresource>(), custom: false }

it.each([
  { name: 'the main resource cannot set status', type: withStatus, at: '', want: ['metadata', 'spec'] },
  { name: 'without a status sub-resource it can', type: without, at: '', want: ['metadata', 'spec', 'status'] },
  { name: 'status cannot set spec', type: withStatus, at: 'status', want: ['metadata', 'status'] },
  {
    name: 'status of a custom resource cannot set metadata either',
    type: { ...withStatus, custom: true },
    at: 'status',
    want: ['status'],
  },
  {
    name: 'status cannot set metadata that it leaves as it was',
    type: withStatus,
    at: 'status',
    kept: ['labels'],
    want: ['status'],
  },
  { name: 'finalize cannot set status', type: withStatus, at: 'finalize', want: ['metadata', 'spec'] },
])('$name', ({ type, at, kept, want }) => {
  const tracked = trackUpdate({
    live: undefined,
    next: configMap({ metadata: { labels: { a: 'b' } }, spec: { a: 1 }, status: { b: 1 } }),
    schema: configMapSchema,
    manager: 'm',
    apiVersion: 'v1',
    subresource: at,
    now: '2026-01-01T00:00:00Z',
    resetFields: resetFieldsOf(type, at, kept),
  })
  expect(Object.keys(tracked.metadata.managedFields?.[0]?.fieldsV1 ?? {})).toEqual(want.map((field) => `f:${field}`))
})
