/** What a server warns of, as kubectl shows it. */
import type { Command } from 'commander'
import { visibleText } from '../base/shell-text.ts'
import type { OnWarning } from '../client/warnings.ts'
import { colourChoice, paintFor } from './colour.ts'

/** On standard error, each once: the same may come of many writes. */
export function warningLines(command: Command): OnWarning {
  const told = new Set<string>()
  return (text) => {
    if (told.has(text)) return
    told.add(text)
    const word = paintFor(colourChoice(command), process.stderr)('warning', 'Warning:')
    process.stderr.write(`${word} ${visibleText(text)}\n`)
  }
}
