/**
 * The measures of the house: how long a file is, how many others it imports from, that a name means one thing in a
 * layer. What is larger than it should be is listed with the reason; nothing new may come, and what has shrunk must be
 * taken off.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const mostLines = 400
const mostImports = 25

const longFiles: Readonly<Record<string, string>> = {
  'src/catalog/protobuf/message-facts.ts': 'a table',
  'src/cel/checker.ts': 'one case for each kind of expression',
  'src/cel/cost-estimate.ts': 'one case for each kind of expression',
  'src/cel/evaluate.ts': 'one case for each kind of expression',
}

const manyImports: Readonly<Record<string, string>> = {
  'src/app/api-server.ts': 'names every stage and verb',
  'src/app/control-plane.ts': 'opens everything in its order',
  'src/app/features.ts': 'names every feature',
  'src/app/wire.ts': 'names the concrete classes',
  'src/populate/populate.ts': 'the wiring of another program',
}

interface Source {
  readonly path: string
  readonly text: string
}

const sources: readonly Source[] = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((path) => !path.includes('/generated/'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const importsOf = ({ text }: Source): number => new Set(text.match(/from '\.[^']*'/g)).size
const declared = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm

test('the files were found', () => {
  expect(sources.length).toBeGreaterThan(600)
})

test(`no file is longer than ${mostLines} lines without a reason`, () => {
  const long = sources.filter(({ text }) => text.split('\n').length - 1 > mostLines).map(({ path }) => path)
  expect(long.sort()).toEqual(Object.keys(longFiles).sort())
})

test(`no file imports from more than ${mostImports} others without a reason`, () => {
  const many = sources.filter((source) => importsOf(source) > mostImports).map(({ path }) => path)
  expect(many.sort()).toEqual(Object.keys(manyImports).sort())
})

test('no name is exported by two files of one layer', () => {
  const files = new Map<string, Set<string>>()
  for (const { path, text } of sources) {
    for (const [, name = ''] of text.matchAll(declared)) {
      const key = `${path.split('/')[1]} ${name}`
      files.set(key, (files.get(key) ?? new Set()).add(path))
    }
  }
  const shared = [...files].filter(([, paths]) => paths.size > 1)
  expect(shared.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([])
})
