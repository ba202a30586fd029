/**
 * The messages of etcd's gRPC API that this engine sends and reads, with their field numbers.
 *
 * It knows the wire, not what Borough stores: positions, notes and prefixes are the business of its neighbours.
 * Only fields we use are named here; the reader skips the rest.
 *
 * @see etcd api/etcdserverpb/rpc.proto and api/mvccpb/kv.proto (the same numbers from v3.0 to v3.6)
 */
import { ProtoReader, ProtoWriter } from '../../base/protobuf.ts'

export interface KeyValue {
  readonly key: Buffer
  readonly createRevision: number
  readonly modRevision: number
  readonly value: Buffer
}

export interface RangeRequest {
  readonly key: Uint8Array
  /** Absent: only `key`. A single zero byte: everything from `key` on. */
  readonly rangeEnd?: Uint8Array
  /** 0 or absent: no limit. */
  readonly limit?: number
  /** 0 or absent: now. */
  readonly revision?: number
  readonly countOnly?: boolean
}

/** What every answer tells. */
export interface Answer {
  /** Counts the elections of the cluster; 0 = not told. */
  readonly term: number
  /** The store's; absent: the answer is of another kind. */
  readonly revision?: number
  /**
   * Whose answer it is; absent or 0: not told. An id of 64 random bits, rounded to what a number holds: all that counts
   * is whether two are one.
   */
  readonly cluster?: number
}

export interface RangeResponse extends Answer {
  /** The store's, when the request was applied. */
  readonly revision: number
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  /** Of the keys in the range, whatever the limit. */
  readonly count: number
}

/** `mod` 0 means 'does not exist'. A value comparison is bytewise, and false for a key that does not exist. */
export type Compare =
  | { readonly key: Uint8Array; readonly target: 'mod'; readonly result: 'equal' | 'less'; readonly revision: number }
  | {
      readonly key: Uint8Array
      readonly target: 'value'
      readonly result: 'greater' | 'less'
      readonly value: Uint8Array
    }

export type Op =
  | { readonly type: 'range'; readonly request: RangeRequest }
  /** The value is `header` and `value`, joined. */
  | { readonly type: 'put'; readonly key: Uint8Array; readonly header: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly key: Uint8Array }
  | { readonly type: 'txn'; readonly request: TxnRequest }

export interface TxnRequest {
  readonly compare: readonly Compare[]
  readonly success: readonly Op[]
  readonly failure: readonly Op[]
}

export type OpResponse =
  | { readonly type: 'range'; readonly kvs: readonly KeyValue[] }
  | { readonly type: 'txn'; readonly response: TxnResponse }
  | { readonly type: 'done' }

export interface TxnResponse extends Answer {
  readonly revision: number
  readonly succeeded: boolean
  readonly responses: readonly OpResponse[]
}

export interface WatchCreateRequest {
  readonly key: Uint8Array
  readonly rangeEnd: Uint8Array
  /** Inclusive, ≥ 1 (0 would mean 'from now'). */
  readonly startRevision: number
}

export interface WatchEvent {
  readonly type: 'put' | 'delete'
  readonly kv: KeyValue
  readonly previous: KeyValue | undefined
}

export interface WatchResponse {
  /** As in `Answer`. */
  readonly cluster?: number
  readonly revision: number
  readonly created: boolean
  readonly canceled: boolean
  /** > 0 when canceled because the start lies in compacted history. */
  readonly compactRevision: number
  readonly cancelReason: string
  /** More of the same response follows. */
  readonly fragment: boolean
  readonly events: readonly WatchEvent[]
}

export interface Method<Request, Response> {
  readonly path: string
  readonly serialize: (request: Request) => Buffer
  readonly deserialize: (bytes: Buffer) => Response
}

export const rangeMethod: Method<RangeRequest, RangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  serialize: (request) => encode((w) => writeRange(w, request)),
  deserialize: (bytes) => readRange(new ProtoReader(bytes)),
}

export const txnMethod: Method<TxnRequest, TxnResponse> = {
  path: '/etcdserverpb.KV/Txn',
  serialize: (request) => encode((w) => writeTxn(w, request)),
  deserialize: (bytes) => readTxn(new ProtoReader(bytes)),
}

