/**
 * Runs in a process of its own, to be killed: writes to the store in argv[2] as fast as it can and says on stdout what
 * it tries and what it has been promised. Lines are written synchronously, so a kill loses none that came before it.
 *
 *   try <n>              before commit n is called
 *   ack <n> <revision>   when commit n is acknowledged
 *
 * Commit n writes /a/<n> and /b/<n>, deletes /a/<n - 32>, and replaces /last, following commit n - 1 by its ticket.
 * Now and then everything is compacted, so that kills meet compactions too. argv[3]: the first n; argv[4]: how many
 * commits are under way at a time, below 32; argv[5]: stop after so many, for runs that are not killed.
 */
import { writeSync } from 'node:fs'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import type { Expect, Revision, Write } from '../../src/storage/storage.ts'

const [directory = '', first = '0', width = '16', count = 'Infinity'] = process.argv.slice(2)
const say = (line: string): void => {
  let rest = Buffer.from(`${line}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      // The pipe is full: whoever reads it is behind.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}
const bytes = (n: number): Uint8Array => new TextEncoder().encode(String(n).padEnd(300, '.'))

const storage = await SqliteStorage.open({ directory })
let last: Expect = (await storage.get('/last')).entry?.revision ?? 'absent'
let under = 0
let wake: (() => void) | undefined

async function commit(n: number): Promise<void> {
  const old = (await storage.get(`/a/${n - 32}`)).entry
  const removal: Write[] = old ? [{ key: old.key, value: undefined, expect: old.revision }] : []
  const writes: Write[] = [
    { key: `/a/${n}`, value: bytes(n), expect: 'absent' },
    { key: `/b/${n}`, value: bytes(n), expect: 'absent' },
    { key: '/last', value: bytes(n), expect: last },
    ...removal,
  ]
  say(`try ${n}`)
  const { ticket, done } = storage.commit({ guards: [], writes })
  last = { asLeftBy: ticket }
  under++
  void done.then((result) => {
    if (!result.ok) throw new Error(`commit ${n} was refused: ${[...result.current.keys()].join()}`)
    say(`ack ${n} ${result.revision}`)
    under--
    wake?.()
  })
}

const end = Number(first) + Number(count)
for (let n = Number(first); n < end; n++) {
  await commit(n)
  if (n % 200 === 199) void storage.compact((await storage.currentRevision()) satisfies Revision)
  while (under >= Number(width)) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}
await storage[Symbol.asyncDispose]()
