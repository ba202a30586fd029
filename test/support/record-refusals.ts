/**
 * Which places of `src` had their refusals asserted whole: what tools/refusals.mjs wants to know. Only with
 * BOROUGH_REFUSALS, where the source hands on what it makes.
 *
 * A refusal is asserted whole when a comparison of vitest saw it beside one that says the same in every field that a
 * client gets: message, reason, code and details with all causes; of a cause (and a field error, which becomes one)
 * message, reason and field. What a place made counts for the assertions of the same test file.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { Report } from '../../src/catalog/kinds/report.ts'

type Fields = Readonly<Record<string, unknown>>

class Recorder {
  readonly #reached = new Set<string>()
  readonly #asserted = new Set<string>()
  /** What a client is told → the places that made it. */
  readonly #placesOf = new Map<string, Set<string>>()

  made<T>(place: string, value: T): T {
    this.#reached.add(place)
    if (this.#asserted.has(place)) return value
    if (value instanceof Report) return this.#watched(place, value)
    for (const one of [value].flat()) {
      const told = toldBy(one)
      if (told === undefined) continue
      const places = this.#placesOf.get(told)
      if (places) places.add(place)
      else this.#placesOf.set(told, new Set([place]))
    }
    return value
  }

  /** The report, which says of what is pushed into it through this reference where it comes from. */
  #watched<T extends Report>(place: string, report: T): T {
    const push = (...errors: Report['errors']): number => report.errors.push(...this.made(place, errors))
    return Object.create(report, { errors: { value: { push } } }) as T
  }

  /** A tester of equality, which leaves the decision to others. */
  compared(a: unknown, b: unknown): undefined {
    if (this.#placesOf.size === 0) return undefined
    const told = toldBy(a)
    if (told === undefined || told !== toldBy(b)) return undefined
    const causes = ((a as Fields)['details'] as { causes?: readonly unknown[] } | undefined)?.causes ?? []
    for (const text of [told, ...causes.map(toldBy)]) {
      for (const place of this.#placesOf.get(text ?? '') ?? []) this.#asserted.add(place)
    }
    return undefined
  }

  endFile(folder: string): void {
    this.#placesOf.clear()
    const records = { reached: [...this.#reached], asserted: [...this.#asserted] }
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(records))
  }
}

/** Undefined for what is no refusal. */
function toldBy(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { message, reason, code, details, type, field, body } = value as Fields
  if (typeof message === 'string' && typeof code === 'number') return textOf({ message, reason, code, details })
  if (typeof message === 'string' && typeof field === 'string') return textOf({ message, reason, field })
  if (typeof body === 'string' && typeof field === 'string') return textOf({ message: body, reason: type, field })
  return undefined
}

/** JSON with its keys in order. */
const textOf = (value: Fields): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

const folder = process.env['BOROUGH_REFUSALS']
if (folder !== undefined) {
  // One for all files of a worker, as are the modules that it listens to.
  const shared = globalThis as { boroughRefusals?: Recorder }
  if (shared.boroughRefusals === undefined) {
    const recorder = new Recorder()
    shared.boroughRefusals = recorder
    expect.addEqualityTesters([(a, b) => recorder.compared(a, b)])
  }
  const recorder = shared.boroughRefusals
  afterAll(() => recorder.endFile(folder))
}
