/**
 * The longest turns of this thread's event loop. A turn is long because of work, because garbage is collected, or
 * because the machine runs something else; the three are told apart.
 */
import { PerformanceObserver } from 'node:perf_hooks'

/** Often enough that the time between two looks is that of one turn of a busy loop. */
const lookMs = 1
const nothing = { allMs: 0, workedMs: 0, collectedMs: 0 }
/** Of shorter turns there are many, and they are of no interest. */
const toldMs = 2

function threadMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

export class HeldTurns {
  #turns = []
  #collections = []
  #observer = new PerformanceObserver((list) => this.#collections.push(...list.getEntries()))

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
    let [from, workedMs] = [performance.now(), threadMs()]
    setInterval(() => {
      const [to, nowMs] = [performance.now(), threadMs()]
      if (to - from >= toldMs) this.#turns.push({ from, to, workedMs: nowMs - workedMs })
      ;[from, workedMs] = [to, nowMs]
    }, lookMs).unref()
  }

  /** Since it was asked last: the longest work of one turn, collections apart, and the turn that lasted longest. */
  async take() {
    // Node tells of the collections of a turn behind it.
    await new Promise((resolve) => setTimeout(resolve))
    this.#collections.push(...this.#observer.takeRecords())
    const turns = this.#turns.map(({ from, to, workedMs }) => {
      return { allMs: to - from, workedMs, collectedMs: this.#collectedIn(from, to) }
    })
    this.#turns = []
    this.#collections = []
    return {
      heldMs: Math.max(0, ...turns.map(({ workedMs, collectedMs }) => workedMs - collectedMs)),
      longestTurn: turns.reduce((a, b) => (b.allMs > a.allMs ? b : a), nothing),
    }
  }

  #collectedIn(from, to) {
    const began = this.#collections.filter(({ startTime }) => startTime >= from && startTime < to)
    return began.reduce((sum, { duration }) => sum + duration, 0)
  }
}
