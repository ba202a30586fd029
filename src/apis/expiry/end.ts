/** When a namespace ends, as its annotations have it. */
import { parseTime } from '../../kube/time.ts'
import type { ObjectMeta } from '../../kube/types.ts'
import { expiresAtAnnotation, expirySourceAnnotation, ttlAnnotation } from './types.ts'

interface Named {
  readonly metadata: ObjectMeta
}

/** Never where it does not say, or says what is no time. */
export function expiresAtMs(namespace: Named | undefined): number {
  const text = namespace?.metadata.annotations?.[expiresAtAnnotation]
  return (text === undefined ? undefined : parseTime(text)) ?? Number.POSITIVE_INFINITY
}

/** When, and who said so: `at 2026-01-02T00:00:00Z (NamespaceTemplate preview)`. */
export function endText({ metadata }: Named): string {
  const {
    [expiresAtAnnotation]: at = '',
    [expirySourceAnnotation]: template,
    [ttlAnnotation]: ttl,
  } = metadata.annotations ?? {}
  if (template !== undefined) return `at ${at} (NamespaceTemplate ${template})`
  const annotation = ttl === undefined ? expiresAtAnnotation : `${expiresAtAnnotation}, ${ttlAnnotation} ${ttl}`
  return `at ${at} (annotation ${annotation})`
}
