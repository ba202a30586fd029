import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { faultsAt, pathIn, readTemplate, textOf } from './template-text.ts'

const text = `apiVersion: policy.borough.dev/v1alpha1
kind: NamespaceTemplate
metadata:
  name: default
spec:
  templates:
    - apiVersion: v1
      kind: ConfigMap
      metadata:
        labels:
          a.b/c: d
`
const at = (from: number, to: number): string => text.slice(from, to)

test('what the server keeps for itself is not edited, and comes back as it was written', () => {
  const written = textOf({
    metadata: {
      name: 'a',
      uid: 'u',
      resourceVersion: '7',
      generation: 2,
      annotations: { x: 'y', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    spec: { adopt: true },
    status: { matched: 3 },
  })
  expect(readTemplate(written)).toEqual({
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name: 'a', annotations: { x: 'y' } },
    spec: { adopt: true },
  })
})

test.each(['yes', 'no', 'on', 'off', 'y', 'n', '1:30', '012'])('the text %s is one for kubectl too', (value) => {
  const written = textOf({
    metadata: { name: 'a' },
    spec: { namespaces: { labelSelector: { matchLabels: { fleet: value } } } },
  })
  expect(parse(written, { version: '1.1' })).toMatchObject({
    spec: { namespaces: { labelSelector: { matchLabels: { fleet: value } } } },
  })
})

test.each([
  { field: 'spec.templates[0].kind', path: ['spec', 'templates', 0, 'kind'] },
  { field: 'metadata.labels[a.b/c]', path: ['metadata', 'labels', 'a.b/c'] },
  { field: '', path: [] },
])('$field is a path', ({ field, path }) => {
  expect(pathIn(field)).toEqual(path)
})

test.each([
  { field: 'spec.templates[0].kind', marked: 'ConfigMap' },
  { field: 'spec.templates[0].metadata.labels[a.b/c]', marked: 'd' },
  { field: 'metadata.name', marked: 'default' },
])('a fault of $field stands at its value', ({ field, marked }) => {
  const [fault] = faultsAt(text, [{ field, message: 'Invalid value' }])
  expect(fault?.message).toBe(`${field}: Invalid value`)
  expect(at(fault?.from ?? 0, fault?.to ?? 0).trim()).toBe(marked)
})

test('a fault of a field that is missing stands at what it is missing in; one of no field stands nowhere', () => {
  const [missing] = faultsAt(text, [{ field: 'spec.templates[0].metadata.name', message: 'Required value' }])
  expect(at(missing?.from ?? 0, missing?.to ?? 0)).toContain('a.b/c: d')
  expect(faultsAt(text, [{ field: 'status.x', message: 'no' }])).toEqual([])
})

test('what is no YAML is said with its line', () => {
  expect(() => readTemplate('a: [')).toThrow(/at line 1/)
  expect(() => readTemplate('a: 1')).toThrow('metadata.name is missing')
  expect(faultsAt('a: [', [])).toHaveLength(1)
})

test('words and numbers are what kubectl and the commands take them for', () => {
  const data = '{enabled: yes, off: no, octal: 010, day: 2024-01-02, time: 1:30, quoted: "yes"}'
  expect(readTemplate(`metadata: {name: a}\nspec: ${data}\n`).spec).toEqual({
    enabled: true,
    false: false,
    octal: 8,
    day: '2024-01-02',
    time: '1:30',
    quoted: 'yes',
  })
})

test.each(['yes', 'on', '012', '1:30'])('a key %s comes back as it was written', (key) => {
  const spec = { namespaces: { labelSelector: { matchLabels: { [key]: 'x' } } } }
  expect(readTemplate(textOf({ metadata: { name: 'a' }, spec })).spec).toEqual(spec)
})
