/** What V8 compiled is only ever a copy: with it, without it or with a damaged one, the same code runs. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

interface Scripts {
  load(file: string): { add(a: number, b: number): number; names(): readonly string[] }
  keepCompiled(): void
}
const { scripts }: { scripts(keptFolder: string): Scripts } = await import(
  new URL('../../bin/scripts.mjs', import.meta.url).href
)

let folder: string
let kept: string
let main: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'borough-scripts-'))
  kept = join(folder, 'kept')
  main = join(folder, 'main.cjs')
  mkdirSync(join(folder, 'parts'))
  writeFileSync(main, "const part = require('./parts/part.cjs')\nexports.add = part.add\nexports.names = part.names\n")
  writeFileSync(
    join(folder, 'parts', 'part.cjs'),
    "const { basename } = require('node:path')\nexports.add = (a, b) => a + b\nexports.names = () => " +
      '[basename(__filename)]\n',
  )
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const keptFiles = (): string[] =>
  readdirSync(kept, { recursive: true, encoding: 'utf8' })
    .map((path) => join(kept, path))
    .filter((path) => statSync(path).isFile())
    .sort()

function run(): number {
  const { load, keepCompiled } = scripts(kept)
  const sum = load(main).add(1, 2)
  expect(load(main).names()).toEqual(['part.cjs'])
  keepCompiled()
  return sum
}

describe('the scripts of the command line', () => {
  test('are kept compiled once, and run from what is kept', () => {
    expect(run()).toBe(3)
    const first = keptFiles().map((path) => ({ path, inode: statSync(path).ino }))
    expect(first.length).toBe(2)
    expect(run()).toBe(3)
    // Nothing was compiled again, so nothing was written again.
    expect(keptFiles().map((path) => ({ path, inode: statSync(path).ino }))).toEqual(first)
  })

  test('are compiled anew when they have changed, though not in length', () => {
    expect(run()).toBe(3)
    const part = join(folder, 'parts', 'part.cjs')
    writeFileSync(part, readFileSync(part, 'utf8').replace('a + b', 'a - b'))
    expect(run()).toBe(-1)
    expect(run()).toBe(-1)
  })

  test.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ['empty', () => Buffer.alloc(0)],
    ['wrong in one byte', (bytes: Buffer) => bytes.fill((bytes.at(-9) ?? 0) ^ 1, bytes.length - 9, bytes.length - 8)],
  ])('are compiled anew when what is kept is %s', (_, damage) => {
    run()
    const whole = keptFiles().map((path) => readFileSync(path).length)
    for (const path of keptFiles()) writeFileSync(path, damage(readFileSync(path)))
    expect(run()).toBe(3)
    expect(keptFiles().map((path) => readFileSync(path).length)).toEqual(whole)
  })

  test('run where nothing can be kept', () => {
    writeFileSync(kept, 'a file where the folder should be')
    expect(run()).toBe(3)
  })
})
