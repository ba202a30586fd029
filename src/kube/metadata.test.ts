import { describe, expect, test } from 'vitest'
import { faultsOf } from '../../test/support/refusal.ts'
import { isResumable, runAtOnce } from '../base/resumable.ts'
import {
  annotationsMaxBytes,
  dedupOwnerReferences,
  finalizerWarnings,
  judgeMetadata,
  judgeMetadataUpdate,
  type MetadataRules,
  nameOf,
  uidOf,
  validateFieldManager,
  validateMetadata,
} from './metadata.ts'
import { nameIsLabel, nameIsSubdomain } from './names.ts'
import type { ObjectMeta, OwnerReference } from './types.ts'

const cluster: MetadataRules = { namespaced: false, validateName: nameIsLabel, custom: false }
const namespaced: MetadataRules = { namespaced: true, validateName: nameIsSubdomain, custom: false }
const owner: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }

describe('metadata on create', () => {
  const cases: { name: string; given: ObjectMeta; rules?: MetadataRules; want: string[] }[] = [
    { name: 'a plain name is enough', given: { name: 'a' }, want: [] },
    {
      name: 'a generation counts up from 0',
      given: { name: 'a', generation: -1 },
      want: ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    },
    {
      name: 'a sub-resource in managedFields has a name of its length',
      given: {
        name: 'a',
        managedFields: [{ manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', subresource: 'x'.repeat(257) }],
      },
      want: ['metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes'],
    },
    {
      name: 'a name must be there',
      given: {},
      want: ['metadata.name: Required value: name or generateName is required'],
    },
    {
      name: 'a namespace must be there on namespaced kinds',
      given: { name: 'a' },
      rules: namespaced,
      want: ['metadata.namespace: Required value'],
    },
    {
      name: 'a namespace must not be there on the others',
      given: { name: 'a', namespace: 'b' },
      want: ['metadata.namespace: Forbidden: not allowed on this type'],
    },
    {
      name: 'both the prefix and the generated name are judged',
      given: { generateName: 'AB-', name: 'AB-x' },
      want: [
        expect.stringMatching(/^metadata\.generateName: Invalid value: "AB-": a lowercase RFC 1123 label/),
        expect.stringMatching(/^metadata\.name: Invalid value: "AB-x": a lowercase/),
      ] as unknown as string[],
    },
    {
      name: 'label keys and values are judged under one field',
      given: { name: 'a', labels: { '': 'x', ok: 'b c' } },
      want: [
        'metadata.labels: Invalid value: "": name part must be non-empty',
        expect.stringMatching(/^metadata\.labels: Invalid value: "": name part must consist/),
        expect.stringMatching(/^metadata\.labels: Invalid value: "b c": a valid label must be an empty string/),
      ] as unknown as string[],
    },
    {
      name: 'annotation keys may be in any case',
      given: { name: 'a', annotations: { 'Example.COM/x': '1' } },
      want: [],
    },
    {
      name: 'annotations are bounded in total',
      given: { name: 'a', annotations: { a: 'x'.repeat(annotationsMaxBytes) } },
      want: ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    },
    {
      name: 'an empty owner reference is told of each gap',
      given: { name: 'a', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
      want: [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    },
    {
      name: 'an event owns nothing',
      given: { name: 'a', ownerReferences: [{ ...owner, kind: 'Event' }] },
      want: [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}: ' +
          '/v1, Kind=Event is disallowed from being an owner',
      ],
    },
    {
      name: 'there is one controller at most',
      given: {
        name: 'a',
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 'p', controller: true },
        ],
      },
      want: [
        expect.stringContaining(
          'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/o ' +
            'and ConfigMap/p',
        ),
      ] as unknown as string[],
    },
    {
      name: 'a finalizer of a built-in kind is standard or qualified',
      given: { name: 'a', finalizers: ['kubernetes', 'a.b/c', 'mine'] },
      want: [
        'metadata.finalizers[2]: Invalid value: "mine": name is neither a standard finalizer name nor is it ' +
          'fully qualified',
      ],
    },
    {
      name: 'a finalizer of a custom resource may be short',
      given: { name: 'a', finalizers: ['mine'] },
      rules: { ...cluster, custom: true },
      want: [],
    },
    {
      name: 'orphan and foreground deletion exclude each other',
      given: { name: 'a', finalizers: ['orphan', 'foregroundDeletion'] },
      want: [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and ' +
          'foregroundDeletion cannot be both set',
      ],
    },
    {
      name: 'managed fields are Apply or Update',
      given: { name: 'a', managedFields: [{ manager: 'fo\u0000o', operation: 'Steal', fieldsType: 'V2' }] },
      want: [
        'metadata.managedFields[0].operation: Invalid value: "Steal": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
        'metadata.managedFields[0].manager: Invalid value: "fo\\x00o": invalid character U+0000 (at position 2)',
      ],
    },
  ]
  test.each(cases)('$name', ({ given, rules, want }) =>
    expect(faultsOf(validateMetadata(given, rules ?? cluster))).toEqual(want),
  )
})

describe('metadata on update', () => {
  const old: ObjectMeta = { name: 'a', uid: '1', creationTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.y/z'] }
  const deleting: ObjectMeta = { ...old, deletionTimestamp: '2026-01-02T00:00:00Z' }
  const cases: { name: string; old?: ObjectMeta; given: ObjectMeta; want: string[] }[] = [
    { name: 'the same metadata is fine', given: old, want: [] },
    {
      name: 'identity is immutable',
      given: { ...old, name: 'b', uid: '2', creationTimestamp: null },
      want: [
        'metadata.name: Invalid value: "b": field is immutable',
        'metadata.uid: Invalid value: "2": field is immutable',
        'metadata.creationTimestamp: Invalid value: null: field is immutable',
      ],
    },
    {
      name: 'an object being deleted takes no new finalizer',
      old: deleting,
      given: { ...deleting, finalizers: ['q.r/s', 'a.b/c'] },
      want: [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, ' +
          'found new finalizers []string{"a.b/c", "q.r/s"}',
      ],
    },
    {
      name: 'an object being deleted may lose finalizers',
      old: deleting,
      given: { ...deleting, finalizers: [] },
      want: [],
    },
    {
      name: 'generation does not go back',
      old: { ...old, generation: 3 },
      given: { ...old, generation: 2 },
      want: ['metadata.generation: Invalid value: 2: must not be decremented'],
    },
  ]
  test.each(cases)('$name', ({ given, old: before, want }) =>
    expect(faultsOf(runAtOnce(judgeMetadataUpdate(given, before ?? old, cluster)))).toEqual(want),
  )
})

test('equal owner references are kept once, with a warning that names their uids', () => {
  const other = { ...owner, uid: 'v' }
  const result = dedupOwnerReferences([owner, other, { ...owner }, { ...owner, name: 'p' }])
  expect(result.owners).toEqual([owner, other, { ...owner, name: 'p' }])
  expect(result.warning).toBe(
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and ' +
      'may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u',
  )
  const unique = [owner, other]
  expect(dedupOwnerReferences(unique)).toEqual({ owners: unique })
})

test('short finalizers of custom resources earn a warning once', () => {
  expect(
    finalizerWarnings({ finalizers: ['mine', 'a.b', 'a.b/c', 'orphan', 'known'] }, { finalizers: ['known'] }),
  ).toEqual([
    'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts ' +
      'with other finalizer writers',
    'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid ' +
      'accidental conflicts with other finalizer writers',
  ])
})

test('the name of a field manager has at most 128 bytes, all of them printable', () => {
  expect(faultsOf(validateFieldManager('m'.repeat(129), 'fieldManager'))).toEqual([
    'fieldManager: Too long: may not be more than 128 bytes',
  ])
})

test('many entries are judged in steps, and few at once', () => {
  const labels = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`l${i}`, i === 2499 ? '-' : 'v']))
  const judging = judgeMetadata({ name: 'a', labels }, cluster)
  if (!isResumable(judging)) throw new Error('2,500 labels were judged in one piece')
  let steps = 0
  let step = judging.next()
  for (; step.done !== true; step = judging.next()) steps++
  expect(steps).toBe(2)
  expect(faultsOf(step.value)).toEqual([expect.stringContaining('metadata.labels: Invalid value: "-"')])
  expect(isResumable(judgeMetadata({ name: 'a', labels: { one: 'v' } }, cluster))).toBe(false)
})

describe('what an object that is held is called', () => {
  test('its name and its uid are those of its metadata', () => {
    expect([nameOf({ name: 'a', uid: 'u' }), uidOf({ name: 'a', uid: 'u' })]).toEqual(['a', 'u'])
  })

  test('without them, both are empty', () => {
    expect([nameOf({}), uidOf({})]).toEqual(['', ''])
  })
})
