/** What `npm pack` would send out: complete, without what is not for users, and with links that lead somewhere. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const mib = 1024 * 1024

interface Package {
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

interface Locked {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>
}

const { bin, dependencies } = JSON.parse(read('package.json')) as Package
let packed: { readonly paths: readonly string[]; readonly unpackedSize: number }

beforeAll(() => {
  const built = spawnSync(process.execPath, [join(root, 'tools', 'build.mjs')], { encoding: 'utf8' })
  expect({ status: built.status, stderr: built.stderr }).toEqual(expect.objectContaining({ status: 0 }))
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * mib,
  })
  const [first] = JSON.parse(stdout) as { files: { path: string }[]; unpackedSize: number }[]
  if (!first) throw new Error(`npm pack said ${stdout}`)
  packed = { paths: first.files.map(({ path }) => path), unpackedSize: first.unpackedSize }
})

test('what package.json promises is there, as publint sees it', async () => {
  // Of what is packed, and not of what other tests put into the folder meanwhile.
  const files = packed.paths.map((path) => ({ name: join('package', path), data: readFileSync(join(root, path)) }))
  const { messages, pkg } = await publint({ pkgDir: 'package', pack: { files }, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
})

test('programs, documents, deployment and examples are in it; sources and tests are not', () => {
  const expected = ['LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md', 'dist/index.d.ts', 'dist/index.js']
  expected.push('dist/THIRD-PARTY-NOTICES.txt', 'docs/architecture.md', 'deploy/deployment.yaml')
  expected.push('examples/test-with-client-node/namespace.test.ts', ...Object.values(bin))
  expect(packed.paths).toEqual(expect.arrayContaining(expected))
  const development = packed.paths.filter((path) => /\.test\.|^(?:test|bench|tools)\/|(?<!\.d)\.ts$/.test(path))
  expect(development.filter((path) => !path.startsWith('examples/'))).toEqual([])
})

test('every relative link of a document in it leads to a file in it', () => {
  const present = new Set(packed.paths.flatMap((path) => foldersAbove(path)))
  const dead = packed.paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...read(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => ({ path, target: posix.normalize(posix.join(posix.dirname(path), link)) }))
        .filter(({ target }) => !present.has(target.replace(/\/$/, ''))),
    )
  expect(dead).toEqual([])
})

test('its executables are executable', () => {
  for (const file of Object.values(bin)) expect(statSync(join(root, file)).mode & 0o111, file).toBe(0o111)
})

test('what it imports when it runs is Node itself or a dependency', () => {
  const scripts = packed.paths.filter((path) => /^dist\/.*\.c?js$/.test(path))
  expect(scripts.length).toBeGreaterThan(20)
  const imported = new Set(
    scripts.flatMap((path) =>
      [...read(path).matchAll(/(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*"([\w@:./-]+)"/g)].map(([, id = '']) => id),
    ),
  )
  // Of `debug`, which does without.
  const known = new Set([...builtinModules, ...Object.keys(dependencies), 'supports-color'])
  const foreign = [...imported].filter((id) => !/^(?:\.|node:)/.test(id) && !known.has(packageName(id)))
  expect(foreign.sort()).toEqual([])
})

test('installed, it is at most 60 packages and 30 MiB', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as Locked
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  expect(installed.length).toBeLessThanOrEqual(60)
  const bytes = installed.reduce((sum, [path, { optional }]) => sum + sizeOf(path, optional === true), 0)
  expect((packed.unpackedSize + bytes) / mib).toBeLessThanOrEqual(30)
})

/** `a`, `a/b`, `a/b/c.md` */
function foldersAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === '.' ? [path] : [...foldersAbove(parent), path]
}

/** `@scope/name/part` → `@scope/name` */
function packageName(id: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id
}

function sizeOf(path: string, mayBeAbsent: boolean): number {
  const folder = join(root, path)
  if (mayBeAbsent && !statSync(folder, { throwIfNoEntry: false })) return 0
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && !entry.parentPath.slice(folder.length).includes('node_modules'))
      bytes += statSync(join(entry.parentPath, entry.name)).size
  }
  return bytes
}