/** The argument is the revision. */
export const compactMethod: Method<number, Answer> = {
  path: '/etcdserverpb.KV/Compact',
  serialize: (revision) => encode((w) => w.varint(1, revision)),
  deserialize(bytes) {
    const reader = new ProtoReader(bytes)
    let term = 0
    while (reader.next()) {
      if (reader.field === 1) ({ term } = readHeader(reader.message()))
      else reader.skip()
    }
    return { term }
  },
}

export interface Credentials {
  readonly name: string
  readonly password: string
}

export const authenticateMethod: Method<Credentials, Answer & { readonly token: string }> = {
  path: '/etcdserverpb.Auth/Authenticate',
  serialize: ({ name, password }) =>
    encode((w) => {
      w.bytes(1, Buffer.from(name))
      w.bytes(2, Buffer.from(password))
    }),
  deserialize(bytes) {
    const reader = new ProtoReader(bytes)
    let term = 0
    let token = ''
    while (reader.next()) {
      if (reader.field === 1) ({ term } = readHeader(reader.message()))
      else if (reader.field === 2) token = reader.text()
      else reader.skip()
    }
    return { term, token }
  },
}

export interface MemberStatus extends Answer {
  readonly version: string
  readonly hasLeader: boolean
}

/** Of one member; answered without the others. */
export const statusMethod: Method<void, MemberStatus> = {
  path: '/etcdserverpb.Maintenance/Status',
  serialize: () => encode(() => undefined),
  deserialize(bytes) {
    const reader = new ProtoReader(bytes)
    let version = ''
    let hasLeader = false
    let term = 0
    while (reader.next()) {
      if (reader.field === 2) version = reader.text()
      // An id: random bits, of which all that counts is that there are some.
      else if (reader.field === 4) hasLeader = reader.int() !== 0
      else if (reader.field === 6) term = reader.int()
      else reader.skip()
    }
    return { version, hasLeader, term }
  },
}

/** Previous values on, fragments on: a long backlog arrives in pieces of a few MiB instead of one message. */
export const watchMethod: Method<WatchCreateRequest, WatchResponse> = {
  path: '/etcdserverpb.Watch/Watch',
  serialize: (request) =>
    encode((w) =>
      w.message(1, (create) => {
        create.bytes(1, request.key)
        create.bytes(2, request.rangeEnd)
        create.varint(3, request.startRevision)
        create.bool(6, true)
        create.bool(8, true)
      }),
    ),
  deserialize: readWatch,
}

