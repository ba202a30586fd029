/**
 * Shuffle sharding: each flow gets a hand of queues out of the deck, and puts every request into the least loaded of
 * them. A flood fills the queues of its own hand; another flow shares all of these only by a rare coincidence.
 *
 * The hand is a mixed-radix reading of the flow's hash: the first card is hash mod n, the next one is what remains mod
 * n-1, counted among the cards that are left, and so on.
 * @see k8s.io/apiserver/pkg/util/shufflesharding/shufflesharding.go v0.36
 */
import { createHash } from 'node:crypto'

/** Of the hash. Beyond that, the last card is dealt visibly unevenly. */
export const maxHashBits = 60
const maxDeckSize = 2 ** 26

export function requiredEntropyBits(deckSize: number, handSize: number): number {
  return Math.ceil(Math.log2(deckSize) * handSize)
}

export function canDeal(deckSize: number, handSize: number): boolean {
  return (
    deckSize > 0 &&
    handSize > 0 &&
    handSize <= deckSize &&
    deckSize <= maxDeckSize &&
    requiredEntropyBits(deckSize, handSize) <= maxHashBits
  )
}

/** Distinct numbers below `deckSize`. */
export function dealHand(hash: bigint, deckSize: number, handSize: number): number[] {
  const hand: number[] = []
  let rest = hash
  const ranks: number[] = []
  for (let i = 0; i < handSize; i++) {
    const left = BigInt(deckSize - i)
    ranks.push(Number(rest % left))
    rest /= left
  }
  for (const [i, rank] of ranks.entries()) {
    let card = rank
    for (let j = i - 1; j >= 0; j--) if (card >= (ranks[j] ?? 0)) card++
    hand.push(card)
  }
  return hand
}

/**
 * `salt` is a secret of this process: without one, a client that may choose names (of namespaces, say) could choose one
 * whose hand is that of the flow it wants to hurt. With an empty salt the hash is upstream's.
 */
export function hashFlow(schemaName: string, distinguisher: string, salt: string): bigint {
  const digest = createHash('sha256').update(salt).update(schemaName).update('\0').update(distinguisher).digest()
  return digest.readBigUInt64LE(0)
}
