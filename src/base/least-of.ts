/**
 * The first few of a set as they would be sorted, the same in whichever order it is gone through. In one pass: there
 * may be tens of thousands.
 */
export function leastOf(all: Iterable<string>, most: number): string[] {
  const least: string[] = []
  for (const one of all) {
    if (least.length === most && one > (least[most - 1] as string)) continue
    least.push(one)
    least.sort()
    if (least.length > most) least.pop()
  }
  return least
}
