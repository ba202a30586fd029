import { expect, it } from 'vitest'
import { NewestRevision } from './newest-revision.ts'

const endpoint = 'http://127.0.0.1:2379'

it('answers that overtake each other are no step back: only what was known when a request began counts', () => {
  const newest = new NewestRevision()
  const [first, second] = [newest.get(), newest.get()]
  newest.take({ revision: 9 }, second, endpoint)
  newest.take({ revision: 8 }, first, endpoint)
  expect(newest.get()).toBe(9)
})

it('an answer without a revision says nothing', () => {
  const newest = new NewestRevision()
  newest.take({ revision: 9 }, newest.get(), endpoint)
  newest.take({}, newest.get(), endpoint)
  expect(newest.get()).toBe(9)
})

it('an answer of an older time is refused, and so is everything after it', () => {
  const newest = new NewestRevision()
  newest.take({ revision: 9 }, newest.get(), endpoint)
  const least = newest.get()
  const refusal = expect.objectContaining({
    code: 'unavailable',
    message:
      'etcd at http://127.0.0.1:2379 has gone back from revision 9 to 4, as after a restore from a snapshot, ' +
      'or where it was filled anew; ' +
      'nothing more is read or written: start every server of this store again',
  })
  expect(() => newest.take({ revision: 4 }, least, endpoint)).toThrow(refusal)
  expect(() => newest.get()).toThrow(refusal)
  expect(() => newest.take({ revision: 99 }, 9, endpoint)).toThrow(refusal)
})

it('an answer of another cluster is refused, however far it has come, and so is everything after it', () => {
  const newest = new NewestRevision()
  newest.take({ revision: 9, cluster: 7 }, newest.get(), endpoint)
  newest.take({ revision: 10, cluster: 0 }, newest.get(), endpoint)
  newest.takeCluster({}, endpoint)
  const refusal = expect.objectContaining({
    code: 'unavailable',
    message:
      'etcd at http://127.0.0.1:2379 is of another cluster than the one that answered before; ' +
      'nothing more is read or written: start every server of this store again',
  })
  expect(() => newest.take({ revision: 99, cluster: 8 }, newest.get(), endpoint)).toThrow(refusal)
  expect(() => newest.get()).toThrow(refusal)
  expect(() => newest.takeCluster({ cluster: 7 }, endpoint)).toThrow(refusal)
})
