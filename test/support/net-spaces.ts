/**
 * Machines of their own on one network, as network namespaces: what goes from one to another can be lost while the way
 * back is whole, below TCP, so that neither is told. Needs root on Linux, and `ip`.
 */
import { execFileSync } from 'node:child_process'

/** One machine. */
export interface NetSpace {
  readonly name: string
  readonly address: string
  /** What a command is run by to run there. */
  readonly within: readonly string[]
}

/** For benchmarks of networks: routed nowhere (RFC 2544). */
const network = '198.18'
/** Of no machine here. */
const nowhere = '02:00:00:00:00:fe'

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

export class NetSpaces implements Disposable {
  readonly #bridge: string
  readonly #spaces: NetSpace[] = []
  readonly #lost = new Set<string>()

  private constructor(bridge: string) {
    this.#bridge = bridge
  }

  /** Why there can be none here; undefined: there can. */
  static missing(): string | undefined {
    try {
      NetSpaces.make(1)[Symbol.dispose]()
      return undefined
    } catch (error) {
      const [why] = (error instanceof Error ? error.message : String(error)).split('\n')
      return `network namespaces can't be made here (${why})`
    }
  }

  static make(count: number): NetSpaces {
    const third = process.pid % 250
    const made = new NetSpaces(`bo${process.pid}`)
    try {
      ip('link', 'add', made.#bridge, 'type', 'bridge')
      ip('address', 'add', `${network}.${third}.254/24`, 'dev', made.#bridge)
      ip('link', 'set', made.#bridge, 'up')
      for (let i = 0; i < count; i++) made.#add(`${network}.${third}.${i + 1}`, i)
      return made
    } catch (error) {
      made[Symbol.dispose]()
      throw error
    }
  }

  get spaces(): readonly NetSpace[] {
    return this.#spaces
  }

  at(i: number): NetSpace {
    const space = this.#spaces[i]
    if (space === undefined) throw new Error(`there is no space ${i}`)
    return space
  }

  /** From now on nothing of `from` reaches `to`. */
  lose(from: NetSpace, to: NetSpace): void {
    ip('-n', from.name, 'neigh', 'replace', to.address, 'lladdr', nowhere, 'dev', 'eth0', 'nud', 'permanent')
    this.#lost.add(`${from.name} ${to.address}`)
  }

  mend(): void {
    for (const way of this.#lost) {
      const [name = '', address = ''] = way.split(' ')
      ip('-n', name, 'neigh', 'del', address, 'dev', 'eth0')
    }
    this.#lost.clear()
  }

  /** What runs there has ended. */
  [Symbol.dispose](): void {
    for (const { name } of this.#spaces) attempt('netns', 'del', name)
    attempt('link', 'del', this.#bridge)
  }

  #add(address: string, i: number): void {
    const name = `${this.#bridge}-${i}`
    const cable = `${this.#bridge}v${i}`
    ip('netns', 'add', name)
    this.#spaces.push({ name, address, within: ['ip', 'netns', 'exec', name] })
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
    ip('link', 'set', cable, 'master', this.#bridge)
    ip('link', 'set', cable, 'up')
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', name, 'link', 'set', 'eth0', 'up')
    ip('-n', name, 'link', 'set', 'lo', 'up')
  }
}

/** Of what was made in part: what is not there can't be taken away. */
function attempt(...args: readonly string[]): void {
  try {
    ip(...args)
  } catch (error) {
    if (!/No such file|Cannot find device/.test(String(error))) throw error
  }
}
