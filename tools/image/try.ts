/**
 * Unpacks an image that `npm run image` made and runs it without an engine: as the image's user, with its layers as
 * the root folder and only /data writable. A server starts twice, and `borough populate` beside it.
 *
 *   npm run image:try [image/borough-<version>.tar]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { enter } from './compiled.ts'

interface Manifest {
  readonly config: { readonly digest: string }
  readonly layers: readonly { readonly digest: string }[]
}

interface Settings {
  readonly config: { readonly Entrypoint: readonly string[]; readonly Env: readonly string[] }
}

const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url))
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string }
const archive = process.argv[2] ?? fileURLToPath(new URL(`../../image/borough-${version}.tar`, import.meta.url))

/** A cluster that `borough populate` is for. */
const plain = ['--no-population', '--feature-gates', 'NamespaceInitializers=false']
const running = new Set<ChildProcess>()

const work = mkdtempSync(join(tmpdir(), 'borough-image-'))
try {
  chmodSync(work, 0o755)
  const root = join(work, 'root')
  const settings = unpack(archive, root)
  for (const start of ['first', 'second']) {
    const began = performance.now()
    const server = run(root, settings, ['up', '--data-dir', '/data/store', '--listen', '127.0.0.1:0', ...plain])
    const line = await firstLine(server)
    process.stdout.write(`${start} start, ${Math.round(performance.now() - began)} ms: ${line}\n`)
    if (start === 'second') {
      const flags = ['--kubeconfig', '/data/store/admin.kubeconfig', '--listen', '127.0.0.1:0']
      const populate = run(root, settings, ['populate', ...flags])
      process.stdout.write(`populate: ${await firstLine(populate)}\n`)
      await stop(populate)
    }
    await stop(server)
  }
  if (!existsSync(join(root, 'data', 'store', 'store'))) throw new Error('nothing was stored in /data')
} finally {
  for (const child of running) child.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
}

/** @param file an OCI layout in an archive */
function unpack(file: string, root: string): Settings {
  const layout = join(work, 'layout')
  for (const folder of [layout, root]) mkdirSync(folder, { mode: 0o755 })
  execFileSync('tar', ['-xf', file, '-C', layout])
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'))
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
  const { manifests } = read(join(layout, 'index.json')) as { manifests: { digest: string }[] }
  const manifest = read(blob(manifests[0]?.digest ?? '')) as Manifest
  for (const { digest } of manifest.layers) execFileSync('tar', ['-xzf', blob(digest), '-C', root])
  return read(blob(manifest.config.digest)) as Settings
}

function run(root: string, { config }: Settings, args: readonly string[]): ChildProcess {
  const [program = '', ...first] = enter(root)
  const env = Object.fromEntries(config.Env.map((entry) => entry.split(/=(.*)/s, 2)))
  const child = spawn(program, [...first, ...config.Entrypoint, ...args], {
    env: { ...env, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('its output is not read')
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)))
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string]
  return line
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill()
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`stopped, it ended with ${code}`)
}
