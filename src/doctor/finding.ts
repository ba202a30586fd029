/** What an examination says: what was looked at, how it is, and what to do about it. */

export type Health = 'ok' | 'warn' | 'fail'

export interface Finding {
  /** `data directory: modes`, `webhook admit.population.borough.dev` */
  readonly check: string
  readonly status: Health
  /** What it means. Never a secret. */
  readonly message: string
  /** What to do; absent where nothing is to be done. */
  readonly remedy?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const warn = (check: string, message: string, remedy: string): Finding => ({
  ...{ check, status: 'warn', message },
  remedy,
})
export const fail = (check: string, message: string, remedy: string): Finding => ({
  ...{ check, status: 'fail', message },
  remedy,
})

/** One line of an error. */
export const problemOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
