/** What a template asks of namespaces, as a terminal shows it. */
import { stringify } from 'yaml'
import type {
  DescribedQuota,
  DescribedRight,
  ExampleNamespace,
  TemplateDescription,
} from '../apis/templates/describe.ts'
import { type Paint, plain } from './colour.ts'

export function descriptionText(description: TemplateDescription, paint: Paint = plain): string {
  const { template, isDisabled, selects, needs, parameters, sets, expiry, objects, example, giving } = description
  const { rights, people, quotas, withoutClusterQuotas } = description
  const given = parameters.map(
    ({ name, from, allowed, default: preset, required }) =>
      `${from}: ${allowed}${required ? ', required' : preset ? `, ${JSON.stringify(preset)} if it is not there` : ''}` +
      `   $(${name})`,
  )
  const blocks: readonly (readonly [title: string, lines: readonly string[], asTheyAre?: boolean])[] = [
    ['Selects namespaces with', selects.length > 0 ? selects : ['any name but kube-system']],
    ['To create one takes', needs],
    ['A namespace gives', given],
    ['It ends by itself', expiry === undefined ? [] : expiryLines(expiry)],
    ['It is given', [...Object.entries(sets).map(([key, value]) => `${key}: ${value}`), ...objects]],
    ['Rights go to', [...rights.map(rightLine), ...Object.entries(people).map(([token, who]) => `${token}: ${who}`)]],
    [
      'It is limited by',
      [...quotas.map(quotaLine), ...(withoutClusterQuotas ? ['ClusterResourceQuotas: not here, or not readable'] : [])],
    ],
    ['An example', pasted(example), true],
    ['One that exists is given what is required by', giving.map(indented), true],
  ]
  const text = blocks.flatMap(([title, lines, asTheyAre]) =>
    lines.length === 0 ? [] : ['', paint('strong', `${title}:`), ...(asTheyAre ? lines : lines.flatMap(broken))],
  )
  const held = standing(description)
  return `${[`template ${template}${isDisabled ? ' (disabled)' : ''}`, ...held, ...text].join('\n')}\n`
}

/** What it says beside what is described, which is its newest generation. */
function standing({ isBeingDeleted, heldGeneration: held }: TemplateDescription): string[] {
  if (isBeingDeleted) {
    const meanwhile =
      held === undefined ? 'new namespaces are given nothing of it' : `namespaces are given generation ${held}`
    return [`It is being deleted; until it is gone ${meanwhile}.`]
  }
  if (held === undefined) return []
  return [`This is its newest generation; namespaces that it does not select are given generation ${held}.`]
}

/** Where only the longest life is said, it is also what a namespace gets that says nothing. */
function expiryLines({ default: preset = '', max = '' }: NonNullable<TemplateDescription['expiry']>): string[] {
  const usual = preset || max
  return [
    ...(usual === '' ? [] : [`${usual} after its creation, if it says nothing itself`]),
    ...(max === '' ? [] : [`${max} after its creation at the latest`]),
  ]
}

const rightLine = ({ to, role, by, when }: DescribedRight): string =>
  [`${to.join(', ') || 'nobody'}: ${role}, by ${by}`, ...condition(when)].join('; ')

function quotaLine({ quota, hard = {}, scopes, scopeSelector, limits = [], ...more }: DescribedQuota): string {
  const { when, per, counts } = more
  const figures = Object.entries(hard).map(pair).join(', ') || limits.map(limitText).join('; ')
  return [
    `${quota}${figures === '' ? '' : `: ${figures}`}`,
    ...(scopes?.length ? [`of what is ${scopes.join(' and ')}`] : []),
    ...(scopeSelector?.matchExpressions ?? []).map(scopeText),
    ...(per === undefined ? [] : [`for each ${per}, over all of theirs`]),
    ...(per === undefined && quota.startsWith('Cluster') ? ['together with all other namespaces that it counts'] : []),
    ...(counts === undefined ? [] : [`if the namespace has ${counts}`]),
    ...condition(when),
  ].join('; ')
}

const pair = ([name, amount]: [string, string | number]): string => `${name} ${amount}`

/** `Container default cpu 500m, max memory 2Gi` */
function limitText({ type = '', ...bounds }: NonNullable<DescribedQuota['limits']>[number]): string {
  const texts = Object.entries(bounds).flatMap(([bound, amounts]) =>
    Object.entries(amounts ?? {}).map((amount) => `${bound} ${pair(amount)}`),
  )
  return `${type} ${texts.join(', ')}`.trimEnd()
}

type Scope = NonNullable<NonNullable<DescribedQuota['scopeSelector']>['matchExpressions']>[number]
const scopeText = ({ scopeName, operator, values = [] }: Scope): string =>
  `of ${[scopeName, operator, values.join(', ')].join(' ')}`.trimEnd()

const condition = (when: string | undefined): string[] => (when === undefined ? [] : [`if ${when}`])

/** As it stands, into a shell: in a quoted document nothing is expanded, and it must not be indented. */
const pasted = (example: ExampleNamespace): string[] => [
  // kubectl reads YAML 1.1, where `yes` without quotes is no text.
  ...`kubectl create -f - <<'EOF'\n${stringify(example, { compat: 'yaml-1.1', lineWidth: 0 })}EOF`.split('\n'),
]

const indented = (line: string): string => `  ${line}`

const columns = 100

/** Broken at spaces, what follows further in. Commands are not: they are copied. */
function broken(text: string): string[] {
  const lines: string[] = []
  let line = '  '
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length > columns) {
      lines.push(line.trimEnd())
      line = '      '
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}
