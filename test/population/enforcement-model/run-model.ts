/** One case: steps in bursts, and after each burst a quiet time that is judged. */
import { systemClock } from '../../../src/base/clock.ts'
import { otherKubeconfig } from '../../support/other-cluster.ts'
import { type Cluster, elsewhere, onBorough } from '../enforcement/clusters.ts'
import { Actors, Interval } from './actors.ts'
import { endOfNew, endProblems, transitionProblems } from './between.ts'
import { problems, readWorld, type World } from './judge.ts'
import { probeProblems } from './probes.ts'
import { SimulatedTime } from './simulated-clock.ts'
import { namespaceNames, type Step } from './steps.ts'

/** What is tried again after a minute is tried again after three seconds. */
const haste = 20
/**
 * So many looks at a cluster, 20 ms apart, before what is wrong stays wrong: a minute at least, and on a machine that
 * gives this process little time as much longer as a look takes.
 */
const patience = Number(process.env['BOROUGH_MODEL_PATIENCE'] ?? 3000)

/** Passes that had begun are finished, and nothing tells when: so often it must be the same while all is paused. */
const looksAtPaused = 50

export interface ModelCluster {
  readonly cluster: Cluster
  /** undefined = it can't be sent ahead. */
  readonly time: SimulatedTime | undefined
  /** Of those who decide about ends. */
  now(): number
  /** Ends are counted by one clock, and creations written down by another. */
  readonly slackMs: number
}

export async function modelOnBorough(): Promise<ModelCluster> {
  const time = new SimulatedTime()
  const clock = time.clock(haste)
  return { cluster: await onBorough(clock), time, now: () => clock.now(), slackMs: 0 }
}

/** A cluster that is given to the tests is emptied for each history, and so holds one at a time. */
export const abreastElsewhere: number = otherKubeconfig === undefined ? 4 : 1

/** Certificates of webhooks are judged by the clock of the machine, so no hours pass here. */
export async function modelElsewhere(): Promise<ModelCluster> {
  return { cluster: await elsewhere(), time: undefined, now: () => systemClock.now(), slackMs: 60_000 }
}

export async function runModel(
  start: () => Promise<ModelCluster>,
  bursts: readonly (readonly Step[])[],
): Promise<void> {
  const { cluster, time, now, slackMs } = await start()
  await using _ = cluster
  const actors = new Actors(cluster, time)
  await actors.setUp()
  let before: World | undefined
  const born = new Set<string>()
  for (const steps of bursts) {
    for (const step of steps) await step(actors)
    const world = await quiet(actors, before, now)
    const wrong = before === undefined ? [] : transitionProblems(world, before, actors, now())
    wrong.push(...bornProblems(world, born, steps, slackMs), ...(await probeProblems(world, actors)))
    if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\n${shown(world)}`)
    before = world
    actors.interval = new Interval()
  }
}

/** Ends are given where a namespace is created, and compared where nothing changed it or its templates since. */
function bornProblems(world: World, born: Set<string>, steps: readonly Step[], slackMs: number): string[] {
  const isOnlyMade = steps.every((step) => String(step).startsWith('create namespace'))
  const found: string[] = []
  for (const namespace of world.namespaces.values()) {
    const { uid = '' } = namespace.metadata
    const wrong = isOnlyMade && !born.has(uid) ? endOfNew(namespace, world.templates, slackMs) : undefined
    born.add(uid)
    if (wrong !== undefined) found.push(wrong)
  }
  return found
}

async function quiet(actors: Actors, before: World | undefined, now: () => number): Promise<World> {
  let same = 0
  let last = ''
  for (let look = 1; ; look++) {
    const world = await readWorld(actors, namespaceNames)
    const wrong = [...problems(world, before, actors), ...endProblems(world, now())]
    const versions = [...world.objects].map(([place, { metadata }]) => `${place} ${metadata.resourceVersion}`).join()
    same = wrong.length === 0 && versions === last ? same + 1 : 1
    last = versions
    if (wrong.length === 0 && same >= (actors.isPaused ? looksAtPaused : 1)) return world
    if (wrong.length === 0) wrong.push('objects go on changing while all is paused')
    if (look >= patience) throw new Error(`${wrong.join('\n')}\n${shown(world)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const shown = ({ namespaces, templates, objects, sources }: World): string =>
  JSON.stringify(
    {
      namespaces: [...namespaces.values()].map(({ metadata, status }) => ({ metadata, status })),
      templates: templates.map(({ metadata: { name, annotations, generation }, spec, status }) => ({
        ...{ name, annotations, generation, spec, status },
      })),
      objects: [...objects].map(([at, { metadata, data }]) => ({
        at,
        labels: metadata.labels,
        uid: metadata.uid,
        data,
      })),
      sources: [...sources.keys()],
    },
    undefined,
    1,
  )
