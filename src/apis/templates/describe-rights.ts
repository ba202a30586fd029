/** To whom a template gives rights in a namespace, and whom its tokens stand for. Pure. */
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject } from '../../kube/types.ts'
import { titleOf } from './render.ts'
import { objectsOf } from './template-objects.ts'
import { textsIn, tokensIn } from './tokens.ts'
import { type NamespaceTemplate, ownerKey } from './types.ts'

export interface DescribedRight {
  /** `User $(OWNER)`, `ServiceAccount ci/deployer` */
  readonly to: readonly string[]
  /** `ClusterRole/admin` */
  readonly role: string
  /** `RoleBinding/admin` */
  readonly by: string
  /** CEL: the template gives it where this is true. */
  readonly when?: string
}

export function rightsIn(template: NamespaceTemplate): DescribedRight[] {
  return objectsOf(template).flatMap(({ source, when }) => {
    if (source['kind'] !== 'RoleBinding') return []
    const { roleRef, subjects } = source
    return {
      to: Array.isArray(subjects) ? subjects.filter(isJsonObject).map(subjectOf) : [],
      role: isJsonObject(roleRef) ? `${roleRef['kind']}/${roleRef['name']}` : '',
      by: titleOf(source),
      ...(when === undefined ? {} : { when }),
    }
  })
}

const subjectOf = ({ kind, namespace, name }: JsonObject): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`

const people = {
  OWNER:
    `whom annotation ${ownerKey} of the namespace names, else its creator; ` +
    'to name somebody else takes the verb assign-owner on namespaces',
  CREATOR: 'who creates the namespace; where a portal or a GitOps controller does, that is its own account',
} as const

/** `$(OWNER)` → who that is; of those that the template uses. */
export function peopleIn(template: NamespaceTemplate): Record<string, string> {
  const used = new Set<string>()
  const parts = [...objectsOf(template).map(({ source }) => source), template.spec?.namespaceMetadata as JsonObject]
  for (const part of parts) {
    for (const { text, isKey } of textsIn(part)) {
      if (!isKey) for (const { name, isEscaped } of tokensIn(text)) if (!isEscaped) used.add(name)
    }
  }
  return Object.fromEntries(
    Object.entries(people).flatMap(([token, who]) => (used.has(token) ? [[`$(${token})`, who]] : [])),
  )
}
