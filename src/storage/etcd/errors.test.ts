import { describe, expect, it } from 'vitest'
import { isStorageError, StorageError } from '../storage.ts'
import { isTransient, toStorageError } from './errors.ts'
import { GrpcError, grpcStatus } from './grpc-status.ts'

const grpcError = (code: number, details: string): Error => new GrpcError(code, details)

describe('what etcd says, as a StorageError', () => {
  const cases: { name: string; given: Error; want: string; transient: boolean }[] = [
    {
      name: 'a compacted revision is compacted',
      given: grpcError(grpcStatus.outOfRange, 'etcdserver: mvcc: required revision has been compacted'),
      want: 'compacted',
      transient: false,
    },
    {
      name: 'a revision still to come is future',
      given: grpcError(grpcStatus.outOfRange, 'etcdserver: mvcc: required revision is a future revision'),
      want: 'future',
      transient: false,
    },
    {
      name: 'the quota alarm is full',
      given: grpcError(grpcStatus.resourceExhausted, 'etcdserver: mvcc: database space exceeded'),
      want: 'full',
      transient: false,
    },
    {
      name: 'a request over the limit is too large',
      given: grpcError(grpcStatus.invalidArgument, 'etcdserver: request is too large'),
      want: 'tooLarge',
      transient: false,
    },
    {
      name: 'too many operations are too large',
      given: grpcError(grpcStatus.invalidArgument, 'etcdserver: too many operations in txn request'),
      want: 'tooLarge',
      transient: false,
    },
    {
      name: 'too many requests are unavailable, though they share their gRPC code with the quota alarm',
      given: grpcError(grpcStatus.resourceExhausted, 'etcdserver: too many requests'),
      want: 'unavailable',
      transient: true,
    },
    {
      name: 'a cluster without leader is unavailable',
      given: grpcError(grpcStatus.unavailable, 'etcdserver: no leader'),
      want: 'unavailable',
      transient: true,
    },
    {
      name: 'a missing right is unavailable, and asking again does not help',
      given: grpcError(grpcStatus.permissionDenied, 'etcdserver: permission denied'),
      want: 'unavailable',
      transient: false,
    },
    {
      name: 'a login that is not accepted is unavailable, and asking again does not help',
      given: grpcError(grpcStatus.unauthenticated, 'etcdserver: invalid auth token'),
      want: 'unavailable',
      transient: false,
    },
    {
      name: 'lost data is corrupt',
      given: grpcError(grpcStatus.dataLoss, 'etcdserver: unrecoverable'),
      want: 'corrupt',
      transient: false,
    },
    {
      name: 'an answer that makes no sense is unavailable',
      given: new Error('protobuf: the message is cut short'),
      want: 'unavailable',
      transient: false,
    },
  ]
  it.each(cases)('$name', ({ given, want, transient }) => {
    const error = toStorageError(given, 'reading')
    expect(error.code).toBe(want)
    expect(error.cause).toBe(given)
    expect(error.message).toMatch(/^reading: /)
    expect(isTransient(given)).toBe(transient)
  })

  it('a StorageError stays what it is', () => {
    const error = new StorageError('closed', 'the storage is closed')
    expect(toStorageError(error, 'reading')).toBe(error)
    expect(isStorageError(error, 'closed')).toBe(true)
  })
})
