/** When a store looks how much room there is. */
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Timer } from '../../base/clock.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { StoreRoom } from './store-room.ts'

const hourMs = 3_600_000

let directory: string
let database: DatabaseSync
let clock: FakeClock
/** Looks that are to come. */
let toCome: number

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-room-'))
  database = new DatabaseSync(join(directory, 'state.db'))
  clock = new FakeClock()
  toCome = 0
})
afterEach(async () => {
  database.close()
  await rm(directory, { recursive: true })
})

function openRoom(reserveBytes: number): StoreRoom {
  const after = (ms: number, run: () => void): Timer => {
    toCome++
    return clock.after(ms, () => {
      toCome--
      run()
    })
  }
  return new StoreRoom({ directory, database, reserveBytes, maxFileBytes: 0, clock: { after }, onChange: () => {} })
}
const isHeld = (): boolean => existsSync(join(directory, 'reserve'))

it('a store that rests looks no more; the next commit does, and each second again while others follow', async () => {
  using room = openRoom(4096)
  await clock.advance(1000)
  expect(isHeld()).toBe(true)
  expect(toCome).toBe(0)
  rmSync(join(directory, 'reserve'))
  await clock.advance(hourMs)
  expect(isHeld()).toBe(false)

  room.took()
  expect(isHeld()).toBe(true)
  rmSync(join(directory, 'reserve'))
  room.took()
  expect(isHeld()).toBe(false)
  await clock.advance(1000)
  expect(isHeld()).toBe(true)
  expect(toCome).toBe(1)
  await clock.advance(1000)
  expect(toCome).toBe(0)
})

it('a store without room for its reserve looks each second whether there is some', async () => {
  using _room = openRoom(2 ** 52)
  for (let i = 0; i < 5; i++) await clock.advance(1000)
  expect(isHeld()).toBe(false)
  expect(toCome).toBe(1)
})

it('a store that reserves nothing never looks', () => {
  using room = openRoom(0)
  room.took()
  expect(toCome).toBe(0)
})
