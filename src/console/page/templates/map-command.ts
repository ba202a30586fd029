/** The map as a command that shows the same: kubectl prints no selection, so each template's is asked and filtered. */
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { isDisabled, serviceAccountPrefix } from '../../../apis/templates/match.ts'
import {
  creatorKey,
  type NamespaceTemplate,
  optedOutNamespace,
  optOutAnnotation,
} from '../../../apis/templates/types.ts'
import { shellWord } from '../../../base/shell-text.ts'
import { labelSelectorOf, printLabelSelector } from '../../../kube/label-selector.ts'
import { columnsFlag, keyPath } from '../namespace/commands.ts'
import { mostNamed, stateColumns } from '../namespaces/list-command.ts'
import { isAwaited } from '../namespaces/namespace-row.ts'

/** A row of the map. */
export interface Reached {
  readonly namespace: Namespace
  /** Names of those that reach it. */
  readonly templates: readonly string[]
}

export interface MapShown {
  readonly rows: readonly Reached[]
  readonly templates: readonly NamespaceTemplate[]
  /** The one that is chosen; empty: any. */
  readonly template: string
  /** What is looked for. */
  readonly sought: string
}

export function mapCommand({ rows, templates, template, sought }: MapShown): string {
  const names = rows.length <= mostNamed ? rows.map(nameOf) : []
  // A list leaves out what is being initialized for others; by its name it is shown.
  const awaited = rows.filter(({ namespace }) => isAwaited(namespace)).slice(0, mostNamed)
  const areChosen = sought !== '' || template !== ''
  const listed = areChosen || awaited.length > 0 ? names : []
  return [
    ['kubectl get namespaces', ...listed.map(shellWord), stateColumns].join(' '),
    ...templates
      .filter((t) => template === '' || t.metadata.name === template)
      .filter((t) => !isDisabled(t) && t.metadata.deletionTimestamp === undefined)
      .map((t) => {
        const { name = '' } = t.metadata
        const hidden = awaited.filter((reached) => reached.templates.includes(name)).map(nameOf)
        return reachCommand(t, sought === '' ? [] : names, hidden)
      }),
  ].join('; ')
}

const nameOf = ({ namespace }: Reached): string => namespace.metadata.name ?? ''

/** The namespaces that a template reaches, below a line with its name. */
function reachCommand(template: NamespaceTemplate, names: readonly string[], hidden: readonly string[]): string {
  const selector = printLabelSelector(labelSelectorOf(template.spec?.namespaces?.labelSelector ?? {}))
  const columns = columnsFlag({
    [`REACHED BY ${template.metadata.name ?? ''}`]: '.metadata.name',
    'OPTED OUT': `.metadata.annotations.${keyPath(optOutAnnotation)}`,
    CREATOR: `.metadata.annotations.${keyPath(creatorKey)}`,
  })
  const list = `kubectl get namespaces ${selector === '' ? '' : `-l ${shellWord(selector)} `}${columns}`
  const named = `kubectl get namespaces ${hidden.map(shellWord).join(' ')} --no-headers ${columns}`
  const asked = hidden.length === 0 ? list : `{ ${list}; ${named}; }`
  return `${asked} | awk -F'   +' ${shellWord(`NR == 1 || (${filterOf(template, names)} && !seen[$1]++) {print $1}`)}`
}

/** What a template asks beyond labels, in awk. */
function filterOf({ spec }: NamespaceTemplate, names: readonly string[]): string {
  const { nameSelector, creatorSelector } = spec?.namespaces ?? {}
  const include = nameSelector?.include ?? []
  const exclude = nameSelector?.exclude ?? []
  return [
    ...(names.length === 0 ? [] : [`$1 ~ ${anyOf(names)}`]),
    `$1 != "${optedOutNamespace}"`,
    '$2 != "true"',
    ...(include.length === 0 ? [] : [`$1 ~ ${anyOf(include)}`]),
    ...(exclude.length === 0 ? [] : [`$1 !~ ${anyOf(exclude)}`]),
    ...(creatorSelector === undefined
      ? []
      : [
          // As kubectl prints that there is none.
          '$3 != "<none>"',
          `$3 ~ ${anyOf([
            ...(creatorSelector.users ?? []),
            ...(creatorSelector.serviceAccounts ?? []).map((g) => serviceAccountPrefix + g.replace('/', ':')),
          ])}`,
        ]),
  ].join(' && ')
}

/** A regular expression, as a text of awk's, for what one of the globs matches as a whole. */
const anyOf = (globs: readonly string[]): string => `"^(${globs.map(awkPattern).join('|')})$"`

const awkPattern = (glob: string): string =>
  glob.replaceAll(/[^\w\s@:,=%/-]/gu, (c) => {
    if (c === '*') return '.*'
    if (c === '?') return '.'
    // Read twice, as a text and as an expression.
    if (c === '\\') return '\\\\\\\\'
    if (c === '^') return '\\\\^'
    return c === '"' ? '\\"' : /[.+()[\]{}|$]/.test(c) ? `[${c}]` : c
  })
