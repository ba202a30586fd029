/** What befalls replicas, network and etcd: drawn from the seed before anything begins, so that one can be left out. */
import type { Random } from '../fuzz/random.ts'
import type { EtcdMember } from './etcd/cluster.ts'
import type { Commit } from './etcd/mvcc.ts'
import type { Way } from './etcd/network.ts'
import type { ScheduledFault } from './scheduled-fault.ts'
import type { Replica, ReplicaWorld } from './worlds/replicas.ts'

export type Fault = ScheduledFault<ReplicaWorld>

export interface Draw {
  readonly random: Random
  readonly replicas: number
}

/** `lastsMs`: where it is not as with others. */
export type Drawn = Pick<Fault, 'text' | 'begin' | 'end'> & { readonly lastsMs?: number }

/** What is drawn, and how often beside the others. */
export type Kinds = readonly (readonly [weight: number, make: () => (draw: Draw) => Drawn])[]

export const members = 3
const hourMs = 3_600_000

/** In order of time; the n-th of a seed is the same whichever are left out. */
export function drawFaults(random: Random, withinMs: number, replicas: number, kinds: Kinds = usualKinds): Fault[] {
  const count = 2 + random.below(9)
  const draw: Draw = { random, replicas }
  return Array.from({ length: count }, () => {
    const at = withinMs * random.next()
    // Some end before any patience does, some outlast keepalive and leases.
    const lastsMs = random.pick([50, 500, 3_000, 12_000]) * (0.5 + random.next())
    return { at, lastsMs, ...random.weighted(kinds)(draw) }
  }).sort((a, b) => a.at - b.at)
}

export const usualKinds: Kinds = [
  [4, () => cutLink],
  [3, () => cutAll],
  [3, () => breakLink],
  [2, () => slowLink],
  [2, () => downMember],
  [2, () => cutMember],
  [2, () => elect],
  [2, () => lagMember],
  [2, () => jumpClock],
  [4, () => killReplica],
  [2, () => stopReplica],
  [1, () => killAll],
  [2, () => compact],
]

/** Histories that end below what a replica has not seen yet. */
export const aimedKinds: Kinds = [
  [3, () => missDeletion],
  [2, () => missHistory],
  [2, () => loseAnswers],
  [2, () => breakLink],
  [2, () => slowLink],
  [1, () => elect],
  [2, () => lagMember],
  [1, () => killReplica],
]

export const hasVote = ({ isUp, isLearner }: EtcdMember): boolean => isUp && !isLearner

const waysOf = (random: Random): readonly Way[] => random.pick([['there'], ['back'], ['there', 'back']] as const)

export function replicaOf({ random, replicas }: Draw): { readonly name: string; in(world: ReplicaWorld): Replica } {
  const index = random.below(replicas)
  return { name: `r${index}`, in: (world) => world.replicas[index] as Replica }
}

function cutLink(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  const member = `m${draw.random.below(members)}`
  const ways = waysOf(draw.random)
  return {
    text: `cut ${replica.name} and ${member} (${ways.join()})`,
    begin: (world) => world.network.link(replica.in(world).machine.name, member).cut(...ways),
    end: (world) => world.network.link(replica.in(world).machine.name, member).mend(),
  }
}

function cutAll(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  const ways = waysOf(draw.random)
  const links = (world: ReplicaWorld) =>
    world.network.links.filter(({ machine }) => machine.name.startsWith(`${replica.name}x`))
  return {
    text: `cut ${replica.name} off (${ways.join()})`,
    begin: (world) => {
      for (const link of links(world)) link.cut(...ways)
    },
    end: (world) => {
      for (const link of links(world)) link.mend()
    },
  }
}

function breakLink(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  const member = `m${draw.random.below(members)}`
  return {
    text: `break the connections of ${replica.name} and ${member}`,
    begin: (world) => world.network.link(replica.in(world).machine.name, member).break('Connection reset'),
  }
}

function slowLink(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  const member = `m${draw.random.below(members)}`
  const slowMs = draw.random.pick([50, 400, 2_000])
  const link = (world: ReplicaWorld) => world.network.link(replica.in(world).machine.name, member)
  const set = (ms: number) => (world: ReplicaWorld) => {
    link(world).slowMs = ms
  }
  return { text: `slow down ${replica.name} and ${member} by ${slowMs} ms`, begin: set(slowMs), end: set(0) }
}

