import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unreadable, unusableFolder, unwritable } from './paths.ts'

const folder = mkdtempSync(join(tmpdir(), 'borough-paths-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
writeFileSync(at('file'), '')
mkdirSync(at('closed'))
writeFileSync(at('closed/inside'), '')
writeFileSync(at('secret'), '')

const isRoot = process.getuid?.() === 0

test.skipIf(isRoot)('what may not be read or written is said to be so (root may do everything)', () => {
  chmodSync(at('secret'), 0)
  chmodSync(at('closed'), 0)
  expect([unreadable(at('secret')), unreadable(at('closed/inside')), unusableFolder(at('closed'))]).toEqual([
    `${at('secret')} can't be read: permission denied`,
    `${at('closed/inside')} can't be reached: permission denied`,
    `${at('closed')} can't be read: permission denied`,
  ])
  expect([unwritable(at('secret')), unwritable(at('closed/new'))]).toEqual([
    `${at('secret')} can't be written: permission denied`,
    `${at('closed/new')} can't be reached: permission denied`,
  ])
  chmodSync(at('closed'), 0o755)
})

test('what is there, or can be made, will do', () => {
  expect([unreadable(at('file')), unwritable(at('file')), unwritable(at('new'))]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect([unusableFolder(folder), unusableFolder(at('new/below'))]).toEqual([undefined, undefined])
})

test('a file is no folder', () => {
  expect(unreadable(at('file/below'))).toBe(`what is above ${at('file/below')} is no folder`)
  expect(unwritable(at('missing/new'))).toBe(`there is no folder ${at('missing')}: make it first`)
  expect(unusableFolder(at('file'))).toBe(`${at('file')} is no folder: choose another place`)
})
