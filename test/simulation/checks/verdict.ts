/** What is wrong with what clients were told, and with what happened, given what the store says happened. */
import { violations } from '../../replicas/linearizability.ts'
import type { Follower } from '../follower.ts'
import type { StoredChange } from '../history.ts'
import { contested, type Load } from '../load.ts'
import { invariantProblems } from './invariants.ts'
import { listProblems } from './reads.ts'
import { watchProblems } from './watches.ts'

export interface Happened {
  readonly changes: readonly StoredChange[]
  /** Watches must have come so far. */
  readonly through: number
}

export function historyProblems(load: Load, followers: readonly Follower[], { changes, through }: Happened): string[] {
  const { operations, lists, heard, problems } = load
  const keys = [...operations].flatMap(([name, asked]) => {
    const key = `/registry/configmaps/${contested}/${name}`
    const history = changes
      .filter((change) => change.key === key)
      .map(({ revision, commit, object }) => ({
        revision: object === undefined ? commit * 1024 : revision,
        id: object && String((object['data'] as { id?: unknown } | undefined)?.id),
      }))
    return violations(history, asked).map((problem) => `${name}: ${problem}`)
  })
  const watches = followers.flatMap(({ name, selection, seen }) =>
    watchProblems({ name, selection, seen, through }, changes),
  )
  return [...problems, ...keys, ...listProblems(lists, heard, changes), ...watches, ...invariantProblems(changes)]
}
