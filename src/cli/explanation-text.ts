/** An explanation as a terminal shows it. */
import type { Explanation, Obstacle } from '../apis/namespaces/explain.ts'
import { append } from '../base/append.ts'

/** Objects that are listed one by one. */
const listed = 10

export function explanationText(explanation: Explanation, nowMs: number): string {
  const { namespace, state, since, held, obstacles, left, reports, notes } = explanation
  const lines = [
    `Namespace ${namespace} is ${state}${since === undefined ? '' : `, for ${age(since, nowMs)} (since ${since})`}.`,
  ]
  if (!held && obstacles.length > 0) lines.push('Nothing holds it, but its deletion would be refused:')
  else if (!held && reports.length === 0) lines.push('Nothing holds it.')
  if (left !== undefined && (left.total > 0 || left.unread.length > 0)) append(lines, ['', ...leftLines(left)])
  for (const obstacle of obstacles) append(lines, ['', ...obstacleLines(obstacle, nowMs)])
  if (reports.length > 0) {
    lines.push('', 'The server reports:')
    for (const { type, reason, message } of reports) lines.push(`  ${type} (${reason}): ${message}`)
  }
  if (notes.length > 0) append(lines, ['', ...notes.map((note) => `Note: ${note}.`)])
  return `${lines.join('\n')}\n`
}

function leftLines({ total, objects, unread }: NonNullable<Explanation['left']>): string[] {
  const shown = objects.slice(0, listed)
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

function obstacleLines({ what, who, since, until, progress, helps }: Obstacle, nowMs: number): string[] {
  return [
    `* ${what}`,
    `  who must act: ${who}`,
    ...(since === undefined ? [] : [`  since: ${since} (${age(since, nowMs)})`]),
    ...(until === undefined ? [] : [`  until: ${until} (${untilText(until, nowMs)})`]),
    ...(progress === undefined ? [] : [`  it says: ${progress}`]),
    ...(helps.length === 0 ? [] : ['  what helps:']),
    ...helps.flatMap(({ command, effect }) => [`    ${command}`, `      ${effect}`]),
  ]
}

const age = (since: string, nowMs: number): string => duration(nowMs - Date.parse(since))

function untilText(until: string, nowMs: number): string {
  const leftMs = Date.parse(until) - nowMs
  return leftMs > 0 ? `${duration(leftMs)} from now` : `${duration(-leftMs)} ago`
}

/** `45s`, `3m12s`, `2h5m`, `4d3h`: two units at most. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ]
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first < 0) return '0s'
  let rest = seconds
  return units
    .slice(first, first + 2)
    .map(([unit, size]) => {
      const n = Math.floor(rest / size)
      rest -= n * size
      return n === 0 ? '' : `${n}${unit}`
    })
    .join('')
}
