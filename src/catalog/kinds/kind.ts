/**
 * What the server knows of a built-in kind beyond its generated type: one such record for each kind, in its own file.
 * `kinds.ts` is the table of all of them.
 */
import type { MaybeResumable, Resumable } from '../../base/resumable.ts'
import type { FieldError } from '../../kube/field-error.ts'
import type { Conversion, Verb } from '../../kube/resource-type.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { TableColumns } from '../../kube/table.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Strategy } from '../strategy.ts'
import type { DefaultRules } from './default-rules.ts'
import { Report } from './report.ts'

export interface BuiltInKind {
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** Where its objects live in the store. Default: under its plural. */
  readonly storageName?: string
  /** Where discovery disagrees with OpenAPI. */
  readonly verbs?: readonly Verb[]
  /** Kinds of sub-resources whose bodies are streams: OpenAPI has no models for them. */
  readonly streamKinds?: Readonly<Record<string, string>>
  /** By version: versions that show stored objects with other fields. Default: only the apiVersion differs. */
  readonly conversions?: Readonly<Record<string, (schemaOf: (typeName: string) => Schema) => Conversion>>
  readonly strategy?: Strategy
  /** Of the kind's type and of the types that only it uses. */
  readonly defaults?: DefaultRules
  /** What `kubectl get` shows. Default: name and creation time. */
  readonly columns?: TableColumns
}

/** By `resource` or `resource.group`. */
export type BuiltInKinds = Readonly<Record<string, BuiltInKind>>

export type Prepare = NonNullable<Strategy['prepare']>
type Validate = NonNullable<Strategy['validate']>

/** Reports what is wrong with `next`. Resumable where `next` may hold many things that each take long to judge. */
type Check = (
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
) => MaybeResumable<void>

const noErrors: readonly FieldError[] = []

const validator =
  (check: Check, isOfWhole: boolean): Validate =>
  (next, old, { subresource }) => {
    if (isOfWhole && subresource !== '') return noErrors
    const report = new Report()
    const checking = check(report, next, old, subresource)
    return checking === undefined ? report.errors : reported(report, checking)
  }

export const validateWith = (check: Check): Validate => validator(check, false)

function* reported(report: Report, checking: Resumable<void>): Resumable<readonly FieldError[]> {
  yield* checking
  return report.errors
}

/** Only for writes of the whole object: upstream takes what is reported in a status of this kind as it is. */
export const validateWholeWith = (check: Check): Validate => validator(check, true)

/** `status`: of what is written by way of `/status`, which leaves the rest of the object as it was. */
export const validatePartsWith = (whole: Check, status: Check): Validate =>
  validateWith((report, next, old, subresource) => {
    if (subresource === '') return whole(report, next, old, subresource)
    return subresource === 'status' ? status(report, next, old, subresource) : undefined
  })

/** For sub-resources whose writes leave all metadata as it was. @see ResetObjectMetaForStatus in apimachinery v0.36 */
export const allMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const
