/**
 * What is due when: keys with a time each, the earliest first. A binary heap, so that a change of one key costs
 * O(log n) and looking for what is due costs nothing while nothing is.
 *
 * A key that is set again or removed leaves its old entry in the heap, where it no longer counts; when most of the heap
 * is such entries it is made anew.
 */
interface Entry {
  readonly key: string
  readonly dueMs: number
}

/** Below this many entries it is not worth making the heap anew. */
const fewEntries = 1024

export class Deadlines {
  readonly #dueOf = new Map<string, Entry>()
  #heap: Entry[] = []

  get size(): number {
    return this.#dueOf.size
  }

  has(key: string): boolean {
    return this.#dueOf.has(key)
  }

  set(key: string, dueMs: number): void {
    if (this.#dueOf.get(key)?.dueMs === dueMs) return
    const entry = { key, dueMs }
    this.#dueOf.set(key, entry)
    this.#heap.push(entry)
    this.#up(this.#heap.length - 1)
    this.#rebuildIfStale()
  }

  delete(key: string): boolean {
    const isThere = this.#dueOf.delete(key)
    if (isThere) this.#rebuildIfStale()
    return isThere
  }

  /** When the earliest is due; undefined = nothing ever is. */
  nextMs(): number | undefined {
    return this.#first()?.dueMs
  }

  /** Removes the earliest key and answers it, if it is due. */
  take(nowMs: number): string | undefined {
    const first = this.#first()
    if (first === undefined || first.dueMs > nowMs) return undefined
    this.#dueOf.delete(first.key)
    this.#removeFirst()
    return first.key
  }

  #first(): Entry | undefined {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined || this.#dueOf.get(first.key) === first) return first
      this.#removeFirst()
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#down(0)
  }

  #up(from: number): void {
    const heap = this.#heap
    const entry = heap[from] as Entry
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above] as Entry
      if (parent.dueMs <= entry.dueMs) break
      heap[at] = parent
      at = above
    }
    heap[at] = entry
  }

  #down(from: number): void {
    const heap = this.#heap
    const entry = heap[from] as Entry
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && (heap[below + 1] as Entry).dueMs < (heap[below] as Entry).dueMs) below++
      const child = heap[below] as Entry
      if (child.dueMs >= entry.dueMs) break
      heap[at] = child
      at = below
    }
    heap[at] = entry
  }

  #rebuildIfStale(): void {
    if (this.#heap.length < fewEntries || this.#heap.length < 2 * this.#dueOf.size) return
    this.#heap = [...this.#dueOf.values()]
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#down(i)
  }
}
