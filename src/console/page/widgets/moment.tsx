/** A time as people say it, with the exact one on hover, on focus, for screen readers and for programs. */
import { useEffect, useState } from 'preact/hooks'
import { useCluster } from '../use-cluster.ts'

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** As kubectl's ages: `34s`, `5m`, `3h`, `12d`. */
export function spanText(ms: number): string {
  const passed = Math.max(0, Math.abs(ms))
  for (const [unit, size] of units) if (passed >= size * 2 || unit === 's') return `${Math.floor(passed / size)}${unit}`
  return '0s'
}

/** `11/23/2026, 2:00:00 PM (2026-11-23T14:00:00Z)`; '' of none */
export function exactTime(at: string | undefined): string {
  const then = Date.parse(at ?? '')
  return Number.isNaN(then) ? '' : `${new Date(then).toLocaleString()} (${at})`
}

interface MomentProps {
  readonly at: string | undefined
  readonly ahead?: boolean
  /** Not where what holds it takes the focus and tells the exact time itself. */
  readonly takesFocus?: boolean
  /** False among many: arrows of what holds them lead to it, not the tab key. */
  readonly isStop?: boolean
}

/** Its age changes by the second while it is young, then by the minute. */
export function Moment({ at, ahead = false, takesFocus = true, isStop = true }: MomentProps) {
  const { clock } = useCluster()
  const [, tick] = useState(0)
  const then = Date.parse(at ?? '')
  const distance = then - clock.now()
  useEffect(() => {
    if (Number.isNaN(then)) return undefined
    const timer = clock.after(Math.abs(distance) < 120_000 ? 1000 : 30_000, () => tick((n) => n + 1))
    return () => timer.cancel()
  })
  if (at === undefined || Number.isNaN(then)) return <span class="muted">–</span>
  const text = ahead ? (distance > 0 ? `in ${spanText(distance)}` : `${spanText(distance)} ago`) : spanText(distance)
  return (
    // Its next second is no news where what is around it is a live region.
    <time aria-live="off" dateTime={at} title={exactTime(at)} tabIndex={takesFocus ? (isStop ? 0 : -1) : undefined}>
      {text}
    </time>
  )
}
