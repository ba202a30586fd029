/** The list of namespaces as commands that show the same: kubectl's own columns hold neither owner, end nor limits. */
import { expiresAtAnnotation } from '../../../apis/expiry/types.ts'
import { deletionProtectionAnnotation } from '../../../apis/namespaces/types.ts'
import { creatorKey, ownerKey } from '../../../apis/templates/types.ts'
import { shellWord } from '../../../base/shell-text.ts'
import { columnsFlag, keyPath } from '../namespace/commands.ts'
import type { NamespaceRow } from './namespace-row.ts'

/** A line of a shell has an end. */
export const mostNamed = 200

const annotation = (key: string): string => `.metadata.annotations.${keyPath(key)}`

const state = {
  NAME: '.metadata.name',
  STATE: '.status.phase',
  AWAITED: '.spec.initializers.pending[*].name',
  TEMPLATES: '.status.conditions[?(@.type=="Populated")].message',
}

export const stateColumns = columnsFlag(state)

const columns = columnsFlag({
  ...state,
  OWNER: annotation(ownerKey),
  CREATOR: annotation(creatorKey),
  EXPIRES: annotation(expiresAtAnnotation),
  PROTECTED: annotation(deletionProtectionAnnotation),
  CREATED: '.metadata.creationTimestamp',
})

export interface Listed {
  readonly rows: readonly NamespaceRow[]
  /** Not all that the server lists. */
  readonly areChosen: boolean
  /** The user may list quotas of all namespaces at once. */
  readonly mayListQuotas: boolean
}

export function listCommand({ rows, areChosen, mayListQuotas }: Listed): string {
  // A list leaves out what is being initialized for others; by its name it is shown.
  const areNamed = areChosen || rows.some(({ phase }) => phase === 'Initializing')
  const names = rows.map(({ name }) => shellWord(name)).join(' ')
  if (areNamed && rows.length > 0 && rows.length <= mostNamed) {
    return `kubectl get namespaces ${names} ${columns}; echo ${names} | xargs -n 1 kubectl get resourcequotas -n`
  }
  const quotas = mayListQuotas
    ? 'kubectl get resourcequotas -A'
    : 'kubectl get namespaces -o name | cut -d/ -f2 | xargs -n 1 kubectl get resourcequotas -n'
  return `kubectl get namespaces ${columns}; ${quotas}`
}
