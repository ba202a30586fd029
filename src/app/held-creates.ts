/** Creates of namespaces that are answered when the namespace is initialized. */
import type { HeldNamespace } from '../apis/initializers/hold.ts'
import { isInitializing, type Namespace } from '../apis/namespaces/types.ts'
import { isTrue } from '../http/request-info.ts'
import { isNamespaces } from '../http/resolve-target.ts'
import { leaveSeats } from '../http/seats.ts'
import { warn } from '../http/verbs/target.ts'
import type { AwaitCreated } from '../http/verbs/verb.ts'
import { parseGoDuration } from '../kube/duration.ts'
import type { StoredObject } from '../registry/registry.ts'
import type { Core } from './wire.ts'

/** What a create that is held is counted as: by default a flow may have some 2,000 of them. */
const heldCreateBytes = 32 * 1024

/** Kept in hand for the answer when the client says how long it waits. */
const answerReserveMs = 1000

type AwaitReady = (held: HeldNamespace, ...created: Parameters<AwaitCreated>) => Promise<StoredObject>

/** The answer to a create of a namespace waits until the namespace is ready. */
export function holdUntilInitialized({ config, features: { hold }, lister }: Core): AwaitCreated {
  const ready: AwaitReady = async (held, stored, request, context, { type }) => {
    leaveSeats(context)
    const find = (): StoredObject | undefined => lister.find(type, '', held.name)
    const current = (): Namespace | undefined => find()?.object
    // It is created, so it is not refused: a flow that has too many of them waiting is answered at once.
    const mayWait = request.account?.tryCharge(heldCreateBytes) ?? true
    const timeoutMs = mayWait ? holdMs(config.initializationTimeoutMs, context.info.query) : 0
    const outcome = await hold.wait(held, current, timeoutMs, request.signal)
    const latest = find()
    const answer = latest !== undefined && latest.object.metadata.uid === held.uid ? latest : stored
    if (outcome === 'waited') {
      const { spec, status }: Namespace = answer.object
      const awaited = spec?.initializers?.pending?.[0]?.name ?? ''
      const lack = status?.conditions?.find((c) => c.type === 'Populated' && c.status === 'False')
      const why = lack?.message ? `; ${lack.message}` : ''
      warn(context, `namespace ${held.name} is still being initialized: waiting for ${awaited}${why}`)
    }
    return answer
  }
  return (stored, request, context, target) => {
    const { query } = context.info
    // Before anything looks at `stored.object`: creates of other kinds are answered without parsing what was stored.
    if (!isNamespaces(target.type) || stored.revision === 0 || isTrue(query.get('includeUninitialized'))) return stored
    const held = heldOf(stored)
    return held === undefined ? stored : ready(held, stored, request, context, target)
  }
}

const initializersMark = '"initializers":'

function heldOf(stored: StoredObject): HeldNamespace | undefined {
  // Most namespaces wait for nothing: their bytes say so without being parsed.
  const { buffer, byteOffset, length } = stored.bytes
  if (!Buffer.from(buffer, byteOffset, length).includes(initializersMark)) return undefined
  const { name, object } = stored
  return isInitializing(object) ? { name, uid: object.metadata.uid ?? '' } : undefined
}

function holdMs(limitMs: number, query: URLSearchParams): number {
  const askedMs = parseGoDuration(query.get('timeout') ?? '')
  return askedMs === undefined ? limitMs : Math.max(0, Math.min(limitMs, askedMs - answerReserveMs))
}
