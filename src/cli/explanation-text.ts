/** An explanation as a terminal shows it. */
import type { Explanation, Obstacle } from '../apis/namespaces/explain.ts'
import { append } from '../base/append.ts'
import { humanDuration } from '../kube/duration.ts'
import { type Paint, plain } from './colour.ts'

/** Objects that are listed one by one. */
const listed = 10

/** A full stop behind it would be copied with it. */
const endsInCommand = /: (?:kubectl|borough) (?:(?!; ).)*$/

export function explanationText(explanation: Explanation, nowMs: number, paint: Paint = plain, isWide = false): string {
  const { namespace, state, since, held, obstacles, left, lacking = [], reports, notes } = explanation
  const ageText = since === undefined ? '' : `, for ${age(since, nowMs)} (since ${since})`
  const lines = [`Namespace ${namespace} is ${paint(held ? 'bad' : 'good', state)}${ageText}.`]
  if (!held && obstacles.length > 0) lines.push('Nothing holds it, but its deletion would be refused:')
  else if (!held && reports.length === 0)
    lines.push(lacking.length === 0 ? 'Nothing holds it.' : 'Nothing holds it, but it is not as its templates say.')
  if (left !== undefined && (left.total > 0 || left.unread.length > 0))
    append(lines, ['', ...leftLines(left, isWide ? left.total : listed)])
  for (const obstacle of obstacles) append(lines, ['', ...obstacleLines(obstacle, nowMs, paint)])
  if (reports.length > 0) {
    lines.push('', 'The server reports:')
    for (const { type, reason, message } of reports) lines.push(`  ${type} (${reason}): ${message}`)
  }
  if (lacking.length > 0)
    lines.push('', reports.length > 0 ? 'What its templates could not give it:' : 'What it lacks:')
  for (const obstacle of lacking) append(lines, ['', ...obstacleLines(obstacle, nowMs, paint)])
  if (notes.length > 0)
    append(lines, ['', ...notes.map((note) => `Note: ${note}${endsInCommand.test(note) ? '' : '.'}`)])
  return `${lines.join('\n')}\n`
}

function leftLines({ total, objects, unread }: NonNullable<Explanation['left']>, most: number): string[] {
  const shown = objects.slice(0, most)
  const more = total - shown.length
  return [
    `Left in it: ${total} ${total === 1 ? 'object' : 'objects'}`,
    ...shown.map(({ resource, name, finalizers }) =>
      finalizers.length === 0
        ? `  ${resource}/${name}`
        : `  ${resource}/${name}  (finalizers: ${finalizers.join(', ')})`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...unread.map(({ resource, why }) => `  ${resource}: could not be read: ${why}`),
  ]
}

function obstacleLines({ what, who, since, until, progress, helps }: Obstacle, nowMs: number, paint: Paint): string[] {
  return [
    `* ${paint('strong', what)}`,
    `  who must act: ${who}`,
    ...(since === undefined ? [] : [`  since: ${since} (${age(since, nowMs)})`]),
    ...(until === undefined ? [] : [`  until: ${until} (${untilText(until, nowMs)})`]),
    ...(progress === undefined ? [] : [`  it says: ${progress}`]),
    ...(helps.length === 0 ? [] : ['  what helps:']),
    ...helps.flatMap(({ command, effect }) => [`    ${paint('strong', command)}`, `      ${effect}`]),
  ]
}

const age = (since: string, nowMs: number): string => humanDuration(nowMs - Date.parse(since))

function untilText(until: string, nowMs: number): string {
  const leftMs = Date.parse(until) - nowMs
  return leftMs > 0 ? `${humanDuration(leftMs)} from now` : `${humanDuration(-leftMs)} ago`
}
