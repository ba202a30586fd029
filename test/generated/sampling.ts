/**
 * How much is tried, and which: everything if the budget allows, else a sample by seed. With CI set the seed is always
 * the same, as for properties; else each run has its own, and BOROUGH_PROPERTY_SEED repeats one.
 */
const given = process.env['BOROUGH_PROPERTY_SEED'] ?? (process.env['CI'] === undefined ? undefined : '20261121')

export const seed: number = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given)

/** Varied objects in all. Some 1,200 take a second of the processor. */
export const budget: number = Number(process.env['BOROUGH_GENERATED'] ?? 80_000)

/** Items, in their order, each taken with the probability `share`. */
export function* sampled<T>(items: Iterable<T>, share: number, name: string): Generator<T> {
  const random = randomOf(`${seed} ${name}`)
  for (const item of items) if (random() < share) yield item
}

/** xorshift, seeded by a hash of the name: what one subject has does not move what is taken of another. */
function randomOf(name: string): () => number {
  let state = 2_166_136_261
  for (const c of name) state = Math.imul(state ^ (c.codePointAt(0) ?? 0), 16_777_619)
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
