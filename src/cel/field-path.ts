/**
 * `.spec.ports['http'].number`: where a rule says that its fault is. Only names, no indexes.
 * @see ValidFieldPath in k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go v0.36
 */
import type { Schema } from '../kube/schema/schema.ts'

const step = /\.([^.[\]']+)|\['((?:[^'\\]|\\.)*)'\]/y

const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

/** As field errors write it: `spec.ports[http].number`. Undefined if the schema has no such field. */
export function normalizedFieldPath(path: string, schema: Schema): string | undefined {
  let at: Schema | undefined = schema
  let out = ''
  step.lastIndex = 0
  while (step.lastIndex < path.length) {
    const m = step.exec(path)
    if (!m) return undefined
    const name = m[1] ?? unescape(m[2] ?? '')
    if (name === undefined) return undefined
    if (at.properties && at.properties.size > 0) {
      at = at.properties.get(name)
      out += out === '' ? name : `.${name}`
    } else if (typeof at.additionalProperties === 'object') {
      at = at.additionalProperties
      out += `[${name}]`
    } else return undefined
    if (at === undefined) return undefined
  }
  return out
}

function unescape(text: string): string | undefined {
  let isWrong = false
  const out = text.replace(/\\(.)/gs, (_, c: string) => {
    const found = escapes[c]
    isWrong ||= found === undefined
    return found ?? ''
  })
  return isWrong ? undefined : out
}
