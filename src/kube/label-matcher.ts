/**
 * Selectors that are put to many objects, and to each change: whatever a client wrote, one is asked no more than an
 * object has labels, and no label more than once. A URL has room for 10,000 requirements, and each of thousands of
 * watches its own.
 */
import { holds, type LabelRequirement, type LabelSelector, type Labels, parseInt64 } from './label-selector.ts'
import { isAmong } from './sorted-values.ts'

export type LabelMatcher = (labels: Labels | undefined) => boolean

/** Fewer are asked one after the other. */
const fewRequirements = 4

/** As `matchesLabels`. */
export function labelMatcher(selector: LabelSelector): LabelMatcher {
  const merged = mergeByKey(selector)
  const needed = merged.filter((r) => !holdsWithout(r))
  const excluding = merged.filter(holdsWithout)
  const allHold = (list: LabelSelector, labels: Labels | undefined): boolean => list.every((r) => holds(r, labels))
  if (excluding.length <= fewRequirements) return (labels) => allHold(needed, labels) && allHold(excluding, labels)
  const byKey = Map.groupBy(excluding, ({ key }) => key)
  return (labels) => {
    if (!allHold(needed, labels)) return false
    for (const key in labels) {
      const asked = byKey.get(key)
      if (asked !== undefined && !allHold(asked, labels)) return false
    }
    return true
  }
}

/** Holds where there is no such label. */
export const holdsWithout = ({ operator }: LabelRequirement): boolean =>
  operator === '!=' || operator === 'notin' || operator === '!'

/** One of each kind for each label, sorted by label as they were. */
function mergeByKey(selector: LabelSelector): readonly LabelRequirement[] {
  const kinds = Map.groupBy(selector, ({ key, operator }) => `${kindOf[operator]} ${key}`)
  return [...kinds.values()].map((same) => (same.length === 1 ? (same[0] as LabelRequirement) : mergeSame(same)))
}

const kindOf = {
  '=': 'in',
  '==': 'in',
  in: 'in',
  '!=': 'notin',
  notin: 'notin',
  exists: 'exists',
  '!': '!',
  '>': '>',
  '<': '<',
} as const

function mergeSame(same: readonly LabelRequirement[]): LabelRequirement {
  const [{ key, operator }] = same as readonly [LabelRequirement]
  const kind = kindOf[operator]
  switch (kind) {
    case 'in':
      return { key, operator: kind, values: same.map((r) => r.values).reduce(inBoth) }
    case 'notin':
      return { key, operator: kind, values: [...new Set(same.flatMap((r) => r.values))].sort() }
    case '>':
    case '<': {
      const bounds = same.map((r) => parseInt64(r.values[0] ?? '') ?? 0n)
      const closest = bounds.reduce((a, b) => ((kind === '>' ? a > b : a < b) ? a : b))
      return { key, operator: kind, values: [String(closest)] }
    }
    default:
      return { key, operator, values: [] }
  }
}

/** No more than the first has: a selector's many lists together cost no more than they hold. */
const inBoth = (first: readonly string[], second: readonly string[]): readonly string[] =>
  first.filter((value) => isAmong(second, value))
