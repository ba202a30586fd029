/** What is copied of a source, if it consents; and why not. */
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { clonesIn, sourceKey } from './clone-sources.ts'
import { cloneResolver, cloneResource, resolveNameOnly } from './clones.ts'
import type { CloneSource } from './types.ts'

const from: CloneSource = { namespace: 'shared', apiVersion: 'v1', kind: 'Secret', name: 's' }
const namespace = { metadata: { name: 'n', labels: { team: 'a' } } }
const consent = (to: string) => ({ annotations: { 'policy.borough.dev/clone-to': to } })
const source = (metadata: object, more: object = {}): KubeObject =>
  ({ metadata: { name: 's', uid: 'u', ...metadata }, data: { a: 'eA==' }, type: 'Opaque', ...more }) as KubeObject

const made = (more: object = {}) => [{ apiVersion: 'v1', kind: 'Secret', name: 's', ...more }]
function resolved(found: KubeObject | string | undefined, by: readonly object[] = []) {
  const madeIn = (of: string): never[] => (of === 'shared' ? (by as never[]) : [])
  return cloneResolver({ find: () => found, madeIn })(from, namespace)
}
const title = 'Secret s in namespace "shared", its source,'
const annotation = 'annotation policy.borough.dev/clone-to'
const whatConsents = 'give it a label selector for the namespaces that may have a copy, or * for all'
const missing = `is not there: restore it, with its ${annotation}, or take it out of the template`

describe('a copy is', () => {
  test.each<{ name: string; of: KubeObject; content: object }>([
    { name: 'its data and type', of: source(consent('*')), content: { data: { a: 'eA==' }, type: 'Opaque' } },
    {
      name: 'its binary data, and nothing that is not there',
      of: source(consent('*'), { data: undefined, type: undefined, binaryData: { b: 'eA==' }, immutable: true }),
      content: { binaryData: { b: 'eA==' } },
    },
    {
      name: 'for namespaces that it selects',
      of: source(consent('team=a')),
      content: { data: { a: 'eA==' }, type: 'Opaque' },
    },
    {
      name: 'for namespaces that it selects, with blanks around',
      of: source(consent(' * ')),
      content: { data: { a: 'eA==' }, type: 'Opaque' },
    },
  ])('$name', ({ of, content }) => expect(resolved(of)).toEqual({ content, digest: expect.stringMatching(/^.{16}$/) }))

  test('told by a digest from another content, and made once of one source', () => {
    const [one, other] = [source(consent('*')), source(consent('*'), { data: { a: 'eQ==' } })]
    expect(resolved(one)).toBe(resolved(one))
    const digestOf = (of: KubeObject) => (resolved(of) as { digest: string }).digest
    expect(digestOf(one)).not.toBe(digestOf(other))
    expect(digestOf(one)).toBe(digestOf(source({ ...consent('*'), uid: 'v' })))
  })
})

describe('there is none', () => {
  test.each<{
    name: string
    of: KubeObject | string | undefined
    by?: readonly object[]
    reason?: string
    message: string
  }>([
    { name: 'of what can not be read', of: 'no right', reason: 'SourceMissing', message: 'can not be read: no right' },
    { name: 'of what is not there', of: undefined, reason: 'SourceMissing', message: missing },
    {
      name: 'of what goes',
      of: source({ ...consent('*'), deletionTimestamp: 'now' }),
      reason: 'SourceMissing',
      message: missing,
    },
    {
      name: 'of what a template made',
      of: source(consent('*')),
      by: made(),
      message: 'is made by a template itself: what it is made from can be cloned',
    },
    ...['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'].map((type) => ({
      name: `of a Secret of type ${type}`,
      of: source(consent('*'), { type }),
      message: `is of type ${type}, which is not cloned`,
    })),
    {
      name: 'of what does not consent',
      of: source({}),
      message: `does not consent: ${annotation} is missing: ${whatConsents}`,
    },
    {
      name: 'of what consents to nothing',
      of: source(consent(' ')),
      message: `does not consent: ${annotation} is missing: ${whatConsents}`,
    },
    {
      name: 'for other namespaces',
      of: source(consent('team=b')),
      message: `does not consent: its ${annotation} does not select this namespace`,
    },
  ])('$name', ({ of, by = [], reason = 'SourceRefused', message }) => {
    expect(resolved(of, by)).toEqual({ reason, message: `${title} ${message}` })
  })

  test('for what is too long to be parsed for every namespace, or told to each', () => {
    expect(resolved(source(consent(`team=${'a'.repeat(4092)}`)))).toEqual({
      reason: 'SourceRefused',
      message: `${title} does not consent: ${annotation} has more than 4096 characters`,
    })
    const { message } = resolved(source(consent(`team in (${'-,'.repeat(2000)}-)`))) as { message: string }
    expect(message).toMatch(/ is no label selector: .*\.\.\.$/s)
    expect(message.length).toBeLessThan(500)
  })

  test('for what is no selector, which is told', () => {
    expect(resolved(source(consent('team in')))).toEqual({
      reason: 'SourceRefused',
      message: expect.stringMatching(
        /^Secret s in .* does not consent: annotation .*\/clone-to is no label selector: ./,
      ),
    })
  })
})

test('what a template made there under another name or kind is another object', () => {
  for (const more of [{ name: 't' }, { kind: 'ConfigMap' }, { apiVersion: 'v2' }]) {
    expect(resolved(source(consent('*')), made(more))).toHaveProperty('content')
  }
})

test('sources are looked up by what they are', () => {
  expect(cloneResource(from)).toEqual({ group: '', version: 'v1', resource: 'secrets' })
  expect(cloneResource({ ...from, kind: 'ConfigMap' })).toEqual({ group: '', version: 'v1', resource: 'configmaps' })
  expect(sourceKey(from)).toBe('Secret/shared/s')
  expect(resolveNameOnly(from, namespace)).toEqual({ content: {}, digest: '' })
})

test('each source is watched once, for all templates that clone it', () => {
  const template = (name: string, ...sources: CloneSource[]) => ({
    metadata: { name },
    spec: { objects: sources.map((cloneFrom) => ({ cloneFrom })), templates: [{ kind: 'Pod' }] },
  })
  const other = { ...from, name: 'o' }
  const wanted = clonesIn([template('a', from, other), template('b', from), template('c')])
  expect([...wanted].map(([key, { from: of, templates }]) => [key, of, [...templates]])).toEqual([
    ['Secret/shared/s', from, ['a', 'b']],
    ['Secret/shared/o', other, ['a']],
  ])
})
