import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../kube/types.ts'
import { jsonParts } from './json-parts.ts'

test('the parts are together what one call would write', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 30 }), (value) => {
      for (const document of [value, { components: { schemas: value } }]) {
        expect([...jsonParts(document as JsonObject)].join('')).toBe(JSON.stringify(document))
      }
    }),
  )
})

test('a map of many members is as many parts, wherever it lies', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`d${i}`, { type: 'object' }]))
  for (const document of [{ paths: many }, { components: { schemas: many } }]) {
    expect([...jsonParts(document)].length).toBeGreaterThan(100)
  }
})
