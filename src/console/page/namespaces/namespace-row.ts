/** A namespace as a row shows it, and which rows a search finds. */
import { expiresAtAnnotation } from '../../../apis/expiry/types.ts'
import { namespaceTemplateInitializer } from '../../../apis/initializers/types.ts'
import { deletionProtectionAnnotation, type Namespace, phaseOf } from '../../../apis/namespaces/types.ts'
import { ownerOf } from '../../../apis/templates/match.ts'
import { optOutAnnotation, pendingLabel } from '../../../apis/templates/types.ts'

/** How far its templates are: what the server says of it in conditions and initializers. */
export type Population =
  | { readonly kind: 'populated' | 'waiting' | 'optedOut' }
  /** Its templates are done; others that have to act are not. */
  | { readonly kind: 'awaiting'; readonly others: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string }

export interface NamespaceRow {
  readonly name: string
  /** What the row was read from; absent where the server does not show it. */
  readonly namespace?: Namespace
  /** `Unknown`: the user may know the name and not the namespace. */
  readonly phase: 'Active' | 'Initializing' | 'Terminating' | 'Unknown'
  readonly population: Population
  /** Whom it is for; else who created it. */
  readonly owner: string
  readonly labels: Readonly<Record<string, string>>
  readonly created?: string
  readonly expires?: string
  readonly isProtected: boolean
  /** The server's words, where it does not show the namespace. */
  readonly refused?: string
  /** It is not shown, and the user may work in it. */
  readonly isOpen?: boolean
}

/** What is shown of a list is read again with every event, of which one of its objects is new. */
const rows = new WeakMap<Namespace, NamespaceRow>()

export function rowOf(namespace: Namespace): NamespaceRow {
  const known = rows.get(namespace)
  if (known !== undefined) return known
  const row = readRow(namespace)
  rows.set(namespace, row)
  return row
}

function readRow(namespace: Namespace): NamespaceRow {
  const { name = '', labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = namespace.metadata
  const expires = annotations[expiresAtAnnotation]
  return {
    name,
    namespace,
    phase: deletionTimestamp !== undefined ? 'Terminating' : isAwaited(namespace) ? 'Initializing' : phaseOf(namespace),
    population: populationOf(namespace),
    owner: ownerOf(namespace) ?? '',
    labels,
    ...(creationTimestamp ? { created: creationTimestamp } : {}),
    ...(expires === undefined ? {} : { expires }),
    isProtected: annotations[deletionProtectionAnnotation] === 'true',
  }
}

export const unknownRow = (name: string, { message, isOpen }: { message: string; isOpen: boolean }): NamespaceRow => ({
  name,
  phase: 'Unknown',
  population: { kind: 'waiting' },
  owner: '',
  labels: {},
  isProtected: false,
  refused: message,
  isOpen,
})

/** By initializers on Borough, by a label where `borough populate` gives templates to another cluster. */
export const isAwaited = ({ metadata, spec }: Namespace): boolean =>
  spec?.initializers !== undefined || metadata.labels?.[pendingLabel] !== undefined

function populationOf(namespace: Namespace): Population {
  const { metadata, spec, status } = namespace
  const condition = status?.conditions?.find(({ type }) => type === 'Populated')
  if (condition?.status === 'False') return { kind: 'failed', why: condition.message ?? condition.reason ?? '' }
  if (metadata.annotations?.[optOutAnnotation] === 'true') return { kind: 'optedOut' }
  const pending = spec?.initializers?.pending?.map(({ name }) => name) ?? []
  if (pending.length > 0 && !pending.includes(namespaceTemplateInitializer))
    return { kind: 'awaiting', others: pending }
  return { kind: isAwaited(namespace) ? 'waiting' : 'populated' }
}

/**
 * Words that must all be found in the name, the owner or a label (`env=prod`); `owner:`, `label:` and `phase:` before a
 * word look there only.
 */
export function searchTest(text: string): (row: NamespaceRow) => boolean {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return (row) => words.every((word) => hasWord(row, word))
}

function hasWord(row: NamespaceRow, word: string): boolean {
  const [, field, wanted = word] = /^(owner|label|phase):(.*)$/.exec(word) ?? []
  const within = (...texts: readonly string[]): boolean => texts.some((text) => text.toLowerCase().includes(wanted))
  const labels = (): string[] => Object.entries(row.labels).map(([key, value]) => `${key}=${value}`)
  switch (field) {
    case 'owner':
      return within(row.owner)
    case 'label':
      return within(...labels())
    case 'phase':
      return within(row.phase)
    default:
      return within(row.name, row.owner) || within(...labels())
  }
}
