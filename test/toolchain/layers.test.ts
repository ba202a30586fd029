/** The layer rules, tried on a tree of stubs: what must be refused is refused, what may be is let through. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const cases: { name: string; file: string; imports: string; allowed: boolean }[] = [
  { name: 'kube sees base', file: 'kube/a.ts', imports: '../base/clock.ts', allowed: true },
  { name: 'base does not see kube', file: 'base/a.ts', imports: '../kube/types.ts', allowed: false },
  {
    name: 'storage does not see kube: it knows no kinds',
    file: 'storage/a.ts',
    imports: '../kube/types.ts',
    allowed: false,
  },
  { name: 'watch sees the storage contract', file: 'watch/a.ts', imports: '../storage/storage.ts', allowed: true },
  {
    name: 'watch does not see a storage engine',
    file: 'watch/b.ts',
    imports: '../storage/etcd/record.ts',
    allowed: false,
  },
  { name: 'registry does not see http', file: 'registry/a.ts', imports: '../http/api.ts', allowed: false },
  {
    name: 'registry sees the seam of admission',
    file: 'registry/b.ts',
    imports: '../admission/admission.ts',
    allowed: true,
  },
  {
    name: 'http sees registry, from any depth',
    file: 'http/verbs/deep/a.ts',
    imports: '../../../registry/create.ts',
    allowed: true,
  },
  {
    name: 'http does not see apis, from any depth',
    file: 'http/verbs/deep/b.ts',
    imports: '../../../apis/rbac/types.ts',
    allowed: false,
  },
  { name: 'authz does not see registry', file: 'authz/a.ts', imports: '../registry/registry.ts', allowed: false },
  { name: 'a controller sees the client', file: 'controller/a.ts', imports: '../client/client.ts', allowed: true },
  {
    name: 'a controller does not see storage',
    file: 'controller/b.ts',
    imports: '../storage/storage.ts',
    allowed: false,
  },
  {
    name: 'apis see the seam of the registry',
    file: 'apis/rbac/a.ts',
    imports: '../../registry/registry.ts',
    allowed: true,
  },
  {
    name: 'apis see nothing else of the registry',
    file: 'apis/rbac/b.ts',
    imports: '../../registry/create.ts',
    allowed: false,
  },
  { name: 'apis do not see storage', file: 'apis/rbac/c.ts', imports: '../../storage/storage.ts', allowed: false },
  { name: 'apis see each other', file: 'apis/rbac/d.ts', imports: '../namespaces/types.ts', allowed: true },
  {
    name: 'app does not name an engine',
    file: 'app/a.ts',
    imports: '../storage/sqlite/sqlite-storage.ts',
    allowed: false,
  },
  {
    name: 'storage opens engines',
    file: 'storage/open-storage.ts',
    imports: './sqlite/sqlite-storage.ts',
    allowed: true,
  },
  {
    name: 'the command line does not see the registry',
    file: 'cli/a.ts',
    imports: '../registry/registry.ts',
    allowed: false,
  },
  { name: 'app sees the front of a room', file: 'app/c.ts', imports: '../pki/pki.ts', allowed: true },
  { name: 'app sees nothing else of a room', file: 'app/d.ts', imports: '../pki/shared-pki.ts', allowed: false },
  {
    name: 'the command line sees the front of a room',
    file: 'cli/b.ts',
    imports: '../pki/pki.ts',
    allowed: true,
  },
  { name: 'app does not see what starts it', file: 'app/e.ts', imports: '../workers/workers.ts', allowed: false },
  {
    name: 'a primary holds a store for its workers',
    file: 'workers/a.ts',
    imports: '../storage/relay/relay-holder.ts',
    allowed: true,
  },
  {
    name: 'and names no engine',
    file: 'workers/b.ts',
    imports: '../storage/sqlite/sqlite-storage.ts',
    allowed: false,
  },
  { name: 'registry does not see a room', file: 'registry/c.ts', imports: '../pki/pki.ts', allowed: false },
  { name: 'nobody imports a test', file: 'app/b.ts', imports: './leadership.test.ts', allowed: false },
  { name: 'a test may import what it needs', file: 'kube/a.test.ts', imports: '../app/wire.ts', allowed: true },
  { name: 'a package stays with its owner', file: 'watch/c.ts', imports: 'ws', allowed: false },
]

describe('the layer rules', () => {
  let folder: string
  let refused: Set<string>
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'borough-layers-'))
    const layers = spawnSync(process.execPath, ['tools/layers.mjs', '--print'], { cwd: root, encoding: 'utf8' })
    writeFileSync(join(folder, '.oxlintrc.json'), layers.stdout)
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, 'src', path)), { recursive: true })
      writeFileSync(join(folder, 'src', path), text)
    }
    for (const { file, imports } of cases)
      write(file, `import type { thing } from '${imports}'\nexport type Thing = thing\n`)
    // An import of a type is an import, and so is one at run time.
    write('kube/lazy.ts', `export const lazy = () => import('../http/api.ts')\n`)
    const { stdout } = spawnSync(join(root, 'node_modules', '.bin', 'oxlint'), ['-f', 'unix', 'src'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const lines = stdout.split('\n').filter((line) => line.includes('no-restricted-imports'))
    refused = new Set(lines.map((line) => /^src\/([^:]+):/.exec(line)?.[1] ?? line))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(cases)('$name', ({ file, allowed }) => {
    expect(refused.has(file)).toBe(!allowed)
  })

  it('an import at run time counts as well', () => {
    expect(refused.has('kube/lazy.ts')).toBe(true)
  })

  it('no folder is without rules, and no rule names what is not there', () => {
    const { status, stderr } = spawnSync(process.execPath, ['tools/layers.mjs'], { cwd: root, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
