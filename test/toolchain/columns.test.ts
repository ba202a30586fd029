/** No line is longer than a screen is wide: 120 columns, in code and in the code that documents show. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const most = 120

const sources = globSync(['{src,test,tools,bench,examples,bin}/**/*.{ts,tsx,mjs}', '*.ts'], {
  cwd: root,
  exclude: ['src/catalog/generated/**'],
})
const documents = globSync(['*.md', '{docs,src,test,examples,deploy}/**/*.md'], { cwd: root })

/** A pattern can't be broken, and is not made clearer by being put together of parts. */
const isPattern = (line: string): boolean => /^\s*(?:\w+: )?\/(?![/*]).+\/[a-z]*[,;)]*$/.test(line)

function tooLong(file: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, i) =>
    line.length > most && !isPattern(line) ? [`${file}:${i + 1} (${line.length})`] : [],
  )
}

const linesOf = (file: string): string[] => readFileSync(join(root, file), 'utf8').split('\n')

/** The lines of fenced blocks; others are empty, so that numbers stay. */
function codeOf(lines: readonly string[]): string[] {
  let inside = false
  return lines.map((line) => {
    if (!/^\s*(```|~~~)/.test(line)) return inside ? line : ''
    inside = !inside
    return ''
  })
}

test('of code', () => {
  expect(sources.length).toBeGreaterThan(900)
  expect(sources.flatMap((file) => tooLong(file, linesOf(file)))).toEqual([])
})

test('of code in documents', () => {
  expect(documents.length).toBeGreaterThan(50)
  expect(documents.flatMap((file) => tooLong(file, codeOf(linesOf(file))))).toEqual([])
})
