import { InvalidArgumentError } from 'commander'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90m`, `24h`, `30d` in milliseconds. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const match = /^(\d+)([mhd])$/.exec(text)
  if (match === null || Number(match[1]) === 0)
    throw new InvalidArgumentError('It must be a number with a unit: 90m, 24h, 30d.')
  return Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0)
}

/** `500ms`, `30s`, `2m` in milliseconds. @throws InvalidArgumentError */
export function parseDurationMs(text: string): number {
  const match = /^(\d+)(ms|s|m)$/.exec(text)
  if (match === null) throw new InvalidArgumentError('It must be a number with a unit: 500ms, 30s, 2m.')
  return Number(match[1]) * { ms: 1, s: 1000, m: 60_000 }[match[2] as 'ms' | 's' | 'm']
}
