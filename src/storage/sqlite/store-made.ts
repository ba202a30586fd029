/**
 * That a store was made, remembered outside of its folder: that may be a volume of its own, and where it is not
 * mounted, everything in it that could tell is gone too. A file of the form of `acknowledged`, with the revision of the
 * store when it was last opened or closed.
 */
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Revision, StorageError } from '../storage.ts'
import { AcknowledgedMark, readMark, readMarkedStore } from './acknowledged-mark.ts'
import { syncDirectory } from './sync-directory.ts'

export interface MadeStore {
  /** Of the store, or an earlier one of it; undefined: the file does not tell any more. */
  readonly revision: Revision | undefined
  /** Its identity; undefined: a version before identities wrote it. */
  readonly store: string | undefined
}

/** `path`: of the file. undefined: none was made. */
export function findMade(path: string | undefined): MadeStore | undefined {
  if (path === undefined || !existsSync(path)) return undefined
  try {
    return { revision: readMark(path), store: readMarkedStore(path) }
  } catch (error) {
    if (error instanceof StorageError) return { revision: undefined, store: undefined }
    throw error
  }
}

/** Nothing may be acknowledged in a new store before this. Answers how to remember where it has come to later. */
export function rememberingMade(
  path: string | undefined,
  store: string | undefined,
  headNow: () => Revision,
): () => void {
  const remember = (): void => {
    if (path !== undefined) rememberMade(path, headNow(), store)
  }
  remember()
  return remember
}

function rememberMade(path: string, revision: Revision, store: string | undefined): void {
  const known = findMade(path)
  if (known?.revision === revision && known.store === store) return
  const isNew = !existsSync(path)
  // The name of the folder first: the file would tell of a store that a failure of power undid.
  if (isNew) syncDirectory(dirname(path))
  new AcknowledgedMark(path, revision, store)[Symbol.dispose]()
  if (isNew) syncDirectory(dirname(path))
}

/** What an operator is told where a store was made, and none is there; undefined: all is as it should be. */
export function lossOfAll(directory: string, made: MadeStore | undefined): string | undefined {
  const path = join(directory, 'state.db')
  if (made === undefined || !isEmpty(path)) return undefined
  const known = made.revision === undefined ? '' : `, which had come to revision ${made.revision} or further`
  return `${path} is empty or gone, but a store was made there${known}. Is its volume mounted?`
}

export const isEmpty = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
