/**
 * What may stand where the cursor is: commands, options, values of options and names of arguments, read from the
 * commands themselves. Nothing here knows a shell.
 */
import type { Argument, Command, Option } from 'commander'

export interface Candidate {
  readonly value: string
  readonly description: string
}

export interface Candidates {
  readonly values: readonly Candidate[]
  /** The word is the name of a file: the shell completes it. */
  readonly isFile: boolean
}

/** Names that a server knows. */
export interface NameSource {
  /** @param argument as the command names it: `namespace`, `template` */
  namesOf(argument: string, flags: ReadonlyMap<string, string>): Promise<readonly string[]>
}

const none: Candidates = { values: [], isFile: false }
const file: Candidates = { values: [], isFile: true }

/** @param words behind the program's name; the last one is being typed and may be empty */
export async function findCandidates(
  program: Command,
  words: readonly string[],
  names: NameSource,
): Promise<Candidates> {
  const typed = words[words.length - 1] ?? ''
  const { command, position, expecting, flags } = readWords(program, words.slice(0, -1))
  if (expecting) return withPrefix(valuesOfOption(expecting), typed)
  const assigned = /^(--[^=]+)=(.*)$/s.exec(typed)
  if (assigned) {
    const [, flag = '', value = ''] = assigned
    const option = optionOf(command, flag)
    if (!option) return none
    const { values, isFile } = withPrefix(valuesOfOption(option), value)
    return { values: values.map((found) => ({ ...found, value: `${flag}=${found.value}` })), isFile }
  }
  if (typed.startsWith('-')) return withPrefix({ values: optionsOf(command), isFile: false }, typed)
  const subcommands = visibleCommands(command)
  if (position === 0 && subcommands.length > 0) return withPrefix({ values: subcommands, isFile: false }, typed)
  const argument = argumentAt(command, position)
  if (argument === undefined) return none
  if (argument.argChoices) return withPrefix(choices(argument.argChoices), typed)
  const known = await names.namesOf(argument.name(), flags)
  if (known.length === 0 && /file|dir/.test(argument.name())) return file
  return withPrefix(choices(known), typed)
}

const choices = (values: readonly string[]): Candidates => ({
  values: values.map((value) => ({ value, description: '' })),
  isFile: false,
})

interface Reading {
  readonly command: Command
  /** Of the next argument. */
  readonly position: number
  /** An option whose value comes next. */
  readonly expecting: Option | undefined
  /** Values of the options before. */
  readonly flags: ReadonlyMap<string, string>
}

function readWords(program: Command, words: readonly string[]): Reading {
  let command = program
  let position = 0
  let expecting: Option | undefined
  const flags = new Map<string, string>()
  for (const word of words) {
    if (expecting) {
      flags.set(expecting.name(), word)
      expecting = undefined
      continue
    }
    if (word.startsWith('-')) {
      const [flag = '', value] = word.split('=', 2)
      const option = optionOf(command, flag)
      if (option && value !== undefined) flags.set(option.name(), value)
      else if (option && takesValue(option)) expecting = option
      continue
    }
    const subcommand = position === 0 ? command.commands.find((c) => c.name() === word) : undefined
    if (subcommand) command = subcommand
    else position++
  }
  return { command, position, expecting, flags }
}

const takesValue = (option: Option): boolean => option.required || option.optional

/** Of the command, or of one above it. */
const optionOf = (command: Command, flag: string): Option | undefined =>
  command.options.find((option) => option.long === flag || option.short === flag) ??
  (command.parent === null ? undefined : optionOf(command.parent, flag))

function argumentAt(command: Command, position: number): Argument | undefined {
  const last = command.registeredArguments[command.registeredArguments.length - 1]
  return command.registeredArguments[position] ?? (last?.variadic ? last : undefined)
}

function optionsOf(command: Command): Candidate[] {
  const help = command.createHelp()
  const above = help.visibleGlobalOptions(command).filter(({ long }) => long !== '--version')
  return [...help.visibleOptions(command), ...above].map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    description,
  }))
}

const visibleCommands = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((c) => ({ value: c.name(), description: c.description() }))

function valuesOfOption(option: Option): Candidates {
  if (option.argChoices)
    return { values: option.argChoices.map((value) => ({ value, description: '' })), isFile: false }
  return /<(?:csv|dir|files?|kubeconfig|path|pem|place)\b/.test(option.flags) ? file : none
}

const withPrefix = ({ values, isFile }: Candidates, typed: string): Candidates => ({
  values: values.filter(({ value }) => value.startsWith(typed)),
  isFile,
})
