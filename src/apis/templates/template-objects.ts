/**
 * What a template holds, from both of its lists: `spec.templates` (objects as they are) and `spec.objects` (objects
 * with a say in whether and how they are kept). Everything else reads them here.
 */
import { isJsonObject, jsonEqual } from '../../kube/json-value.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { CloneSource, NamespaceTemplate } from './types.ts'

export interface TemplateObject {
  /** Where the object stands in the template: `spec.objects[0].template`. */
  readonly field: string
  /** The object as the template has it, with its tokens. */
  readonly source: JsonObject
  /** CEL: the object is for namespaces where this is true. Absent = for all that the template selects. */
  readonly when?: string
  /** What becomes of changes by others. Absent = as `spec.driftPolicy` says. */
  readonly drift?: DriftMode
  /** Field managers whose fields are left to them. */
  readonly yieldTo?: readonly string[]
  /** Others may not write it. */
  readonly protect?: true
  /** What it is a copy of; `source` then says only what it is called. */
  readonly cloneFrom?: CloneSource
}

export type DriftMode = 'Correct' | 'Strict' | 'Report'

type Spec = NonNullable<NamespaceTemplate['spec']>

/** Specs are never changed: an edit brings another. */
const known = new WeakMap<Spec, readonly TemplateObject[]>()

/** In the order in which they are applied. */
export function objectsOf({ spec }: NamespaceTemplate): readonly TemplateObject[] {
  if (spec === undefined) return []
  let objects = known.get(spec)
  if (objects === undefined) {
    objects = [...plainObjects(spec), ...objectsWithASay(spec)]
    known.set(spec, objects)
  }
  return objects
}

const plainObjects = ({ templates = [] }: Spec): TemplateObject[] =>
  templates.map((source, i) => ({ field: `spec.templates[${i}]`, source }))

/** One without an object is refused when it is written (`object-entries.ts`). */
const objectsWithASay = ({ objects = [] }: Spec): TemplateObject[] =>
  objects.flatMap(({ template, cloneFrom: from, when, drift, yieldTo = [], protect }, i) => {
    const isClone = template === undefined && isCloneSource(from)
    if (!isClone && !isJsonObject(template)) return []
    const { apiVersion, kind, name } = from ?? {}
    return {
      field: `spec.objects[${i}].${isClone ? 'cloneFrom' : 'template'}`,
      source: template ?? ({ apiVersion, kind, metadata: { name } } as unknown as JsonObject),
      ...(isClone ? { cloneFrom: from } : {}),
      ...(when ? { when } : {}),
      ...(drift === undefined ? {} : { drift }),
      ...(yieldTo.length === 0 ? {} : { yieldTo }),
      ...(protect === true ? { protect } : {}),
    }
  })

export const isCloneSource = (from: Partial<CloneSource> | undefined): from is CloneSource =>
  [from?.namespace, from?.apiVersion, from?.kind, from?.name].every((text) => typeof text === 'string' && text !== '')

/**
 * Tells the objects that a change brings or changes: one that was accepted before is not refused now. What a parameter
 * may stand for is part of each object that names it.
 */
export function noveltyOf(
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
): (object: TemplateObject) => boolean {
  const sameParameters = jsonEqual(template.spec?.parameters ?? [], old?.spec?.parameters ?? [])
  const known = old === undefined || !sameParameters ? [] : objectsOf(old)
  const accepted = new Set(known.map(({ source }) => JSON.stringify(source)))
  return ({ source }) => !accepted.has(JSON.stringify(source))
}
