/** What a template asks of namespaces, as a terminal shows it. */
import { stringify } from 'yaml'
import type { TemplateDescription } from '../apis/templates/describe.ts'
import { type Paint, plain } from './colour.ts'

export function descriptionText(description: TemplateDescription, paint: Paint = plain): string {
  const { template, isDisabled, selects, needs, parameters, sets, expiry, objects, example, giving } = description
  const given = parameters.map(
    ({ name, from, allowed, default: preset, required }) =>
      `${from}: ${allowed}${required ? ', required' : preset ? `, ${JSON.stringify(preset)} if it is not there` : ''}` +
      `   $(${name})`,
  )
  const blocks: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Selects namespaces with', selects.length > 0 ? selects : ['any name but kube-system']],
    ['To create one takes', needs],
    ['A namespace gives', given],
    ['It ends by itself', expiry === undefined ? [] : expiryLines(expiry)],
    ['It is given', [...Object.entries(sets).map(([key, value]) => `${key}: ${value}`), ...objects]],
    ['An example', stringify(example).trimEnd().split('\n')],
    ['One that exists is given what is required by', giving],
  ]
  const text = blocks.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : ['', paint('strong', `${title}:`), ...lines.map(indented)],
  )
  return `${[`template ${template}${isDisabled ? ' (disabled)' : ''}`, ...text].join('\n')}\n`
}

/** Where only the longest life is said, it is also what a namespace gets that says nothing. */
function expiryLines({ default: preset = '', max = '' }: NonNullable<TemplateDescription['expiry']>): string[] {
  const usual = preset || max
  return [
    ...(usual === '' ? [] : [`${usual} after its creation, if it says nothing itself`]),
    ...(max === '' ? [] : [`${max} after its creation at the latest`]),
  ]
}

const indented = (line: string): string => `  ${line}`
