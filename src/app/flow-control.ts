/** What priority and fairness is told of the server. */
import {
  type CollectionStats,
  createFlowControl,
  type FlowControl,
  type RequestAttributes,
  waitLimitMsOf,
  workEstimator,
} from '../flowcontrol/flowcontrol.ts'
import type { Config } from './config.ts'
import type { Core } from './wire.ts'

type Sizes = Pick<Core, 'cache' | 'catalog'>

/** `core` is there before the first request is. */
export function flowControlOf({ clock, ids, load }: Config, core: () => Core): FlowControl {
  return createFlowControl({
    clock,
    salt: ids.uid(),
    serverSeats: load.serverSeats,
    waitLimitMs: waitLimitMsOf(load.deadlines.handlerMs),
    estimateWork: workEstimator({
      statsOf: (request) => collectionStatsOf(core(), request),
      watchersOf: (request) => watchersOf(core(), request),
    }),
    endOfTurn: setImmediate,
  })
}

/** Of the collection that a request names; undefined if it is not stored here. */
function collectionStatsOf({ cache, catalog }: Sizes, request: RequestAttributes): CollectionStats | undefined {
  const type = catalog.types.find(request)
  if (type === undefined || !type.stored) return undefined
  // A cluster-scoped object has its name there.
  return cache.type(type.storageName).sizeOf(type.namespaced ? request.namespace : '')
}

/** How many watches would be sent a change that the request makes. */
function watchersOf({ cache, catalog }: Sizes, request: RequestAttributes): number {
  const type = catalog.types.find(request)
  if (type === undefined || !type.stored) return 0
  return cache.type(type.storageName).watchers.watching(type.namespaced ? request.namespace : '', request.name)
}
