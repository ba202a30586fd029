/** A namespace that is being described in the form: what was given, and the object that it comes to. Pure. */
import { expiresAtAnnotation, ttlAnnotation } from '../../../apis/expiry/types.ts'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import type { MetadataPart } from '../../../apis/templates/namespace-metadata.ts'
import { ownerKey } from '../../../apis/templates/types.ts'
import { shellWord } from '../../../base/shell-text.ts'

/** When the new namespace ends: as its templates say, after a time, or at a time. */
export type DraftEnd = 'unsaid' | 'after' | 'at'

export interface Draft {
  readonly name: string
  readonly owner: string
  /** Labels by which the template selects that was chosen. */
  readonly chosen: Readonly<Record<string, string>>
  /** `env=prod`, one a line. */
  readonly labels: string
  readonly annotations: string
  /** What templates ask for, by `placeOf`. */
  readonly given: Readonly<Record<string, string>>
  readonly end: DraftEnd
  /** In Go's notation: `24h`. */
  readonly ttl: string
  /** As an input of a date and time has it. */
  readonly expires: string
}

export const emptyDraft: Draft = {
  name: '',
  owner: '',
  chosen: {},
  labels: '',
  annotations: '',
  given: {},
  end: 'unsaid',
  ttl: '',
  expires: '',
}

/** The field of the namespace: `metadata.labels[example.com/size]`. */
export const placeOf = (part: MetadataPart, key: string): string => `metadata.${part}[${key}]`

const placePattern = /^metadata\.(labels|annotations)\[(.+)\]$/

export function keyAt(place: string): { readonly part: MetadataPart; readonly key: string } | undefined {
  const [, part, key] = placePattern.exec(place) ?? []
  return key === undefined ? undefined : { part: part as MetadataPart, key }
}

/** @param chosen as an input of a date and time has it: without a zone, in that of the browser */
export const expiryText = (chosen: string): string => `${new Date(chosen).toISOString().slice(0, 19)}Z`

export function namespaceOf(draft: Draft): Namespace {
  const { name, owner, end, ttl, expires } = draft
  const labels = { ...draft.chosen, ...givenFor(draft, 'labels'), ...pairsIn(draft.labels) }
  const annotations = {
    ...(owner.trim() === '' ? {} : { [ownerKey]: owner.trim() }),
    ...(end === 'after' && ttl.trim() !== '' ? { [ttlAnnotation]: ttl.trim() } : {}),
    ...(end === 'at' && expires !== '' ? { [expiresAtAnnotation]: expiryText(expires) } : {}),
    ...givenFor(draft, 'annotations'),
    ...pairsIn(draft.annotations),
  }
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
  }
}

function givenFor({ given }: Draft, part: MetadataPart): Record<string, string> {
  const pairs = Object.entries(given).flatMap(([place, value]) => {
    const at = keyAt(place)
    return at?.part === part && value !== '' ? [[at.key, value] as const] : []
  })
  return Object.fromEntries(pairs)
}

/** `env=prod`, one a line. */
export const pairsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const [key = '', ...value] = line.split('=')
        return [key.trim(), value.join('=').trim()] as const
      }),
  )

/** `kubectl create namespace` sets neither labels nor annotations. */
export function createCommand(draft: Draft): string {
  const named = draft.name === '' ? { ...draft, name: 'NAME' } : draft
  const namespace = namespaceOf(named)
  const { name = '', labels, annotations } = namespace.metadata
  if (labels === undefined && annotations === undefined) return `kubectl create namespace ${shellWord(name)}`
  // The echo of zsh and of sh makes of `\\n` in it a line break.
  return `printf %s ${shellWord(JSON.stringify(namespace))} | kubectl create -f -`
}
