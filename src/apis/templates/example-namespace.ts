/**
 * What the author of a namespace writes so that a template selects it and has all that it requires: a whole object, and
 * commands for a namespace that exists. What only the author knows stands as `<...>`. Pure.
 */
import { shellWord } from '../../base/shell-text.ts'
import { labelSelectorOf } from '../../kube/label-selector.ts'
import { allowedFor } from './parameters.ts'
import type { NamespaceTemplate, TemplateParameter } from './types.ts'

export interface ExampleNamespace {
  readonly apiVersion: 'v1'
  readonly kind: 'Namespace'
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

export function exampleNamespace({ spec }: NamespaceTemplate): ExampleNamespace {
  const { labelSelector, nameSelector } = spec?.namespaces ?? {}
  const labels: Record<string, string> = {}
  const annotations: Record<string, string> = {}
  for (const { key, operator, values } of labelSelectorOf(labelSelector ?? {})) {
    if (operator === '=' || operator === '==' || operator === 'in') labels[key] = values[0] ?? ''
    else if (operator === 'exists') labels[key] = '<any value>'
  }
  for (const parameter of requiredOf(spec)) {
    if (parameter.fromLabel === undefined) annotations[parameter.fromAnnotation ?? ''] = valueFor(parameter)
    // A value that selects it is one that it may have.
    else labels[parameter.fromLabel] = readable(labels[parameter.fromLabel]) ?? valueFor(parameter)
  }
  const [name = ''] = nameSelector?.include ?? []
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: name === '' ? '<name>' : /[*?]/.test(name) ? `<${name}>` : name,
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
  }
}

/** For a namespace that lacks what is required: one command for each value. A label that it is selected by it has. */
export function givingCommands({ spec }: NamespaceTemplate): string[] {
  const selecting = new Set(labelSelectorOf(spec?.namespaces?.labelSelector ?? {}).map(({ key }) => key))
  return requiredOf(spec).flatMap((parameter) => {
    const { fromLabel, fromAnnotation = '' } = parameter
    if (fromLabel !== undefined && selecting.has(fromLabel)) return []
    const [verb, key] = fromLabel === undefined ? ['annotate', fromAnnotation] : ['label', fromLabel]
    return `kubectl ${verb} --overwrite namespace NAME ${shellWord(`${key}=${valueFor(parameter)}`)}`
  })
}

const requiredOf = (spec: NamespaceTemplate['spec']): readonly TemplateParameter[] =>
  (spec?.parameters ?? []).filter(({ required }) => required === true)

const valueFor = (parameter: TemplateParameter): string => parameter.enum?.[0] ?? `<${allowedFor(parameter)}>`

const readable = (value: string | undefined): string | undefined => (value?.startsWith('<') ? undefined : value)
