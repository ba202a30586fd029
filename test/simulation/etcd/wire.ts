/** The server's side of `src/storage/etcd/messages.ts`: reads what the engine sends, writes what it reads. */
import { ProtoReader, ProtoWriter } from '../../../src/base/protobuf.ts'
import type {
  Compare,
  KeyValue,
  MemberStatus,
  Op,
  OpResponse,
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
  WatchCreateRequest,
  WatchEvent,
  WatchResponse,
} from '../../../src/storage/etcd/messages.ts'

const bodyOf = (write: (w: ProtoWriter) => void): Buffer => {
  const writer = new ProtoWriter()
  write(writer)
  return Buffer.from(writer.finish())
}

/** `serializable`: the member may answer by what it knows. */
export type ReadRange = RangeRequest & { readonly serializable: boolean }

export const readRange = (bytes: Buffer): ReadRange => rangeOf(new ProtoReader(bytes))
export const readTxn = (bytes: Buffer): TxnRequest => txnOf(new ProtoReader(bytes))

export function readCompact(bytes: Buffer): number {
  const reader = new ProtoReader(bytes)
  let revision = 0
  while (reader.next()) {
    if (reader.field === 1) revision = reader.int()
    else reader.skip()
  }
  return revision
}

export function readWatch(bytes: Buffer): WatchCreateRequest {
  const reader = new ProtoReader(bytes)
  let key: Uint8Array = Buffer.alloc(0)
  let rangeEnd: Uint8Array = Buffer.alloc(0)
  let startRevision = 0
  if (!reader.next()) throw new Error('a watch that asks for nothing')
  const create = reader.message()
  while (create.next()) {
    if (create.field === 1) key = create.bytes()
    else if (create.field === 2) rangeEnd = create.bytes()
    else if (create.field === 3) startRevision = create.int()
    else create.skip()
  }
  return { key, rangeEnd, startRevision }
}

export const writeRange = ({ revision, term, kvs, more }: RangeResponse): Buffer =>
  bodyOf((w) => {
    header(w, revision, term)
    for (const kv of kvs) w.message(2, (item) => keyValue(item, kv))
    w.bool(3, more)
  })

export const writeTxn = (response: TxnResponse): Buffer => bodyOf((w) => txn(w, response))

export const writeCompact = (revision: number, term: number): Buffer => bodyOf((w) => header(w, revision, term))

export const writeStatus = ({ version, hasLeader, term }: MemberStatus): Buffer =>
  bodyOf((w) => {
    w.bytes(2, Buffer.from(version))
    w.varint(4, hasLeader ? 1 : 0)
    w.varint(6, term)
  })

export const writeWatch = (response: WatchResponse): Buffer =>
  bodyOf((w) => {
    header(w, response.revision, 0)
    w.bool(3, response.created)
    w.bool(4, response.canceled)
    w.varint(5, response.compactRevision)
    w.bytes(6, Buffer.from(response.cancelReason))
    w.bool(7, response.fragment)
    for (const event of response.events) w.message(11, (item) => watchEvent(item, event))
  })

function header(w: ProtoWriter, revision: number, term: number): void {
  w.message(1, (h) => {
    h.varint(3, revision)
    h.varint(4, term)
  })
}

function keyValue(w: ProtoWriter, { key, createRevision, modRevision, value }: KeyValue): void {
  w.bytes(1, key)
  w.varint(2, createRevision)
  w.varint(3, modRevision)
  w.bytes(5, value)
}

function watchEvent(w: ProtoWriter, { type, kv, previous }: WatchEvent): void {
  w.varint(1, type === 'delete' ? 1 : 0)
  w.message(2, (item) => keyValue(item, kv))
  if (previous) w.message(3, (item) => keyValue(item, previous))
}

function txn(w: ProtoWriter, { revision, term, succeeded, responses }: TxnResponse): void {
  header(w, revision, term)
  w.bool(2, succeeded)
  for (const response of responses) w.message(3, (item) => opResponse(item, response))
}

function opResponse(w: ProtoWriter, response: OpResponse): void {
  if (response.type === 'range') {
    w.message(1, (range) => {
      for (const kv of response.kvs) range.message(2, (item) => keyValue(item, kv))
    })
  } else if (response.type === 'txn') w.message(4, (nested) => txn(nested, response.response))
  // Whether it was a put or a delete makes no difference to the reader.
  else w.message(2, () => undefined)
}

function rangeOf(reader: ProtoReader): ReadRange {
  let key: Uint8Array = Buffer.alloc(0)
  let rangeEnd: Uint8Array | undefined
  let limit = 0
  let revision = 0
  let serializable = false
  let countOnly = false
  while (reader.next()) {
    if (reader.field === 1) key = reader.bytes()
    else if (reader.field === 2) rangeEnd = reader.bytes()
    else if (reader.field === 3) limit = reader.int()
    else if (reader.field === 4) revision = reader.int()
    else if (reader.field === 7) serializable = reader.bool()
    else if (reader.field === 9) countOnly = reader.bool()
    else reader.skip()
  }
  return { key, limit, revision, serializable, countOnly, ...(rangeEnd === undefined ? {} : { rangeEnd }) }
}

function txnOf(reader: ProtoReader): TxnRequest {
  const compare: Compare[] = []
  const success: Op[] = []
  const failure: Op[] = []
  while (reader.next()) {
    if (reader.field === 1) compare.push(compareOf(reader.message()))
    else if (reader.field === 2) success.push(opOf(reader.message()))
    else if (reader.field === 3) failure.push(opOf(reader.message()))
    else reader.skip()
  }
  return { compare, success, failure }
}

const results = ['equal', 'greater', 'less'] as const
const modTarget = 2

function compareOf(reader: ProtoReader): Compare {
  let result: (typeof results)[number] = 'equal'
  let target = 0
  let revision = 0
  let key: Uint8Array = Buffer.alloc(0)
  let value: Uint8Array = Buffer.alloc(0)
  while (reader.next()) {
    if (reader.field === 1) result = results[reader.int()] ?? 'equal'
    else if (reader.field === 2) target = reader.int()
    else if (reader.field === 3) key = reader.bytes()
    else if (reader.field === 6) revision = reader.int()
    else if (reader.field === 7) value = reader.bytes()
    else reader.skip()
  }
  if (target === modTarget && result !== 'greater') return { key, target: 'mod', result, revision }
  if (target !== modTarget && result !== 'equal') return { key, target: 'value', result, value }
  throw new Error(`the engine compares in a way that this store does not know: ${target} ${result}`)
}

function opOf(reader: ProtoReader): Op {
  if (!reader.next()) throw new Error('an operation that is none')
  const { field } = reader
  const body = reader.message()
  if (field === 1) return { type: 'range', request: rangeOf(body) }
  if (field === 4) return { type: 'txn', request: txnOf(body) }
  let key: Uint8Array = Buffer.alloc(0)
  let value: Uint8Array = Buffer.alloc(0)
  while (body.next()) {
    if (body.field === 1) key = body.bytes()
    else if (body.field === 2) value = body.bytes()
    else body.skip()
  }
  return field === 2 ? { type: 'put', key, header: Buffer.alloc(0), value } : { type: 'delete', key }
}
