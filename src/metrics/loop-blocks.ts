/**
 * How long the event loop was held in one piece, and for whom. Work on requests is told of when it begins and when it
 * goes on (`begin`); a timer that is late says that the loop was held meanwhile. The longest piece between two
 * beginnings is what held it, and its owner is the culprit: a request, or a controller. What follows in later turns is
 * not the owner's. The server's own requests, and what belongs to none, count without a culprit, and without a warning.
 *
 * The same pieces are charged to the flow of their request (`src/flowcontrol/`). The last of a turn pays for the
 * sockets that are read after it: over many turns each flow pays for its share of them.
 *
 * The timer runs only while work begins: a process at rest is not woken. What is counted is processor time without
 * collections: a thread that had to wait for its core was not held by a request.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import type { Clock } from '../base/clock.ts'
import type { Diagnostics } from '../base/diagnostics.ts'
import type { Log } from '../base/log.ts'
import { sliceBegan } from '../base/turns.ts'
import type { RequestContext } from '../http/api.ts'
import { serverUser } from '../kube/user.ts'

type Request = Pick<RequestContext, 'user' | 'resolution' | 'flow'>
export type Culprit = Request | ControllerWork

/** As `src/controller/` begins it. */
interface ControllerWork {
  readonly controller: string
}

export interface LoopBlock {
  readonly culprit: Culprit | undefined
  readonly heldMs: number
}

/** How late the timer must be for the piece before it to be counted. */
const countedMs = 10
/** Nothing may hold the loop for longer. */
const warnedMs = 50
const tickMs = 10
const warningEveryMs = 60_000
/** Flows and controllers that are remembered; when there are more all may be warned of again. */
const maxFlows = 1000

interface Longest {
  readonly culprit: Culprit | undefined
  readonly fromMs: number
  readonly toMs: number
}

const nothing: Longest = { culprit: undefined, fromMs: 0, toMs: 0 }

const ownAccounts = 'system:serviceaccount:kube-system:'

/** The server's own requests are no client's fault: they count, and no warning tells of them. */
function culpritOf(owner: object | undefined): Culprit | undefined {
  const culprit = owner as Culprit | undefined
  if (culprit === undefined || isController(culprit)) return culprit
  const { username } = culprit.user
  return username === serverUser.username || username.startsWith(ownAccounts) ? undefined : culprit
}

const isController = (culprit: Culprit): culprit is ControllerWork => 'controller' in culprit

export type BlockLabels = Readonly<Record<'verb' | 'resource' | 'controller', string>>

/** Empty where nothing is known to have caused it. Of what is served only: clients can make up any other name. */
export function labelsOf(culprit: Culprit | undefined): BlockLabels {
  const unknown = { verb: '', resource: '', controller: '' }
  if (culprit === undefined) return unknown
  if (isController(culprit)) return { ...unknown, controller: culprit.controller }
  const target = culprit.resolution
  if (typeof target !== 'object') return unknown
  return { ...unknown, verb: target.verb, resource: target.type.resource }
}

export interface LoopBlocksOptions {
  readonly clock: Clock
  readonly log: Log
  readonly onBlock: (block: LoopBlock) => void
  /** Runs something when this turn of the loop is over. */
  readonly soon?: (run: () => void) => void
  /** Milliseconds that this thread has worked since some moment. */
  readonly workedMs?: () => number
  /** What it has spent on collections that began within a span of the clock, as far as they are known. */
  readonly collectedMs?: (fromMs: number, toMs: number) => number
}

export class LoopBlocks implements Disposable {
  readonly #clock: Clock
  readonly #log: Log
  readonly #onBlock: (block: LoopBlock) => void
  readonly #collections = new Collections()
  readonly #soon: (run: () => void) => void
  readonly #workedMs: () => number
  readonly #collectedMs: (fromMs: number, toMs: number) => number
  readonly #warnedAt = new Map<string, number>()
  #isTicking = false
  #hasBegun = false
  #endsTurn = false
  #dueMs = 0
  #workedBefore = 0
  #current: Culprit | undefined
  #sinceMs = 0
  #longest = nothing

  constructor({ clock, log, onBlock, soon, workedMs, collectedMs }: LoopBlocksOptions) {
    this.#clock = clock
    this.#log = log
    this.#onBlock = onBlock
    this.#soon = soon ?? setImmediate
    this.#workedMs = workedMs ?? threadMs
    this.#collectedMs = collectedMs ?? ((fromMs, toMs) => this.#collections.within(fromMs, toMs))
  }

