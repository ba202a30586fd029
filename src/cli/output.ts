/** `-o`: the forms of an answer, alike in every command. */
import { type Command, Option } from 'commander'
import { visibleText } from '../base/shell-text.ts'
import { colourChoice, type Paint, paintFor } from './colour.ts'

const formats = ['text', 'wide', 'json', 'yaml', 'name'] as const
type Format = (typeof formats)[number]

export interface Answer<T> {
  /** For json and yaml. */
  readonly value: T
  /**
   * `shown`: the value, its texts fit for a terminal (see `visibleValue`): clients wrote some of them. `isWide`: with
   * nothing left out, and as a table where it is a list.
   */
  text(paint: Paint, isWide: boolean, shown: T): string
  /** For name, one per line: as kubectl takes them (`namespace/team-a`), or what else the command worked on. */
  readonly names: readonly string[]
}

/**
 * Every command that answers takes all forms.
 *
 * @param what is printed: 'it', 'the result'
 */
export const outputOption = (what: string): Option =>
  new Option('-o, --output <format>', `how ${what} is printed`).choices(formats).default('text')

export async function printAnswer<T>(command: Command, answer: Answer<T>): Promise<void> {
  await print(command, answer, serialized)
}

/**
 * Of a command that serves, once it does. JSON and YAML are one line each, which another process can wait for; so is
 * what is printed of one name.
 */
export async function printReady<T>(command: Command, answer: Answer<T>): Promise<void> {
  await print(command, answer, async (value, format) => {
    if (format === 'json') return `${JSON.stringify(value)}\n`
    const { stringify } = await import('yaml')
    return stringify(value, { lineWidth: 0, collectionStyle: 'flow' })
  })
}

/** Text or wide: what happens later may be told beside it. */
export function isForReaders(command: Command): boolean {
  const format = formatOf(command)
  return format === 'text' || format === 'wide'
}

const formatOf = (command: Command): Format => command.getOptionValue('output') as Format

async function print<T>(
  command: Command,
  { value, text, names }: Answer<T>,
  serialize: (value: T, format: 'json' | 'yaml') => Promise<string>,
): Promise<void> {
  const format = formatOf(command)
  process.stdout.write(
    format === 'json' || format === 'yaml'
      ? await serialize(value, format)
      : format === 'name'
        ? names.map((name) => `${visibleText(name)}\n`).join('')
        : text(paintFor(colourChoice(command), process.stdout), format === 'wide', visibleValue(value)),
  )
}

export async function serialized(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Every text in it as `visibleText` has it: none sends a terminal commands, or looks like further lines. */
export function visibleValue<T>(value: T): T {
  // A plan over thousands of namespaces holds the same many times, and many times one text.
  const known = new Map<unknown, unknown>()
  const visible = (part: unknown): unknown => {
    if (typeof part === 'string') return visibleText(part)
    if (typeof part !== 'object' || part === null) return part
    const before = known.get(part)
    if (before !== undefined) return before
    const made = Array.isArray(part)
      ? part.map(visible)
      : Object.fromEntries(Object.entries(part).map(([key, each]) => [visibleText(key), visible(each)]))
    known.set(part, made)
    return made
  }
  return visible(value) as T
}
