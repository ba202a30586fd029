import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canDeal, dealHand, hashFlow, requiredEntropyBits } from './dealer.ts'

describe('the dealer', () => {
  test.each([
    { deck: 1024, hand: 6, bits: 60, can: true },
    { deck: 512, hand: 8, bits: 72, can: false },
    { deck: 128, hand: 6, bits: 42, can: true },
    { deck: 128, hand: 10, bits: 70, can: false },
    { deck: 10_000_000, hand: 2, bits: 47, can: true },
    { deck: 2 ** 26, hand: 2, bits: 52, can: true },
    { deck: 2 ** 26 + 1, hand: 2, bits: 53, can: false },
  ])('needs $bits bits to deal $hand of $deck', ({ deck, hand, bits, can }) => {
    expect(requiredEntropyBits(deck, hand)).toBe(bits)
    expect(canDeal(deck, hand)).toBe(can)
  })

  test.each([
    { deck: 0, hand: 1 },
    { deck: 8, hand: 0 },
    { deck: 100, hand: 101 },
    { deck: -100, hand: 8 },
  ])('does not deal $hand of $deck', ({ deck, hand }) => {
    expect(canDeal(deck, hand)).toBe(false)
  })

  test.each([
    {
      schema: 'service-accounts',
      distinguisher: 'system:serviceaccount:a:b',
      hash: 8690863317635817527n,
      deck: 128,
      hand: [55, 113, 71, 36, 27, 19],
    },
    {
      schema: 'global-default',
      distinguisher: 'bob',
      hash: 7836649528101815225n,
      deck: 128,
      hand: [57, 101, 58, 46, 116, 53],
    },
    {
      schema: 'system-leader-election',
      distinguisher: 'x',
      hash: 2262962346649937231n,
      deck: 16,
      hand: [15, 11, 5, 0],
    },
  ])('hashes and deals as upstream: $schema, $distinguisher', ({ schema, distinguisher, hash, deck, hand }) => {
    expect(hashFlow(schema, distinguisher, '')).toBe(hash)
    expect(dealHand(hash, deck, hand.length)).toEqual(hand)
  })

  test('deals another hand with another salt, so that hands cannot be foreseen', () => {
    expect(hashFlow('global-default', 'alice', 'secret')).not.toBe(hashFlow('global-default', 'alice', ''))
  })

  test('deals as if cards were drawn from a real deck', () => {
    const sizes = fc
      .integer({ min: 1, max: 300 })
      .chain((deck) => fc.tuple(fc.constant(deck), fc.integer({ min: 1, max: Math.min(deck, 7) })))
    fc.assert(
      fc.property(sizes, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), ([deck, hand], hash) => {
        const cards = Array.from({ length: deck }, (_, i) => i)
        const drawn: number[] = []
        let rest = hash
        for (let i = 0; i < hand; i++) {
          drawn.push(...cards.splice(Number(rest % BigInt(cards.length)), 1))
          rest /= BigInt(deck - i)
        }
        expect(dealHand(hash, deck, hand)).toEqual(drawn)
      }),
    )
  })

  test('deals every hand of a small deck equally often', () => {
    const seen = new Map<string, number>()
    const hands = 20 * 19 * 18
    for (let hash = 0; hash < hands; hash++) {
      const hand = dealHand(BigInt(hash), 20, 3)
        .sort((a, b) => a - b)
        .join()
      seen.set(hand, (seen.get(hand) ?? 0) + 1)
    }
    expect(seen.size).toBe(hands / 6)
    expect(new Set(seen.values())).toEqual(new Set([6]))
  })
})
