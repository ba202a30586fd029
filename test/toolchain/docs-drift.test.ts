/** What the documentation quotes from the code, compared with the code: orders, flags, metrics, engines. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { deletionOrder } from '../../src/apis/namespaces/reconcile.ts'
import { stageOrder } from '../../src/http/pipeline.ts'
import { PopulateMetrics } from '../../src/populate/metrics.ts'
import { startControlPlane } from '../../src/testing/index.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const oneLine = (text: string): string => text.replace(/\s+/g, ' ')

/** From one text to another, both of which must occur. */
function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from)
  const end = text.indexOf(to, start)
  expect({ from, found: start >= 0 && end > start }).toEqual({ from, found: true })
  return text.slice(start + from.length, end)
}

const codeIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((m) => m[1] ?? '')

describe('the stages of a request', () => {
  test('docs/flow.md draws them in their order', () => {
    const drawn = between(read('docs/flow.md'), ' pipeline ', '→ dispatch').replace('(src/http/)', '')
    expect(drawn.split('→').map((name) => name.replace(/[[\]\s]/g, ''))).toEqual(stageOrder)
  })

  test('docs/architecture.md names them in their order', () => {
    const told = between(read('docs/architecture.md'), 'in the order of `stageOrder`:', '`createStages`')
    expect(codeIn(told).filter((code) => !code.startsWith('--'))).toEqual(stageOrder)
  })
})

test.each(['docs/architecture.md', 'docs/compatibility.md', 'src/apis/namespaces/README.md'])(
  '%s tells the order of a deletion',
  (document) => {
    expect(oneLine(read(document))).toContain(deletionOrder.map(({ name }) => name).join(', '))
  },
)

describe('flags of borough up', () => {
  const { stdout: help } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'up', '--help'], {
    encoding: 'utf8',
  })
  /** Told in words: off, none. */
  const nothing = ['', 'false', '[]']
  const options = between(help, '\nOptions:\n', '\n\n').split(/\n(?= {2}-)/)
  const defaults = options.flatMap((option) => {
    const flag = /--[a-z][a-z-]+/.exec(option)?.[0]
    const value = /\(default: "?(.*?)"?\)/.exec(oneLine(option))?.[1]
    return flag === undefined || value === undefined || nothing.includes(value) ? [] : [{ flag, value }]
  })
  const rows = between(read('docs/operations.md'), '### Flags of `borough up`', '\n### ')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))

  test('are found', () => {
    expect(defaults.length).toBeGreaterThan(15)
    expect(rows.length).toBeGreaterThan(30)
  })

  test.each(defaults)('docs/operations.md tells the default of $flag', ({ flag, value }) => {
    const row = rows.find(([, flags = '']) => flags.includes(flag))
    expect(row?.[2]).toContain(value)
  })
})

describe('metrics', () => {
  /** The process's own are the library's. */
  const namesIn = (exposition: string): string[] =>
    [...exposition.matchAll(/^# TYPE (\S+)/gm)]
      .map((m) => m[1] ?? '')
      .filter((name) => !/^(process|nodejs)_/.test(name))
      .sort()
  const isMetric = (code: string): boolean => /^(apiserver|borough|pod_security)_[a-z_]+$/.test(code)

  test('docs/operations.md names those of a server, and no others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'borough-metrics-'))
    try {
      // With an audit log there are two more.
      const audit = { path: join(folder, 'audit.log'), maxBytes: 1024 * 1024, keep: 1 }
      await using plane = await startControlPlane({ audit })
      const exposed = namesIn(await (await plane.fetch('/metrics')).text())
      const table = between(read('docs/operations.md'), '| metric | what |', '\n\n')
      const told = table.split('\n').flatMap((row) => codeIn(row.split('|')[1] ?? ''))
      expect(told.sort()).toEqual(exposed)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('docs/populate.md names those of borough populate, and no others', async () => {
    const exposed = namesIn(await new PopulateMetrics().text())
    const told = codeIn(between(read('docs/populate.md'), '- **Metrics**', '\n- **')).filter(isMetric)
    expect(told.sort()).toEqual(exposed)
  })
})

describe('engines', () => {
  const { engines, devDependencies } = JSON.parse(read('package.json')) as {
    readonly engines: { readonly node: string }
    readonly devDependencies: { readonly node: string }
  }

  test('README.md names the Node that the package needs, and the one that the repository runs on', () => {
    const text = oneLine(read('README.md'))
    expect(text).toContain(`Node ${engines.node.replace('>=', '')} or newer`)
    expect(text).toContain(`the Node that it runs on (${devDependencies.node.split('.')[0]})`)
  })

  test('docs/architecture.md names the folders of storage', () => {
    const row = between(read('docs/architecture.md'), '| `src/storage/` |', '\n')
    const folders = readdirSync(join(root, 'src/storage'), { withFileTypes: true }).filter((e) => e.isDirectory())
    expect(codeIn(row).sort()).toEqual(folders.map(({ name }) => `${name}/`).sort())
  })

  test('docs/operations.md names the engines that --storage takes', () => {
    const row = read('docs/operations.md')
      .split('\n')
      .find((line) => line.startsWith('| `--storage <engine>` |'))
    for (const engine of ['`sqlite`', '`memory`', '`etcd://']) expect(row).toContain(engine)
  })
})
