import { expect, it } from 'vitest'
import { fromStorage } from '../registry/errors.ts'
import { StorageError } from '../storage/storage.ts'
import { whatFailed } from './what-failed.ts'

it.each([
  {
    name: 'a full store',
    error: new Error('no record was kept', { cause: fromStorage(new StorageError('full', 'no room')) }),
    says: 'a controller could not write, since the store is full; it tries again',
  },
  {
    name: 'a watch that fell behind',
    error: fromStorage(new StorageError('overflow', 'too slow')),
    says: 'a watch broke and is taken up again',
  },
  { name: 'anything else', error: new Error('what is that'), says: 'a watch broke and is taken up again' },
])('$name is told as what it is', ({ error, says }) => {
  expect(whatFailed(error)).toBe(says)
})
