/** The log of a process that serves: pino, on stderr. A start that goes well writes no line, so pino waits for the first. */
import { Option } from 'commander'
import { loadLater } from '../base/load-later.ts'
import type { Log } from '../base/log.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof levels)[number]

const loadPino = loadLater<typeof import('pino')>('pino')

/** Its value is what `processLog` takes. */
export const logLevelOption = (): Option =>
  new Option('--log-level <level>', levels.join(', ').replace(/, (?=[a-z]+$)/, ' or ')).choices(levels).default('warn')

/** @param level the least that is written: debug, info, warn or error */
export function processLog(level: string): Log {
  let opened: Log | undefined
  const open = (): Log => {
    const { pino } = loadPino()
    return pino({ level, serializers: { error: pino.stdSerializers.err } }, pino.destination(2))
  }
  const least = levels.findIndex((name) => name === level)
  const line =
    (name: Level): Log[Level] =>
    (fields, message) => {
      if (levels.indexOf(name) < least) return
      opened ??= open()
      opened[name](fields, message)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}
