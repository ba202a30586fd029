/** Our rules of the linter, tried on stubs: it must see what they forbid. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const cases: readonly { readonly call: string; readonly allowed: boolean }[] = [
  { call: 'this.end = () => given', allowed: false },
  { call: 'class A { #end; begin() { this.#end = () => given } }', allowed: false },
  { call: 'ends.end ??= async () => given', allowed: false },
  { call: 'ends[0] = function () {}', allowed: false },
  { call: 'this.end = end', allowed: true },
  { call: 'this.end = end.bind(this)', allowed: true },
  { call: 'const end = () => given', allowed: true },
  { call: 'ends.push(() => given)', allowed: true },
  { call: 'list.push(...given)', allowed: false },
  { call: 'this.errors.push(...given)', allowed: false },
  { call: 'list?.push(...given)', allowed: false },
  { call: 'list.push(0, ...given)', allowed: false },
  { call: 'list.unshift(...given)', allowed: false },
  { call: 'list.splice(0, 1, ...given)', allowed: false },
  { call: 'list.concat(...given)', allowed: false },
  { call: 'Math.max(...given)', allowed: false },
  { call: 'Math.min(0, ...given)', allowed: false },
  { call: 'String.fromCharCode(...given)', allowed: false },
  { call: 'list.push([...given])', allowed: true },
  { call: 'list.push({ ...given })', allowed: true },
  { call: 'list.push(given)', allowed: true },
  { call: 'fields(...given)', allowed: true },
]

describe('the linter', () => {
  let folder: string
  let refused: Set<string>
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'borough-lint-'))
    const layers = spawnSync(process.execPath, ['tools/layers.mjs', '--print'], { cwd: root, encoding: 'utf8' })
    writeFileSync(join(folder, '.oxlintrc.json'), layers.stdout)
    mkdirSync(join(folder, 'src', 'kube'), { recursive: true })
    for (const [i, { call }] of cases.entries()) writeFileSync(join(folder, 'src', 'kube', `case-${i}.ts`), `${call}\n`)
    writeFileSync(join(folder, 'src', 'kube', 'a.test.ts'), 'list.push(...given)\n')
    const { stdout } = spawnSync(join(root, 'node_modules', '.bin', 'oxlint'), ['-f', 'unix', 'src'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const lines = stdout.split('\n').filter((line) => /bounded-arguments|young-functions/.test(line))
    refused = new Set(lines.map((line) => /^src\/kube\/([^:]+):/.exec(line)?.[1] ?? line))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(cases.map((c, i) => ({ ...c, file: `case-${i}.ts` })))('$call: allowed $allowed', ({ file, allowed }) => {
    expect(refused.has(file)).toBe(!allowed)
  })

  it('does not mind it in a test, where no client sizes a list', () => {
    expect(refused.has('a.test.ts')).toBe(false)
  })
})
