/** Command lines of the machines that are run by hand: `--help`, and one line for a flag that is not understood. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values']

/** Thrown for what is not understood. */
class WrongFlag extends Error {}

/**
 * The flags that the command was given. Ends the process after `--help` (0), and after what is not understood (1).
 * @param help its first words are `Usage: node <path> `
 * @param numbers flags whose value is a number of 0 or more
 */
export function readRunnerFlags<const T extends Options>(
  help: string,
  options: T,
  numbers: readonly (keyof T & string)[],
): Values<T> {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help)
    process.exit(0)
  }
  try {
    return parseRunnerFlags(args, options, numbers)
  } catch (error) {
    if (!(error instanceof WrongFlag)) throw error
    refuseFlags(error.message)
  }
}

/** The value of `--only`. Ends the process if it is no regular expression. */
export function onlyOf(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return refuseFlags(`--only: ${error.message}`)
  }
}

/** Ends the process, with one line. */
export function refuseFlags(problem: string): never {
  process.stderr.write(`${problem}; --help tells how to use it\n`)
  process.exit(1)
}

/** Of a command that reads its line itself: ends the process if the error is that of `parseArgs`. */
export function refuseWrongFlag(error: unknown): void {
  if (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
    refuseFlags(flagFault(error))
}

/** @throws WrongFlag with one line that says what is wrong */
export function parseRunnerFlags<const T extends Options>(
  args: readonly string[],
  options: T,
  numbers: readonly (keyof T & string)[],
): Values<T> {
  const values = parsed(args, options)
  for (const name of numbers) {
    const value = (values as Record<string, unknown>)[name]
    if (value !== undefined && !/^\d+(\.\d+)?$/.test(String(value))) {
      throw new WrongFlag(`--${name} takes a number, not ${JSON.stringify(value)}`)
    }
  }
  return values
}

function parsed<const T extends Options>(args: readonly string[], options: T): Values<T> {
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new WrongFlag(flagFault(error))
  }
}

/** What is wrong with a flag, without what Node says besides: how a word that looks like a flag is given. */
const flagFault = ({ message }: TypeError): string => (message.split(/\. |\n/)[0] ?? '').replace(/\.$/, '')
