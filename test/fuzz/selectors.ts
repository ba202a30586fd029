/** Selectors as texts, and the queries that have them. */
import type { Random } from './random.ts'
import { name, text } from './words.ts'

const operators = ['=', '==', '!=', ' in ', ' notin ', '>', '<', '!', '', '=='] as const
const fields = ['metadata.name', 'metadata.namespace', 'status.phase', 'spec.nodeName', 'type', 'reason', 'spec.x']

function requirement(random: Random, left: string): string {
  const operator = random.pick(operators)
  if (operator === '!') return `!${left}`
  if (operator === '') return left
  const right = operator.endsWith('in ') ? `(${random.some(4, () => text(random)).join(',')})` : text(random)
  return `${left}${operator}${right}`
}

export const labelSelector = (random: Random): string =>
  random
    .some(4, () => requirement(random, name(random)))
    .join(random.pick([',', ',', ', ', ',,']))
    .slice(0, random.chance(0.1) ? random.below(20) : 4000)

export const fieldSelector = (random: Random): string =>
  random.some(3, () => requirement(random, random.chance(0.7) ? random.pick(fields) : name(random))).join(',')

const continues = [
  '',
  'x',
  Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"x\\u0000"}').toString('base64url'),
  Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"../../secrets/\\u0000"}').toString('base64url'),
  Buffer.from('{"v":"meta.k8s.io/v1","rv":1e999,"start":""}').toString('base64url'),
]

type Parameter = readonly [key: string, values: (random: Random) => string]
const flag: Parameter[1] = (random) => random.pick(['true', 'false', '1', '0', '', 'x'])
const amount: Parameter[1] = (random) => random.pick(['0', '1', '2', '500', '-1', '1.5', 'x', '9223372036854775808'])
/** One that the store has yet to reach is waited for: seldom. */
const version: Parameter[1] = (random) =>
  random.chance(0.002)
    ? '9007199254740991'
    : random.pick(['', '0', '1', '2', '100', '-1', 'x', '1.5', '18446744073709551616'])

const parameters: readonly Parameter[] = [
  ['labelSelector', labelSelector],
  ['fieldSelector', fieldSelector],
  ['limit', amount],
  ['continue', (random) => random.pick(continues)],
  ['resourceVersion', version],
  ['resourceVersionMatch', (random) => random.pick(['Exact', 'NotOlderThan', 'x', ''])],
  ['watch', flag],
  ['allowWatchBookmarks', flag],
  ['sendInitialEvents', flag],
  ['timeoutSeconds', (random) => random.pick(['0', '1', '-1', 'x'])],
  ['pretty', flag],
  ['includeUninitialized', flag],
  ['includeObject', (random) => random.pick(['None', 'Metadata', 'Object', 'x'])],
  ['dryRun', (random) => random.pick(['All', '', 'x', 'All,All'])],
  ['fieldManager', text],
  ['fieldValidation', (random) => random.pick(['Strict', 'Warn', 'Ignore', 'x'])],
  ['force', flag],
  ['gracePeriodSeconds', amount],
  ['propagationPolicy', (random) => random.pick(['Foreground', 'Background', 'Orphan', 'x'])],
  ['orphanDependents', flag],
  ['ignoreStoreReadErrorWithClusterBreakingPotential', flag],
]

/** Without `?`; now and then not percent-encoded as it should be. */
export function query(random: Random, most: number): string {
  const pairs = random.some(most, () => {
    const [key, values] = random.chance(0.95) ? random.pick(parameters) : ([text(random), text] as const)
    return [key, values(random)] as const
  })
  if (random.chance(0.05)) return pairs.map(([key, value]) => `${key}=${value}`).join('&')
  return new URLSearchParams(pairs.map(([key, value]) => [key, value])).toString()
}
