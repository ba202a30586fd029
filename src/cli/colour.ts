/** Colours: on a terminal, where the flag, `NO_COLOR` or `FORCE_COLOR` does not say otherwise. */
import { styleText } from 'node:util'
import { type Command, Option } from 'commander'

/** What a text means; the colour follows from it. */
export type Tone = 'good' | 'bad' | 'warning' | 'strong' | 'faint'
export type Paint = (tone: Tone, text: string) => string

type Output = NodeJS.WriteStream
export type ColourChoice = 'auto' | 'always' | 'never'

const formats = { good: 'green', bad: 'red', warning: 'yellow', strong: 'bold', faint: 'dim' } as const

export const plain: Paint = (_, text) => text

export const colourOption = (): Option =>
  new Option('--color <when>', 'colours; auto: on a terminal, and as NO_COLOR and FORCE_COLOR say')
    .choices(['auto', 'always', 'never'])
    .default('auto')

export function paintFor(choice: ColourChoice, output: Output): Paint {
  if (choice === 'never') return plain
  const checks = choice === 'auto' ? { validateStream: true, stream: output } : { validateStream: false }
  return (tone, text) => (text === '' ? text : styleText(formats[tone], text, checks))
}

export const hasColours = (choice: ColourChoice, output: Output): boolean =>
  paintFor(choice, output)('bad', 'x') !== 'x'

/** As the command line says; before it is read, `auto`. */
export const colourChoice = (command: Command): ColourChoice =>
  (command.optsWithGlobals()['color'] as ColourChoice | undefined) ?? 'auto'
