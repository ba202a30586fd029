/** What is wrong with an entry of `spec.objects` itself, and with how an object is written. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../kube/types.ts'
import { entryErrors, sourceNameErrors } from './object-entries.ts'
import { shapeErrors } from './object-shape.ts'
import type { ObjectEntry } from './types.ts'

const template = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const from = { namespace: 'shared', apiVersion: 'v1', kind: 'Secret', name: 's' }
const told = (...entries: ObjectEntry[]): string[] =>
  entryErrors(entries).map(({ field, body }) => `${field.replace('spec.objects', '')}: ${body}`)

describe('an entry', () => {
  test.each<{ name: string; entry: ObjectEntry }>([
    { name: 'with an object', entry: { template } },
    { name: 'with a source', entry: { cloneFrom: from } },
    { name: 'with a ConfigMap as its source', entry: { cloneFrom: { ...from, kind: 'ConfigMap' } } },
    { name: 'with a condition', entry: { template, when: 'params.size == "a"' } },
    { name: 'with an empty condition', entry: { template, when: '' } },
  ])('$name is right', ({ entry }) => expect(told(entry)).toEqual([]))

  test.each<{ name: string; entry: ObjectEntry; errors: unknown[] }>([
    { name: 'with neither', entry: {}, errors: ['[1]: Required value: must have a template or a cloneFrom'] },
    {
      name: 'with both',
      entry: { template, cloneFrom: from },
      errors: ['[1].cloneFrom: Forbidden: may not be specified when `template` is set'],
    },
    {
      name: 'with a source that says nothing',
      entry: { cloneFrom: {} },
      errors: ['namespace', 'apiVersion', 'kind', 'name'].map((key) => `[1].cloneFrom.${key}: Required value`),
    },
    {
      name: 'with a token in its source',
      entry: { cloneFrom: { ...from, name: '$(OWNER)', namespace: '' } },
      errors: [
        '[1].cloneFrom.namespace: Required value',
        '[1].cloneFrom.name: Invalid value: "$(OWNER)": a token can not stand here',
      ],
    },
    {
      name: 'with a source of another kind',
      entry: { cloneFrom: { ...from, apiVersion: 'apps/v1', kind: 'Deployment' } },
      errors: [
        '[1].cloneFrom.apiVersion: Unsupported value: "apps/v1": supported values: "v1"',
        '[1].cloneFrom.kind: Unsupported value: "Deployment": supported values: "ConfigMap", "Secret"',
      ],
    },
    {
      name: 'with a condition that is none',
      entry: { template, when: '1 + 1' },
      errors: [expect.stringMatching(/^\[1\]\.when: Invalid value: "1 \+ 1": /)],
    },
    {
      name: 'with a condition that is too long',
      entry: { template, when: `true${' '.repeat(4093)}` },
      errors: [expect.stringMatching(/: must have at most 4096 characters$/)],
    },
  ])('$name is wrong', ({ entry, errors }) => expect(told({ template }, entry)).toEqual(errors))

  test('with conditions that are too long together is wrong, and none of them is parsed', () => {
    const entries = (last: string): ObjectEntry[] =>
      [...Array<string>(7).fill(`true${' '.repeat(4092)}`), last].map((when) => ({ template, when }))
    expect(told(...entries(`true${' '.repeat(4092)}`))).toEqual([])
    expect(entryErrors(entries(`(${' '.repeat(4096)}`))).toEqual([
      {
        type: 'FieldValueForbidden',
        field: 'spec.objects',
        body: 'Forbidden: conditions may have 32768 characters together, not 32769',
      },
    ])
  })

  test('is one of at most twenty with sources', () => {
    const many = (count: number): ObjectEntry[] => Array.from({ length: count }, () => ({ cloneFrom: from }))
    expect(told(...many(20), { template })).toEqual([])
    expect(told(...many(21))).toEqual([': Too many: 21: must have at most 20 items'])
  })

  test('may have a condition of 4096 characters', () => {
    expect(told({ template, when: `true${' '.repeat(4092)}` })).toEqual([])
  })
})

describe('an object', () => {
  test.each<{ name: string; object: JsonObject; errors: string[] }>([
    { name: 'with texts', object: template, errors: [] },
    { name: 'with nothing', object: {}, errors: [] },
    { name: 'with nulls', object: { apiVersion: null, kind: null, metadata: null }, errors: [] },
    { name: 'with null for its name', object: { metadata: { name: null, namespace: null } }, errors: [] },
    {
      name: 'with numbers',
      object: { apiVersion: 1, kind: 2, metadata: { name: 3, namespace: true } },
      errors: [
        'f.apiVersion: Invalid value: 1: must be a string',
        'f.kind: Invalid value: 2: must be a string',
        'f.metadata.name: Invalid value: 3: must be a string',
        'f.metadata.namespace: Invalid value: true: must be a string',
      ],
    },
    { name: 'with a list', object: { metadata: [] }, errors: ['f.metadata: Invalid value: []: must be an object'] },
    { name: 'with a text', object: { metadata: 'a' }, errors: ['f.metadata: Invalid value: "a": must be an object'] },
  ])('$name in their places', ({ object, errors }) => {
    expect(shapeErrors(object, 'f').map(({ field, body }) => `${field}: ${body}`)).toEqual(errors)
  })
})

test('a source is called as a namespace, Secret or ConfigMap may be', () => {
  const label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
  const subdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
  expect(sourceNameErrors({ ...from, namespace: 'a/b', name: 'x=' }, 'f')).toEqual([
    { type: 'FieldValueInvalid', field: 'f.namespace', body: `Invalid value: "a/b": ${label}` },
    { type: 'FieldValueInvalid', field: 'f.name', body: `Invalid value: "x=": ${subdomain}` },
  ])
  expect(sourceNameErrors({ ...from, name: 'a.b' }, 'f')).toEqual([])
})
