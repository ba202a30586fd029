/** How far a change of a template may reach at once: the amounts of `spec.rollout`, and what holds without them. */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import type { Rollout } from './types.ts'

const sharePattern = /^(\d+)%$/

/** A number, or a share of `whole` rounded up; what is neither was refused when the template was written. */
function amountOf(value: number | string, whole: () => number): number {
  if (typeof value === 'number') return value
  const share = sharePattern.exec(value)
  return share === null ? 0 : Math.ceil((Number(share[1]) * whole()) / 100)
}

/** Where the template names no amount: this share, and at least so many namespaces, for small clusters. */
const defaultShare = '10%'
const defaultLeast = 5

/** How many of `whole` namespaces an amount of `spec.rollout` allows. */
export function limitOf(amount: number | string | undefined, whole: () => number): number {
  return amount === undefined ? Math.max(defaultLeast, amountOf(defaultShare, whole)) : amountOf(amount, whole)
}

export function rolloutErrors({ maxUnavailable, maxPrune }: Rollout): FieldError[] {
  const errors: FieldError[] = []
  if (maxUnavailable !== undefined && !isAmount(maxUnavailable, 1)) {
    errors.push(
      fieldInvalid('spec.rollout.maxUnavailable', maxUnavailable, 'must be at least 1, or a share like "10%"'),
    )
  }
  if (maxPrune !== undefined && !isAmount(maxPrune, 0)) {
    errors.push(fieldInvalid('spec.rollout.maxPrune', maxPrune, 'must be 0 or more, or a share like "10%"'))
  }
  return errors
}

const isAmount = (value: number | string, least: number): boolean =>
  typeof value === 'number' ? value >= least : sharePattern.test(value) && Number.parseInt(value, 10) <= 100

/** The way out of a deletion that was not meant: no API server takes one back. */
export const keepsWhatItMade = (template: string): string =>
  'keep what it made, and create it again with spec.adopt: true: ' +
  `kubectl patch namespacetemplate ${template} --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`
