/** What templates may set on namespaces, and which two of them may not do so at once. */
import { describe, expect, test } from 'vitest'
import { compileMatcher } from './match.ts'
import { metadataClashes, metadataErrors } from './metadata-rules.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const size = { name: 'size', fromLabel: 'size', enum: ['small', 'large'] }
const free = { name: 'free', fromAnnotation: 'free' }
const of = (name: string, spec: Spec, metadata: object = {}): NamespaceTemplate => ({
  metadata: { name, ...metadata },
  spec,
})
const labels = (set: Record<string, string>): Spec => ({ namespaceMetadata: { labels: set } })
const annotations = (set: Record<string, string>): Spec => ({ namespaceMetadata: { annotations: set } })
const told = (spec: Spec): string[] =>
  metadataErrors(of('t', { parameters: [size, free], ...spec })).map(({ field, body }) => {
    return `${field.replace('spec.namespaceMetadata.', '')}: ${body}`
  })

describe('a template may set', () => {
  test.each<{ name: string; spec: Spec }>([
    { name: 'nothing', spec: {} },
    { name: 'any label of its own', spec: labels({ 'example.com/a': 'b', c: '' }) },
    { name: 'labels that Kubernetes acts upon', spec: labels({ 'pod-security.kubernetes.io/enforce': 'restricted' }) },
    { name: 'a version of a level', spec: labels({ 'pod-security.kubernetes.io/enforce-version': 'v1.30' }) },
    { name: 'what is not a domain of ours', spec: labels({ 'notborough.dev/a': 'b', 'policy.example.com/a': 'b' }) },
    { name: 'tokens', spec: labels({ a: '$(NAMESPACE)-x$(size)', b: '$(CREATOR).$(OWNER)' }) },
    { name: 'any text as an annotation', spec: annotations({ a: 'b c $$(what) $(free) $(CREATOR)' }) },
    { name: 'a label that is one with each value of a parameter', spec: labels({ a: 'x$(size)x' }) },
  ])('$name', ({ spec }) => expect(told(spec)).toEqual([]))
  test('without a spec', () => expect(metadataErrors({ metadata: { name: 't' } })).toEqual([]))
})

describe('a template may not set', () => {
  const own = 'Forbidden: templates may not set keys of borough.dev or policy, or keys that the server sets'
  test.each([
    ...['borough.dev/owner', 'policy.borough.dev/a', 'policy/a', 'x.policy/a'],
    ...['authorization.k8s.io/creator', 'kubernetes.io/metadata.name'],
  ])('%s', (key) => {
    expect(told(labels({ [key]: 'x' }))).toEqual([`labels[${key}]: ${own}`])
    expect(told(annotations({ [key]: 'x' }))).toEqual([`annotations[${key}]: ${own}`])
  })

  test('a key that is none, whatever it would be', () => {
    expect(told(labels({ 'policy/a b': '$(x)' }))).toEqual([
      expect.stringMatching(/^labels\[policy\/a b\]: Invalid value: /),
    ])
  })

  test('a token that there is not', () => {
    const why =
      '$(sise) is no token: there are $(CREATOR), $(OWNER), $(NAMESPACE), $(size), $(free). The text itself is'
    expect(told(annotations({ a: '$(size) $$(sise) $(sise)' }))).toEqual([
      `annotations[a]: Invalid value: "$(size) $$(sise) $(sise)": ${why} written $$(sise)`,
    ])
  })

  test.each([
    ['enforce', 'strict', 'must be one of privileged, baseline, restricted'],
    ['warn', 'Restricted', 'must be one of privileged, baseline, restricted'],
    ['audit-version', '1.30', 'must be "latest" or "v1.x"'],
  ])('a label %s of Pod Security that PodSecurity would refuse of each namespace', (label, value, why) => {
    const key = `pod-security.kubernetes.io/${label}`
    const field = `spec.namespaceMetadata.labels[${key}]`
    const body = `Invalid value: "${value}": ${why}`
    const errors = metadataErrors(of('t', labels({ [key]: value })))
    expect(errors).toEqual([{ type: 'FieldValueInvalid', field, body }])
    expect(told(annotations({ [key]: value }))).toEqual([])
  })

  test('what Kubernetes acts upon by a token', () => {
    const why = 'a token can not stand here: Kubernetes acts upon this key, and its value would be a user’s choice'
    expect(told(labels({ 'a.kubernetes.io/b': '$(size)' }))).toEqual([`labels[a.kubernetes.io/b]: Forbidden: ${why}`])
    expect(told(annotations({ 'k8s.io/b': '$(CREATOR)' }))).toEqual([`annotations[k8s.io/b]: Forbidden: ${why}`])
  })

  test('a label that is none with some value of a parameter, which is shown', () => {
    expect(told(labels({ a: '-$(size)' }))).toEqual([
      expect.stringMatching(/^labels\[a\]: Invalid value: "-small": a valid/),
    ])
    // Nothing given stands for the empty text.
    expect(told(labels({ a: '$(size)-x' }))).toEqual([
      expect.stringMatching(/^labels\[a\]: Invalid value: "-x": a valid/),
    ])
    expect(told(labels({ a: '$(NAMESPACE)-' }))).toEqual([expect.stringMatching(/^labels\[a\]: Invalid value: "a-": /)])
  })
})

