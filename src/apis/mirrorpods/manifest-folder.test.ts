import { appendFile, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Clock, Timer } from '../../base/clock.ts'
import { ManifestFolder } from './manifest-folder.ts'
import type { Manifests } from './manifest-source.ts'

/** Its owner looks once, rests, and looks again only when told: no look overlaps with what the test writes. */
class SteppedClock implements Clock {
  nowMs = 0
  #resting = Promise.withResolvers<() => void>()

  now(): number {
    return this.nowMs
  }

  monotonic(): number {
    return this.nowMs
  }

  after(_ms: number, run: () => void): Timer {
    this.#resting.resolve(run)
    return { cancel: () => {} }
  }

  async rests(): Promise<void> {
    await this.#resting.promise
  }

  async looks(): Promise<void> {
    const wake = await this.#resting.promise
    this.#resting = Promise.withResolvers()
    wake()
    await this.rests()
  }
}

test('a file that is half written is not read before it is whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'borough-manifests-'))
  const file = join(folder, 'a.yaml')
  const clock = new SteppedClock()
  // The later of a file's two times counts; the system sets one of them.
  clock.nowMs = Date.now() + 3_600_000
  const written = () => utimes(file, clock.nowMs / 1000, clock.nowMs / 1000)
  const stop = new AbortController()
  const found: Manifests[] = []
  const running = new ManifestFolder({ path: folder, clock }).run((manifests) => found.push(manifests), stop.signal)
  await clock.rests()

  // Every prefix of it is a valid manifest of a pod with fewer containers.
  await writeFile(
    file,
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: main, image: i}\n',
  )
  await written()
  for (let i = 0; i < 5; i++) {
    clock.nowMs += 200
    await clock.looks()
    await appendFile(file, `  - {name: more-${i}, image: i}\n`)
    await written()
  }
  clock.nowMs += 290
  await clock.looks()
  expect(found).toEqual([{ pods: [], faults: [] }])
  clock.nowMs += 20
  await clock.looks()
  expect(found).toHaveLength(2)
  const names = ['main', 'more-0', 'more-1', 'more-2', 'more-3', 'more-4']
  expect(found[1]?.pods).toMatchObject([{ pod: { spec: { containers: names.map((name) => ({ name })) } } }])

  stop.abort()
  await running
  await rm(folder, { recursive: true })
})
