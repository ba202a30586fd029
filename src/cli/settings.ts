/**
 * Values of flags from elsewhere than the command line: a file of settings, and the environment. The command line
 * comes first, then the environment, then the file, then defaults.
 */
import type { Command, Option } from 'commander'
import { readBoundedFile } from '../base/bounded-file.ts'
import { unreadable } from './paths.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Others that begin so are left alone: Kubernetes itself puts `BOROUGH_PORT` into pods beside a Service `borough`. */
const variableOf = (name: string): string => `BOROUGH_${name.toUpperCase().replaceAll('-', '_')}`

/** `--no-anonymous-auth` has two names elsewhere: `no-anonymous-auth: true` and `anonymous-auth: false`. */
const positiveName = (option: Option): string | undefined => (option.negate ? option.name().slice(3) : undefined)

const isRepeatable = (option: Option): boolean => option.variadic || option.defaultValue instanceof Map
const configFlag = 'config'

/** Where the value of a flag comes from: `--listen`, `BOROUGH_LISTEN`, `borough.yaml: listen`. */
export function placeOf(command: Command, flag: string): string {
  const option = command.options.find((option) => option.name() === flag)
  const source = option && command.getOptionValueSource(option.attributeName())
  if (source === 'env') return variableOf(flag)
  return source === 'config' ? `${String(command.getOptionValue(configFlag))}: ${flag}` : `--${flag}`
}

/** After all other flags of the command. */
export function addSettings(command: Command, environment: Environment = process.env): void {
  command.option(
    `--${configFlag} <file>`,
    'YAML with flags by their names; variables such as BOROUGH_LOG_LEVEL come before it, the command line before both',
  )
  command.hook('preAction', async () => {
    const options = command.options.filter((option) => isSet(command, option, 'default'))
    for (const option of options) {
      for (const name of [positiveName(option), option.name()]) {
        const text = name === undefined ? undefined : environment[variableOf(name)]
        if (name === undefined || text === undefined) continue
        if (isSet(command, option, 'env')) throw saidTwice(variableOf(positiveName(option) ?? name), variableOf(name))
        const values = isRepeatable(option) ? text.split(',').map((part) => part.trim()) : [text]
        take(command, option, values, { name, place: variableOf(name), source: 'env' })
      }
    }
    const file = command.getOptionValue(configFlag) as string | undefined
    if (file === undefined) return
    const problem = unreadable(file)
    if (problem !== undefined) throw new Error(`${placeOf(command, configFlag)}: ${problem}`)
    await takeFile(command, file)
  })
}

/** JSON Schema of the file; `no-population: true` and `population: false` are `--no-population`. */
export function settingsSchema(command: Command): object {
  const properties = command.options
    .filter((option) => option.name() !== configFlag)
    .flatMap((option): (readonly [name: string, schema: object])[] => {
      const { description } = option
      if (isFlagOnly(option)) {
        const own = { description, type: 'boolean' }
        const positive = positiveName(option)
        const opposite = { description: `not: ${description}`, type: 'boolean' }
        return positive === undefined
          ? [[option.name(), own]]
          : [
              [positive, opposite],
              [option.name(), own],
            ]
      }
      const value = option.argChoices === undefined ? { type: ['string', 'number'] } : { enum: option.argChoices }
      const list = isRepeatable(option) ? { anyOf: [value, { type: 'array', items: value }] } : value
      return [[option.name(), { description, ...list }]]
    })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `Settings of borough ${command.name()}`,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties) as object,
  }
}

async function takeFile(command: Command, file: string): Promise<void> {
  const settings = await readSettings(file)
  const byName = new Map(
    command.options.flatMap((option) =>
      [positiveName(option) ?? [], option.name()].flat().map((name) => [name, option]),
    ),
  )
  for (const [name, value] of Object.entries(settings)) {
    const option = name === configFlag ? undefined : byName.get(name)
    if (option === undefined) {
      const where = `borough ${command.name()} --help names the flags`
      throw new Error(`${file}: borough ${command.name()} has no setting ${name}: ${where}`)
    }
    if (isSet(command, option, 'config')) throw saidTwice(`${file}: ${positiveName(option) ?? name}`, option.name())
    if (!isSet(command, option, 'default')) continue
    const values: unknown[] = Array.isArray(value) && isRepeatable(option) ? value : [value]
    take(command, option, values, { name, place: `${file}: ${name}`, source: 'config' })
  }
}

/** Which of the two holds must not depend on their order. */
const saidTwice = (place: string, other: string): Error =>
  new Error(`${place} and ${other} are the same flag: keep one of them`)

async function readSettings(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import('yaml')
  let settings: unknown
  try {
    settings = parse((await readBoundedFile(file)).toString(), { logLevel: 'error' })
  } catch (cause) {
    const [message = ''] = (cause as Error).message.split('\n')
    throw new Error(`can't read ${file}: ${message.replace(/:$/, '')}`, { cause })
  }
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw new Error(`${file}: it must be a map of flags, like listen: 127.0.0.1:6443`)
  }
  return settings as Record<string, unknown>
}

interface Origin {
  /** Of the flag, as it stands there. */
  readonly name: string
  /** For errors. */
  readonly place: string
  readonly source: 'env' | 'config'
}

/** @throws Error that names the place, for a value that the flag would not take either */
function take(command: Command, option: Option, values: readonly unknown[], { name, place, source }: Origin): void {
  const key = option.attributeName()
  if (isFlagOnly(option)) {
    const [value] = values
    if (value !== true && value !== false && value !== 'true' && value !== 'false') {
      throw new Error(`${place}: It must be true or false.`)
    }
    const said = value === true || value === 'true'
    const isNegated = option.negate && name === option.name()
    command.setOptionValueWithSource(key, isNegated ? !said : said, source)
    return
  }
  for (const value of values) {
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${place}: ${wanted(option)}`)
    command.setOptionValueWithSource(key, parsed(command, option, String(value), place), source)
  }
}

const wanted = (option: Option): string =>
  isRepeatable(option) ? 'It must be a text, a number, or a list of them.' : 'It must be a text or a number.'

function parsed(command: Command, option: Option, text: string, place: string): unknown {
  const before: unknown = command.getOptionValue(option.attributeName())
  if (option.parseArg === undefined) {
    if (!option.variadic) return text
    return isSet(command, option, 'default') ? [text] : [...(before as readonly string[]), text]
  }
  try {
    return (option.parseArg as (text: string, before: unknown) => unknown)(text, before)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new Error(`${place}: ${error.message}`, { cause: error })
  }
}

const isFlagOnly = (option: Option): boolean => !option.required && !option.optional

/** Negated flags share the value of the flag that they negate. */
const isSet = (command: Command, option: Option, source: string): boolean =>
  (command.getOptionValueSource(option.attributeName()) ?? 'default') === source