describe('two templates clash', () => {
  const clashes = (template: NamespaceTemplate, others: NamespaceTemplate[], same = false): string[] =>
    metadataClashes(template, others.map(compileMatcher), () => same).map(({ field, body }) => `${field}: ${body}`)
  const reads: Spec = {
    namespaces: { labelSelector: { matchLabels: { l: 'x' }, matchExpressions: [{ key: 'e', operator: 'Exists' }] } },
    parameters: [
      { name: 'p', fromLabel: 'pl' },
      { name: 'q', fromAnnotation: 'pa' },
    ],
  }
  const sets: Spec = {
    namespaceMetadata: { labels: { l: 'x', e: 'x', pl: 'x', pa: 'x' }, annotations: { pa: 'x', l: 'x', pl: 'x' } },
  }
  const byField = [
    ['labels[l]', 'spec.namespaces.labelSelector.matchLabels'],
    ['labels[e]', 'spec.namespaces.labelSelector.matchExpressions[0].key'],
    ['labels[pl]', 'spec.parameters[0].fromLabel'],
    ['annotations[pa]', 'spec.parameters[1].fromAnnotation'],
  ]
  const readBy = (who: string): string[] =>
    byField.map(([key, by]) => `spec.namespaceMetadata.${key}: Forbidden: ${who} reads it from the namespace, by ${by}`)

  test('with themselves: what one sets it may not read', () => {
    expect(clashes(of('t', { ...reads, ...sets }), [])).toEqual(readBy('this template'))
  })

  test('where the other reads what this one sets', () => {
    expect(clashes(of('t', sets), [of('u', reads)])).toEqual(readBy('template "u"'))
  })

  test('where this one reads what the other sets', () => {
    const set = (what: string) => `template "u" sets ${what}, which no template may read`
    expect(clashes(of('t', reads), [of('u', sets)])).toEqual([
      `spec.namespaces.labelSelector.matchLabels: Forbidden: ${set('label l')}`,
      `spec.namespaces.labelSelector.matchExpressions[0].key: Forbidden: ${set('label e')}`,
      `spec.parameters[0].fromLabel: Forbidden: ${set('label pl')}`,
      `spec.parameters[1].fromAnnotation: Forbidden: ${set('annotation pa')}`,
    ])
  })

  test('where both set a key otherwise on the same namespaces', () => {
    const [one, other] = [of('t', labels({ a: '1', b: '1', c: '1' })), of('u', labels({ a: '2', b: '1' }))]
    expect(clashes(one, [other])).toEqual([])
    expect(clashes(one, [other], true)).toEqual([
      'spec.namespaceMetadata.labels[a]: Invalid value: "1": template "u" sets it to "2" on the same namespaces',
    ])
    expect(clashes(of('t', annotations({ a: '1' })), [other], true)).toEqual([])
  })

  test('not with an earlier version of the same, one that is switched off, or one that goes', () => {
    const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
    const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
    const others = [of('t', reads), of('u', reads, off), of('v', reads, gone)]
    expect(clashes(of('t', sets), others, true)).toEqual([])
  })
})
