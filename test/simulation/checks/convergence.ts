/** What must come about by itself when nothing is wrong any more. */
import type { KubeObject } from '../../../src/kube/types.ts'
import { configMaps, namespaces, type Target, templates } from '../load.ts'
import type { Scheduler } from '../scheduler.ts'

const lookMs = 500
const patienceMs = 90_000

interface World {
  readonly scheduler: Scheduler
  readonly targets: readonly Target[]
  pause(ms: number): Promise<void>
}

/** Waits until all has come to rest; what has not by then is a problem. */
export async function convergenceProblems(world: World): Promise<string[]> {
  const end = world.scheduler.now + patienceMs
  for (;;) {
    const problems = await unsettled(world)
    if (problems.length === 0 || world.scheduler.now > end) return problems
    await world.pause(lookMs)
  }
}

/** As each replica sees it. */
async function unsettled(world: World): Promise<string[]> {
  const problems: string[] = []
  for (const replica of world.targets) {
    const client = replica.client()
    if (client === undefined) {
      problems.push(`${replica.name} does not serve`)
      continue
    }
    try {
      const { items } = await client.list(namespaces)
      const template = await client.get(templates, { name: 't' })
      const teams = items.filter(({ metadata }) => metadata.name?.startsWith('team-'))
      for (const team of teams) {
        const { phase } = team['status'] as { readonly phase?: string }
        if (phase !== 'Active') problems.push(`${replica.name}: namespace ${team.metadata.name} is ${phase}`)
      }
      problems.push(...templateProblems(template, teams.length).map((problem) => `${replica.name}: ${problem}`))
      for (const team of teams) {
        const namespace = team.metadata.name ?? ''
        const about = await client.get(configMaps, { namespace, name: 'about' }).catch(() => undefined)
        const version = (about?.['data'] as { readonly version?: string } | undefined)?.version
        if (version !== versionOf(template)) {
          problems.push(`${replica.name}: ${namespace}/about has version ${version}, not ${versionOf(template)}`)
        }
      }
    } catch (error) {
      problems.push(`${replica.name}: ${String(error)}`)
    }
  }
  return problems
}

interface Template {
  readonly spec: { readonly templates: readonly { readonly data?: { readonly version?: string } }[] }
  readonly status?: { readonly observedGeneration?: number; readonly synced?: number }
}

const versionOf = (template: KubeObject): string | undefined =>
  (template as unknown as Template).spec.templates[0]?.data?.version

function templateProblems(object: KubeObject, teams: number): string[] {
  const { status } = object as unknown as Template
  if (status?.observedGeneration !== object.metadata.generation) return ['the template has not been seen as it is']
  return (status?.synced ?? 0) === teams ? [] : [`the template is in sync in ${status?.synced} of ${teams} namespaces`]
}
