import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addPair, emptyDigest, removePair } from './live-digest.ts'

const pairs = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.maxSafeNat()), { selector: ([key]) => key })
const digestOf = (of: readonly (readonly [string, number])[]): number =>
  of.reduce((digest, [key, revision]) => addPair(digest, key, revision), emptyDigest)

describe('the digest of what exists', () => {
  it('is exact, and the same in whatever order pairs came and went', () => {
    fc.assert(
      fc.property(pairs, pairs, (kept, gone) => {
        const all = digestOf([...gone, ...kept])
        expect(Number.isSafeInteger(all)).toBe(true)
        expect(gone.reduce((digest, [key, revision]) => removePair(digest, key, revision), all)).toBe(digestOf(kept))
        expect(digestOf(kept.toReversed())).toBe(digestOf(kept))
      }),
    )
  })

  it('changes when a pair is missing, is another one, or is there twice', () => {
    fc.assert(
      fc.property(pairs, fc.string({ minLength: 1 }), fc.maxSafeNat(), (rest, key, revision) => {
        const whole = digestOf([...rest, [key, revision]])
        expect(digestOf(rest)).not.toBe(whole)
        expect(digestOf([...rest, [`${key}x`, revision]])).not.toBe(whole)
        expect(digestOf([...rest, [key, revision + 1]])).not.toBe(whole)
        expect(digestOf([...rest, [key, revision], [key, revision]])).not.toBe(whole)
      }),
    )
  })
})
