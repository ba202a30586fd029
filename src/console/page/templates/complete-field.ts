/** What may be typed where the cursor is, from the schema of the kind: fields, and the values that a field may have. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { templateProperties } from '../../../apis/templates/types.ts'
import type { Schema } from '../../../kube/schema/schema.ts'

const metadataFields: ReadonlyMap<string, Schema> = new Map([
  ['name', { type: 'string' }],
  ['labels', { type: 'object' }],
  ['annotations', { type: 'object' }],
])

const root: Schema = {
  type: 'object',
  properties: new Map<string, Schema>([
    ['apiVersion', { type: 'string', enum: ['policy.borough.dev/v1alpha1'] }],
    ['kind', { type: 'string', enum: ['NamespaceTemplate'] }],
    ['metadata', { type: 'object', properties: metadataFields }],
    ...[...templateProperties].filter(([key]) => key === 'spec'),
  ]),
}

export function completeField({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const line = state.doc.lineAt(pos)
  const before = state.sliceDoc(line.from, pos)
  const above = state.sliceDoc(0, line.from).split('\n').slice(0, -1)
  const value = /^([\s-]*)([\w.][\w.-]*):\s+(\S*)$/.exec(before)
  if (value !== null) {
    const [, indent = '', key = '', typed = ''] = value
    const schema = schemaAt([...pathAbove(above, indent.length), key])
    const options = valuesOf(schema).map((label): Completion => ({ label, type: 'enum' }))
    return options.length === 0 ? null : { from: pos - typed.length, options, validFor: /^\S*$/ }
  }
  const field = /^([\s-]*)([\w.][\w.-]*)?$/.exec(before)
  if (field === null) return null
  const [, indent = '', typed = ''] = field
  if (typed === '' && !explicit) return null
  const { properties } = schemaAt(pathAbove(above, indent.length)) ?? {}
  if (properties === undefined) return null
  const options = [...properties].map(
    ([label, { description = '' }]): Completion => ({
      label,
      type: 'property',
      info: description,
      apply: `${label}: `,
    }),
  )
  return { from: pos - typed.length, options, validFor: /^[\w.-]*$/ }
}

/** The keys above a line with that indent, outermost first. A list item (`- `) counts as indented by its dash. */
export function pathAbove(lines: readonly string[], indent: number): string[] {
  const path: string[] = []
  let limit = indent
  for (const line of [...lines].reverse()) {
    const [, blank = '', key] = /^([\s-]*)([\w./][\w./-]*):\s*(?:#.*)?$/.exec(line) ?? []
    if (key === undefined || blank.length >= limit) continue
    path.unshift(key)
    limit = blank.length
  }
  return path
}

/** Lists are passed through: their items are indented below the same key. */
function schemaAt(path: readonly string[]): Schema | undefined {
  let schema: Schema | undefined = root
  for (const key of path) {
    const within: Schema | undefined = schema?.items ?? schema
    schema = within?.properties?.get(key)
  }
  return schema?.items ?? schema
}

const valuesOf = (schema: Schema | undefined): string[] =>
  schema?.type === 'boolean' ? ['true', 'false'] : (schema?.enum ?? []).map(String)
