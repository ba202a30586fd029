import { expect, test } from 'vitest'
import { parseLabelSelector } from '../kube/label-selector.ts'
import { encodeStored } from '../kube/stored-form.ts'
import { LabelIndexes, type Labelled } from './label-index.ts'

const labelled = (slot: number, labels: Record<string, string>): Labelled => {
  const name = `o${String(slot).padStart(3, '0')}`
  return { slot, key: name, bytes: encodeStored({ metadata: { name, labels } }) }
}

/** Of so many objects; each tenth has `k=a`, all have `all=x`. */
function world(size: number, indexedFrom = 10): { readonly indices: LabelIndexes; readonly faults: unknown[] } {
  const objects = Array.from({ length: size }, (_, i) =>
    labelled(i + 1, { all: 'x', ...(i % 10 === 0 ? { k: 'a' } : {}) }),
  )
  const faults: unknown[] = []
  const indices = new LabelIndexes(
    { size: () => size, steps: () => [objects], isClosed: () => false, onFault: (error) => faults.push(error) },
    indexedFrom,
  )
  return { indices, faults }
}

const ask = (indices: LabelIndexes, selector: string, among: number): number[] | undefined => {
  const found = indices.candidates(parseLabelSelector(selector), among)
  return found && [...found].sort((a, b) => a - b)
}

test('an index is made when as much was looked at for want of it as three times what there is', () => {
  const { indices } = world(40)
  expect([ask(indices, 'k=a', 40), ask(indices, 'k=a', 40), indices.isEmpty]).toEqual([undefined, undefined, true])
  expect(ask(indices, 'k=a', 40)).toEqual([1, 11, 21, 31])
  expect(ask(indices, 'k in (a,b)', 40)).toEqual([1, 11, 21, 31])
  expect(ask(indices, 'k=b', 40)).toEqual([])
})

test('no index answers where looking at all costs less, or the selector names no value', () => {
  const { indices } = world(40)
  for (let i = 0; i < 4; i++) for (const selector of ['k=a', 'all=x']) ask(indices, selector, 40)
  expect(ask(indices, 'all=x', 40)).toBeUndefined()
  expect(ask(indices, 'k=a', 7)).toBeUndefined()
  for (const selector of ['k', '!k', 'k!=a', 'k notin (a)']) expect(ask(indices, selector, 40)).toBeUndefined()
  expect(ask(indices, 'k=a,all=x', 40)).toEqual([1, 11, 21, 31])
  const small = world(8).indices
  for (let i = 0; i < 9; i++) ask(small, 'k=a', 8)
  expect(small.isEmpty).toBe(true)
})

test('a change and a removal are followed, and what is gone is never named again', () => {
  const { indices } = world(40)
  for (let i = 0; i < 3; i++) ask(indices, 'k=a', 40)
  indices.changed(labelled(11, { k: 'b' }))
  indices.changed(labelled(12, { k: 'a' }))
  indices.removed(21)
  expect([ask(indices, 'k=a', 40), ask(indices, 'k=b', 40)]).toEqual([[1, 12, 31], [11]])
  indices.changed(labelled(21, {}))
  expect(ask(indices, 'k=a', 40)).toEqual([1, 12, 31])
})

test('as many labels as clients may ask for take no more than eight indices', () => {
  const { indices } = world(40)
  for (let i = 0; i < 3; i++) ask(indices, 'k=a', 40)
  const one = indices.sizeBytes
  for (let label = 0; label < 200; label++) for (let i = 0; i < 3; i++) ask(indices, `l${label}=a`, 40)
  expect(indices.sizeBytes).toBeLessThan(9 * one)
  // The one that was made first is gone, and is made again.
  expect(ask(indices, 'k=a', 40)).toBeUndefined()
})

test('an index that could not be made is told, and tried again', async () => {
  const { faults } = world(40)
  let isBroken = true
  const indices = new LabelIndexes(
    {
      size: () => 40,
      steps() {
        if (isBroken) throw new Error('the file can not be read')
        return [[labelled(1, { k: 'a' })]]
      },
      isClosed: () => false,
      onFault: (error) => faults.push(error),
    },
    10,
  )
  for (let i = 0; i < 3; i++) expect(ask(indices, 'k=a', 40)).toBeUndefined()
  await Promise.resolve()
  expect(faults).toEqual([new Error('the file can not be read')])
  isBroken = false
  for (let i = 0; i < 2; i++) expect(ask(indices, 'k=a', 40)).toBeUndefined()
  expect(ask(indices, 'k=a', 40)).toEqual([1])
})
