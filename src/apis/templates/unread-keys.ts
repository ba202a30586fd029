/** Annotations that stand there and do nothing: who writes them on a namespace or a template is told. */
import { wordWarnings } from '../../kube/annotation-words.ts'
import type { KubeObject } from '../../kube/types.ts'
import { expiresAtAnnotation, expirySourceAnnotation, ttlAnnotation } from '../expiry/types.ts'
import { givenInitializersAnnotation } from '../initializers/types.ts'
import { deletionProtectionAnnotation } from '../namespaces/types.ts'
import {
  applyAnnotation,
  askedAnnotation,
  confirmPruneAnnotation,
  featureLevelAnnotation,
  metadataHoldersAnnotation,
  metadataVersionsAnnotation,
  optOutAnnotation,
  ownerKey,
  pauseRolloutAnnotation,
  requirePermissionAnnotation,
} from './types.ts'

interface Keys {
  /** Those that clients write. */
  readonly said: readonly string[]
  /** Those that servers and controllers write. */
  readonly kept: readonly string[]
}

type Annotated = Pick<KubeObject, 'metadata'>

const ofNamespaces: Keys = {
  said: [ownerKey, ttlAnnotation, expiresAtAnnotation, deletionProtectionAnnotation, optOutAnnotation],
  kept: [
    ...[expirySourceAnnotation, metadataHoldersAnnotation, metadataVersionsAnnotation, givenInitializersAnnotation],
    askedAnnotation,
  ],
}
const ofTemplates: Keys = {
  said: [applyAnnotation, requirePermissionAnnotation, confirmPruneAnnotation, pauseRolloutAnnotation],
  kept: [featureLevelAnnotation],
}
const optOutWords = [[optOutAnnotation, 'true']] as const
const templateWords = [
  [applyAnnotation, 'disable'],
  [requirePermissionAnnotation, 'true'],
] as const

export const namespaceWarnings = (next: Annotated, old: Annotated | undefined): string[] =>
  keyWarnings(ofNamespaces, next, old)

/** For who may opt it out. */
export const optOutWarnings = (next: Annotated, old: Annotated | undefined): string[] =>
  wordWarnings(optOutWords, next, old)

export const templateWarnings = (next: Annotated, old: Annotated | undefined): string[] => [
  ...wordWarnings(templateWords, next, old),
  ...keyWarnings(ofTemplates, next, old),
]

/** Keys that nothing but this project reads. Few objects have one. */
export const ourKey: RegExp = /^(?:(?:policy\.)?borough\.dev\/|policy\/namespace-template-)/
const mostTold = 5

/**
 * Of keys like ours that the write brings and that nothing reads: a namespace with `borough.dev/tll` would live on, and
 * a template that asks for a permission by a mistyped key would ask for none.
 */
export function keyWarnings({ said, kept }: Keys, next: Annotated, old: Annotated | undefined): string[] {
  const { annotations = {}, labels = {} } = next.metadata
  const warnings: string[] = []
  for (const key in annotations) {
    if (!ourKey.test(key) || said.includes(key) || kept.includes(key)) continue
    if (old?.metadata.annotations?.[key] !== undefined) continue
    warnings.push(`annotation ${key} does nothing: those that do are ${said.join(', ')}`)
  }
  for (const key of said) {
    if (labels[key] === undefined || old?.metadata.labels?.[key] !== undefined) continue
    warnings.push(`label ${key} does nothing: it is an annotation that does`)
  }
  return warnings.slice(0, mostTold)
}
