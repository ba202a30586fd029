/** What befalls the store itself, and the keys of what is in it. */
import { hasHeader } from '../../src/storage/sealed-value.ts'
import type { Random } from '../fuzz/random.ts'
import type { EtcdMember } from './etcd/cluster.ts'
import { compact, type Draw, type Drawn, hasVote, type Kinds, members, replicaOf, usualKinds } from './faults.ts'
import { contested } from './load.ts'
import type { ReplicaWorld } from './worlds/replicas.ts'

const aloneMs = 4_000

/** An etcd that grows old: full, with members that are replaced, and with a disk that gives back something else. */
export const storeKinds: Kinds = [
  ...usualKinds,
  [6, () => fill],
  [8, () => damageObject],
  [2, () => damageLevel],
  [6, () => replaceMember],
]

/** The same where values are encrypted. */
export const keyKinds: Kinds = [
  ...usualKinds,
  [2, () => fill],
  [2, () => damageObject],
  [2, () => replaceMember],
  [6, () => rotate],
  [4, () => refuse],
  [3, () => refuseOne],
  [3, () => slowDown],
  [2, () => unwell],
  [3, () => forget],
]

/** The alarm NOSPACE, until an operator disarms it. */
function fill({ random }: Draw): Drawn {
  const begins = random.pick(['passing', 'yes'] as const)
  return {
    text: `etcd is full (${begins === 'yes' ? 'refuses puts' : 'applies one more put that it refuses'})`,
    begin(world) {
      world.cluster.full = begins
    },
    end(world) {
      world.cluster.full = 'no'
    },
  }
}

/** Servers of no replica remember what they read meanwhile: the operator starts them again. */
function damaging(text: string, choose: (keys: readonly string[]) => string | undefined, random: Random): Drawn {
  const at = random.next()
  const bit = random.below(8)
  let undo = (): void => undefined
  const make = (sound: Buffer): Buffer => {
    // Without a checksum nothing tells but that it is no JSON any more.
    if (!hasHeader(sound)) return sound.subarray(0, Math.floor(sound.length * (0.2 + 0.7 * at)))
    const bytes = Buffer.from(sound)
    const place = Math.floor(at * bytes.length)
    bytes[place] = (bytes[place] as number) ^ (1 << bit)
    return bytes
  }
  return {
    text,
    begin(world) {
      const key = choose(world.cluster.store.keys())
      if (key === undefined) return
      world.scheduler.tell(`damaged: ${key}`)
      world.damaged.add(key)
      undo = world.cluster.store.damage(key, make)
    },
    end(world) {
      undo()
      world.restartAll()
    },
  }
}

function damageObject({ random }: Draw): Drawn {
  const isContested = random.chance(0.6)
  const prefix = isContested ? `/registry/configmaps/${contested}/` : '/registry/'
  const at = random.next()
  const choose = (keys: readonly string[]): string | undefined => {
    const all = keys.filter((key) => key.startsWith(prefix) && !key.startsWith('/registry/borough/'))
    return all[Math.floor(at * all.length)]
  }
  return damaging(`damage what is stored under ${prefix}`, choose, random)
}

function damageLevel({ random }: Draw): Drawn {
  const choose = (keys: readonly string[]): string | undefined => keys.find((key) => key.endsWith('/format-level'))
  return damaging('damage the record of the format level', choose, random)
}

/** Removed, and another one added at its address: without a vote first, then with one, and behind. */
function replaceMember({ random }: Draw): Drawn {
  const index = random.below(members)
  const missing = random.below(20)
  const isCompacted = random.chance(0.5)
  const lagMs = random.pick([50, 1_000, 5_000])
  const waitMs = 100 + 2_000 * random.next()
  let isReplaced = false
  return {
    text: `replace etcd m${index}`,
    begin(world) {
      const member = world.cluster.members[index]
      if (member === undefined || world.cluster.members.filter(hasVote).length < members) return
      isReplaced = true
      member.up = false
      for (const link of world.network.linksOf(member)) link.break('Connection closed by the member')
      if (index === world.cluster.term % members) world.cluster.elect()
      world.scheduler.after(waitMs, () => {
        member.replace()
        world.scheduler.tell(`${member.name} is another member, and learns`)
      })
    },
    end(world) {
      const member = world.cluster.members[index]
      if (member === undefined || !isReplaced) return
      const settle = (): void => {
        if (isCompacted) compact().begin(world)
        member.lagMs = lagMs
        member.promote(missing)
        world.scheduler.tell(`${member.name} has a vote`)
        meetAlone(world, member)
        world.scheduler.after(lagMs, () => {
          member.lagMs = 3
          member.apply()
        })
      }
      if (member.isLearner) settle()
      else world.scheduler.after(waitMs, settle)
    },
  }
}

/** Clients stay at the member that answers them: for a while this one is all that they reach. */
function meetAlone(world: ReplicaWorld, member: EtcdMember): void {
  const others = world.network.links.filter((link) => link.member !== member)
  for (const link of others) {
    link.break('Connection reset')
    link.cut('there', 'back')
  }
  world.scheduler.after(aloneMs, () => {
    for (const link of others) link.mend()
  })
}

/** Long enough that what a server knew of its key counts no more. */
const outageMs = (random: Random): number => random.pick([5_000, 60_000, 230_000]) * (0.5 + random.next())

const rotate = (): Drawn => ({ text: 'rotate the key of the KMS', begin: ({ kms }) => kms.rotate() })

const refusals = [
  { code: 14, text: 'the service is down' },
  { code: 13, text: 'something broke' },
  { code: 8, text: 'too many requests' },
  { code: undefined, text: 'no answer' },
]

function refusing(random: Random, name: string): Drawn {
  const refusal = random.pick(refusals)
  return {
    lastsMs: outageMs(random),
    text: `the KMS plugin of ${name || 'every server'} gives ${refusal.text}`,
    begin: ({ kms }) => void kms.refusals.set(name, refusal),
    end: ({ kms }) => void kms.refusals.delete(name),
  }
}

const refuse = ({ random }: Draw): Drawn => refusing(random, '')
const refuseOne = (draw: Draw): Drawn => refusing(draw.random, `${replicaOf(draw).name}x`)

function slowDown({ random }: Draw): Drawn {
  const slowMs = random.pick([200, 2_000, 6_000])
  const set = (ms: number) => (world: ReplicaWorld) => {
    world.kms.slowMs = ms
  }
  return { lastsMs: outageMs(random), text: `slow the KMS down by ${slowMs} ms`, begin: set(slowMs), end: set(3) }
}

function unwell({ random }: Draw): Drawn {
  const set = (health: 'ok' | 'unwell') => (world: ReplicaWorld) => {
    world.kms.health = health
  }
  return { lastsMs: outageMs(random), text: 'the KMS is not well', begin: set('unwell'), end: set('ok') }
}

/** By mistake; they are brought back. */
function forget({ random }: Draw): Drawn {
  return {
    lastsMs: outageMs(random),
    text: 'the KMS forgets its old keys',
    begin: ({ kms }) => kms.forget(),
    end(world) {
      world.kms.forgotten.clear()
      world.restartAll()
    },
  }
}
