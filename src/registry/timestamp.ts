import type { Clock } from '../base/clock.ts'

/** RFC 3339 in UTC with seconds, the form of all times in metadata. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

export const nowStamp = (clock: Clock): string => timestamp(clock.now())
