#!/usr/bin/env node
/**
 * Every field of every refusal that a client can see is asserted by some test. Kept true so:
 *
 * - A *place* is an expression in src/ that makes a refusal: `new StatusError(…)`, a field error written out, a call of
 *   a method of a `report`, or a call of a function that does nothing but return such an expression. The expression in
 *   such a function is no place, its callers are. A place is named by its file and its own text, never by a line.
 * - While tests run, the plugin for vite below hands what each place makes to test/support/record-refusals.ts, which
 *   sees what assertions compare, and leaves the names of the places that were reached and asserted in the folder that
 *   BOROUGH_REFUSALS names.
 * - `judge` compares these with all places and with refusals-excused.tsv beside it: file, text and reason of each place
 *   that goes without. A place that is neither asserted nor excused is a fault, and so is a needless excuse.
 *
 *   BOROUGH_REFUSALS=.cache/refusals vitest run && node tools/refusals.ts
 */
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ESTree } from 'rolldown/utils'
import { parseSync, Visitor } from 'rolldown/utils'
import type { Plugin } from 'vitest/config'
import { readRunnerFlags } from '../test/support/runner-flags.ts'

const help = `Usage: BOROUGH_REFUSALS=FOLDER node tools/refusals.ts

Names the places of src/ that make a refusal which no test compares in full, by what tests have recorded in a folder.

Examples:
  BOROUGH_REFUSALS=.cache/refusals vitest run && node tools/refusals.ts
  BOROUGH_REFUSALS=.cache/mine vitest run src/authz; BOROUGH_REFUSALS=.cache/mine node tools/refusals.ts | grep authz

Without BOROUGH_REFUSALS the folder is .cache/refusals. What only other tests assert is named after a part of them, too.
`

const root = fileURLToPath(new URL('..', import.meta.url))
const excusesFile = 'tools/refusals-excused.tsv'
const maxTextLength = 160

interface Place {
  readonly start: number
  readonly end: number
  /** What the plugin hands on: the expression, or the report that it calls. */
  readonly subject: { readonly start: number; readonly end: number }
  /** The function that makes the refusal, where it is a call of one. */
  readonly maker?: Name
}

interface Name {
  readonly file: string
  readonly name: string
}

interface Source {
  readonly text: string
  /** What is a place if its maker is a maker. */
  readonly candidates: Place[]
  /** Functions that do nothing but return a candidate. */
  readonly functions: { readonly name: string; readonly result: Place }[]
}

interface Places {
  readonly text: string
  /** Name → place. */
  readonly places: ReadonlyMap<string, Place>
}

function findPlaces(): Map<string, Places> {
  const sources = new Map<string, Source>()
  for (const file of globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] }).sort()) {
    sources.set(file, scan(file, readFileSync(join(root, file), 'utf8')))
  }
  const makers = new Set<string>()
  const isPlace = ({ maker }: Place): boolean => maker === undefined || makers.has(`${maker.file} ${maker.name}`)
  // A function that returns what a maker makes is a maker, too.
  for (let size = -1; size < makers.size; ) {
    size = makers.size
    for (const [file, { functions }] of sources) {
      for (const { name, result } of functions) if (isPlace(result)) makers.add(`${file} ${name}`)
    }
  }
  const found = new Map<string, Places>()
  for (const [file, { text, candidates, functions }] of sources) {
    const inMakers = new Set(functions.map(({ result }) => result))
    const places = new Map<string, Place>()
    for (const place of candidates.filter((c) => isPlace(c) && !inMakers.has(c)).sort((a, b) => a.start - b.start)) {
      const own = text.slice(place.start, place.end).replaceAll(/\s+/g, ' ').slice(0, maxTextLength)
      let name = `${file}\t${own}`
      for (let times = 2; places.has(name); times++) name = `${file}\t${own} (${times})`
      places.set(name, place)
    }
    found.set(file, { text, places })
  }
  return found
}

