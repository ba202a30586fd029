/** A run of the matrix: cases one after the other, findings gathered so that the shortest of each sort is told. */
import type { Case } from './cases.ts'
import { examine, type Finding } from './judge.ts'
import type { Server } from './server.ts'
import type { World } from './world.ts'

export interface Run {
  readonly tried: number
  readonly findings: readonly Finding[]
}

/** Several at once: a server of several processes is busy with all of them. */
const together = 8
/** Each takes half a minute: no use in hearing more of them. */
const maxSilences = 3

export async function run(server: Server, world: World, cases: Iterable<Case>, isOver = () => false): Promise<Run> {
  const findings: Finding[] = []
  let tried = 0
  const queue = cases[Symbol.iterator]()
  const isEnough = (): boolean => findings.filter(({ isSilence }) => isSilence).length >= maxSilences
  const work = async (): Promise<void> => {
    for (let next = queue.next(); !next.done && !isOver() && !isEnough(); next = queue.next()) {
      const finding = await examine(server, world.facts, next.value)
      tried++
      if (finding !== undefined) findings.push(finding)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return { tried, findings }
}

/** One reproduction for each sort of finding, the shortest, with how often it was found. */
export function report(findings: readonly Finding[], limit = 20): string {
  const sorts = [...Map.groupBy(findings, sortOf).values()]
  const lines = sorts.slice(0, limit).map((alike) => {
    const [first] = alike.toSorted((a, b) => a.request.length - b.request.length)
    const rest = [`expected ${first?.expected}`, `got      ${first?.got}`, `(${alike.length} like this)`]
    return [first?.request, ...rest].join('\n    ')
  })
  const more = sorts.length > limit ? [`and ${sorts.length - limit} other sorts`] : []
  return [...lines, ...more].join('\n')
}

/** Alike: the same identity and kind of route, and the same two codes. */
function sortOf({ case: { question, identity }, expected, got }: Finding): string {
  const kind = 'document' in question ? 'document' : `${question.legacy ?? ''} ${question.parts.length}`
  return `${question.method} ${kind} ${identity.name} ${expected.slice(0, 12)} ${got.slice(0, 3)}`
}
