/**
 * What a server sends is not what its kind's schema says: one that serves a definition of its own, or an older version,
 * may give a text where a list is read. Each view would end at that. So what comes in is made to fit, here, once: a
 * part of another type is left out, and what must be there is an empty text. What no view reads stays as it is.
 */

/** What `must` be there is added, empty, where it is not; `amount` is a number or a text. */
export type Shape =
  | 'amount'
  | 'any'
  | 'boolean'
  | 'number'
  | 'object'
  | 'quantity'
  | 'string'
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly must: Shape }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined where the value is of another type. */
export function fit(value: unknown, shape: Shape): unknown {
  if (typeof shape === 'string') return fitSimple(value, shape)
  if ('must' in shape) return fit(value, shape.must) ?? emptyOf(shape.must)
  if ('list' in shape) {
    if (!Array.isArray(value)) return undefined
    return value.flatMap((item: unknown) => fit(item, shape.list) ?? [])
  }
  if (!isObject(value)) return undefined
  if ('map' in shape) return fitEach(value, () => shape.map)
  return { ...mustsOf(shape.fields), ...fitEach(value, (key) => member(shape.fields, key) ?? 'any') }
}

/** Never something inherited, such as `constructor`. */
const member = <T>(fields: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined

const mustsOf = (fields: Readonly<Record<string, Shape>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, shape]) =>
      typeof shape === 'object' && 'must' in shape ? [[key, emptyOf(shape.must)]] : [],
    ),
  )

function emptyOf(shape: Shape): unknown {
  if (typeof shape === 'string') return ''
  if ('list' in shape) return []
  return fit({}, shape)
}

function fitEach(value: Readonly<Record<string, unknown>>, shapeOf: (key: string) => Shape): Record<string, unknown> {
  const fitted: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(value)) {
    const kept = fit(part, shapeOf(key))
    if (kept !== undefined) fitted[key] = kept
  }
  return fitted
}

function fitSimple(value: unknown, shape: Shape & string): unknown {
  switch (shape) {
    case 'any':
      return value
    case 'amount':
      return typeof value === 'string' || typeof value === 'number' ? value : undefined
    case 'quantity':
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
    case 'object':
      return isObject(value) ? value : undefined
    default:
      // The shapes that are left are names of types.
      return typeof value === shape ? value : undefined
  }
}
