import { expect, test } from 'vitest'
import { runAtOnce } from '../base/resumable.ts'
import { fieldRequired } from '../kube/field-error.ts'
import type { Unvalidated } from '../kube/types.ts'
import { unvalidated } from '../kube/unvalidated.ts'
import { extendStrategy, type Strategy } from './strategy.ts'

const context = { subresource: '', now: '2026-11-22T12:00:00Z' }
const append =
  (word: string): NonNullable<Strategy['prepare']> =>
  (next) => ({ ...next, words: [...((next['words'] ?? []) as string[]), word] })
const requires =
  (field: string): NonNullable<Strategy['validate']> =>
  () => [fieldRequired(field)]
const object = { metadata: { name: 'a' } }
const prepare = (strategy: Strategy): Unvalidated | undefined =>
  strategy.prepare?.(unvalidated(object), undefined, context)
const fields = (strategy: Strategy): readonly string[] =>
  runAtOnce(strategy.validate?.(object, undefined, context) ?? []).map(({ field }) => field)

test('a kind prepares before what a feature adds', () => {
  const both = extendStrategy({ prepare: append('kind') }, { prepare: append('feature') })
  expect(prepare(both)?.['words']).toEqual(['kind', 'feature'])
})

test('the errors of a kind and of a feature are both reported', () => {
  const both = extendStrategy({ validate: requires('spec.a') }, { validate: requires('spec.b') })
  expect(fields(both)).toEqual(['spec.a', 'spec.b'])
})

test('either of them may say nothing', () => {
  const kind: Strategy = { prepare: append('kind'), validate: requires('spec.a') }
  for (const one of [extendStrategy(kind, {}), extendStrategy({}, kind)]) {
    expect(one).toEqual(kind)
    expect(prepare(one)?.['words']).toEqual(['kind'])
  }
})

test('in everything else a feature replaces what the kind says', () => {
  const kind: Strategy = { returnsDeleted: true, createOnUpdate: true }
  expect(extendStrategy(kind, { createOnUpdate: false })).toEqual({ returnsDeleted: true, createOnUpdate: false })
})
