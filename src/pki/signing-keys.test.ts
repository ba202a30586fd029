import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { openPki, rotateServiceAccountKey } from './open-pki.ts'
import { memoryPkiStore, type PkiStore } from './pki-store.ts'
import { sharedPkiStore } from './shared-pki.ts'
import { SigningKeys } from './signing-keys.ts'

async function start(store: PkiStore, clock: FakeClock): Promise<SigningKeys> {
  const { serviceAccountKeys } = await openPki(store, { clock, names: ['localhost'] })
  return new SigningKeys({ clock, log: silentLog, store, keys: serviceAccountKeys })
}

const kidsOf = (keys: SigningKeys): string[] => keys.current.map(({ kid }) => kid)

async function until(clock: FakeClock, done: () => boolean): Promise<void> {
  for (let turns = 0; !done(); turns++) {
    if (turns > 200) throw new Error('it did not come to that')
    await clock.advance(1)
  }
}

test('a key that is added verifies at once at every replica, and signs 10 s later', async () => {
  const clock = new FakeClock()
  await using storage = new MemoryStorage({ clock })
  const stop = new AbortController()
  const replicas = [
    await start(sharedPkiStore(storage, memoryPkiStore()), clock),
    await start(sharedPkiStore(storage, memoryPkiStore()), clock),
  ]
  const following = replicas.map((keys) => keys.follow(stop.signal))
  await clock.advance(0)
  const [old] = replicas.map((keys) => keys.current[0]?.kid)
  await clock.advance(60_000)

  const command = sharedPkiStore(storage, memoryPkiStore())
  await command.read()
  const kid = await rotateServiceAccountKey(command, clock)
  for (const keys of replicas) {
    await until(clock, () => kidsOf(keys).includes(kid))
    expect(kidsOf(keys)).toEqual([old, kid])
  }
  await clock.advance(9_000)
  for (const keys of replicas) expect(kidsOf(keys)).toEqual([old, kid])
  await clock.advance(1_000)
  for (const keys of replicas) expect(kidsOf(keys)).toEqual([kid, old])

  stop.abort()
  await Promise.all(following)
})

test('when no key is left that can sign, those known stay', async () => {
  const clock = new FakeClock()
  const store = memoryPkiStore()
  using keys = await start(store, clock)
  const before = kidsOf(keys)
  const emptied = new SigningKeys({
    clock,
    log: silentLog,
    store: { ...store, read: async () => new Map() },
    keys: keys.current,
  })
  await emptied.read()
  expect(kidsOf(emptied)).toEqual(before)
})
