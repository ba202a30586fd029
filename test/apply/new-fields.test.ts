/** The one pass over a new object finds what comparing it with nothing finds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareObjects, takenFields } from '../../src/kube/apply/compare.ts'
import type { FieldSet } from '../../src/kube/apply/field-set.ts'
import { emptySet, isEmpty } from '../../src/kube/apply/field-set.ts'
import { fieldsOfNew } from '../../src/kube/apply/new-fields.ts'
import type { Schema } from '../../src/kube/schema/schema.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { subjects } from '../generated/subjects.ts'
import { variationsOf, varied } from '../generated/variations.ts'
import { workloadSchema } from '../support/apply-fixtures.ts'

function comparedWithNothing(schema: Schema, object: KubeObject, reset?: FieldSet): FieldSet | undefined {
  const changes = compareObjects(schema, undefined, object, reset)
  const taken = changes === undefined ? emptySet : takenFields(changes)
  return isEmpty(taken) ? undefined : taken
}

/** As text: the order of the fields is stored too. */
const text = (set: FieldSet | undefined): string | undefined => set && JSON.stringify(set)

const names = fc.constantFrom(
  'spec',
  'status',
  'metadata',
  'template',
  'containers',
  'ports',
  'resources',
  'zones',
  'x',
)
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, '', 'a', 0, 80, false, true),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.record({ name: fc.constantFrom('a', 'b'), resources: tie('value') }), { maxLength: 3 }),
  ),
})).value
const anyObject = fc.dictionary(names, anyValue, { maxKeys: 5 }) as fc.Arbitrary<JsonObject>
const resetStatus: FieldSet = { 'f:status': {} }

describe('what the creator of an object owns', () => {
  it('is the same for values of any type in fields of any type', () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom(undefined, resetStatus), (object, reset) => {
        const created = { metadata: {}, ...object } as unknown as KubeObject
        expect(text(fieldsOfNew(workloadSchema, created, reset))).toBe(
          text(comparedWithNothing(workloadSchema, created, reset)),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it.each(subjects().map((subject) => [subject.path, subject] as const))('is the same for %s', (_, subject) => {
    const { schema, object } = subject
    let compared = 0
    for (const variation of variationsOf(schema, object)) {
      const created = varied(object, variation) as unknown as KubeObject
      expect(text(fieldsOfNew(schema, created, resetStatus))).toBe(
        text(comparedWithNothing(schema, created, resetStatus)),
      )
      if (++compared === 300) break
    }
    expect(compared).toBeGreaterThan(0)
  })
})
