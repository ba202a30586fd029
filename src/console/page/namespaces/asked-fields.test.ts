import { expect, test } from 'vitest'
import type { NamespaceTemplate, TemplateParameter } from '../../../apis/templates/types.ts'
import { StatusError } from '../../../kube/status-error.ts'
import { askedBy, askedByServer, faultsIn, selecting } from './asked-fields.ts'

const template = (name: string, parameters: TemplateParameter[], namespaces = {}): NamespaceTemplate => ({
  metadata: { name },
  spec: { namespaces, parameters, templates: [] },
})

test('a parameter is a field at the place where the namespace gives it', () => {
  const size = { name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], default: 'small' }
  const cost = { name: 'cost', fromAnnotation: 'example.com/cost', pattern: '[0-9]+', required: true }
  expect(askedBy([template('team', [size, cost])])).toEqual([
    {
      place: 'metadata.labels[example.com/size]',
      title: 'size',
      choices: ['small', 'large'],
      preset: 'small',
      isRequired: false,
      hints: ['one of "small", "large" (template team)'],
    },
    {
      place: 'metadata.annotations[example.com/cost]',
      title: 'cost',
      preset: '',
      isRequired: true,
      hints: ['text that matches [0-9]+ (template team)'],
    },
  ])
})

test('what two templates ask for in one label is one field, with what both allow', () => {
  const one = template('a', [{ name: 'size', fromLabel: 'size', enum: ['s', 'm'] }])
  const other = template('b', [{ name: 'plan', fromLabel: 'size', enum: ['m', 'l'], required: true }])
  const free = template('c', [{ name: 'size', fromLabel: 'size' }])
  expect(askedBy([one, other, free])).toMatchObject([
    { title: 'size, plan, size', choices: ['m'], isRequired: true, hints: [{}, {}, {}] },
  ])
  expect(askedBy([free, one])).toMatchObject([{ choices: ['s', 'm'] }])
})

test('templates ask that would select the namespace of this user', () => {
  const mine = template('mine', [], { creatorSelector: { users: ['alice'] } })
  const named = template('named', [], { nameSelector: { include: ['team-*'] } })
  const labelled = template('labelled', [], { labelSelector: { matchLabels: { kind: 'team' } } })
  const all = [mine, named, labelled]
  const namesFor = (name: string, creator: string, labels = {}) =>
    selecting(all, { metadata: { name, labels } }, creator).map(({ metadata }) => metadata.name)
  expect(namesFor('team-a', 'alice')).toEqual(['mine', 'named'])
  expect(namesFor('other', 'bob', { kind: 'team' })).toEqual(['labelled'])
  expect(namesFor('', 'alice', { kind: 'team' })).toEqual([])
})

test('the words of the server stand at the fields that they are about', () => {
  const causes = [
    { reason: 'FieldValueInvalid', field: 'metadata.name', message: 'Invalid value: one' },
    { reason: 'FieldValueInvalid', field: 'metadata.name', message: 'Invalid value: two' },
    { reason: 'FieldValueRequired', field: 'metadata.labels[size]', message: 'Required value: size' },
    { reason: 'Other', message: 'about no field' },
  ]
  const error = new StatusError('no', { reason: 'Invalid', details: { causes } })
  expect(Object.fromEntries(faultsIn(error))).toEqual({
    'metadata.name': ['Invalid value: one', 'Invalid value: two'],
    'metadata.labels[size]': ['Required value: size'],
  })
  expect(faultsIn(new Error('no connection')).size).toBe(0)
  expect(askedByServer('metadata.labels[size]')).toMatchObject({ title: 'size', isRequired: false })
})
