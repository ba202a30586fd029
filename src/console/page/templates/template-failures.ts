/**
 * Where a template is not what it says, by namespace and object. Its status names the first of them; of the others the
 * namespaces themselves tell, in condition `Populated`. What is no failure, events tell: drift that was corrected, what
 * others added, what was left out. Pure.
 */
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { isOptedOut } from '../../../apis/templates/match.ts'
import { failuresTold, mostTold, titlesIn } from '../../../apis/templates/told-failures.ts'
import type { NamespaceTemplate, TemplateFailure } from '../../../apis/templates/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { matcherOf } from './matcher.ts'

export type FailureRow = Required<TemplateFailure>

/** An Event, as far as it is read here. */
export interface PopulationEvent extends KubeObject {
  readonly reason?: string
  readonly message?: string
}

/** What events tell that neither status nor condition does. */
export const toldByEvents = [
  'PopulationCorrected',
  'PopulationExtended',
  'PopulationCreatorUnknown',
  'PopulationOwnerUnknown',
] as const

export function failuresOf(
  template: NamespaceTemplate,
  namespaces: readonly Namespace[],
  events: readonly PopulationEvent[] = [],
): readonly FailureRow[] {
  const { selects } = matcherOf(template)
  const rows = new Map<string, FailureRow>()
  for (const { namespace, object = '', reason, message } of template.status?.failures ?? []) {
    rows.set(`${namespace} ${object}`, { namespace, object, reason, message })
  }
  for (const namespace of namespaces) {
    if (isOptedOut(namespace) || !selects(namespace)) continue
    for (const row of toldBy(namespace, template)) {
      const key = `${row.namespace} ${row.object}`
      if (!rows.has(key)) rows.set(key, row)
    }
  }
  const reasons: readonly string[] = toldByEvents
  for (const { reason = '', message = '', metadata } of events) {
    const [, object = '', name = '', said = ''] = ofTemplate.exec(message) ?? []
    const row = {
      namespace: metadata.namespace ?? '',
      object,
      reason: reason.slice('Population'.length),
      message: said,
    }
    // What fails now stands above what was.
    if (reasons.includes(reason) && name === template.metadata.name && !rows.has(`${row.namespace} ${object}`)) {
      rows.set(`${row.namespace} ${object}`, row)
    }
  }
  return [...rows.values()].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

/** `ConfigMap/about of template default: changes by "kubectl-edit" were put back: data.a` */
const ofTemplate = /^(.*?) of template (\S+): (.*)$/s

const sortKey = ({ namespace, object }: FailureRow): string => `${namespace} ${object}`

function toldBy(namespace: Namespace, template: NamespaceTemplate): readonly FailureRow[] {
  const told = failuresTold(namespace)
  const { name = '' } = namespace.metadata
  const titles = titlesIn(template, namespace)
  // Another template of this namespace may have failed instead.
  const rows = told.filter(({ object }) => titles.has(object)).map((failure) => ({ namespace: name, ...failure }))
  if (rows.length > 0 || told.length < mostTold) return rows
  const { reason = '', message = '' } = namespace.status?.conditions?.find(({ type }) => type === 'Populated') ?? {}
  return [{ namespace: name, object: '', reason, message }]
}

/** Words that must all be found in a row. */
export function failureTest(text: string): (row: FailureRow) => boolean {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return ({ namespace, object, reason, message }) => {
    const within = [namespace, object, reason, message].join(' ').toLowerCase()
    return words.every((word) => within.includes(word))
  }
}
