/** The documentation against the repository: what it names must exist. Whether it is true, a reader must tell. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { controllerNames } from '../../src/app/config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const skipped = new Set(['node_modules', 'dist', 'coverage', 'generated'])

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || skipped.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return markdownFiles(path)
    return entry.isFile() && entry.name.endsWith('.md') ? [path] : []
  })
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const withoutCode = (text: string): string => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '')

/** As GitHub makes them of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const anchorsIn = (text: string): string[] =>
  [...withoutFences(text).matchAll(/^#{1,6}\s+(.+)$/gm)].map((m) => anchorOf(m[1] ?? ''))
const withoutFences = (text: string): string => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '')

const documents = markdownFiles(root).map((path) => relative(root, path))

test('the documents are found', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'docs/architecture.md', 'docs/adr/0001-revision-per-change.md']),
  )
})

test('no suite lies loose in test/', () => {
  expect(readdirSync(join(root, 'test')).filter((name) => name.includes('.'))).toEqual([])
})

test('what runs TypeScript in an example says on which Node', () => {
  const examples = documents.filter((path) => path.startsWith('examples/') && /^ *node .*\.ts\b/m.test(read(path)))
  expect(examples).not.toEqual([])
  expect(examples.filter((path) => !read(path).includes('PATH=$PWD/node_modules/.bin:$PATH'))).toEqual([])
})

test('an entry of CHANGELOG.md is a line or two', () => {
  const entries = read('CHANGELOG.md').split(/^(?=- |#|$)/m)
  const long = entries.filter((entry) => entry.startsWith('- ') && entry.trimEnd().split('\n').length > 2)
  expect(entries.filter((entry) => entry.startsWith('- ')).length).toBeGreaterThan(20)
  expect(long).toEqual([])
})

test('every decision has a number of its own, and begins with it', () => {
  const decisions = documents.filter((path) => path.startsWith('docs/adr/')).sort()
  const numbers = decisions.map((path) => /\/(\d{4})-/.exec(path)?.[1])
  expect(numbers.filter((number, i) => number === undefined || numbers.indexOf(number) !== i)).toEqual([])
  expect(decisions.map((path) => /^# (\d{4})\. /.exec(read(path))?.[1])).toEqual(numbers)
})

describe.each(documents)('%s', (document) => {
  test('links to what exists', () => {
    const links = [...withoutCode(read(document)).matchAll(/\]\(([^()\s]+)\)/g)].map((m) => m[1] ?? '')
    const broken = links.filter((link) => {
      if (/^[a-z]+:/i.test(link)) return false
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? join(root, document) : join(root, dirname(document), decodeURIComponent(path))
      if (!existsSync(target)) return true
      return anchor !== undefined && !anchorsIn(readFileSync(target, 'utf8')).includes(anchor)
    })
    expect(broken).toEqual([])
  })

  test('names files and folders of the repository that exist', () => {
    const named = [...read(document).matchAll(/(?<![\w./-])(?:src|test|tools|bench|examples|bin)\/[\w./-]*\w\/?/g)].map(
      (m) => m[0],
    )
    const missing = [...new Set(named)].filter((path) => {
      const there = join(root, path)
      return !existsSync(there) || (path.endsWith('/') && !statSync(there).isDirectory())
    })
    // Made by the build, so absent from a fresh clone.
    expect(missing.filter((path) => !path.startsWith('src/catalog/generated'))).toEqual([])
  })
})

describe('what a walk says of a file', () => {
  /** `` `name` (`src/x.ts`) ``, `` `name` of `other` in `src/x.ts` ``: the name must occur in that file. */
  const claim = /`([A-Za-z]+(?:\.[A-Za-z]+)?)` (?:\(|in )`(src\/[\w./-]+\.ts)`/g

  test.each(['docs/architecture.md', 'docs/flow.md'])('%s names functions where they are', (document) => {
    const claims = [...read(document).replace(/\s+/g, ' ').matchAll(claim)]
    expect(claims.length).toBeGreaterThan(4)
    const wrong = claims.filter(([, name = '', file = '']) => {
      const source = read(file)
      return !name.split('.').every((part) => new RegExp(`\\b${part}\\b`).test(source))
    })
    expect(wrong.map(([text]) => text)).toEqual([])
  })
})

test('every dependency has a place in docs/dependencies.md, with its version', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const text = read('docs/dependencies.md')
  const missing = Object.entries({ ...dependencies, ...devDependencies })
    .map(([name, version]) => `${name} ${version}`)
    .filter((entry) => !text.includes(entry))
  expect(missing).toEqual([])
})

test('every controller has a place in docs/operations.md', () => {
  const text = read('docs/operations.md')
  expect(controllerNames.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

describe('the command line', () => {
  const help = (command: readonly string[]): string =>
    spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...command, '--help'], { encoding: 'utf8' }).stdout
  const flagsIn = (text: string): string[] => [...new Set(text.match(/(?<![\w-])--[a-z][a-z-]+/g) ?? [])].sort()
  /** Of a command and of those below it, as its help lists them. */
  const flagsOf = (command: readonly string[]): string[] => {
    const text = help(command)
    const below = [...(text.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map((m) => m[1] ?? '')
    const own = [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z][a-z-]+)/gm)].map((m) => m[1] ?? '')
    return [...own, ...below.filter((name) => name !== 'help').flatMap((name) => flagsOf([...command, name]))]
  }
  const known = new Set(flagsOf([]))

  /** Of other programs. */
  const foreign = new Set([
    '--raw',
    '--no-install',
    '--create-namespace',
    '--set',
    '--now',
    '--from-literal',
    '--unsafe-no-fsync',
    '--quota-backend-bytes',
    '--kubeconfig',
    '--only',
    '--bump-revision',
    '--initial-cluster-token',
    '--mark-compacted',
  ])

  test.each(['README.md', 'docs/operations.md'])('%s names only flags that exist', (document) => {
    const unknown = flagsIn(read(document)).filter((flag) => !known.has(flag) && !foreign.has(flag))
    expect(unknown).toEqual([])
  })

  test('every flag is in docs/operations.md', () => {
    const text = flagsIn(read('docs/operations.md'))
    expect([...known].filter((flag) => flag !== '--help' && !text.includes(flag))).toEqual([])
  })
})
