/**
 * The log of a process that serves: pino, on stderr. A start that goes well writes no line, so pino waits for the
 * first.
 */
import { Option } from 'commander'
import { loadLater } from '../base/load-later.ts'
import type { Log } from '../base/log.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof levels)[number]

const loadPino = loadLater<typeof import('pino')>('pino')

/** Its value is what `processLog` takes. */
export const logLevelOption = (): Option =>
  new Option('--log-level <level>', 'debug, info, warn or error').choices(levels).default('warn')

/**
 * Errors are written with their stacks where something is broken. A warning is about what the world does to a process,
 * which comes back every few seconds for as long as it does: there a line says what went wrong, and why.
 *
 * @param level the least that is written: debug, info, warn or error
 */
export function processLog(level: string, to?: { write(line: string): void }): Log {
  let opened: Log | undefined
  const open = (): Log => {
    const { pino } = loadPino()
    return pino({ level, serializers: { error: pino.stdSerializers.err } }, to ?? pino.destination(2))
  }
  const least = levels.findIndex((name) => name === level)
  const line =
    (name: Level): Log[Level] =>
    (fields, message) => {
      if (levels.indexOf(name) < least) return
      opened ??= open()
      const { error } = fields
      const isBroken = name === 'error' || least === 0
      opened[name](error instanceof Error && !isBroken ? { ...fields, error: withCauses(error) } : fields, message)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** `what: why: why that`, each said once. */
function withCauses(error: Error): string {
  let text = error.message
  for (let { cause } = error; cause instanceof Error; { cause } = cause) {
    if (!text.includes(cause.message)) text += `: ${cause.message}`
  }
  return text
}
