/** Stands in for `node:timers/promises`. */
import { simulated } from './simulated-process.ts'

export const setTimeout = <T>(ms = 0, value?: T): Promise<T | undefined> =>
  new Promise((resolve) => void simulated.scheduler.after(ms, () => resolve(value)))

export const setImmediate = <T>(value?: T): Promise<T | undefined> => setTimeout(0, value)
