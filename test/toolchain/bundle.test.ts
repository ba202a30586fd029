/** What is published is a bundle, and everything else here tests the source: the bundle must be the same thing. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubeconfigYaml } from '../../src/client/kubeconfig.ts'
import { openRemote } from '../../src/client/remote.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** As the package is installed, but for the declarations. Inside the clone, so that its dependencies are found. */
const installed = join(root, '.cache', `bundle-test-${process.pid}`)

interface Package {
  readonly version: string
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

const { exports, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const files = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]))

beforeAll(() => {
  mkdirSync(installed, { recursive: true })
  for (const name of ['package.json', 'bin']) cpSync(join(root, name), join(installed, name), { recursive: true })
  const args = [join(root, 'tools', 'bundle.mjs'), join(installed, 'dist')]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

afterAll(() => rmSync(installed, { recursive: true, force: true }))

describe('the bundle', () => {
  test.each(files)('exports from %s what its source exports', async (file) => {
    const source = join(root, file.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))
    // By Node itself: `import` would be vitest's.
    const built = Object.keys(createRequire(import.meta.url)(join(installed, file)) as object)
    expect(built.length).toBeGreaterThan(0)
    expect(built).toEqual(Object.keys((await import(source)) as object))
  })

  test('keeps text that V8 can hold in one byte per character', () => {
    const scripts = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.c?js$/.test(path),
    )
    expect(scripts.length).toBeGreaterThan(files.length)
    const wide = scripts.filter((path) => {
      const bytes = readFileSync(join(installed, 'dist', path))
      return bytes.some((byte) => byte > 127)
    })
    expect(wide).toEqual([])
  })

  test('serves the page of the console, with every file that it names', async () => {
    const kubeconfig = join(installed, 'kubeconfig')
    const credential = { token: 'none' }
    writeFileSync(kubeconfig, kubeconfigYaml({ server: 'https://127.0.0.1:1', caCert: '', credential }), {
      mode: 0o600,
    })
    const args = [
      join(installed, 'bin', 'borough.mjs'),
      'console',
      '--kubeconfig',
      kubeconfig,
      '--no-open',
      '-o',
      'json',
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
      const { origin } = new URL((JSON.parse(line) as { address: string }).address)
      const page = await (await fetch(origin)).text()
      const named = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path = '']) => path)
      // Icon, font, style, and at least two scripts.
      expect(named.length).toBeGreaterThanOrEqual(5)
      for (const path of named) expect({ path, code: (await fetch(origin + path)).status }).toEqual({ path, code: 200 })
    } finally {
      child.kill()
      await once(child, 'close')
    }
  })

  test('serves, with its thread and with the files it reads', async () => {
    const dataDir = join(installed, 'data')
    const args = [join(installed, 'bin', 'borough.mjs'), 'up', '--data-dir', dataDir, '--listen', '127.0.0.1:0']
    const child = spawn(process.execPath, [...args, '-o', 'json'], { stdio: ['ignore', 'pipe', 'pipe'] })
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    const ended = once(child, 'exit')
    try {
      const [line] = (await Promise.race([
        once(createInterface({ input: child.stdout }), 'line'),
        ended.then(() => Promise.reject(new Error(`it ended: ${log}`))),
      ])) as [string]
      const { kubeconfig } = JSON.parse(line) as { kubeconfig: string }
      const { client } = openRemote({ kubeconfigPath: kubeconfig, userAgent: 'test' })
      expect(
        await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' }, data: { b: 'c' } }),
      ).toEqual(expect.objectContaining({ data: { b: 'c' } }))
      expect(await client.request('GET', '/version')).toEqual(
        expect.objectContaining({ gitVersion: expect.stringContaining(version) }),
      )
      // Its descriptions lie in a file of their own.
      expect(JSON.stringify(await client.request('GET', '/openapi/v3/api/v1'))).toContain('ConfigMap holds')
      // For the next start.
      const kept = readdirSync(join(installed, '.cache', 'compiled'), { recursive: true, encoding: 'utf8' })
      expect(kept.map((path) => basename(path))).toContain('program.cjs')
    } finally {
      child.kill()
    }
    expect(await ended).toEqual([0, null])
    // On a busy machine a piece of work takes long, and is told of.
    expect(log.split('\n').filter((told) => told !== '' && !told.includes(' held the event loop for long'))).toEqual([])
  })
})
