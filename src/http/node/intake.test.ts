/** What is read of a flow in one turn, by a clock that stands still between steps. */
import { describe, expect, test } from 'vitest'
import { type Inlet, Intake } from './intake.ts'

class Connection implements Inlet {
  readonly flow: string
  isRead = true

  constructor(flow: string) {
    this.flow = flow
  }

  stopReading(): void {
    this.isRead = false
  }

  goOnReading(): void {
    this.isRead = true
  }
}

class World {
  nowMs = 0
  readonly connections: Connection[]
  readonly intake: Intake
  #soon: (() => void)[] = []

  constructor(flows: readonly string[]) {
    this.connections = flows.map((flow) => new Connection(flow))
    this.intake = new Intake(
      (flow) => this.connections.filter((one) => one.flow === flow),
      () => this.nowMs,
      (run) => this.#soon.push(run),
    )
  }

  /** Twice something by this connection, `ms` apart. */
  busy(index: number, ms: number): void {
    const connection = this.connections[index] as Connection
    this.intake.came(connection)
    this.nowMs += ms
    this.intake.came(connection)
  }

  endTurn(): void {
    const due = this.#soon
    this.#soon = []
    for (const run of due) run()
  }

  get isAwaited(): boolean {
    return this.#soon.length > 0
  }

  /** Of all connections, in order. */
  get read(): string {
    return this.connections.map(({ isRead }) => (isRead ? 'r' : '-')).join('')
  }
}

const a = (count: number): string[] => Array.from({ length: count }, () => 'a')

describe('a flow that sends more than can be read', () => {
  test('is read no further in this turn once it had its time, by any of its connections, and others are', () => {
    const world = new World([...a(3), 'b', 'b'])
    world.busy(0, 3.9)
    expect(world.read).toBe('rrrrr')
    world.busy(1, 0.1)
    expect(world.read).toBe('---rr')
  })

  test('is read again in the turns that follow: one connection, two, four, all', () => {
    const world = new World(a(8))
    world.busy(0, 4)
    const seen: string[] = []
    for (let turn = 0; turn < 4; turn++) {
      world.endTurn()
      seen.push(world.read)
    }
    expect(seen).toEqual(['r-------', 'rrr-----', 'rrrrrrr-', 'rrrrrrrr'])
    world.endTurn()
    expect(world.isAwaited).toBe(false)
  })

  test('goes on one by one, the next one first, as long as each takes all the time', () => {
    const world = new World(a(3))
    world.busy(0, 4)
    const seen: string[] = []
    for (const index of [0, 1, 2, 0]) {
      world.endTurn()
      seen.push(world.read)
      world.busy(index, 4)
    }
    expect(seen).toEqual(['r--', '-r-', '--r', 'r--'])
  })

  test('is not charged for the time between what it sends and what others send', () => {
    const world = new World(['a', 'b'])
    const [first, second] = world.connections as [Connection, Connection]
    for (let i = 0; i < 20; i++) {
      world.intake.came(first)
      world.nowMs += 3
      world.intake.came(second)
      world.nowMs += 3
    }
    expect(world.read).toBe('rr')
  })

  test('begins every turn anew', () => {
    const world = new World(['a'])
    for (let turn = 0; turn < 5; turn++) {
      world.busy(0, 3)
      world.nowMs += 1000
      world.endTurn()
    }
    expect(world.read).toBe('r')
  })
})
