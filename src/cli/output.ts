/** `-o`: the forms of an answer, alike in every command. */
import { type Command, Option } from 'commander'
import { colourChoice, type Paint, paintFor } from './colour.ts'

const formats = ['text', 'wide', 'json', 'yaml', 'name'] as const
type Format = (typeof formats)[number]

export interface Answer {
  /** For json and yaml. */
  readonly value: unknown
  /** `isWide`: with nothing left out. */
  text(paint: Paint, isWide: boolean): string
  /** For name: as kubectl takes them, `namespace/team-a`. */
  readonly names?: readonly string[]
}

/**
 * Every command that answers takes text, json and yaml.
 *
 * @param what is printed: 'it', 'the result'
 */
export function outputOption(what: string, further: readonly ('wide' | 'name')[] = []): Option {
  const taken = formats.filter((f) => (f !== 'wide' && f !== 'name') || further.includes(f))
  return new Option('-o, --output <format>', `how ${what} is printed`).choices(taken).default('text')
}

/** Of a command that serves: one line, which another process can wait for. */
export const readyLineOption = (): Option =>
  new Option('-o, --output <format>', 'how the ready line is printed').choices(['text', 'json']).default('text')

export async function printAnswer(command: Command, { value, text, names = [] }: Answer): Promise<void> {
  const format = command.getOptionValue('output') as Format
  process.stdout.write(
    format === 'json' || format === 'yaml'
      ? await serialized(value, format)
      : format === 'name'
        ? names.map((name) => `${name}\n`).join('')
        : text(paintFor(colourChoice(command), process.stdout), format === 'wide'),
  )
}

export async function serialized(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}
