import { describe, expect, it } from 'vitest'
import { findStatusError } from '../kube/status-error.ts'
import type { Status } from '../kube/types.ts'
import { StorageError, type StorageErrorCode } from '../storage/storage.ts'
import { fromStorage, tooLargeVersion, watchExpired } from './errors.ts'

const failure = (status: Partial<Status>): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  ...status,
})
const unavailable = (message: string): Status =>
  failure({ message, reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 }, code: 503 })
const away = unavailable('the store is not available at this moment, please try again')
const onlyRead = 'the store can only be read: no writes are taken until the server is started again'
const refused = failure({
  message: 'Internal error occurred: the store refused the request',
  reason: 'InternalError',
  details: { causes: [{ message: 'the store refused the request' }] },
  code: 500,
})

/** A code that is missing here does not compile. */
const statuses: Readonly<Record<StorageErrorCode, Status>> = {
  compacted: failure({
    message: 'The resourceVersion for the provided list is too old.',
    reason: 'Expired',
    code: 410,
  }),
  tooLarge: failure({
    message: 'Request entity too large: limit is 1556480',
    reason: 'RequestEntityTooLarge',
    code: 413,
  }),
  full: failure({
    message: 'the store is full: at most deletes and small changes are taken until there is room',
    code: 507,
  }),
  readOnly: failure({
    message: onlyRead,
    reason: 'ServiceUnavailable',
    details: { causes: [{ reason: 'StoreReadOnly', message: onlyRead }] },
    code: 503,
  }),
  unavailable: away,
  closed: away,
  locked: away,
  overflow: unavailable('the store moved on faster than it could be read, please try again'),
  future: refused,
  invalid: refused,
  corrupt: refused,
  damaged: failure({
    message: 'of the engine',
    reason: 'StoreReadError',
    details: { causes: [{ message: 'of the engine' }] },
    code: 500,
  }),
}

describe('a fault of the store', () => {
  it.each(Object.entries(statuses))('%s, as clients see it', (code, want) => {
    const fault = new StorageError(code as StorageErrorCode, 'of the engine')
    const wrapped = new Error('around it', { cause: fault })
    for (const error of [fault, wrapped]) {
      const status = findStatusError(fromStorage(error))
      expect(status?.toStatus()).toEqual(want)
      // Of what is damaged the engine says what clients may read.
      if (code !== 'damaged') {
        expect(JSON.stringify(status?.toStatus()), 'nothing of the inside').not.toContain('of the engine')
      }
    }
  })

  it('leaves other errors alone', () => {
    const other = new Error('x')
    expect(fromStorage(other)).toBe(other)
  })
})

it('a revision that is gone, and one that is not there yet', () => {
  expect(watchExpired(5, 9).toStatus()).toEqual(
    failure({ message: 'too old resource version: 5 (9)', reason: 'Expired', code: 410 }),
  )
  expect(tooLargeVersion(9, 5).toStatus()).toEqual(
    failure({
      message: 'Timeout: Too large resource version: 9, current: 5',
      reason: 'Timeout',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
      code: 504,
    }),
  )
})
