/**
 * What `npm start` and `npm test` run: works on a fresh clone with nothing but npm and Node 20 or newer.
 *
 *   node tools/bootstrap.mjs start [flags of borough up]
 *   node tools/bootstrap.mjs test [arguments for vitest]
 *
 * Installs the dependencies when they are missing or not those of package-lock.json, then goes on with the Node that is
 * one of them (26). Plain JavaScript without dependencies, because it runs before all that.
 *
 * package.json says `exec node …`, so that npm's signals come here and not to a shell in between, which would die of
 * them and leave us behind.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const binaries = join(root, 'node_modules', '.bin')
const ownNode = join(binaries, 'node')

function main([command, ...args]) {
  if (command !== 'start' && command !== 'test') {
    process.stderr.write('usage: node tools/bootstrap.mjs start|test [arguments]\n')
    return 2
  }
  if (!installed() && !install()) return 1
  const env = { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH ?? ''}` }
  if (command === 'test') return run(ownNode, [join(root, 'tools', 'check.mjs'), ...args], env)
  if (args.length > 0) {
    const refused = tryFlags(args, env)
    if (refused !== undefined) return refused
  }
  const built = spawnSync(ownNode, [join(root, 'tools', 'build.mjs')], { cwd: root, env, stdio: ['ignore', 2, 2] })
  if (built.status !== 0) return 1
  return run(join(root, 'bin', 'borough.mjs'), ['up', ...args], env)
}

/** A mistyped flag is told before a build that takes half a minute. Answers the exit code where it ends here. */
function tryFlags(args, env) {
  const tried = spawnSync(ownNode, [join(root, 'tools', 'try-flags.ts'), ...args], {
    ...{ cwd: process.cwd(), env, encoding: 'utf8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.stdout.write(tried.stdout ?? '')
  return tried.status === 0 && tried.stdout === '' ? undefined : (tried.status ?? 1)
}

/**
 * True if what lies in node_modules is what package-lock.json asks for. npm keeps a list of what it installed; times
 * would say nothing, a clone and a checkout touch them at will.
 */
function installed() {
  if (!existsSync(ownNode)) return false
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'))
  if (!wanted || !present) return false
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || (present[path] ? present[path].version === version : optional),
  )
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

function install() {
  process.stderr.write('installing dependencies\n')
  // Under npm this is the npm that called us; it may be on no PATH.
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [program, ...first] = npm
  // Not `npm ci`: it insists that the lock file names the optional packages of every other system too, even those that
  // the registry in use does not have. This takes the same versions and leaves the lock file alone.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, error } = spawnSync(program, [...first, ...args], {
    cwd: root,
    // For tools/prepare.mjs.
    env: { ...process.env, BOROUGH_BOOTSTRAP: '1' },
    stdio: ['ignore', 2, 2],
  })
  if (status === 0 && existsSync(ownNode)) return true
  process.stderr.write(`npm install failed${error ? `: ${error.message}` : ''}; see above\n`)
  return false
}

/**
 * Runs on our own Node, as if it took this process's place: signals reach it, its end is our end.
 *
 * It gets a process group of its own. A terminal sends Ctrl-C to every process of the group in front, and npm sends it
 * once more: without a group of its own the server would hear it two or three times, and a second one means 'now!'.
 */
function run(program, args, env) {
  const child = spawn(program, args, { cwd: process.cwd(), env, stdio: 'inherit', detached: true })
  const heard = new Map()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  const forward = (signal) => {
    const now = performance.now()
    // One keystroke, heard from the terminal and from npm.
    if (now - (heard.get(signal) ?? -1000) > 300) child.kill(signal)
    heard.set(signal, now)
  }
  for (const signal of signals) process.on(signal, forward)
  // npm may be killed without a chance to tell: the server must not outlive it.
  const npm = process.env.npm_lifecycle_event === undefined ? undefined : process.ppid
  const orphaned = setInterval(() => {
    if (npm === undefined || process.ppid === npm) return
    clearInterval(orphaned)
    forward('SIGTERM')
  }, 500)
  child.on('error', (error) => {
    process.stderr.write(`${program} does not run: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward)
    clearInterval(orphaned)
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
  return undefined
}

const code = main(process.argv.slice(2))
if (code !== undefined) process.exitCode = code
