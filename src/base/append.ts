/**
 * Adds all of `more` to `list`. To spread it into the arguments of `push` puts each item on the stack, so where a
 * client sizes the list that ends with a RangeError; the linter refuses that form (`tools/lint/bounded-arguments.mjs`).
 */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const item of more) list.push(item)
}