export function downMember({ random }: Draw): Drawn {
  const index = random.below(members)
  return {
    text: `stop etcd m${index}`,
    begin(world) {
      const member = world.cluster.members[index]
      if (member === undefined || world.cluster.members.filter(hasVote).length < members) return
      member.up = false
      for (const link of world.network.linksOf(member)) link.break('Connection closed by the member')
      if (index === world.cluster.term % members) world.cluster.elect()
    },
    end(world) {
      const member = world.cluster.members[index]
      if (member !== undefined && !member.isLearner) member.up = true
    },
  }
}

function cutMember({ random }: Draw): Drawn {
  const index = random.below(members)
  const set = (joined: boolean) => (world: ReplicaWorld) => {
    const member = world.cluster.members[index]
    if (member !== undefined) member.joined = joined
    if (!joined && index === world.cluster.term % members) world.cluster.elect()
  }
  return { text: `cut etcd m${index} off from the others`, begin: set(false), end: set(true) }
}

const elect = (): Drawn => ({ text: 'elect another leader of etcd', begin: (world) => world.cluster.elect() })

function lagMember({ random }: Draw): Drawn {
  const index = random.below(members)
  const lagMs = random.pick([100, 1_000, 5_000])
  const set = (ms: number) => (world: ReplicaWorld) => {
    const member = world.cluster.members[index]
    if (member !== undefined) member.lagMs = ms
  }
  return { text: `let etcd m${index} fall behind by ${lagMs} ms`, begin: set(lagMs), end: set(3) }
}

function jumpClock(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  const ms = draw.random.pick([-2 * hourMs, -5_000, 700, 20_000, 3 * hourMs])
  return {
    text: `set the clock of ${replica.name} by ${ms} ms`,
    begin: (world) => replica.in(world).machine.clock.jump(ms),
  }
}

function killReplica(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  return {
    text: `kill ${replica.name}`,
    begin: (world) => replica.in(world).kill(),
    end: (world) => void replica.in(world).start(),
  }
}

function stopReplica(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  return {
    text: `stop ${replica.name}`,
    begin: (world) => void replica.in(world).stop(),
    end: (world) => void replica.in(world).start(),
  }
}

const killAll = (): Drawn => ({
  text: 'kill all replicas',
  begin(world) {
    for (const replica of world.replicas) replica.kill()
  },
  end: (world) => void world.startAll(),
})

/** By other hands, as an operator or another program may at any time. */
export const compact = (): Drawn => ({
  text: 'compact etcd',
  begin({ cluster: { store } }) {
    if (store.revision > store.compacted) store.compact(store.revision)
  },
})

function linksOf(world: ReplicaWorld, { machine }: Replica): ReplicaWorld['network']['links'] {
  return world.network.links.filter((link) => link.machine === machine)
}

/** The replica has seen all but one commit, of deletions, when history is made to begin with that very commit. */
function missDeletion(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  let forget = (): void => undefined
  return {
    text: `compact etcd at a deletion that ${replica.name} has not seen`,
    begin(world) {
      const { cluster } = world
      const cutOff = linksOf(world, replica.in(world))
      const loseSight = (): void => {
        for (const link of cutOff) {
          link.break('Connection reset')
          link.cut('there', 'back')
        }
      }
      loseSight()
      const look = ({ revision, events }: Commit): void => {
        const deletes = events.some(({ type }) => type === 'delete')
        if (deletes && revision > cluster.store.compacted) cluster.store.compact(revision)
        for (const link of cutOff) link.mend()
        // Otherwise it catches up, and misses the next.
        if (!deletes) world.scheduler.after(300, () => cluster.onApplied.has(look) && loseSight())
        else forget()
      }
      forget = () => cluster.onApplied.delete(look)
      cluster.onApplied.add(look)
    },
    end(world) {
      forget()
      for (const link of linksOf(world, replica.in(world))) link.mend()
    },
  }
}

/** Of some commits no client is told: all connections break when they are made, before the answers are sent. */
function loseAnswers({ random }: Draw): Drawn {
  let left = 1 + random.below(4)
  return {
    text: `break all connections at each of ${left} commits`,
    begin({ cluster, network }) {
      const lose = (): void => {
        if (--left <= 0) cluster.onApplied.delete(lose)
        for (const link of network.links) link.break('Connection reset')
      }
      cluster.onApplied.add(lose)
    },
  }
}

/** More than one commit is gone before the replica has seen it. */
function missHistory(draw: Draw): Drawn {
  const replica = replicaOf(draw)
  return {
    text: `cut ${replica.name} off, and compact what it misses`,
    begin(world) {
      for (const link of linksOf(world, replica.in(world))) {
        link.break('Connection reset')
        link.cut('there', 'back')
      }
    },
    end(world) {
      compact().begin(world)
      for (const link of linksOf(world, replica.in(world))) link.mend()
    },
  }
}
