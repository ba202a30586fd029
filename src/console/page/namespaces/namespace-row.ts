/** A namespace as a row shows it, and which rows a search finds. */
import { deletionProtectionAnnotation, type Namespace, phaseOf } from '../../../apis/namespaces/types.ts'
import { creatorKey, optOutAnnotation, ownerKey } from '../../../apis/templates/types.ts'

/** On a namespace: when it ends by itself. */
export const expiryAnnotation = 'borough.dev/expires-at'

/** @param chosen as an input of a date and time has it: without a zone, in that of the browser */
export const expiryText = (chosen: string): string => `${new Date(chosen).toISOString().slice(0, 19)}Z`

/** How far its templates are: what the server says of it in conditions and initializers. */
export type Population =
  | { readonly kind: 'populated' | 'waiting' | 'optedOut' }
  | { readonly kind: 'failed'; readonly why: string }

export interface NamespaceRow {
  readonly name: string
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
}

export function rowOf(namespace: Namespace): NamespaceRow {
  const { name = '', labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = namespace.metadata
  const expires = annotations[expiryAnnotation]
  const phase = namespace.spec?.initializers === undefined ? phaseOf(namespace) : 'Initializing'
  return {
    name,
    phase: deletionTimestamp === undefined ? phase : 'Terminating',
    population: populationOf(namespace),
    owner: annotations[ownerKey] ?? annotations[creatorKey] ?? '',
    labels,
    ...(creationTimestamp ? { created: creationTimestamp } : {}),
    ...(expires === undefined ? {} : { expires }),
    isProtected: annotations[deletionProtectionAnnotation] === 'true',
  }
}

export const unknownRow = (name: string, refused: string): NamespaceRow => ({
  name,
  phase: 'Unknown',
  population: { kind: 'waiting' },
  owner: '',
  labels: {},
  isProtected: false,
  refused,
})

function populationOf({ metadata, spec, status }: Namespace): Population {
  const condition = status?.conditions?.find(({ type }) => type === 'Populated')
  if (condition?.status === 'False') return { kind: 'failed', why: condition.message ?? condition.reason ?? '' }
  if (metadata.annotations?.[optOutAnnotation] === 'true') return { kind: 'optedOut' }
  return { kind: spec?.initializers === undefined ? 'populated' : 'waiting' }
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
