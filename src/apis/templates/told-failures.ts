/** What a namespace tells of what its templates could not give it: `Populated`, as `report.ts` words it. Pure. */
import type { Namespace } from '../namespaces/types.ts'
import { resolveNameOnly } from './clones.ts'
import { metadataParts, titleOfKey } from './namespace-metadata.ts'
import { render, titleOf } from './render.ts'
import { type NamespaceTemplate, populatedCondition } from './types.ts'

interface ToldFailure {
  /** `RoleBinding/admin`, `label example.com/cost`, `parameter size`; '' = it can't be told apart. */
  readonly object: string
  /** Of the first; '' = it is not told. */
  readonly reason: string
  readonly message: string
}

/** More are not told. */
export const mostTold = 5

/** Several are parted by semicolons, which stand in messages too: `ConfigMap/a: …; label b: …`. */
const betweenObjects = /; (?=(?:[A-Z]\w*\/[^\s;]+|(?:label|annotation) [^\s;]+|parameter \w+): )/
const beginning = /^((?:[A-Z]\w*\/\S+?|(?:label|annotation) \S+?|parameter \w+)): (.*)$/s

export function failuresTold({ status }: Namespace): readonly ToldFailure[] {
  const condition = status?.conditions?.find(({ type }) => type === populatedCondition)
  if (condition?.status !== 'False') return []
  const { reason = '', message = '' } = condition
  return message.split(betweenObjects).map((part, i) => {
    const [, object = '', said = part] = beginning.exec(part) ?? []
    return { object, reason: i === 0 ? reason : '', message: said }
  })
}

/** What messages call the objects of a template in a namespace. */
export function titlesIn(template: NamespaceTemplate, namespace: Namespace): ReadonlySet<string> {
  const { objects, skipped } = render([template], namespace, resolveNameOnly)
  const keys = metadataParts.flatMap((part) =>
    Object.keys(template.spec?.namespaceMetadata?.[part] ?? {}).map((key) => titleOfKey({ part, key })),
  )
  return new Set([...objects.map(({ object }) => titleOf(object)), ...skipped.map(({ object }) => object), ...keys])
}
