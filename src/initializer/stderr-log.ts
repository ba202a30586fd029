/** Warnings and errors as JSON lines on stderr: for programs that have no log of their own. */
import type { Log } from '../base/log.ts'

const write =
  (level: string) =>
  (fields: Readonly<Record<string, unknown>>, message: string): void => {
    const { error, ...rest } = fields
    const said = error instanceof Error ? { error: error.message } : error === undefined ? {} : { error: String(error) }
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...rest, ...said })}\n`)
  }

export const stderrLog: Log = { debug() {}, info() {}, warn: write('warn'), error: write('error') }
