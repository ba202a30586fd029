/**
 * Lists read many keys at once: what one shows must be the store at exactly the revision that it names, and no older
 * than what any client had heard of before it began. With the order of the store that is strict serializability; there
 * is nothing to search, as the checker of Porcupine must, because every version in the answer names its place.
 */
import { commitOf, placeOf, type StoredChange } from '../history.ts'

export interface ListRead {
  readonly resource: string
  /** Empty: all. */
  readonly namespace: string
  readonly began: number
  readonly ended: number
  /** Of the list. */
  readonly revision: number
  /** `namespace/name` → resourceVersion, in the order of the answer. */
  readonly items: readonly (readonly [name: string, revision: number])[]
  /** It asked for what is cached, however old. */
  readonly mayBeOld: boolean
}

/** A revision that a client had heard of, and when. */
export interface Heard {
  readonly at: number
  readonly revision: number
}

export function listProblems(
  lists: readonly ListRead[],
  heard: readonly Heard[],
  changes: readonly StoredChange[],
): string[] {
  const floors = [...heard].sort((a, b) => a.at - b.at)
  let newest = 0
  const known = floors.map(({ at, revision }) => ({ at, revision: (newest = Math.max(newest, revision)) }))
  return lists.flatMap((list) => {
    const { resource, namespace, began, ended, revision } = list
    const what = `a list of ${resource} in '${namespace}' from ${began} to ${ended} at ${revision}`
    const problems: string[] = []
    const floor = known.findLast(({ at }) => at < list.began)?.revision ?? 0
    if (!list.mayBeOld && commitOf(list.revision) < commitOf(floor)) {
      problems.push(`${what}: ${floor} was acknowledged before it began`)
    }
    const made = changes.find(({ commit }) => commit === commitOf(list.revision))
    if (made !== undefined && made.at > list.ended)
      problems.push(`${what}: it shows what was committed only at ${made.at}`)
    const want = stateAt(list, changes)
    const got = list.items.map(([name, revision]) => `${name}@${revision}`)
    const missing = want.filter((item) => !got.includes(item))
    const surplus = got.filter((item) => !want.includes(item))
    if (missing.length + surplus.length > 0) {
      problems.push(`${what}: lacks ${missing.join() || 'nothing'}, and has ${surplus.join() || 'nothing'} beyond`)
    } else if (got.join() !== want.join()) problems.push(`${what}: not in the order of keys`)
    return problems
  })
}

/** In key order. */
function stateAt({ resource, namespace, revision }: ListRead, changes: readonly StoredChange[]): string[] {
  const present = new Map<string, number>()
  for (const change of changes) {
    if (change.commit > commitOf(revision)) break
    const place = placeOf(change.key)
    if (place.resource !== resource || (namespace !== '' && place.namespace !== namespace)) continue
    const name = `${place.namespace}/${place.name}`
    if (change.object) present.set(name, change.revision)
    else present.delete(name)
  }
  return [...present].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, at]) => `${name}@${at}`)
}
