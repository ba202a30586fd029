/**
 * Reads etcd's watch answers as whole commits with positions.
 *
 * It watches all of our key space, always: only who sees every write of a commit can tell the position of its deletes.
 */
import type { Change } from '../storage.ts'
import { positionsPerCommit, StorageError } from '../storage.ts'
import type { EtcdConnection } from './connection.ts'
import { decodeNote, noteKey } from './delete-note.ts'
import type { KeySpace } from './key-space.ts'
import type { KeyValue, WatchEvent, WatchResponse } from './messages.ts'
import { positionOf, toEntry, toRevision } from './record.ts'

export interface ReadChanges {
  /** Whole commits, ascending. May be empty: the engine's own keys changed. */
  readonly changes: readonly Change[]
  /** etcd's revision of the last commit that is complete. */
  readonly through: number
}

/**
 * From the etcd revision `start` (≥ 1) on, until the connection breaks or the signal aborts (then it ends cleanly).
 *
 * @throws StorageError code=compacted if a part of it is gone, code=unavailable when the connection breaks.
 */
export async function* readChanges(
  connection: Pick<EtcdConnection, 'watch'>,
  keySpace: KeySpace,
  start: number,
  signal: AbortSignal,
): AsyncGenerator<ReadChanges> {
  /** Events of the newest commit seen, as long as more of it may come. */
  let rest: readonly WatchEvent[] = []
  for await (const response of connection.watch({ ...keySpace.all, startRevision: start }, signal)) {
    if (response.canceled) throw cancelError(response, start)
    const events = rest.length > 0 ? [...rest, ...response.events] : response.events
    const commits = groupByCommit(events)
    rest = response.fragment ? (commits.pop() ?? []) : []
    const through = commits.at(-1)?.[0]?.kv.modRevision
    if (through !== undefined) yield { changes: commits.flatMap((commit) => toChanges(commit, keySpace)), through }
  }
}

function cancelError(response: WatchResponse, start: number): StorageError {
  if (response.compactRevision > 0) {
    return new StorageError('compacted', `etcd's history begins at ${response.compactRevision}, ${start} was asked for`)
  }
  return new StorageError('unavailable', `etcd canceled a watch: ${response.cancelReason || 'no reason given'}`)
}

function groupByCommit(events: readonly WatchEvent[]): WatchEvent[][] {
  const commits: WatchEvent[][] = []
  let last: WatchEvent[] | undefined
  for (const event of events) {
    if (last?.[0]?.kv.modRevision === event.kv.modRevision) last.push(event)
    else commits.push((last = [event]))
  }
  return commits
}

/** All of one commit, in the order it was applied. */
function toChanges(commit: readonly WatchEvent[], keySpace: KeySpace): readonly Change[] {
  const note = commit.find(({ type, kv }) => type === 'put' && kv.key.equals(keySpace.note))
  const noted = note && decodeNote(note.kv.value)
  const changes: Change[] = []
  let following = 0
  for (const { type, kv, previous } of commit) {
    const key = keySpace.fromRaw(kv.key)
    if (keySpace.isInternal(key)) continue
    const place = type === 'put' ? positionOf(kv.value) : (noted?.get(noteKey(kv.key)) ?? following)
    // Only a bulk delete by other hands can have more places than a commit of ours.
    const position = Math.min(place, positionsPerCommit - 1)
    following = position + 1
    changes.push({
      key,
      revision: toRevision(kv.modRevision, position),
      value: type === 'put' ? toEntry(key, kv).value : undefined,
      previous: previousEntry(key, type, kv, previous),
    })
  }
  return changes
}

function previousEntry(
  key: string,
  type: WatchEvent['type'],
  kv: KeyValue,
  previous: KeyValue | undefined,
): Change['previous'] {
  if (previous) return toEntry(key, previous)
  if (type === 'put' && kv.createRevision === kv.modRevision) return undefined
  // etcd looks the old value up when it sends the event, and leaves it out when it has been compacted since.
  throw new StorageError('compacted', `what ${key} held before revision ${kv.modRevision} has been compacted`)
}
