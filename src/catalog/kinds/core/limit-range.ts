/**
 * Limit ranges (SEMANTICS 6).
 * @see ValidateLimitRange in pkg/apis/core/validation, pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
import { inBatches, type Resumable } from '../../../base/resumable.ts'
import { isQualifiedName } from '../../../kube/names.ts'
import { compareQuantities, type Quantity } from '../../../kube/quantity.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { type DefaultRule, findStruct, structIn } from '../default-rules.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { amountOf, checkContainerResourceName, checkResourceName } from './resource-requirements.ts'

const limitTypes = ['Container', 'Pod', 'PersistentVolumeClaim']
const bounds = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

function checkLimitName(report: Report, field: string, name: string, type: string): void {
  if (type === 'Pod' || type === 'Container') checkContainerResourceName(report, field, name)
  else checkResourceName(report, field, name)
}

/** Ours: of each pod each container is held against all of them. What was stored with more may stay. */
const maxAmounts = 1000

function countAmounts(range: KubeObject | undefined): number {
  let count = 0
  for (const item of partsIn(partIn(range as Part | undefined, 'spec'), 'limits')) {
    for (const bound of bounds) count += Object.keys(partIn(item, bound)).length
  }
  return count
}

function* checkLimitRange(report: Report, next: KubeObject, old: KubeObject | undefined): Resumable<void> {
  const count = countAmounts(next)
  if (count > maxAmounts && count > countAmounts(old)) return report.tooMany('spec.limits', count, maxAmounts)
  const seen = new Set<string>()
  for (const [i, item] of partsIn(partIn(next, 'spec'), 'limits').entries()) {
    const at = `spec.limits[${i}]`
    const type = textIn(item, 'type')
    const errors = isQualifiedName(type)
    report.each(`${at}.type`, type, errors)
    if (errors.length === 0 && !type.includes('/') && !limitTypes.includes(type)) {
      report.invalid(`${at}.type`, type, 'must be a standard limit type or fully qualified')
    }
    report.unique(`${at}.type`, type, seen)
    yield* checkLimitItem(report, at, item, type)
    yield
  }
}

/** Resources of one item that are judged between two pauses. */
const namesAtOnce = 1000

function* checkLimitItem(report: Report, at: string, item: Part, type: string): Resumable<void> {
  const names = new Set<string>()
  for (const bound of bounds) {
    if (type === 'Pod' && (bound === 'default' || bound === 'defaultRequest')) {
      if (Object.keys(partIn(item, bound)).length > 0) {
        report.forbidden(`${at}.${bound}`, "may not be specified when `type` is 'Pod'")
      }
      continue
    }
    yield* inBatches(Object.keys(partIn(item, bound)).sort(), namesAtOnce, (name) => {
      checkLimitName(report, `${at}.${bound}[${name}]`, name, type)
      names.add(name)
    })
  }
  if (
    type === 'PersistentVolumeClaim' &&
    partIn(item, 'min').storage === undefined &&
    partIn(item, 'max').storage === undefined
  ) {
    report.required(`${at}.limits`, 'either minimum or maximum storage value is required, but neither was provided')
  }
  yield* inBatches([...names].sort(), namesAtOnce, (name) => checkBounds(report, at, item, name))
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

const limitRangeItem: DefaultRule = (item) => {
  if (item.type !== 'Container') return
  // It is refused, unless it was so before: to complete thousands takes as long as to judge them.
  if (bounds.some((bound) => Object.keys(findStruct(item, bound) ?? {}).length > maxAmounts)) return
  const limits = structIn(item, 'default')
  const requests = structIn(item, 'defaultRequest')
  for (const [source, target] of [
    [findStruct(item, 'max'), limits],
    [limits, requests],
    [findStruct(item, 'min'), requests],
  ] as const) {
    for (const [name, value] of Object.entries(source ?? {})) if (target[name] === undefined) target[name] = value
  }
  for (const field of ['default', 'defaultRequest']) {
    if (Object.keys(structIn(item, field)).length === 0) delete item[field]
  }
}

export const limitRange: BuiltInKind = {
  shortNames: ['limits'],
  strategy: { validate: validateWholeWith(checkLimitRange), createOnUpdate: true },
  defaults: { 'io.k8s.api.core.v1.LimitRangeItem': [limitRangeItem] },
}