function encode(write: (writer: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter()
  write(writer)
  return writer.finish()
}

function writeRange(w: ProtoWriter, request: RangeRequest): void {
  w.bytes(1, request.key)
  if (request.rangeEnd) w.bytes(2, request.rangeEnd)
  w.varint(3, request.limit ?? 0)
  w.varint(4, request.revision ?? 0)
  w.bool(9, request.countOnly ?? false)
}

const compareResults = { equal: 0, greater: 1, less: 2 } as const
const compareTargets = { mod: 2, value: 3 } as const

function writeCompare(w: ProtoWriter, compare: Compare): void {
  w.varint(1, compareResults[compare.result])
  w.varint(2, compareTargets[compare.target])
  w.bytes(3, compare.key)
  if (compare.target === 'mod') w.oneofVarint(6, compare.revision)
  else w.bytes(7, compare.value)
}

function writeOp(w: ProtoWriter, op: Op): void {
  switch (op.type) {
    case 'range':
      w.message(1, (range) => writeRange(range, op.request))
      return
    case 'put':
      w.message(2, (put) => {
        put.bytes(1, op.key)
        put.bytes(2, op.header, op.value)
      })
      return
    case 'delete':
      w.message(3, (remove) => remove.bytes(1, op.key))
      return
    case 'txn':
      w.message(4, (txn) => writeTxn(txn, op.request))
      return
    default:
      op satisfies never
  }
}

function writeTxn(w: ProtoWriter, request: TxnRequest): void {
  for (const compare of request.compare) w.message(1, (c) => writeCompare(c, compare))
  for (const op of request.success) w.message(2, (o) => writeOp(o, op))
  for (const op of request.failure) w.message(3, (o) => writeOp(o, op))
}

function readHeader(reader: ProtoReader): { cluster: number; revision: number; term: number } {
  let cluster = 0
  let revision = 0
  let term = 0
  while (reader.next()) {
    if (reader.field === 1) cluster = reader.int()
    else if (reader.field === 3) revision = reader.int()
    else if (reader.field === 4) term = reader.int()
    else reader.skip()
  }
  return { cluster, revision, term }
}

const noBytes: Buffer = Buffer.alloc(0)

function readKeyValue(reader: ProtoReader): KeyValue {
  let key = noBytes
  let value = noBytes
  let createRevision = 0
  let modRevision = 0
  while (reader.next()) {
    if (reader.field === 1) key = reader.bytes()
    else if (reader.field === 2) createRevision = reader.int()
    else if (reader.field === 3) modRevision = reader.int()
    else if (reader.field === 5) value = reader.bytes()
    else reader.skip()
  }
  return { key, createRevision, modRevision, value }
}

function readRange(reader: ProtoReader): RangeResponse {
  let cluster = 0
  let revision = 0
  let term = 0
  let more = false
  let count = 0
  const kvs: KeyValue[] = []
  while (reader.next()) {
    if (reader.field === 1) ({ cluster, revision, term } = readHeader(reader.message()))
    else if (reader.field === 2) kvs.push(readKeyValue(reader.message()))
    else if (reader.field === 3) more = reader.bool()
    else if (reader.field === 4) count = reader.int()
    else reader.skip()
  }
  return { cluster, revision, term, kvs, more, count }
}

function readOp(reader: ProtoReader): OpResponse {
  let response: OpResponse = { type: 'done' }
  while (reader.next()) {
    if (reader.field === 1) response = { type: 'range', kvs: readRange(reader.message()).kvs }
    else if (reader.field === 4) response = { type: 'txn', response: readTxn(reader.message()) }
    else reader.skip()
  }
  return response
}

function readTxn(reader: ProtoReader): TxnResponse {
  let cluster = 0
  let revision = 0
  let term = 0
  let succeeded = false
  const responses: OpResponse[] = []
  while (reader.next()) {
    if (reader.field === 1) ({ cluster, revision, term } = readHeader(reader.message()))
    else if (reader.field === 2) succeeded = reader.bool()
    else if (reader.field === 3) responses.push(readOp(reader.message()))
    else reader.skip()
  }
  return { cluster, revision, term, succeeded, responses }
}

function readEvent(reader: ProtoReader): WatchEvent {
  let type: WatchEvent['type'] = 'put'
  let kv: KeyValue | undefined
  let previous: KeyValue | undefined
  while (reader.next()) {
    if (reader.field === 1) type = reader.int() === 1 ? 'delete' : 'put'
    else if (reader.field === 2) kv = readKeyValue(reader.message())
    else if (reader.field === 3) previous = readKeyValue(reader.message())
    else reader.skip()
  }
  if (!kv) throw new Error('protobuf: a watch event without a key')
  return { type, kv, previous }
}

function readWatch(bytes: Buffer): WatchResponse {
  const reader = new ProtoReader(bytes)
  let cluster = 0
  let revision = 0
  let created = false
  let canceled = false
  let compactRevision = 0
  let cancelReason = ''
  let fragment = false
  const events: WatchEvent[] = []
  while (reader.next()) {
    if (reader.field === 1) ({ cluster, revision } = readHeader(reader.message()))
    else if (reader.field === 3) created = reader.bool()
    else if (reader.field === 4) canceled = reader.bool()
    else if (reader.field === 5) compactRevision = reader.int()
    else if (reader.field === 6) cancelReason = reader.text()
    else if (reader.field === 7) fragment = reader.bool()
    else if (reader.field === 11) events.push(readEvent(reader.message()))
    else reader.skip()
  }
  return { cluster, revision, created, canceled, compactRevision, cancelReason, fragment, events }
}
