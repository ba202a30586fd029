/**
 * Resource quotas (SEMANTICS 5.1) and limit ranges (SEMANTICS 6).
 * @see ValidateResourceQuota, ValidateLimitRange in pkg/apis/core/validation of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import { compareQuantities, type Quantity } from '../../../kube/quantity.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import {
  amountOf,
  checkContainerResourceName,
  checkNotNegative,
  checkResourceName,
  checkWhole,
  isHugePages,
} from './resource-requirements.ts'

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

function checkAmounts(report: Report, at: string, amounts: Part): void {
  for (const name of Object.keys(amounts).sort()) {
    const field = `${at}[${name}]`
    checkQuotaName(report, field, name)
    checkNotNegative(report, field, amounts[name])
    if (isWholeName(name)) checkWhole(report, field, amounts[name])
  }
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
  for (const scope of given) {
    if (!scopes.includes(scope)) report.invalid(at, given, 'unsupported scope')
    else if (Object.keys(hard).some((name) => !scopeAllows(scope, name))) {
      report.invalid(at, given, 'unsupported scope applied to resource')
    }
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

export function checkResourceQuota(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  if (subresource === 'status') {
    const status = partIn(next, 'status')
    checkAmounts(report, 'status.hard', partIn(status, 'hard'))
    checkAmounts(report, 'status.used', partIn(status, 'used'))
    return
  }
  const spec = partIn(next, 'spec')
  const hard = partIn(spec, 'hard')
  checkAmounts(report, 'spec.hard', hard)
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

const limitTypes = ['Container', 'Pod', 'PersistentVolumeClaim']
const bounds = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

function checkLimitName(report: Report, field: string, name: string, type: string): void {
  if (type === 'Pod' || type === 'Container') checkContainerResourceName(report, field, name)
  else checkResourceName(report, field, name)
}

export function checkLimitRange(report: Report, next: KubeObject): void {
  const seen = new Set<string>()
  partsIn(partIn(next, 'spec'), 'limits').forEach((item, i) => {
    const at = `spec.limits[${i}]`
    const type = textIn(item, 'type')
    const errors = isQualifiedName(type)
    report.each(`${at}.type`, type, errors)
    if (errors.length === 0 && !type.includes('/') && !limitTypes.includes(type)) {
      report.invalid(`${at}.type`, type, 'must be a standard limit type or fully qualified')
    }
    report.unique(`${at}.type`, type, seen)
    checkLimitItem(report, at, item, type)
  })
}

function checkLimitItem(report: Report, at: string, item: Part, type: string): void {
  const names = new Set<string>()
  for (const bound of bounds) {
    if (type === 'Pod' && (bound === 'default' || bound === 'defaultRequest')) {
      if (Object.keys(partIn(item, bound)).length > 0) {
        report.forbidden(`${at}.${bound}`, "may not be specified when `type` is 'Pod'")
      }
      continue
    }
    for (const name of Object.keys(partIn(item, bound)).sort()) {
      checkLimitName(report, `${at}.${bound}[${name}]`, name, type)
      names.add(name)
    }
  }
  if (
    type === 'PersistentVolumeClaim' &&
    partIn(item, 'min').storage === undefined &&
    partIn(item, 'max').storage === undefined
  ) {
    report.required(`${at}.limits`, 'either minimum or maximum storage value is required, but neither was provided')
  }
  for (const name of [...names].sort()) checkBounds(report, at, item, name)
}

function checkBounds(report: Report, at: string, item: Part, name: string): void {
  const text = (bound: string): string => String(partIn(item, bound)[name])
  const amount = (bound: string): Quantity | undefined => amountOf(partIn(item, bound)[name])
  const [max, min, fallback, request, ratio] = bounds.map(amount)
  /** `bound` is where it is reported, `shown` whose amount. */
  const ordered = (
    low: Quantity | undefined,
    high: Quantity | undefined,
    bound: string,
    what: string,
    shown = bound,
  ): void => {
    if (low && high && compareQuantities(low, high) > 0) report.invalid(`${at}.${bound}[${name}]`, text(shown), what)
  }
  ordered(min, max, 'min', `min value ${text('min')} is greater than max value ${text('max')}`)
  ordered(
    min,
    request,
    'defaultRequest',
    `min value ${text('min')} is greater than default request value ${text('defaultRequest')}`,
  )
  ordered(
    request,
    max,
    'defaultRequest',
    `default request value ${text('defaultRequest')} is greater than max value ${text('max')}`,
  )
  ordered(
    request,
    fallback,
    'defaultRequest',
    `default request value ${text('defaultRequest')} is greater than default limit value ${text('default')}`,
  )
  ordered(min, fallback, 'default', `min value ${text('min')} is greater than default value ${text('default')}`, 'min')
  ordered(fallback, max, 'default', `default value ${text('default')} is greater than max value ${text('max')}`, 'max')
  const one = 1_000_000_000n
  if (ratio && ratio.nanos < one) {
    report.invalid(
      `${at}.maxLimitRequestRatio[${name}]`,
      text('maxLimitRequestRatio'),
      `ratio ${text('maxLimitRequestRatio')} is less than 1`,
    )
  }
  if (ratio && min && max && min.nanos > 0n) {
    const possible = Number(max.nanos) / Number(min.nanos)
    if (Number(ratio.nanos) / Number(one) > possible) {
      report.invalid(
        `${at}.maxLimitRequestRatio[${name}]`,
        text('maxLimitRequestRatio'),
        `ratio ${text('maxLimitRequestRatio')} is greater than max/min = ${possible.toFixed(6)}`,
      )
    }
  }
}
