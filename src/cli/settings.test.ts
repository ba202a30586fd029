import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { addSettings, settingsSchema } from './settings.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'borough-settings-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Given {
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly file?: string
}

const even = (text: string): number => {
  if (Number(text) % 2 !== 0) throw new InvalidArgumentError('It must be even.')
  return Number(text)
}
const addPair = (text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const [key = '', value = ''] = text.split('=')
  return new Map(before).set(key, value)
}

function commandOf(environment: Readonly<Record<string, string>>, run: (flags: object) => void): Command {
  const command = new Command('up')
    .exitOverride()
    .option('--count <n>', 'how many', even, 2)
    .option('--names <names...>', 'of what', [])
    .addOption(new Option('--claim <key=value>', 'repeatable').argParser(addPair).default(new Map(), 'none'))
    .addOption(new Option('--level <level>', 'of the log').choices(['info', 'warn']).default('warn'))
    .option('--fast', 'or slow', false)
    .option('--no-anonymous', 'known users only')
    .option('--place <dir>', 'where')
    .action(run)
  addSettings(command, environment)
  return command
}

async function flagsOf({ args = [], environment = {}, file }: Given): Promise<object> {
  let flags: object = {}
  const path = join(folder, 'config.yaml')
  if (file !== undefined) writeFileSync(path, file)
  const command = commandOf(environment, (given) => {
    flags = given
  })
  await command.parseAsync([...(file === undefined ? [] : ['--config', path]), ...args], { from: 'user' })
  return flags
}

const cases: readonly { readonly name: string; readonly given: Given; readonly want: object }[] = [
  { name: 'nothing', given: {}, want: { count: 2, names: [], level: 'warn', fast: false, anonymous: true } },
  { name: 'a file', given: { file: 'count: 4\nplace: /here' }, want: { count: 4, place: '/here' } },
  { name: 'the environment', given: { environment: { BOROUGH_COUNT: '6' } }, want: { count: 6 } },
  {
    name: 'the environment before a file',
    given: { environment: { BOROUGH_COUNT: '6', BOROUGH_NAMES: 'a' }, file: 'count: 4\nnames: [b, c]' },
    want: { count: 6, names: ['a'] },
  },
  {
    name: 'the command line before both',
    given: { args: ['--count', '8'], environment: { BOROUGH_COUNT: '6' }, file: 'count: 4' },
    want: { count: 8 },
  },
  {
    name: 'the default value on the command line before a file',
    given: { args: ['--count', '2'], file: 'count: 4' },
    want: { count: 2 },
  },
  { name: 'a list in a file', given: { file: 'names: [a, b]\nclaim: [a=1, b=2]' }, want: { names: ['a', 'b'] } },
  { name: 'a flag without its no, in a file', given: { file: 'anonymous: false' }, want: { anonymous: false } },
  {
    name: 'a flag without its no, in the environment',
    given: { environment: { BOROUGH_ANONYMOUS: 'false' } },
    want: { anonymous: false },
  },
  { name: 'a flag without its no that is true', given: { file: 'anonymous: true' }, want: { anonymous: true } },
  { name: 'one value for a list', given: { file: 'names: a' }, want: { names: ['a'] } },
  { name: 'a list in the environment', given: { environment: { BOROUGH_NAMES: 'a, b' } }, want: { names: ['a', 'b'] } },
  {
    name: 'a repeated flag in the environment',
    given: { environment: { BOROUGH_CLAIM: 'a=1,b=2' } },
    want: {
      claim: new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    },
  },
  {
    name: 'flags without a value',
    given: { file: 'fast: true\nno-anonymous: true' },
    want: { fast: true, anonymous: false },
  },
  {
    name: 'a negated flag that is not set',
    given: { environment: { BOROUGH_NO_ANONYMOUS: 'false' } },
    want: { anonymous: true },
  },
  {
    name: "Kubernetes' own variables",
    given: { environment: { BOROUGH_PORT: 'tcp://10.0.0.1:443' } },
    want: { count: 2 },
  },
]