function scan(file: string, text: string): Source {
  const imports = new Map<string, Name>()
  const candidates: Place[] = []
  const results: { readonly name: string; readonly node: ESTree.Node }[] = []
  const define = (name: string, body: ESTree.Node | null): void => {
    const node = body && resultOf(body)
    if (node) results.push({ name, node })
  }
  const add = ({ start, end }: ESTree.Node, more: Partial<Place> = {}): void => {
    candidates.push({ start, end, subject: { start, end }, ...more })
  }
  new Visitor({
    ImportDeclaration({ source, specifiers }) {
      for (const s of source.value.startsWith('.') ? specifiers : []) {
        if (s.type !== 'ImportSpecifier' || s.imported.type !== 'Identifier') continue
        imports.set(s.local.name, { file: join(dirname(file), source.value), name: s.imported.name })
      }
    },
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init?.type === 'ArrowFunctionExpression') define(id.name, init.body)
    },
    FunctionDeclaration({ id, body }) {
      if (id) define(id.name, body)
    },
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'StatusError') add(node)
    },
    ObjectExpression(node) {
      const keys = node.properties.map((p) => (p.type === 'Property' && p.key.type === 'Identifier' ? p.key.name : ''))
      if (['type', 'field', 'body'].every((key) => keys.includes(key))) add(node)
    },
    CallExpression(node) {
      const { callee } = node
      if (callee.type === 'Identifier') {
        add(node, { maker: imports.get(callee.name) ?? { file, name: callee.name } })
      } else if (callee.type === 'MemberExpression' && callee.property.type === 'Identifier') {
        const { object, property } = callee
        if (object.type === 'Identifier' && object.name === 'report' && property.name !== 'add') {
          add(node, { subject: object })
        }
      }
    },
  }).visit(parseSync(file, text).program)
  return {
    text,
    candidates,
    functions: results.flatMap(({ name, node }) => {
      const result = candidates.find((c) => c.start === node.start && c.end === node.end)
      return result ? [{ name, result }] : []
    }),
  }
}

/** What a function returns that does nothing else, but may name things before. */
function resultOf(body: ESTree.Node): ESTree.Node | undefined {
  let result: ESTree.Node | null | undefined = body
  if (body.type === 'BlockStatement') {
    const last = body.body.at(-1)
    if (last?.type !== 'ReturnStatement' || body.body.some((s) => s !== last && s.type !== 'VariableDeclaration'))
      return
    result = last.argument
  }
  for (;;) {
    if (result?.type === 'ParenthesizedExpression' || result?.type === 'TSAsExpression') result = result.expression
    else if (result?.type === 'ArrayExpression' && result.elements.length === 1) result = result.elements[0]
    else return result ?? undefined
  }
}

/** For vite: has every place hand on what it makes. `folder` is emptied. Lines stay what they are. */
export function refusalsPlugin(folder: string): Plugin {
  const files = findPlaces()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return {
    name: 'refusals',
    enforce: 'pre',
    transform(code, id) {
      const { text, places } = files.get(id.slice(root.length)) ?? {}
      if (!places?.size) return undefined
      if (code !== text) throw new Error(`${id} is not what its file says`)
      const edits = [...places].flatMap(([name, { subject }]) => [
        { at: subject.start, put: `$made(${JSON.stringify(name)}, ` },
        { at: subject.end, put: ')' },
      ])
      let out = code
      for (const { at, put } of edits.sort((a, b) => b.at - a.at)) out = out.slice(0, at) + put + out.slice(at)
      return `function $made(place, made) { return globalThis.boroughRefusals?.made(place, made) ?? made } ${out}`
    },
  }
}

/** Says what is wrong; true if nothing is. */
function judge(folder: string): boolean {
  const names = new Set([...findPlaces().values()].flatMap(({ places }) => [...places.keys()]))
  const reached = new Set<string>()
  const asserted = new Set<string>()
  // In folders of their own: what was recorded when a test ran once more.
  const records = globSync('**/*.json', { cwd: folder })
  if (records.length === 0) {
    process.stderr.write(`no test has recorded anything in ${folder}: run vitest with BOROUGH_REFUSALS=${folder}\n`)
    return false
  }
  for (const file of records) {
    const records = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { reached: string[]; asserted: string[] }
    for (const name of records.reached) reached.add(name)
    for (const name of records.asserted) asserted.add(name)
  }
  const excused = new Set<string>()
  const faults: string[] = []
  for (const line of readFileSync(join(root, excusesFile), 'utf8').split('\n')) {
    if (line === '') continue
    const [file, text, reason] = line.split('\t')
    const name = `${file}\t${text}`
    excused.add(name)
    if (!reason) faults.push(`excused without a reason\t${name}`)
    else if (!names.has(name)) faults.push(`excused, but no place\t${name}`)
    else if (asserted.has(name)) faults.push(`excused, but asserted\t${name}`)
  }
  for (const name of names) {
    if (asserted.has(name) || excused.has(name)) continue
    faults.push(`${reached.has(name) ? 'not asserted whole' : 'no test comes here'}\t${name}`)
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  process.stderr.write(
    `${names.size} places make a refusal: ${asserted.size} asserted, ${excused.size} excused (${excusesFile})\n`,
  )
  return faults.length === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readRunnerFlags(help, {}, [])
  process.exitCode = judge(process.env['BOROUGH_REFUSALS'] ?? join(root, '.cache', 'refusals')) ? 0 : 1
}
