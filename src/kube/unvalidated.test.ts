/** What the type checker must refuse: each `@ts-expect-error` fails the build when the line under it compiles. */
import { expect, test } from 'vitest'
import type { KubeObject, Unvalidated } from './types.ts'
import { assumeValid, unvalidated } from './unvalidated.ts'

interface Pod extends KubeObject {
  spec: { containers: { name: string }[]; nodeName?: string }
}

const given = unvalidated({ metadata: { name: 'a' }, spec: null })

test('an unvalidated object is not taken for a valid one', () => {
  const takesValid = (object: KubeObject): string | undefined => object.metadata.name
  // @ts-expect-error not without validation
  expect(takesValid(given)).toBe('a')
  // @ts-expect-error not by a cast either
  expect((given as Pod).metadata.name).toBe('a')
  expect(takesValid(assumeValid(given))).toBe('a')
})

test('its fields are read through checks', () => {
  const pod = given as Unvalidated<Pod>
  // @ts-expect-error spec may be absent or null, and so may containers
  expect(() => pod.spec.containers.map((c) => c.name)).toThrow(TypeError)
  expect((pod.spec?.containers ?? []).map((c) => c.name)).toEqual([])
})

test('a valid object is not changed on its way to code that runs before validation', () => {
  const pod: Pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }] } }
  expect(unvalidated(pod)).toBe(pod)
  expect(assumeValid(unvalidated(pod))).toBe(pod)
})