  /** Is told of work in slices whenever it goes on. */
  follow(diagnostics: Diagnostics): this {
    diagnostics.subscribe(sliceBegan, (owner) => this.begin(culpritOf(owner)))
    return this
  }

  /** Work of `owner` begins, or goes on, here and now. */
  begin(owner: Culprit | undefined): void {
    const now = this.#clock.monotonic()
    this.#hasBegun = true
    this.#endPiece(now)
    if (!this.#isTicking) this.#tick(now)
    this.#change(owner, now)
    if (this.#endsTurn) return
    this.#endsTurn = true
    this.#soon(this.#endTurn)
  }

  [Symbol.dispose](): void {
    this.#collections[Symbol.dispose]()
  }

  #change(owner: Culprit | undefined, now: number): void {
    this.#current = owner
    this.#sinceMs = now
  }

  readonly #endTurn = (): void => {
    this.#endsTurn = false
    const now = this.#clock.monotonic()
    this.#endPiece(now)
    this.#change(undefined, now)
  }

  #endPiece(now: number): void {
    const pieceMs = now - this.#sinceMs
    if (this.#current !== undefined && !isController(this.#current)) this.#current.flow?.charge(pieceMs)
    if (pieceMs > this.#longest.toMs - this.#longest.fromMs) {
      this.#longest = { culprit: this.#current, fromMs: this.#sinceMs, toMs: now }
    }
  }

  #tick(now: number): void {
    this.#isTicking = true
    this.#hasBegun = false
    this.#longest = nothing
    this.#dueMs = now + tickMs
    this.#workedBefore = this.#workedMs()
    this.#collections.follow()
    this.#clock.after(tickMs, () => this.#look())
  }

  #look(): void {
    const now = this.#clock.monotonic()
    this.#endPiece(now)
    if (now - this.#dueMs >= countedMs) this.#count()
    if (this.#hasBegun) {
      this.#tick(now)
      this.#change(undefined, now)
    } else this.#isTicking = false
  }

  #count(): void {
    const { culprit, fromMs, toMs } = this.#longest
    const workedMs = Math.min(toMs - fromMs, this.#workedMs() - this.#workedBefore)
    // Of the collections of a turn Node tells behind it.
    this.#soon(() => this.#tell(culprit, workedMs - this.#collectedMs(fromMs, toMs)))
  }

  #tell(culprit: Culprit | undefined, heldMs: number): void {
    if (heldMs < countedMs) return
    this.#onBlock({ culprit, heldMs })
    if (heldMs > warnedMs && culprit !== undefined) this.#warn(culprit, heldMs)
  }

  #warn(culprit: Culprit, heldMs: number): void {
    const who = whoOf(culprit)
    const flow = JSON.stringify(who)
    const now = this.#clock.monotonic()
    if (now - (this.#warnedAt.get(flow) ?? Number.NEGATIVE_INFINITY) < warningEveryMs) return
    if (this.#warnedAt.size >= maxFlows) this.#warnedAt.clear()
    this.#warnedAt.set(flow, now)
    const what = isController(culprit) ? 'a controller' : 'a request'
    this.#log.warn({ heldMs: Math.round(heldMs), ...who }, `${what} held the event loop for long; others waited`)
  }
}

function whoOf(culprit: Culprit): Readonly<Record<string, string>> {
  const { verb, resource, controller } = labelsOf(culprit)
  return isController(culprit) ? { controller } : { user: culprit.user.username, verb, resource }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** More of them are not made within the time that is looked at. */
const keptCollections = 100

/** Node tells of a collection a moment after it; what it has not told yet is asked for. */
class Collections implements Disposable {
  #observer: PerformanceObserver | undefined
  #last: readonly PerformanceEntry[] = []

  /** From now on, if it did not before. */
  follow(): void {
    if (this.#observer !== undefined) return
    this.#observer = new PerformanceObserver((list) => this.#add(list.getEntries()))
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  within(fromMs: number, toMs: number): number {
    this.#add(this.#observer?.takeRecords() ?? [])
    const began = this.#last.filter(({ startTime }) => startTime >= fromMs && startTime < toMs)
    return began.reduce((sum, { duration }) => sum + duration, 0)
  }

  [Symbol.dispose](): void {
    this.#observer?.disconnect()
  }

  #add(entries: readonly PerformanceEntry[]): void {
    this.#last = [...this.#last, ...entries].slice(-keptCollections)
  }
}
