/**
 * The measures of the house: how long a file and a function are, how many others a file imports from, that a name means
 * one thing in a layer, that modules keep no state. What is larger than it should be is listed with the reason; nothing
 * new may come, and what has shrunk must be taken off.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ESTree, parseSync, Visitor } from 'rolldown/utils'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const mostLines = 400
const mostImports = 25
const mostFunctionLines = 80

const longFiles: Readonly<Record<string, string>> = {
  'src/catalog/protobuf/message-facts.ts': 'a table',
  'src/cel/checker.ts': 'one case for each kind of expression',
  'src/cel/cost-estimate.ts': 'one case for each kind of expression',
  'src/cel/evaluate.ts': 'one case for each kind of expression',
}

const manyImports: Readonly<Record<string, string>> = {
  'src/app/features.ts': 'names every feature',
}

/** By file and name. */
const longFunctions: Readonly<Record<string, string>> = {
  'src/storage/sqlite/writer.ts run': 'the loop of a thread over what it shares',
}

/**
 * What a module remembers. Each is a function of nothing but its key, and the key is a value that is never changed, or
 * a text in a cache with a bound: two servers in one process can't see each other through it.
 */
const memos: Readonly<Record<string, string>> = {
  'src/apis/clusterquotas/charges.ts parsed': 'figures as decisions read them',
  'src/apis/quotas/ledger.ts parsed': 'a quota as its accountant reads it',
  'src/apis/templates/clones.ts consents': 'which namespaces a source consents to',
  'src/apis/templates/clones.ts digests': 'what is copied of a source',
  'src/apis/templates/conditions.ts prepared': 'an expression',
  'src/apis/templates/create-populated.ts appliedOnce': 'a source as an apply makes it',
  'src/apis/templates/create-populated.ts readiness': 'whether the status of a template names all its kinds',
  'src/apis/templates/match.ts unknownIn': 'what of a spec this version does not know',
  'src/apis/templates/marks.ts digests': 'an object and its digest',
  'src/apis/templates/parameters.ts comparedBefore': 'whether a value matches a pattern',
  'src/apis/templates/prunes.ts alike': 'what a spec gives in every namespace',
  'src/apis/templates/render.ts copiesOf': 'a source of clones with its copy',
  'src/apis/templates/render.ts filledBefore':
    'a thousand digests of a source and its values with the object made of them',
  'src/apis/templates/render.ts known': 'a source with its tokens found',
  'src/apis/templates/template-objects.ts known': 'the objects of both lists of a spec',
  'src/authn/authenticator-chain.ts completed': 'a user with the group of all authenticated users',
  'src/catalog/kinds/columns-of.ts known': 'the columns of a type',
  'src/cel/environment.ts tables': 'the functions of an extension',
  'src/cel/library/time.ts formats': 'a time zone and its format',
  'src/cel/object-rules.ts compiled': 'the rules of a schema',
  'src/console/page/namespaces/namespace-row.ts rows': 'a namespace as a row shows it',
  'src/http/negotiate.ts known': 'an Accept header',
  'src/kube/apply/object-schema.ts roots': 'a schema with the fields of every object',
  'src/kube/apply/path-element.ts fieldElements': 'a name and its path element, of the first 4096',
  'src/kube/apply/shape.ts sortedKeys': 'the fields of a schema in their order',
  'src/kube/quantity.ts parsed': 'a quantity',
  'src/kube/schema/default.ts defaultedMembers': 'the members of a schema that have defaults',
  'src/kube/schema/pattern.ts compiled': 'a regular expression',
  'src/kube/stored-form.ts ownHeads': 'what the answers of a type begin with',
  'src/kube/time.ts formatted': 'a second',
  'src/kube/time.ts known': 'a time',
}

interface Source {
  readonly path: string
  readonly text: string
}

const sources: readonly Source[] = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((path) => !path.includes('/generated/'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const importsOf = ({ text }: Source): number => new Set(text.match(/from '\.[^']*'/g)).size
const declared = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm

const programOf = ({ path, text }: Source): ESTree.Program => parseSync(path, text).program

function functionsOf(source: Source): { readonly name: string; readonly lines: number }[] {
  const found: { readonly name: string; readonly lines: number }[] = []
  const add = (name: string, { start, end }: ESTree.Span): void => {
    found.push({ name: `${source.path} ${name}`, lines: source.text.slice(start, end).split('\n').length })
  }
  new Visitor({
    FunctionDeclaration: (node) => add(node.id?.name ?? '', node),
    FunctionExpression: (node) => add('a method or function', node),
    ArrowFunctionExpression: (node) => add('an arrow function', node),
  }).visit(programOf(source))
  return found
}

test('app is wiring, of fifteen files at most', () => {
  const files = readdirSync(join(root, 'src/app')).filter((name) => !name.endsWith('.test.ts'))
  expect(files.length, files.join(', ')).toBeLessThanOrEqual(15)
})

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

test(`no function is longer than ${mostFunctionLines} lines without a reason`, () => {
  const long = sources.flatMap((source) => functionsOf(source).filter(({ lines }) => lines > mostFunctionLines))
  expect(long.map(({ name }) => name).sort()).toEqual(Object.keys(longFunctions).sort())
})

test('no module keeps state but what it remembers of values that are never changed', () => {
  const found = sources.flatMap(({ path, text }) =>
    programOf({ path, text }).body.flatMap((statement) => {
      const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      if (declaration?.type !== 'VariableDeclaration') return []
      return declaration.declarations.flatMap(({ id }) => {
        if (id.type !== 'Identifier') return []
        const isWritten = new RegExp(`^(?!.*this).*\\b${id.name}\\.(?:set|add|delete|clear)\\(`, 'm').test(text)
        return declaration.kind !== 'const' || isWritten ? [`${path} ${id.name}`] : []
      })
    }),
  )
  expect(found.sort()).toEqual(Object.keys(memos).sort())
})

test('one file asks whether a value is a promise', () => {
  const askers = sources.filter(
    ({ path, text }) => /^src\/(?:http|registry)\//.test(path) && /instanceof Promise/.test(text),
  )
  expect(askers.map(({ path }) => path)).toEqual([])
})

test('one file asks V8 to parse JSON: it misreads keys that have escapes', () => {
  const parsers = sources.filter(
    ({ text }) => /^[^*/]*\bJSON\.parse\b/m.test(text) || /\bawait \w+\.json\(\)/.test(text),
  )
  expect(parsers.map(({ path }) => path)).toEqual([
    'src/base/parse-json-text.ts',
    'src/console/page/live-client.ts',
    'src/console/page/session.ts',
  ])
})

test('update and delete stand beside create, not on it', () => {
  const importers = ['src/registry/update.ts', 'src/registry/delete.ts'].map((path) =>
    sources.find((s) => s.path === path),
  )
  expect(importers.map((source) => source?.text.includes('/create'))).toEqual([false, false])
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
