/** What labels of namespaces mean, as upstream reads them. */
import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../../../test/support/refusal.ts'
import { defaultPolicy, policyReader, printPolicy } from './pod-policy.ts'

const label = (name: string): string => `pod-security.kubernetes.io/${name}`

/** enforce, audit, warn; then what is wrong. */
function read(labels: Record<string, string> | undefined): { policy: string; faults: string[] } {
  const given = labels && Object.fromEntries(Object.entries(labels).map(([name, value]) => [label(name), value]))
  const { policy, faults } = policyReader(defaultPolicy)(given)
  return {
    policy: [policy.enforce, policy.audit, policy.warn].map(printPolicy).join(' '),
    faults: faultsOf(faults),
  }
}

const wrongLevel = (mode: string, value: string): string =>
  `metadata.labels[${label(mode)}]: Invalid value: "${value}": must be one of privileged, baseline, restricted`
const wrongVersion = (mode: string, value: string): string =>
  `metadata.labels[${label(mode)}-version]: Invalid value: "${value}": must be "latest" or "v1.x"`

const open = 'privileged:latest'

const cases: readonly {
  name: string
  given: Record<string, string> | undefined
  want: string
  faults?: readonly string[]
}[] = [
  { name: 'no labels forbid nothing', given: undefined, want: `${open} ${open} ${open}` },
  { name: 'other labels forbid nothing', given: { other: 'restricted' }, want: `${open} ${open} ${open}` },
  {
    name: 'who enforces is warned too',
    given: { enforce: 'restricted', 'enforce-version': 'v1.30' },
    want: `restricted:v1.30 ${open} restricted:v1.30`,
  },
  {
    name: 'who enforces and says of warnings only their version is warned by that',
    given: { enforce: 'baseline', 'enforce-version': 'v1.30', 'warn-version': 'v1.20' },
    want: `baseline:v1.30 ${open} baseline:v1.20`,
  },
  {
    name: 'who enforces and wants no warnings is not warned',
    given: { enforce: 'restricted', warn: 'privileged' },
    want: `restricted:latest ${open} privileged:latest`,
  },
  {
    name: 'who is to be warned of more is warned of more',
    given: { enforce: 'baseline', warn: 'restricted', 'warn-version': 'v1.25' },
    want: `baseline:latest ${open} restricted:v1.25`,
  },
  {
    name: 'the audit log is asked for by itself',
    given: { audit: 'restricted', 'audit-version': 'v1.0' },
    want: `${open} restricted:v1.0 ${open}`,
  },
  {
    name: 'a version alone forbids nothing',
    given: { 'enforce-version': 'v1.30' },
    want: `privileged:v1.30 ${open} ${open}`,
  },
  {
    name: 'a level that nobody knows enforces everything, without more warnings',
    given: { enforce: 'strict' },
    want: `restricted:latest ${open} ${open}`,
    faults: [wrongLevel('enforce', 'strict')],
  },
  {
    name: 'a level that nobody knows neither warns nor is logged',
    given: { audit: '', warn: 'Baseline' },
    want: `${open} ${open} ${open}`,
    faults: [wrongLevel('audit', ''), wrongLevel('warn', 'Baseline')],
  },
  {
    name: 'all that is wrong is told, mode by mode',
    given: { warn: 'w', 'warn-version': '1.2', audit: 'a', enforce: 'e', 'enforce-version': 'v2.0' },
    want: `restricted:latest ${open} ${open}`,
    faults: [
      wrongLevel('enforce', 'e'),
      wrongVersion('enforce', 'v2.0'),
      wrongLevel('audit', 'a'),
      wrongLevel('warn', 'w'),
      wrongVersion('warn', '1.2'),
    ],
  },
  {
    name: 'the greatest version',
    given: { enforce: 'baseline', 'enforce-version': 'v1.9223372036854775807' },
    want: `baseline:v1.9223372036854775807 ${open} baseline:v1.9223372036854775807`,
  },
  ...['', 'v1', 'v1.', 'v1.01', 'v1.-1', 'v1.2.3', 'V1.2', 'v1.9223372036854775808', 'Latest'].map((version) => ({
    name: `'${version}' is no version`,
    given: { enforce: 'baseline', 'enforce-version': version },
    want: `baseline:latest ${open} baseline:latest`,
    faults: [wrongVersion('enforce', version)],
  })),
]

describe('labels of a namespace', () => {
  for (const { name, given, want, faults = [] } of cases) {
    it(name, () => expect(read(given)).toEqual({ policy: want, faults }))
  }
})
