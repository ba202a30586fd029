/** What a verb works on, and the options a request carries in its query. */
import type { Caller } from '../../admission/admission.ts'
import type { Eventual } from '../../base/eventual.ts'
import type { Slice } from '../../base/turns.ts'
import { parseGoDuration } from '../../kube/duration.ts'
import { fieldForbidden } from '../../kube/field-error.ts'
import { badRequest, invalidOptions } from '../../kube/status-error.ts'
import type { ListQuery, WriteScope } from '../../registry/registry.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import type { Target } from '../resolution.ts'
import { awaitOutside } from '../seats.ts'

/** What of a type a caller may see: all that passes both tests, by what it says and by whose it is. */
export type Visible = Pick<ListQuery, 'visible' | 'view'>

const maxFieldManagerLength = 128

/** The `fieldManager` parameter, else the first word of the User-Agent, printable and bounded. */
export function fieldManagerOf(request: ApiRequest, query: URLSearchParams): string {
  const given = query.get('fieldManager')
  if (given) return given
  const agent = request.headers['user-agent'] ?? ''
  const slash = agent.indexOf('/')
  const word = slash < 0 ? agent : agent.slice(0, slash)
  const printable = word.replace(/[^\x20-\x7e]/g, '').slice(0, maxFieldManagerLength)
  return printable || 'unknown'
}

/** `options` are those of a DELETE's body; other verbs carry theirs in the query. */
export function writeScope(
  request: ApiRequest,
  context: RequestContext,
  target: Target,
  options?: Readonly<Record<string, unknown>>,
): WriteScope {
  const { query } = context.info
  const asked = query.size === 0 ? options : { ...queryOptions(query), ...options }
  const dryRun = asked?.['dryRun']
  return {
    type: target.type,
    namespace: target.namespace,
    name: target.name,
    subresource: target.subresource,
    user: context.user,
    dryRun: Array.isArray(dryRun) && dryRun.length > 0,
    fieldManager: fieldManagerOf(request, query),
    options: asked,
    warn: (text) => warn(context, text),
    annotate: (key, value) => annotate(context, key, value),
    caller: new RequestCaller(request, context),
    deadlineMs: context.receivedAtMs + (query.size === 0 ? maxRequestMs : requestTimeoutMs(query)),
  }
}

/** What it has is made when it is asked for: few requests wait for others. */
class RequestCaller implements Caller {
  readonly #request: ApiRequest
  readonly #context: RequestContext
  #long: Eventual<Slice> | undefined

  constructor(request: ApiRequest, context: RequestContext) {
    this.#request = request
    this.#context = context
  }

  get outside(): NonNullable<Caller['outside']> {
    return async (wait) => {
      // A failure may be passed over: then the request goes on, and has its seats again.
      const [settled] = await awaitOutside(this.#request, this.#context, Promise.allSettled([wait]))
      if (settled.status === 'rejected') throw settled.reason
      return settled.value
    }
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  /** What a webhook makes of the object may be large, where the object was small. */
  get slice(): Slice | undefined {
    return this.#context.slice
  }

  beginLong(): Eventual<Slice> | undefined {
    // Several may ask at once, and the request has one place.
    this.#long ??= this.#context.longWork?.begin(this.#request, this.#context)
    return this.#long
  }
}

/** Upstream's default, which is also the most that a request may ask for. */
const maxRequestMs = 60_000

/** How long the client waits: `timeout`, checked by the dispatcher. */
function requestTimeoutMs(query: URLSearchParams): number {
  const asked = query.get('timeout')
  const askedMs = asked ? parseGoDuration(asked) : undefined
  return askedMs === undefined || askedMs <= 0 ? maxRequestMs : Math.min(askedMs, maxRequestMs)
}

export function warn(context: RequestContext, text: string): void {
  const { warnings } = context
  if (warnings.length < mostWarnings && !warnings.includes(text)) warnings.push(text)
}

/** Those that are shown have 4,096 characters in all (`answer-errors.ts`); webhooks send as many as they like. */
const mostWarnings = 4096

function annotate(context: RequestContext, key: string, value: string): void {
  context.auditAnnotations ??= {}
  context.auditAnnotations[key] ??= value
}

function queryOptions(query: URLSearchParams): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  if (query.has('dryRun')) options['dryRun'] = query.getAll('dryRun')
  for (const name of ['fieldManager', 'fieldValidation'] as const) {
    const value = query.get(name)
    if (value !== null) options[name] = value
  }
  return options
}

/** Selection of a list or a deletecollection. @throws StatusError BadRequest, Invalid */
export function listQuery(query: URLSearchParams, namespace: string, visible: Visible): ListQuery {
  if (query.has('sendInitialEvents')) {
    throw invalidOptions('ListOptions', [
      fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'),
    ])
  }
  const limit = integer(query, 'limit')
  return {
    namespace,
    ...given('labelSelector', query),
    ...given('fieldSelector', query),
    ...given('resourceVersion', query),
    ...given('resourceVersionMatch', query),
    ...given('continue', query),
    ...(limit === undefined ? {} : { limit }),
    ...visible,
  }
}

/** `{key: value}` if the query has a non-empty one, else nothing. */
export function given<K extends string>(key: K, query: URLSearchParams): { [P in K]?: string } {
  const value = query.get(key)
  return (value ? { [key]: value } : {}) as { [P in K]?: string }
}

/** @throws StatusError BadRequest in the words of Go's strconv. */
export function integer(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key)
  if (text === null || text === '') return undefined
  const value = Number(text)
  if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(value)) return value
  const problem = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`)
}
