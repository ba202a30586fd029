/** The verbs on stored resources, by name. */
import type { DispatchDeps } from '../dispatch.ts'
import { createVerb } from './create.ts'
import { deleteCollectionVerb, deleteVerb } from './delete.ts'
import { patchVerb } from './patch.ts'
import { getVerb, listVerb } from './read.ts'
import { updateVerb } from './update.ts'
import { watchVerb } from './watch.ts'

/** What all of them together need. */
export type VerbParts = Parameters<typeof patchVerb>[0] &
  Parameters<typeof watchVerb>[0] &
  Parameters<typeof deleteVerb>[0] &
  Parameters<typeof updateVerb>[0]

export const createVerbs = (parts: VerbParts): DispatchDeps['verbs'] => ({
  get: getVerb(parts),
  list: listVerb(parts),
  watch: watchVerb(parts),
  create: createVerb(parts),
  update: updateVerb(parts),
  patch: patchVerb(parts),
  delete: deleteVerb(parts),
  deletecollection: deleteCollectionVerb(parts),
})
