/**
 * What watchers were sent against what the store says happened: the promises of docs/watch-spec.md. A watch is followed
 * from replica to replica; each time it is taken up again after what was seen last, so that all of it together must be
 * one history (W1 to W3), with every change once.
 */
import type { KubeObject } from '../../../src/kube/types.ts'
import { commitOf, placeOf, type StoredChange } from '../history.ts'
import { matchesLabels } from './labels.ts'

export interface Selection {
  readonly resource: string
  /** Empty: all. */
  readonly namespace: string
  /** A label and the value that is selected; absent: everything. */
  readonly label?: readonly [name: string, value: string]
}

export type Seen =
  /** The state was read: by a list, or by the initial events of a watch, which end at `revision`. */
  | {
      readonly type: 'state'
      readonly at: number
      readonly revision: number
      readonly items: readonly (readonly [name: string, revision: number])[]
    }
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly at: number
      readonly name: string
      readonly revision: number
      /** What tells this content from any other of the object. */
      readonly content: string
    }
  /** Everything up to `revision` was sent. */
  | { readonly type: 'BOOKMARK'; readonly at: number; readonly revision: number }

export interface Watcher {
  readonly name: string
  readonly selection: Selection
  readonly seen: readonly Seen[]
  /** At the end it must have come so far. */
  readonly through: number
}

interface Expected {
  readonly commit: number
  readonly at: number
  readonly text: string
}

interface Told {
  readonly data?: unknown
  readonly status?: { readonly phase?: unknown }
}

export function contentOf(object: KubeObject | undefined): string {
  const { data, status } = (object ?? {}) as Told
  return JSON.stringify([data ?? status?.phase ?? null, object?.metadata.labels ?? null])
}

export function watchProblems(watcher: Watcher, changes: readonly StoredChange[]): string[] {
  const { name, selection, seen, through } = watcher
  const expected = changes.flatMap((change) => expectedOf(change, selection))
  const problems: string[] = []
  let next = 0
  for (const event of seen) {
    const commit = commitOf(event.revision)
    if (event.type === 'state') {
      next = after(expected, commit)
      const want = stateOf(changes, selection, commit)
      const got = event.items.map(([item, revision]) => `${item}@${revision}`).sort()
      if (got.join() !== want.join())
        problems.push(`${name}: its state at ${event.revision} is ${got.join()}, not ${want.join()}`)
    } else if (event.type === 'BOOKMARK') {
      const owed = expected[next]
      if (owed !== undefined && owed.commit <= commit) {
        problems.push(`${name}: a bookmark at ${event.revision} before ${owed.text}`)
        break
      }
    } else {
      const want = expected[next++]
      const got = `${event.type} ${event.name} at ${commit}: ${event.content}`
      if (want?.text !== got) {
        problems.push(`${name}: ${got}, and not ${want?.text ?? 'nothing more'}`)
        break
      }
      if (event.at < want.at) problems.push(`${name}: ${got} came before it was committed`)
    }
  }
  const owed = expected[next]
  if (problems.length === 0 && owed !== undefined && owed.commit <= commitOf(through)) {
    problems.push(`${name}: never saw ${owed.text}`)
  }
  return problems
}

const after = (expected: readonly Expected[], commit: number): number => {
  const first = expected.findIndex((each) => each.commit > commit)
  return first < 0 ? expected.length : first
}

function expectedOf(change: StoredChange, selection: Selection): Expected[] {
  const { key, commit, at, object, previous } = change
  const { resource, namespace, name } = placeOf(key)
  if (resource !== selection.resource || (selection.namespace !== '' && namespace !== selection.namespace)) return []
  const was = previous !== undefined && matchesLabels(previous.object, selection.label)
  const is = object !== undefined && matchesLabels(object, selection.label)
  if (!was && !is) return []
  const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED'
  // What leaves a selection is told with what it was before.
  const content = contentOf(is ? object : previous?.object)
  return [{ commit, at, text: `${type} ${namespace}/${name} at ${commit}: ${content}` }]
}

function stateOf(changes: readonly StoredChange[], selection: Selection, through: number): string[] {
  const present = new Map<string, number>()
  for (const { key, commit, revision, object } of changes) {
    if (commit > through) break
    const { resource, namespace, name } = placeOf(key)
    if (resource !== selection.resource || (selection.namespace !== '' && namespace !== selection.namespace)) continue
    if (object !== undefined && matchesLabels(object, selection.label)) present.set(`${namespace}/${name}`, revision)
    else present.delete(`${namespace}/${name}`)
  }
  return [...present].map(([item, revision]) => `${item}@${revision}`).sort()
}
