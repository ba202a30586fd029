/**
 * Makes what is made: the catalogue of built-in kinds and dist/. Both only when something they come from is newer.
 *
 *   node tools/build.mjs     brings both up to date
 *
 * Runs on the Node that `tools/bootstrap.mjs` has put first on the PATH.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const at = (...parts) => join(root, ...parts)

/** Written last: its time is the time of the build. */
const stamp = at('dist', '.built')
const generated = at('src', 'catalog', 'generated')

/** @returns {boolean} false when something failed; the reason is on the screen */
export function bringUpToDate() {
  const missing = whatIsMissing(process.versions.node, existsSync(at('node_modules', 'typescript')))
  if (missing !== undefined) process.stderr.write(`${missing}\n`)
  return missing === undefined && generateCatalog() && buildDist()
}

/**
 * A fresh clone has no compiler, and an older Node can't run the tools: each would end in a stack that names neither.
 *
 * @returns what to do first, undefined where nothing is missing
 */
export function whatIsMissing(nodeVersion, hasCompiler) {
  if (!hasCompiler) return "the dependencies are not installed: 'npm install' first, which builds dist/ too"
  if (Number(nodeVersion.split('.')[0]) >= 24) return undefined
  return `this is Node ${nodeVersion}: call it through npm ('npm run build'), which takes Node 26 from node_modules`
}

export function generateCatalog() {
  const sources = [
    at('tools', 'generate-catalog.ts'),
    at('src', 'catalog', 'generated-catalog.ts'),
    at('package-lock.json'),
  ]
  if (timeOf(join(generated, 'descriptions.json')) >= Math.max(...sources.map(timeOf))) return true
  return step('generating the catalogue of built-in kinds', ['node', at('tools', 'generate-catalog.ts')])
}

function buildDist() {
  const newest = Math.max(
    newestIn(at('src')),
    ...['package.json', 'tsconfig.json', 'tsconfig.build.json', join('tools', 'bundle.mjs')].map((f) => timeOf(at(f))),
  )
  if (timeOf(stamp) < newest) {
    // Built beside dist/ and moved there: a server that runs from the old one never sees half of a new one.
    const fresh = at('.cache', `dist-${process.pid}`)
    rmSync(fresh, { recursive: true, force: true })
    const built =
      step('building dist/', ['tsc', '-p', at('tsconfig.build.json'), '--outDir', fresh]) &&
      step('bundling dist/', ['node', at('tools', 'bundle.mjs'), fresh])
    if (!built) {
      rmSync(fresh, { recursive: true, force: true })
      return false
    }
    writeFileSync(join(fresh, '.built'), '')
    const old = at('.cache', `dist-old-${process.pid}`)
    if (timeOf(at('dist')) > 0) renameSync(at('dist'), old)
    renameSync(fresh, at('dist'))
    rmSync(old, { recursive: true, force: true })
    // Compiled from the files of before, under names that no file has any more.
    rmSync(at('.cache', 'compiled'), { recursive: true, force: true })
  }
  return linkExecutable()
}

/** So that `npx --no-install borough` works inside the clone, as it does where the package is installed. */
function linkExecutable() {
  const link = at('node_modules', '.bin', 'borough')
  try {
    mkdirSync(at('node_modules', '.bin'), { recursive: true })
    symlinkSync('../../bin/borough.mjs', link)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  chmodSync(at('bin', 'borough.mjs'), 0o755)
  return true
}

function step(what, [command, ...args]) {
  process.stderr.write(`${what}\n`)
  mkdirSync(at('.cache'), { recursive: true })
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status === 0) return true
  process.stderr.write(`${what} failed${error ? `: ${error.message}` : ''}\n`)
  return false
}

/** Milliseconds; 0 for what is not there. */
function timeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** The newest time of a file or folder below (a folder's time tells that something was removed). Tests aside. */
function newestIn(folder) {
  let newest = timeOf(folder)
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, item.name)
    if (item.isDirectory()) newest = Math.max(newest, newestIn(path))
    else if (!item.name.endsWith('.test.ts')) newest = Math.max(newest, timeOf(path))
  }
  return newest
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = bringUpToDate() ? 0 : 1
