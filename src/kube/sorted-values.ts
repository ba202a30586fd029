const fewValues = 16

/** Of sorted values: a selector may name thousands, and is put to each object and each change. */
export function isAmong(values: readonly string[], value: string): boolean {
  if (values.length <= fewValues) return values.includes(value)
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] ?? '') < value) low = middle + 1
    else high = middle
  }
  return values[low] === value
}
