/** What the rest of the house may say to the log. Fields never hold credentials or bodies. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
