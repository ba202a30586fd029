/**
 * Tries the package as its users get it: packed, and as a git dependency of what is committed, installed by npm into
 * an empty folder; there every export is imported and `npx borough up` serves a request.
 *
 *   node tools/try-package.mjs            both
 *   node tools/try-package.mjs tarball
 *   node tools/try-package.mjs git
 *
 * Reaches the npm registry. Prints what was installed, and how large it is.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { name, version, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const ways = { tarball, git }
const wanted = process.argv.slice(2)
const unknown = wanted.find((way) => !(way in ways))
if (unknown !== undefined) {
  process.stderr.write(`try-package: ${unknown} is neither tarball nor git\n`)
  process.exit(2)
}

for (const way of wanted.length > 0 ? wanted : Object.keys(ways)) {
  const folder = mkdtempSync(join(tmpdir(), 'borough-package-'))
  try {
    await tryIn(folder, ways[way](folder))
    process.stdout.write(`ok     ${way}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tarball(folder) {
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root))
  return join(folder, filename.replace('@', '').replace('/', '-'))
}

function git() {
  return `git+file://${root.replace(/\/$/, '')}`
}

async function tryIn(folder, what) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'try', private: true, type: 'module' }))
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', what], folder)
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'))
  const bytes = sizeOf(join(folder, 'node_modules'))
  process.stdout.write(`       ${Object.keys(packages).length} packages, ${(bytes / 1024 / 1024).toFixed(1)} MiB\n`)
  const ids = Object.keys(exports).filter((path) => path !== './package.json')
  const imports = ids.map((path) => `await import(${JSON.stringify(path.replace('.', name))})`).join('\n')
  run(process.execPath, ['--input-type=module', '-e', imports], folder)
  const printed = run('npx', ['--no-install', 'borough', '--version'], folder)
  if (!printed.startsWith(`borough ${version} `)) throw new Error(`borough --version says ${printed}`)
  await serve(folder)
}

async function serve(folder) {
  const args = ['--no-install', 'borough', 'up', '--listen', '127.0.0.1:0', '-o', 'json']
  const child = spawn('npx', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const ended = once(child, 'exit')
  try {
    const [line] = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      ended.then(() => Promise.reject(new Error('borough up ended'))),
    ])
    const { kubeconfig } = JSON.parse(line)
    const why = spawnSync('npx', ['--no-install', 'borough', 'why', 'default', '--kubeconfig', kubeconfig], {
      cwd: folder,
    })
    if (why.status !== 0) throw new Error(`borough why says ${why.stderr}`)
  } finally {
    process.kill(-child.pid)
    await ended
  }
}

function run(program, args, cwd) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}

function sizeOf(folder) {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  }
  return bytes
}
