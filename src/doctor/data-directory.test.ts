/** What the room on a disk means to an operator; which directory is looked at. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { openDataDir } from '../datadir/data-dir.ts'
import { SharedLock } from '../datadir/directory-lock.ts'
import { examineDataDirectory, examineFree, type Room } from './data-directory.ts'

const mebibyte = 1024 ** 2
const remedy = 'free some, move the directory to a larger disk, or bound the store with --max-store-size'
const again = `${remedy}; the server takes all writes again by itself`
const totalBytes = 1000 * mebibyte

const rows: readonly { name: string; room: Omit<Room, 'totalBytes'>; want: object }[] = [
  {
    name: 'enough',
    room: { freeBytes: 512 * mebibyte, hasReserve: true },
    want: { status: 'ok', message: '512 MiB free of 1000 MiB' },
  },
  {
    name: 'little',
    room: { freeBytes: 100 * mebibyte, hasReserve: true },
    want: { status: 'warn', message: '100 MiB free of 1000 MiB: on a full disk only deletes are taken', remedy },
  },
  {
    name: 'next to none',
    room: { freeBytes: 5 * mebibyte, hasReserve: true },
    want: { status: 'fail', message: '5 MiB free of 1000 MiB: soon only deletes are taken', remedy: again },
  },
  {
    name: 'none, and the reserve is used up',
    room: { freeBytes: 0, hasReserve: false },
    want: {
      status: 'fail',
      message: '0 MiB free of 1000 MiB: its reserve is used up, only deletes are taken',
      remedy: again,
    },
  },
]

it.each(rows)('$name', ({ room, want }) => {
  expect(examineFree({ ...room, totalBytes })).toEqual({ check: 'data directory: room on the disk', ...want })
})

it('what it advises is one command in a shell, also where the path holds blanks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'borough-doctor-'))
  try {
    const path = join(folder, 'a b; $(id)')
    mkdirSync(path, { mode: 0o755 })
    const findings = await examineDataDirectory(path, systemClock)
    expect(findings[0]).toMatchObject({ status: 'fail', remedy: `chmod -R go= '${path}'` })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('a directory that was filled only in part is named, also before there is a store in it', async () => {
  const path = mkdtempSync(join(tmpdir(), 'borough-doctor-'))
  try {
    await (await openDataDir(path))[Symbol.asyncDispose]()
    writeFileSync(join(path, 'unfinished-copy'), '{"from":"/backup","since":"2026-11-21T06:00:00Z"}', { mode: 0o600 })
    expect(await examineDataDirectory(path, systemClock)).toContainEqual({
      check: 'data directory: store',
      status: 'fail',
      message:
        `${path} holds only a part: a copy of /backup that began at 2026-11-21T06:00:00Z was not finished. ` +
        'Empty it and copy again',
      remedy: 'do what the line says: no server starts on it',
    })
  } finally {
    rmSync(path, { recursive: true })
  }
})

it('a link to a directory is examined as a server takes it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'borough-doctor-'))
  try {
    const [directory, link] = [join(folder, 'directory'), join(folder, 'link')]
    mkdirSync(directory, { mode: 0o700 })
    symlinkSync(directory, link)
    const findings = await examineDataDirectory(link, systemClock)
    expect(findings.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.skipIf(process.platform !== 'linux')('one that is only read is said to be so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'borough-doctor-'))
  try {
    await (await openDataDir(folder))[Symbol.asyncDispose]()
    using _ = new SharedLock(join(folder, 'lock'))
    const found = await examineDataDirectory(folder, systemClock)
    expect(found.find(({ check }) => check === 'data directory: lock')).toEqual({
      check: 'data directory: lock',
      status: 'warn',
      message: `only read, by process ${process.pid}: it could not be written at the start`,
      remedy:
        "mend that ('A store that can only be read' in docs/operations.md), stop all that read it, and start again",
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
