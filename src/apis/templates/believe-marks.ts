/**
 * What was applied before there were records is known by its marks alone. They are believed once, when their kind is
 * read for the first time: recorded, and from then on never asked again.
 */
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedRecords, selectUnclaimed } from './applied-records.ts'
import type { MarkedObjects, PopulatedObjects } from './populated-objects.ts'

interface BelieveDeps {
  readonly index: PopulatedObjects
  readonly records: AppliedRecords
  findNamespace(name: string): Namespace | undefined
}

/** Records written at one time. */
const atOnce = 32

/** @param kinds that have just been read for the first time: `v1/ConfigMap` */
export async function believeMarks(
  { index, records, findNamespace }: BelieveDeps,
  kinds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const believe = async ({ namespace: name, objects }: MarkedObjects): Promise<void> => {
    const namespace = findNamespace(name)
    const applied = selectUnclaimed(objects, index.claimsIn(name))
    if (namespace !== undefined && applied.length > 0)
      await records.settle(namespace, { applied, released: [] }, signal)
  }
  let recording: Promise<void>[] = []
  for await (const marked of index.marked(kinds)) {
    recording.push(believe(marked))
    if (recording.length < atOnce) continue
    await Promise.all(recording)
    recording = []
  }
  await Promise.all(recording)
}
