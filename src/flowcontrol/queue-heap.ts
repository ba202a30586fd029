/**
 * Which queue is served next: a binary heap of the queues with waiting requests, by when the oldest of them would be
 * done in virtual time. Each queue knows its place, so that it can move or leave.
 */
import type { Queue } from './queue.ts'

export class QueueHeap {
  readonly #queues: Queue[] = []

  get first(): Queue | undefined {
    return this.#queues[0]
  }

  /** After any change of the queue: puts it where it belongs, or takes it out once nothing waits in it. */
  update(queue: Queue): void {
    if (queue.waiting.length === 0) {
      if (queue.heapIndex >= 0) this.#remove(queue)
      return
    }
    if (queue.heapIndex < 0) {
      queue.heapIndex = this.#queues.length
      this.#queues.push(queue)
    }
    this.#sift(queue)
  }

  #remove(queue: Queue): void {
    const last = this.#queues.pop()
    if (last !== undefined && last !== queue) {
      this.#put(last, queue.heapIndex)
      this.#sift(last)
    }
    queue.heapIndex = -1
  }

  #sift(queue: Queue): void {
    let at = queue.heapIndex
    for (let parent = this.#at((at - 1) >> 1); at > 0 && before(queue, parent); parent = this.#at((at - 1) >> 1)) {
      const above = (at - 1) >> 1
      this.#put(parent, at)
      at = above
    }
    for (;;) {
      const left = 2 * at + 1
      if (left >= this.#queues.length) break
      const right = left + 1
      const child = right < this.#queues.length && before(this.#at(right), this.#at(left)) ? right : left
      const smaller = this.#at(child)
      if (!before(smaller, queue)) break
      this.#put(smaller, at)
      at = child
    }
    this.#put(queue, at)
  }

  #put(queue: Queue, at: number): void {
    this.#queues[at] = queue
    queue.heapIndex = at
  }

  #at(index: number): Queue {
    const queue = this.#queues[Math.max(0, index)]
    if (queue === undefined) throw new Error(`the heap has no place ${index}`)
    return queue
  }
}

function before(a: Queue, b: Queue): boolean {
  const [finishA, finishB] = [a.nextFinish, b.nextFinish]
  return finishA < finishB || (finishA === finishB && a.lastDispatch < b.lastDispatch)
}
