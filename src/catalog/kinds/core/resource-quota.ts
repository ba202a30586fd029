/** Resource quotas (SEMANTICS 5.1). @see ValidateResourceQuota in pkg/apis/core/validation of Kubernetes 1.36 */
import { inBatches, type Resumable } from '../../../base/resumable.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, quantityAt } from '../cell-text.ts'
import { objectAt } from '../field-access.ts'
import { type BuiltInKind, validateWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { checkNotNegative, checkResourceName, checkWhole, isHugePages } from './resource-requirements.ts'

const compute = ['cpu', 'memory', 'ephemeral-storage']
const computeQuota = [...compute, ...compute.flatMap((r) => [`requests.${r}`, `limits.${r}`])]

const counted = [
  'pods',
  'resourcequotas',
  'services',
  'services.nodeports',
  'services.loadbalancers',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
]

const standardQuota = new Set([...computeQuota, ...counted, 'requests.storage'])
const podScoped = new Set(['pods', ...computeQuota.filter((r) => !r.includes('ephemeral'))])

const isQuotaName = (name: string): boolean =>
  standardQuota.has(name) || isHugePages(name) || isHugePages(name.replace(/^requests\./, ''))

const isWholeName = (name: string): boolean => counted.includes(name) || name.startsWith('count/')

function checkQuotaName(report: Report, field: string, name: string): void {
  checkResourceName(report, field, name)
  if (!name.includes('/') && !isQuotaName(name)) report.invalid(field, name, 'must be a standard resource for quota')
}

const amountsAtOnce = 1000

/**
 * Ours: each change of content goes through all names of all quotas of its namespace, 90 at most, in one piece. What
 * was stored with more may stay.
 */
export const maxNames = 256

function hasTooMany(report: Report, at: string, amounts: Part, before: Part): boolean {
  const count = Object.keys(amounts).length
  if (count <= maxNames || count <= Object.keys(before).length) return false
  report.tooMany(at, count, maxNames)
  return true
}

function* checkAmounts(report: Report, at: string, amounts: Part): Resumable<void> {
  yield* inBatches(Object.keys(amounts).sort(), amountsAtOnce, (name) => {
    const field = `${at}[${name}]`
    checkQuotaName(report, field, name)
    checkNotNegative(report, field, amounts[name])
    if (isWholeName(name)) checkWhole(report, field, amounts[name])
  })
}

const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

/** What a quota with that scope may count. Unknown and qualified names pass, as upstream lets them. */
function scopeAllows(scope: string, name: string): boolean {
  if (!standardQuota.has(name)) return true
  switch (scope) {
    case 'BestEffort':
      return name === 'pods'
    case 'CrossNamespacePodAffinity':
      return podScoped.has(name)
    case 'VolumeAttributesClass':
      return name === 'persistentvolumeclaims' || name === 'requests.storage'
    default:
      return podScoped.has(name)
  }
}

function checkScopes(report: Report, at: string, given: readonly string[], hard: Part): void {
  const names = Object.keys(hard)
  /** What is wrong with each: a list may name one thousands of times. */
  const known = new Map<string, string | undefined>()
  const problemOf = (scope: string): string | undefined => {
    if (!scopes.includes(scope)) return 'unsupported scope'
    return names.some((name) => !scopeAllows(scope, name)) ? 'unsupported scope applied to resource' : undefined
  }
  for (const scope of given) {
    if (!known.has(scope)) known.set(scope, problemOf(scope))
    const problem = known.get(scope)
    if (problem !== undefined) report.invalid(at, given, problem)
  }
  for (const pair of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ]) {
    if (pair.every((scope) => given.includes(scope))) report.invalid(at, given, 'conflicting scopes')
  }
}

function checkScopeSelector(report: Report, selector: Part, hard: Part): void {
  const at = 'spec.scopeSelector.matchExpressions'
  const expressions = partsIn(selector, 'matchExpressions')
  checkScopes(
    report,
    `${at}.scopeName`,
    expressions.map((e) => textIn(e, 'scopeName')),
    hard,
  )
  for (const e of expressions) {
    const operator = textIn(e, 'operator')
    const values = textsIn(e, 'values')
    const bare = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']
    if (bare.includes(textIn(e, 'scopeName')) && operator !== 'Exists') {
      report.invalid(
        `${at}.operator`,
        operator,
        "must be 'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, " +
          'ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort',
      )
    }
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        report.required(
          `${at}.values`,
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        )
      }
    } else if (!operators.includes(operator))
      report.invalid(`${at}.operator`, operator, 'not a valid selector operator')
    else if (values.length > 0) {
      report.invalid(
        `${at}.values`,
        values,
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      )
    }
  }
}

function* checkResourceQuota(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): Resumable<void> {
  if (subresource === 'status') {
    const status = partIn(next, 'status')
    const before = partIn(old as Part | undefined, 'status')
    for (const field of ['hard', 'used']) {
      const at = `status.${field}`
      const amounts = partIn(status, field)
      if (!hasTooMany(report, at, amounts, partIn(before, field))) yield* checkAmounts(report, at, amounts)
    }
    return
  }
  const spec = partIn(next, 'spec')
  const hard = partIn(spec, 'hard')
  if (hasTooMany(report, 'spec.hard', hard, partIn(partIn(old as Part | undefined, 'spec'), 'hard'))) return
  yield* checkAmounts(report, 'spec.hard', hard)
  checkScopes(report, 'spec.scopes', textsIn(spec, 'scopes'), hard)
  const selector = findPart(spec, 'scopeSelector')
  if (selector) checkScopeSelector(report, selector, hard)
  if (!old) return
  const before = [...textsIn(partIn(old, 'spec'), 'scopes')].sort()
  if (!sameValue([...textsIn(spec, 'scopes')].sort(), before)) {
    report.invalid('spec.scopes', textsIn(spec, 'scopes'), 'field is immutable')
  }
}

/* Limit ranges */

function quotaUse(quota: KubeObject, wantLimits: boolean): string {
  return Object.keys(objectAt(quota, 'status', 'hard') ?? {})
    .filter((name) => name.startsWith('limits.') === wantLimits)
    .sort()
    .map((n) => `${n}: ${quantityAt(quota, 'status', 'used', n)}/${quantityAt(quota, 'status', 'hard', n)}`)
    .join(', ')
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Request', 'string', 'What is counted, and how much is used of how much.'),
    column('Limit', 'string', 'The limits that are counted, and how much is used of how much.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), quotaUse(o, false), quotaUse(o, true), ageOf(o, now)],
}

export const resourceQuota: BuiltInKind = {
  shortNames: ['quota'],
  strategy: { validate: validateWith(checkResourceQuota), returnsDeleted: true },
  columns,
}
