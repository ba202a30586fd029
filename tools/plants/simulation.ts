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

const found = (
  seed: number,
  why: string,
  file: string,
  find: string,
  replace: string,
  world: 'disk' | 'replicas',
): SimulationPlant => ({ seed, why, file, find, replace, suites: [`test/simulation/found.${world}.test.ts`] })
