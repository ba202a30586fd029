/** `npm start`: a mistyped flag is told before anything is built. On a checkout whose build says that it was begun. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let checkout: string

beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'borough-start-'))
  mkdirSync(join(checkout, 'tools'))
  for (const tool of ['bootstrap.mjs', 'try-flags.ts']) cpSync(join('tools', tool), join(checkout, 'tools', tool))
  for (const part of ['src', 'node_modules', 'package-lock.json', 'package.json']) {
    symlinkSync(resolve(part), join(checkout, part))
  }
  writeFileSync(join(checkout, 'tools', 'build.mjs'), "process.stderr.write('built\\n')\nprocess.exitCode = 1\n")
})
afterAll(() => rmSync(checkout, { recursive: true }))

const start = (...flags: string[]) => {
  const args = [join(checkout, 'tools', 'bootstrap.mjs'), 'start', ...flags]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

test.each([
  ['one that there is not', '--bad-flag', "unknown option '--bad-flag' (borough up --help shows what there is)"],
  [
    'one without its value',
    '--storage',
    "option '--storage <engine>' argument missing (borough up --help shows what there is)",
  ],
])('%s is told in one line, and nothing is built', (_name, flag, said) => {
  expect(start(flag)).toEqual({ status: 1, stdout: '', stderr: `borough: ${said}\n` })
})

test('help is shown without a build', () => {
  expect(start('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: borough up /), stderr: '' })
})

test('what is right is built', () => {
  expect(start('--storage', 'memory')).toMatchObject({ status: 1, stderr: 'built\n' })
  expect(start()).toMatchObject({ status: 1, stderr: 'built\n' })
})
