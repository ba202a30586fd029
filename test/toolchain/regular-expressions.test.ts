/**
 * No regular expression of ours takes more time than its text is long. One of `/\/+$/` on a path held the loop for
 * 6.5 s: 50,000 slashes fit into a request that needs no rights. What clients write as patterns is bounded elsewhere
 * (`src/kube/schema/pattern.ts`).
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseSync, Visitor } from 'rolldown/utils'
import { analyse } from 'scslre'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Found {
  readonly place: string
  readonly source: string
  readonly flags: string
}

const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => !path.includes('/generated/'))
  .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }))

const literals = sources.flatMap(({ path, text }) => {
  const found: Found[] = []
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return
      const { pattern, flags } = node.regex
      found.push({ place: `${path}:${text.slice(0, node.start).split('\n').length}`, source: pattern, flags })
    },
  }).visit(parseSync(path, text).program)
  return found
})

/** Put together from parts, when their file is loaded: a process writes down what is made while it loads them. */
function assembled(): Found[] {
  const files = sources.filter(({ path, text }) => /\bnew RegExp\(/.test(text) && !path.includes('/console/page/'))
  const urls = files.map(({ path }) => pathToFileURL(join(root, path)).href)
  const script = `
    const found = []
    const Native = RegExp
    globalThis.RegExp = new Proxy(Native, {
      construct(target, given, as) {
        const made = Reflect.construct(target, given, as)
        found.push({ source: made.source, flags: made.flags })
        return made
      },
    })
    for (const file of ${JSON.stringify(urls)}) await import(file)
    process.stdout.write(JSON.stringify(found))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return (JSON.parse(printed) as Omit<Found, 'place'>[]).map((made) => ({ ...made, place: 'assembled' }))
}

const slow = (all: readonly Found[]): string[] =>
  all
    .filter(({ source, flags }) => analyse({ source, flags }).reports.length > 0)
    .map(({ place, source, flags }) => `${place} /${source}/${flags}`)

test('those that take time beyond their text are found', () => {
  const known = ['\\/+$', '^(\\d+\\.?\\d*)x$', '^(?:a*)*b$'].map((source) => ({ place: '', source, flags: '' }))
  expect(slow(known)).toHaveLength(known.length)
})

test('none that is written down takes time beyond its text', () => {
  expect(literals.length).toBeGreaterThan(300)
  expect(slow(literals)).toEqual([])
})

test('none that is put together does', () => {
  const found = assembled()
  expect(found.length).toBeGreaterThan(10)
  expect(slow(found)).toEqual([])
})
