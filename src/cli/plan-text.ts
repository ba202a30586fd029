/** A plan as a terminal shows it. */
import type { PlannedObject, TemplatePlan } from '../apis/templates/plan.ts'
import { visibleText } from '../base/shell-text.ts'
import { type Paint, plain, type Tone } from './colour.ts'

const signs = { create: '+', change: '~', prune: '-', orphan: 'o', refuse: '!', skip: '?' } as const
const tones = {
  create: 'good',
  change: 'warning',
  prune: 'bad',
  orphan: 'faint',
  refuse: 'bad',
  skip: 'faint',
} satisfies Record<keyof typeof signs, Tone>
/** Namespaces named before it says how many more there are. */
const named = 8

export function planText(plan: TemplatePlan, paint: Paint = plain, isWide = false): string {
  const { template, isNew, isDeletion, matched, namespaces, displaces = [], stop, believed, warnings = [] } = plan
  const most = isWide ? Number.POSITIVE_INFINITY : named
  const lines = [
    isDeletion
      ? `template ${template} is deleted`
      : `template ${template}${isNew ? ' (new)' : ''} selects ${count(matched, 'namespace')}`,
  ]
  for (const { object, template: other, namespaces: both } of displaces) {
    const what = `${visibleText(object)} would come from it and no more from template ${other}`
    lines.push(`in ${count(both, 'namespace')} ${what}: the first by name gives it`)
  }
  for (const warning of warnings) lines.push(`${paint('warning', 'Warning:')} ${visibleText(warning)}`)
  const alike = new Map<string, string[]>()
  const texts = new Map<readonly PlannedObject[], string>()
  for (const { namespace, objects } of namespaces) {
    const text = texts.get(objects) ?? objects.map((object) => objectText(object, paint)).join('\n')
    texts.set(objects, text)
    const names = alike.get(text)
    if (names === undefined) alike.set(text, [namespace])
    else names.push(namespace)
  }
  for (const [text, names] of alike) {
    const more = names.length > most ? ` and ${names.length - most} more` : ''
    lines.push(
      '',
      `in ${names.length > 1 ? `${names.length} namespaces: ` : ''}${names.slice(0, most).join(', ')}${more}`,
      text,
    )
  }
  if (stop !== undefined) lines.push('', paint('bad', `It would stop before all of this: ${visibleText(stop)}.`))
  lines.push('', summary(namespaces))
  if (believed !== undefined) {
    const of = count(believed, 'namespace')
    lines.push(`Not all was asked in ${of}: others, where it would be the same, answered alike. --each asks in all.`)
  }
  return `${lines.join('\n')}\n`
}

/** What is left out stays as it is. */
export const isChange = (namespaces: TemplatePlan['namespaces']): boolean =>
  namespaces.some(({ objects }) => objects.some(({ action }) => action !== 'skip'))

function objectText({ object, action, differences = [], reason, message }: PlannedObject, paint: Paint): string {
  const head = `  ${paint(tones[action], `${signs[action]} ${visibleText(object)}`)}`
  if (action === 'refuse' || action === 'skip') return `${head}: ${reason}: ${visibleText(message ?? '')}`
  if (action === 'orphan') return `${head} (stays, without the label)`
  return [
    head,
    ...differences.map(
      ({ path, before, after }) => `      ${visibleText(`${path}: ${differenceText(before, after)}`)}`,
    ),
  ].join('\n')
}

function differenceText(before: unknown, after: unknown): string {
  if (before === undefined) return `${JSON.stringify(after)} (new)`
  if (after === undefined) return `${JSON.stringify(before)} (goes)`
  return `${JSON.stringify(before)} → ${JSON.stringify(after)}`
}

function summary(namespaces: TemplatePlan['namespaces']): string {
  if (!isChange(namespaces)) return 'Nothing would change.'
  const counts = new Map<string, number>()
  for (const { objects } of namespaces) {
    for (const { action } of objects) counts.set(action, (counts.get(action) ?? 0) + 1)
  }
  const words = {
    create: 'create',
    change: 'change',
    prune: 'prune',
    orphan: 'orphan',
    refuse: 'refused:',
    skip: 'skip',
  }
  const parts = Object.entries(words).flatMap(([action, word]) => {
    const n = counts.get(action)
    return n === undefined ? [] : [`${word} ${n}`]
  })
  const changed = namespaces.filter((n) => isChange([n])).length
  return `${count(changed, 'namespace')} would change. Objects: ${parts.join(', ')}.`
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
