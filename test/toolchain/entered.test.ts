/** How long the way of a create is: it only gets shorter. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Counts = Record<string, { readonly files: number; readonly functions: number }>

test('a create enters no more files and functions than it may', () => {
  // A process of its own: vitest changes the modules that it loads.
  const { stdout, stderr, status } = spawnSync(process.execPath, ['tools/entered.ts', '--json'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const { counts, bounds } = JSON.parse(stdout) as { readonly counts: Counts; readonly bounds: Counts }
  expect(Object.keys(counts)).toEqual(['configmap', 'populated'])
  for (const [name, most] of Object.entries(bounds)) {
    const { files = 0, functions = 0 } = counts[name] ?? {}
    // Fewer than half would mean that the tool sees less than it should.
    expect(files, `files that ${name} enters`).toBeGreaterThan(most.files / 2)
    expect(files, `files that ${name} enters; 'node tools/entered.ts --list ${name}'`).toBeLessThanOrEqual(most.files)
    expect(functions, `functions that ${name} enters`).toBeLessThanOrEqual(most.functions)
  }
})
