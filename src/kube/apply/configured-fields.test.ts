import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Slice } from '../../base/turns.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, KubeObject } from '../types.ts'
import { configuredFields, configuringFields } from './configured-fields.ts'
import { settled } from './steps.ts'

const text: Schema = { type: 'string' }
const items: Schema = {
  type: 'object',
  properties: new Map([
    ['name', text],
    ['value', text],
  ]),
}
const schema: Schema = {
  type: 'object',
  properties: new Map<string, Schema>([
    ['data', { type: 'object', additionalProperties: text }],
    ['set', { type: 'array', listType: 'set', items: text }],
    ['list', { type: 'array', listType: 'map', listMapKeys: ['name'], items }],
    ['atomic', { type: 'array', items: text }],
    ['any', { type: 'any' }],
  ]),
}

/** How often a pause was asked for, and each was made. */
class CountedSlice extends Slice {
  pauses = 0

  constructor() {
    super(
      () => 0,
      async () => {},
    )
  }

  override pause(): Promise<void> {
    this.pauses++
    return Promise.resolve()
  }
}

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const word = fc.constantFrom('a', 'b', 'b"', 'b!', '<', 'é', '\\', '', 'long name')

describe('the fields of a configuration, with pauses', () => {
  test('are those without', async () => {
    const config = fc.record(
      {
        data: fc.dictionary(word, fc.option(word)),
        set: fc.array(word),
        list: fc.array(fc.record({ name: word, value: word }, { requiredKeys: ['name'] })),
        atomic: fc.array(word),
        any: fc.jsonValue({ maxDepth: 2 }),
        copies: fc.nat({ max: 120 }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(config, async ({ copies = 0, ...content }) => {
        const more = many(copies, (i) => `m${(i * 7919) % 997}`)
        const set = [...(content.set ?? []), ...more]
        const data = { ...content.data, ...Object.fromEntries(more.map((name) => [name, name])) }
        const given = { metadata: { name: 'x' }, ...content, set, data } as unknown as KubeObject
        const found = await settled(configuringFields(schema, given, undefined, new CountedSlice()))
        expect(JSON.stringify(found)).toBe(JSON.stringify(configuredFields(schema, given)))
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    { name: 'a set', content: { set: many(20_000, (i) => `x${i}`) } },
    { name: 'a map', content: { data: Object.fromEntries(many(20_000, (i) => [`x${i}`, 'v'])) } },
    { name: 'a keyed list', content: { list: many(20_000, (i) => ({ name: `x${i}` })) } },
  ])('are found in many pieces: $name', async ({ content }) => {
    const slice = new CountedSlice()
    const given = { metadata: { name: 'x' }, ...content } as unknown as KubeObject
    const found = await settled(configuringFields(schema, given, undefined, slice))
    expect(Object.keys(Object.values(found as JsonObject)[0] as JsonObject)).toHaveLength(20_000)
    expect(slice.pauses).toBeGreaterThan(10)
  })
})
