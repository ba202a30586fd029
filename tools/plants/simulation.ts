/**
 * Faults that the simulation (`test/simulation`) must find: the counterparts of those in etcd's table of robustness
 * (tests/robustness/README.md of etcd, by the number of the issue), and some of our own past. Each is found by the
 * seed that stands with it.
 */
import type { Plant } from './plants.ts'

export interface SimulationPlant extends Plant {
  /** That finds it. */
  readonly seed: number
}

const suites = ['test/simulation/found.test.ts']

export const simulationPlants: readonly SimulationPlant[] = [
  {
    seed: 2,
    why: 'simulated: a commit is acknowledged before it is flushed (etcd 14370)',
    suites,
    file: 'src/storage/sqlite/file-format.ts',
    find: "database.exec('PRAGMA synchronous = FULL')",
    replace: "database.exec('PRAGMA synchronous = NORMAL')",
  },
  {
    seed: 2,
    why: 'simulated: the head of the store is not written with the commit (etcd 13766)',
    suites,
    file: 'src/storage/sqlite/log-file.ts',
    find: '        else this.#describe.run(...metaValues(this.#meta))\n',
    replace: '',
  },
  {
    seed: 65,
    why: 'simulated: a store opens without what its mark tells of',
    suites,
    file: 'src/storage/sqlite/loss.ts',
    find: "if (typeof mark === 'number' && mark <= head) return",
    replace: "if (typeof mark === 'number') return",
  },
  {
    seed: 5,
    why: 'simulated: the mark is written before what it marks',
    suites,
    file: 'src/storage/sqlite/log-file.ts',
    find: 'const headBefore = this.head\n',
    replace: `const headBefore = this.head
    this.#mark.write(endOfCommit(headBefore + 1))
`,
  },
  {
    seed: 2,
    why: 'simulated: the relay gives up a ticket too early',
    suites,
    file: 'src/storage/relay/relay-storage.ts',
    find: 'const settled = (this.#unsettled.values().next().value ?? id) - 1',
    replace: 'const settled = (this.#unsettled.values().next().value ?? id)',
  },
  {
    seed: 15,
    why: "simulated: changes are taken to reach as far as the answer's header says (etcd 15220)",
    suites,
    file: 'src/storage/etcd/change-reader.ts',
    find: 'keySpace)), through }',
    replace: 'keySpace)), through: Math.max(through, response.revision) }',
  },
  {
    seed: 7,
    why: 'simulated: the feed is taken up too far back (etcd 15271)',
    suites,
    file: 'src/storage/etcd/change-feed.ts',
    find: 'this.#origin.read(modRevisionOf(this.#head) + 1, until)',
    replace: 'this.#origin.read(Math.max(1, modRevisionOf(this.#head) - 2), until)',
  },
]
