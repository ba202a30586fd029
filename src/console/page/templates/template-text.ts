/** A template as YAML: without what the server keeps for itself, and with the line at which each field stands. */
import { type Document, isNode, parseDocument, stringify } from 'yaml'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { lastAppliedAnnotation } from '../../../kube/apply/last-applied.ts'
import type { StatusCause } from '../../../kube/types.ts'
import { asKubectl } from '../../../kube/yaml-tags.ts'

/** A fault with its place in the text, in characters. */
export interface TextFault {
  readonly from: number
  readonly to: number
  readonly message: string
}

export function textOf({ apiVersion, kind, metadata, spec }: NamespaceTemplate): string {
  const { name, labels } = metadata
  // What `kubectl apply` keeps there is the whole template again, in one line.
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations ?? {}
  const object = {
    apiVersion: apiVersion ?? 'policy.borough.dev/v1alpha1',
    kind: kind ?? 'NamespaceTemplate',
    metadata: { name, ...(labels ? { labels } : {}), ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    ...(spec === undefined ? {} : { spec }),
  }
  // kubectl reads YAML 1.1, where `yes` and `off` without quotes are no texts.
  return stringify(object, { compat: 'yaml-1.1' })
}

/** @throws Error that says where the text is no YAML, or no object with a name */
export function readTemplate(text: string): NamespaceTemplate {
  const document = parseDocument(text, asKubectl)
  const [fault] = document.errors
  if (fault !== undefined) throw new Error(fault.message)
  const object = document.toJS() as Partial<NamespaceTemplate> | null
  if (typeof object?.metadata?.name !== 'string') throw new Error('metadata.name is missing')
  return { ...object, metadata: object.metadata }
}

/** What the server says of fields, at the fields; what it says of no field that is there is left out. */
export function faultsAt(text: string, causes: readonly StatusCause[]): readonly TextFault[] {
  const document = parseDocument(text, asKubectl)
  const syntax = document.errors.map(({ pos: [from, to], message }) => ({ from, to, message }))
  const fields = causes.flatMap(({ field = '', message = '' }) => {
    const place = placeOf(document, pathIn(field))
    return place === undefined ? [] : [{ ...place, message: `${field}: ${message}` }]
  })
  return [...syntax, ...fields]
}

/** `spec.templates[0].metadata.labels[a.b/c]` */
export const pathIn = (field: string): (string | number)[] =>
  [...field.matchAll(/\[([^[\]]*)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : /^\d+$/.test(index) ? Number(index) : index,
  )

/** Of the field, or of what is nearest above it. */
function placeOf(document: Document, path: (string | number)[]): { from: number; to: number } | undefined {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return { from: node.range[0], to: node.range[1] }
  }
  return undefined
}
