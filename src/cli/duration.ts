import { InvalidArgumentError } from 'commander'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90m`, `24h`, `30d` in milliseconds. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const match = /^(\d+)([mhd])$/.exec(text)
  if (match === null || Number(match[1]) === 0)
    throw new InvalidArgumentError('It must be a number with a unit: 90m, 24h, 30d.')
  return Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0)
}
