/**
 * What was applied before there were records is known by its marks alone. They are believed once, when their kind is
 * read for the first time: recorded, and from then on never asked again.
 */
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedRecords, selectUnclaimed } from './applied-records.ts'
import type { PopulatedIndex } from './populated-index.ts'

interface BelieveDeps {
  readonly index: PopulatedIndex
  readonly records: AppliedRecords
  findNamespace(name: string): Namespace | undefined
}

/** Namespaces recorded at one time. */
const atOnce = 32

/** @param kinds that have just been read for the first time: `v1/ConfigMap` */
export async function believeMarks(
  { index, records, findNamespace }: BelieveDeps,
  kinds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const names = [...index.namespaces()]
  for (let at = 0; at < names.length; at += atOnce) {
    const recording = names.slice(at, at + atOnce).map(async (name) => {
      const namespace = findNamespace(name)
      const marked = index.markedIn(name).filter(({ apiVersion, kind }) => kinds.has(`${apiVersion}/${kind}`))
      const applied = selectUnclaimed(marked, index.claimsIn(name))
      if (namespace !== undefined && applied.length > 0)
        await records.settle(namespace, { applied, released: [] }, signal)
    })
    await Promise.all(recording)
  }
}
