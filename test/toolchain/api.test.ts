/** What the package exports, as it was agreed upon: a change of it is meant, or it is a mistake. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'tools', 'build.mjs')], { encoding: 'utf8' })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
})

test('the exported types are those of test/api/api.d.txt; `node tools/api.mjs --update` agrees to others', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'tools', 'api.mjs')], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(readFileSync(join(root, 'test', 'api', 'api.d.txt'), 'utf8'))
})
