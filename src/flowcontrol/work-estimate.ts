/**
 * How many seats a request takes, before it is known what it costs. What it really cost is charged at its end.
 *
 *   list, deletecollection, watch that begins with a list   one seat for each 100 kB it reads
 *   create, update, patch, delete                           three seats, of a Namespace six; after its end, for a
 *                                                           while, one for each ten watchers that are sent the change
 *   everything else                                         one seat
 *
 * Ours: upstream counts what a list holds in memory at once, at most 1 MB where it streams. This server reads, filters
 * and encodes on one thread, so all bytes count that have to be read: with a selector, those of the whole collection.
 * And a write takes a seat upstream. Here the writes under way are committed together, so that each waits for all that
 * were let in before it: with one seat, those of a flood made a patch beside it wait for three times as long.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/request v0.36
 */
import type { RequestAttributes } from './flow-control.ts'

export interface WorkEstimate {
  /** While the request is worked on. */
  readonly initialSeats: number
  /** From its end on, for `additionalLatencyMs`. */
  readonly finalSeats: number
  readonly additionalLatencyMs: number
}

export interface CollectionStats {
  readonly objectCount: number
  readonly totalBytes: number
}

export interface WorkEstimatorOptions {
  /** Of the collection that a request names; undefined where it is not kept here (aggregated, unknown). */
  readonly statsOf: (request: RequestAttributes) => CollectionStats | undefined
  /** How many open watches would see a change by this request. */
  readonly watchersOf: (request: RequestAttributes) => number
}

export const oneSeat: WorkEstimate = Object.freeze({ initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 })

export const bytesPerSeat = 100_000
const maxListSeats = 100
const seatsOfWrite = 3
/** With what a template puts into it, and what other controllers do about it. */
const seatsOfNamespaceWrite = 6
const maxMutatingSeats = 10
const watchersPerSeat = 10
/** How long one seat is busy with sending a change to its share of the watchers. */
const eventDurationMs = 5

/** Upstream's guess for every request, in place of a measurement; corrected by what it took. */
export const estimatedServiceMs = 3

export const maxSeatsOf = (work: WorkEstimate): number => Math.max(work.initialSeats, work.finalSeats)

/** `maxSeats` is the bound that the request's priority level sets; `canWait` is whether requests can wait there. */
export type EstimateWork = (request: RequestAttributes, maxSeats: number | undefined, canWait?: boolean) => WorkEstimate

export function workEstimator({ statsOf, watchersOf }: WorkEstimatorOptions): EstimateWork {
  return (request, maxSeats = Number.POSITIVE_INFINITY, canWait = true) => {
    if (!request.isResource) return oneSeat
    switch (request.verb) {
      case 'watch':
        return beginsWithList(request) ? readSeats(request, statsOf(request), maxSeats) : oneSeat
      case 'list':
      case 'deletecollection':
        return readSeats(request, statsOf(request), maxSeats)
      case 'create':
      case 'update':
      case 'patch':
      case 'delete':
        return changeSeats(request, watchersOf, maxSeats, canWait)
      default:
        return oneSeat
    }
  }
}

/** `sendInitialEvents`, or a watch from no revision, which begins with what there is. */
function beginsWithList({ query }: RequestAttributes): boolean {
  const initialEvents = query.get('sendInitialEvents')
  if (initialEvents === 'true' || initialEvents === '1') return true
  const revision = query.get('resourceVersion') ?? ''
  return revision === '' || revision === '0'
}

function readSeats(request: RequestAttributes, stats: CollectionStats | undefined, maxSeats: number): WorkEstimate {
  if (stats === undefined || stats.objectCount <= 0) return oneSeat
  const bytes = (stats.totalBytes / stats.objectCount) * objectsRead(request, stats.objectCount)
  const seats = Math.min(Math.ceil(bytes / bytesPerSeat), maxSeats, maxListSeats)
  return seats <= 1 ? oneSeat : { initialSeats: seats, finalSeats: 0, additionalLatencyMs: 0 }
}

function objectsRead({ name, verb, query }: RequestAttributes, objectCount: number): number {
  // A name, in the path or in a field selector, is looked up.
  if (name !== '') return 1
  if (verb === 'deletecollection' || query.get('labelSelector') || query.get('fieldSelector')) return objectCount
  const limit = Number(query.get('limit') ?? 0)
  return limit > 0 ? Math.min(limit, objectCount) : objectCount
}

/** Asked and answered, and not stored: nothing is committed, and no watcher hears of it. */
const isNotStored = ({ group, resource, subresource }: RequestAttributes): boolean =>
  group === 'authorization.k8s.io' ||
  group === 'authentication.k8s.io' ||
  (resource === 'serviceaccounts' && subresource === 'token')

const writeSeats = ({ group, resource }: RequestAttributes): number =>
  group === '' && resource === 'namespaces' ? seatsOfNamespaceWrite : seatsOfWrite

function changeSeats(
  request: RequestAttributes,
  watchersOf: WorkEstimatorOptions['watchersOf'],
  maxSeats: number,
  canWait: boolean,
): WorkEstimate {
  if (isNotStored(request)) return oneSeat
  const watchers = watchersOf(request)
  // Where none can wait, a wider write would only have others refused.
  const initialSeats = canWait ? Math.min(writeSeats(request), maxSeats) : 1
  if (watchers < watchersPerSeat) return { initialSeats, finalSeats: 0, additionalLatencyMs: 0 }
  // Wide requests block many seats while they wait for the last one: narrow and longer is the same work.
  const wanted = Math.ceil(watchers / watchersPerSeat)
  const finalSeats = Math.max(1, Math.min(wanted, maxSeats, maxMutatingSeats))
  return { initialSeats, finalSeats, additionalLatencyMs: (wanted * eventDurationMs) / finalSeats }
}
