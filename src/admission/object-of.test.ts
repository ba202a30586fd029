import { expect, test } from 'vitest'
import { resourceOf } from '../kube/resource.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { objectOf } from './object-of.ts'

const pods = resourceOf('', 'v1', 'pods')
const object = { metadata: { name: 'a' } }
const typeOf = (group: string, resource: string): ResourceType => ({ group, resource }) as ResourceType

test('the object of a write is answered to a plugin of its resource', () => {
  expect(objectOf(pods, { type: typeOf('', 'pods'), object })).toBe(object)
})

test.each([
  ['another resource', { type: typeOf('', 'secrets'), object }],
  ['another group', { type: typeOf('metrics.k8s.io', 'pods'), object }],
  ['a deletion', { type: typeOf('', 'pods'), object: undefined }],
])('a plugin that is asked of %s fails', (_, write) => {
  expect(() => objectOf(pods, write)).toThrow(TypeError)
})