test.each(cases)('flags are taken from $name', async ({ given, want }) => {
  expect(await flagsOf(given)).toMatchObject(want)
})

test('BOROUGH_CONFIG names the file', async () => {
  const path = join(folder, 'named.yaml')
  writeFileSync(path, 'count: 10')
  expect(await flagsOf({ environment: { BOROUGH_CONFIG: path } })).toMatchObject({ count: 10 })
})

const wrong: readonly { readonly given: Given; readonly says: RegExp }[] = [
  { given: { environment: { BOROUGH_COUNT: '3' } }, says: /^BOROUGH_COUNT: It must be even\.$/ },
  { given: { file: 'count: 3' }, says: /config\.yaml: count: It must be even\.$/ },
  { given: { file: 'count: [2, 4]' }, says: /config\.yaml: count: It must be a text or a number\.$/ },
  { given: { file: 'count:' }, says: /config\.yaml: count: It must be a text or a number\.$/ },
  { given: { file: 'names: [{}]' }, says: /config\.yaml: names: It must be a text, a number, or a list of them\.$/ },
  { given: { file: 'level: loud' }, says: /config\.yaml: level: Allowed choices are info, warn\.$/ },
  { given: { file: 'fast: 1' }, says: /config\.yaml: fast: It must be true or false\.$/ },
  { given: { environment: { BOROUGH_FAST: 'yes' } }, says: /^BOROUGH_FAST: It must be true or false\.$/ },
  { given: { environment: { BOROUGH_ANONYMOUS: 'perhaps' } }, says: /^BOROUGH_ANONYMOUS: It must be true or false\.$/ },
  {
    given: { file: 'speed: 1' },
    says: /config\.yaml: borough up has no setting speed: borough up --help names the flags$/,
  },
  { given: { file: 'config: other.yaml' }, says: /config\.yaml: borough up has no setting config: borough up --help/ },
  { given: { file: '- count' }, says: /config\.yaml: it must be a map of flags, like listen: 127\.0\.0\.1:6443$/ },
  { given: { file: '' }, says: /config\.yaml: it must be a map of flags/ },
  {
    given: { file: 'count: 2\ncount: 4' },
    says: /^can't read .*config\.yaml: Map keys must be unique at line 2, column 1$/,
  },
  {
    given: { file: 'anonymous: true\nno-anonymous: true' },
    says: /config\.yaml: anonymous and no-anonymous are the same flag: keep one of them$/,
  },
  {
    given: { environment: { BOROUGH_ANONYMOUS: 'false', BOROUGH_NO_ANONYMOUS: 'false' } },
    says: /^BOROUGH_ANONYMOUS and BOROUGH_NO_ANONYMOUS are the same flag: keep one of them$/,
  },
  {
    given: { file: `count: 2\n#${'x'.repeat(1024 * 1024)}` },
    says: /^can't read .*config\.yaml: it has more than 1 MiB$/,
  },
  { given: { args: ['--config', '/dev/zero'] }, says: /^can't read \/dev\/zero: it has more than 1 MiB$/ },
  { given: { args: ['--config', '/nowhere.yaml'] }, says: /^--config: there is no file \/nowhere\.yaml$/ },
]

test.each(wrong)('$given is refused: $says', async ({ given, says }) => {
  await expect(flagsOf(given)).rejects.toThrow(says)
})

test('a key that is a list is refused, and nothing else is said', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  await expect(flagsOf({ file: '? [a]\n: 5' })).rejects.toThrow(/has no setting \[ a \]/)
  expect(warned).not.toHaveBeenCalled()
  warned.mockRestore()
})

describe('the schema', () => {
  test('has a property for each flag, of the type that the file takes', () => {
    const { properties } = settingsSchema(commandOf({}, () => undefined)) as { properties: object }
    const value = { type: ['string', 'number'] }
    expect(properties).toMatchObject({
      count: value,
      names: { anyOf: [value, { type: 'array', items: value }] },
      level: { enum: ['info', 'warn'] },
      fast: { type: 'boolean' },
      'no-anonymous': { type: 'boolean' },
    })
    expect(properties).not.toHaveProperty('config')
  })
})
