/**
 * The types that the package exports, rolled into one text: the declaration of each export, and those that it is made
 * of. `test/api/api.d.txt` is that text as it was agreed upon; a test compares them.
 *
 *   node tools/api.mjs --update     after a change of the API that is meant; CHANGELOG.md says what its users do
 *
 * Reads the declarations in dist/, which `npm run build` makes, in the form in which the compiler prints them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
export const snapshot = join(root, 'test', 'api', 'api.d.txt')

/** @returns {string} */
export function rolledTypes() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files = new Map()
  const reached = new Map()
  const parts = Object.entries(exports).flatMap(([path, { types }]) => {
    if (types === undefined) return []
    const names = [...openFile(join(root, types), files).exported].sort()
    for (const name of names) reach(join(root, types), name, files, reached)
    return [`// ${path}: ${names.join(', ')}\n`]
  })
  const declarations = [...reached]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, text]) => `\n// ${place}\n${text}`)
  return [...parts, ...declarations].join('')
}

/** Adds the declaration of a name, and those of what it mentions. */
function reach(file, name, files, reached) {
  const { declared, imported } = openFile(file, files)
  const from = imported.get(name)
  if (from !== undefined) return reach(from.file, from.name, files, reached)
  const text = declared.get(name)
  const place = `${relative(root, file).replaceAll('\\', '/')} ${name}`
  if (text === undefined) throw new Error(`${place} is declared nowhere`)
  if (reached.has(place)) return
  reached.set(place, text)
  const inline = text.replace(/\bimport\("(\.[^"]+)"\)\.(\w+)/g, (_, path, other) => {
    reach(besides(file, path), other, files, reached)
    return ''
  })
  for (const [word] of inline.matchAll(/[\w$]+/g)) {
    if (word !== name && (declared.has(word) || imported.has(word))) reach(file, word, files, reached)
  }
}

const besides = (file, path) => join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts'))

/** What a file declares, takes from elsewhere, and gives. */
function openFile(file, files) {
  const known = files.get(file)
  if (known !== undefined) return known
  if (!existsSync(file)) throw new Error(`${relative(root, file)} is not there: npm run build`)
  const opened = { declared: new Map(), imported: new Map(), exported: new Set() }
  files.set(file, opened)
  for (const statement of statementsOf(readFileSync(file, 'utf8'))) readStatement(statement, file, opened)
  return opened
}

function readStatement(statement, file, { declared, imported, exported }) {
  const [, list, path] = /^(?:import|export) (?:type )?\{([^}]*)\}(?: from ['"]([^'"]+)['"])?;/.exec(statement) ?? []
  const isExport = statement.startsWith('export ')
  if (list !== undefined) {
    for (const part of list.split(',').filter((text) => text.trim() !== '')) {
      const [name = '', local = name] = part
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      if (path?.startsWith('.')) imported.set(local, { file: besides(file, path), name })
      if (isExport) exported.add(local)
    }
    return
  }
  const form = /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type|enum) ([\w$]+)/
  const [, name] = form.exec(statement) ?? []
  if (name === undefined) return
  // Overloads of a function.
  declared.set(name, (declared.get(name) ?? '') + statement)
  if (isExport) exported.add(name)
}

/** The compiler begins each at the left edge, and ends it with a line that ends there. */
function statementsOf(text) {
  const lines = text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n')
  const statements = []
  for (const line of lines) {
    if (line.trim() === '') continue
    if (/^(?:export|import|declare|interface|type|class|const|function|abstract|enum)\b/.test(line)) statements.push('')
    statements.push(`${statements.pop() ?? ''}${line.trimEnd()}\n`)
  }
  return statements
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--update')) writeFileSync(snapshot, rolledTypes())
  else process.stdout.write(rolledTypes())
}
