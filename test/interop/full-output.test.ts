/** Standard output on a device that takes nothing. */
import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const main = join(import.meta.dirname, '../../src/cli/main.ts')

test.skipIf(process.platform !== 'linux')('a full disk under the output is one line and exit code 1', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [main, 'completion', 'bash'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "borough: the output can't be written: ENOSPC: no space left on device, write\n",
  })
})
