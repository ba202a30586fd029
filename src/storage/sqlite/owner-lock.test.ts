/** Whose a store is. Across processes: `test/crash/removed-locks.test.ts`. */
import { cpSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OwnerLock } from './owner-lock.ts'

let work: string
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'borough-owner-lock-'))
})
afterAll(() => rmSync(work, { recursive: true }))

function folder(name: string): string {
  const path = join(work, name)
  mkdirSync(path, { mode: 0o700 })
  return path
}

const linked = [
  { how: 'a symbolic link', link: symlinkSync },
  { how: 'a hard link', link: linkSync },
].flatMap((each) => ['state.db', 'state.db-wal', 'owner.lock', 'acknowledged'].map((file) => ({ ...each, file })))

test.each(linked)('a store of which $file is $how is not served, and is when it has a file of its own', (given) => {
  const { how, link, file } = given
  const first = folder(`${how} ${file}`)
  const second = folder(`${how} ${file} again`)
  writeFileSync(join(first, file), '', { mode: 0o600 })
  const path = join(second, file)
  link(join(first, file), path)
  expect(() => new OwnerLock(second)).toThrow(
    `${path} has another name, by which another process may write to it: stop all that do, then give this directory ` +
      `a file of its own: cp '${path}' '${path}.own' && mv '${path}.own' '${path}'`,
  )
  cpSync(join(first, file), `${path}.own`)
  renameSync(`${path}.own`, path)
  new OwnerLock(second)[Symbol.dispose]()
})

test('a whole directory may be a link: the lock is in what it leads to', () => {
  const place = folder('place')
  const link = join(work, 'link')
  symlinkSync(place, link)
  const lock = new OwnerLock(link)
  expect(() => new OwnerLock(place)).toThrow(`the store in ${place} is in use by another process: stop that first`)
  lock[Symbol.dispose]()
})
