/** Which version of a template is in force while its newest one reaches no namespace. */
import { describe, expect, test } from 'vitest'
import { generationBefore, heldGeneration, isInForce, versionOf } from './held-version.ts'
import { compileMatcher, type Matcher, selectTemplates, selectTemplatesLeft, templatesIn } from './match.ts'
import type { NamespaceTemplate, TemplateStatus } from './types.ts'

const tier = (value: string) => ({ namespaces: { labelSelector: { matchLabels: { tier: value } } } })
const template = (status?: TemplateStatus, metadata: object = {}): NamespaceTemplate => ({
  metadata: { name: 't', uid: 'u', generation: 3, ...metadata },
  spec: tier('typo'),
  ...(status && { status }),
})
const namespace = (value: string) => ({ metadata: { name: 'n', labels: { tier: value } } })
const withHeld = (of: NamespaceTemplate): Matcher => ({ ...compileMatcher(of), held: versionOf(of, 2, tier('a')) })

describe('in force is', () => {
  test.each([
    { name: 'the newest, where there is no status', status: undefined, is: undefined, next: 1 },
    { name: 'the newest, once it was looked at', status: { observedGeneration: 3 }, is: undefined, next: undefined },
    { name: 'the newest, before it was looked at', status: { observedGeneration: 2 }, is: undefined, next: 2 },
    { name: 'the one that the status names', status: { observedGeneration: 3, heldGeneration: 1 }, is: 1, next: 1 },
    {
      name: 'none yet of a draft',
      status: { observedGeneration: 2, heldGeneration: 0 },
      is: undefined,
      next: undefined,
    },
    { name: 'the same of an edit on top of it', status: { observedGeneration: 2, heldGeneration: 1 }, is: 1, next: 1 },
  ])('$name, and if that is stopped $next', ({ status, is, next }) => {
    expect(heldGeneration(template(status))).toBe(is)
    expect(isInForce(versionOf(template(), 1, {}), template(status))).toBe(is === 1)
    expect(generationBefore(template(status))).toBe(next)
  })

  test('the first, where there is no other', () => {
    for (const generation of [1, undefined])
      expect(generationBefore(template(undefined, { generation }))).toBe(undefined)
  })
})

test('no generation is not another that is none', () => {
  expect(isInForce(compileMatcher({ metadata: { name: 't' } }), { metadata: { name: 't' } })).toBe(false)
})

test('it says what it said, is deleted no more, and has the annotations that there are now', () => {
  const metadata = { deletionTimestamp: '2026-11-24T06:00:00Z', annotations: { a: 'b' } }
  expect(versionOf(template(undefined, metadata), 2, tier('a')).template).toEqual({
    metadata: { name: 't', uid: 'u', generation: 2, annotations: { a: 'b' } },
    spec: tier('a'),
  })
})

describe('a namespace', () => {
  const generations = (templates: readonly NamespaceTemplate[]) => templates.map(({ metadata }) => metadata.generation)
  const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
  const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }

  test('is given the newest version where that is for it, else what is in force', () => {
    const of = (value: string) => generations(selectTemplates([withHeld(template())], namespace(value)))
    expect([of('typo'), of('a'), of('x')]).toEqual([[3], [2], []])
  })

  test('is given what is in force where the template is being deleted, and nothing of one that is disabled', () => {
    const of = (metadata: object, value: string) =>
      generations(selectTemplates([withHeld(template(undefined, metadata))], namespace(value)))
    expect([of(gone, 'a'), of(gone, 'typo'), of(off, 'a')]).toEqual([[2], [], []])
  })

  test('leaves the template where neither version is for it any more', () => {
    const left = (next: string, old: string, metadata: object = {}) => {
      const matchers = [withHeld(template(undefined, metadata))]
      return generations(selectTemplatesLeft(matchers, namespace(next), namespace(old)))
    }
    expect([left('x', 'a'), left('x', 'typo'), left('typo', 'a'), left('a', 'typo')]).toEqual([[2], [3], [], []])
    expect([left('x', 'a', gone), left('x', 'typo', gone)]).toEqual([[2], []])
  })

  test('is asked about all that either version says', () => {
    expect(generations(templatesIn(withHeld(template())))).toEqual([3, 2])
    expect(generations(templatesIn(compileMatcher(template())))).toEqual([3])
  })
})
