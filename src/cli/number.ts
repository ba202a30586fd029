/** Numbers on the command line, in the environment and in a file of settings. */
import { InvalidArgumentError } from 'commander'

/** Digits alone: `Number` also takes '', ' 1 ', 1e3 and 0x10. @throws InvalidArgumentError */
export function parseCount(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0
  if (!(Number.isSafeInteger(value) && value > 0)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return value
}

/** @throws InvalidArgumentError */
export function parseCountUpTo(text: string, most: number): number {
  const value = parseCount(text)
  if (value > most) throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`)
  return value
}

/** May have a fraction. @throws InvalidArgumentError */
export function parsePositive(text: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : 0
  // More than that, in MiB, is no number of bytes that can be counted.
  if (!(value > 0 && value < 2 ** 32)) throw new InvalidArgumentError('It must be a number above 0, and below 2^32.')
  return value
}
