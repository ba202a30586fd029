/**
 * Server-side apply: a manager states all it wants of an object; the server merges that in, takes away what the manager
 * wanted before and no longer does, and refuses to change what others own.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/structuredmerge.go v0.36
 */
import type { MaybeResumable } from '../../base/resumable.ts'
import { parseApiVersion } from '../gvk.ts'
import { badRequest, StatusError } from '../status-error.ts'
import type { JsonObject, KubeObject } from '../types.ts'
import { configurationProblem } from './check-configuration.ts'
import { comparingObjects } from './comparing.ts'
import { configuredFields, configuringFields } from './configured-fields.ts'
import { allowedAside, type Conflict, conflictError, conflictsWith } from './conflicts.ts'
import { equalSets, type FieldSet, isEmpty } from './field-set.ts'
import { fieldsOfLastApplied, kubectlManager, withLastApplied } from './last-applied.ts'
import {
  type Managed,
  type ManagerId,
  readStored,
  sameManager,
  timeOfWrite,
  withEntries,
  writeManaged,
} from './managed-fields.ts'
import { mergingValues } from './merge-values.ts'
import { objectSchema } from './object-schema.ts'
import { pruned } from './prune.ts'
import { pausing, type Steps, settled, stepsOf } from './steps.ts'
import {
  changesFor,
  knownOnly,
  reconcile,
  type TrackUpdateInput,
  trackNew,
  trackNewInSteps,
  withoutFields,
} from './track-update.ts'
import { ChangesByVersion } from './versions.ts'

export interface ApplyInput extends Omit<TrackUpdateInput, 'next'> {
  /** The body of the request, as the client wrote it: not defaulted, not pruned. */
  readonly config: KubeObject
  /** Of the endpoint; together with `apiVersion` it must be the body's. */
  readonly kind: string
  /** Take fields over from other managers instead of refusing. */
  readonly force?: boolean
}

const firstManager = 'before-first-apply'

/**
 * The object to store, with managedFields; `live` itself if nothing changes at all. It shares parts with its arguments.
 * The caller fills defaults afterwards and compares with what is stored (see `sameOwnership`).
 *
 * @throws StatusError 409 with FieldManagerConflict causes; 400 for a body of another kind or version or one with
 *   managedFields; 500 without a reason for a body that does not fit the schema, as upstream answers it; what a
 *   conversion between versions throws.
 */
export function applyConfiguration(
  input: ApplyInput & { readonly versions?: never; readonly slice?: never },
): KubeObject
export function applyConfiguration(input: ApplyInput): KubeObject | Promise<KubeObject>
export function applyConfiguration(input: ApplyInput): KubeObject | Promise<KubeObject> {
  return settled(applied(input))
}

function* applied(input: ApplyInput): Steps<KubeObject> {
  checkBody(input)
  yield* pausing(input.slice)
  const managed = input.live === undefined ? [] : yield* entriesBefore(input, input.live)
  const plan = yield* planned(input, managed)
  yield* pausing(input.slice)
  const conflicts = input.force ? [] : realConflicts(input, plan.conflicts)
  yield* pausing(input.slice)
  if (conflicts.length > 0) throw yield* conflictError(conflicts, input.slice)
  yield* pausing(input.slice)
  const result = withEntries(plan.object, entriesAfter(input, managed, plan))
  return input.manager === kubectlManager ? withLastApplied(result, input.config) : result
}

function checkBody({ config, apiVersion, kind, schema }: ApplyInput): void {
  const type = typeText(config)
  if (config.apiVersion !== apiVersion || config.kind !== kind) throw badRequest(`invalid object type: ${type}`)
  if (config.metadata.managedFields) throw badRequest('metadata.managedFields must be nil')
  const problem = configurationProblem(schema, config)
  if (problem === undefined) return
  // It is just found not to fit: upstream reads what is no text as nothing.
  const { namespace, name } = config.metadata
  const subject = [namespace, name].map((part) => (typeof part === 'string' ? part : '')).join('/')
  throw new StatusError(`failed to create typed patch object (${subject}; ${type}): ${problem}`)
}

/** `apps/v1, Kind=Deployment`, `/v1, Kind=Secret`, `/, Kind=` */
function typeText({ apiVersion = '', kind = '' }: KubeObject): string {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  return `${group}/${version}, Kind=${kind}`
}

/** An object without managedFields belongs to one manager as it is, so that no apply can change it unnoticed. */
function* entriesBefore(input: ApplyInput, live: KubeObject): Steps<readonly Managed[]> {
  const stored = readStored(live.metadata.managedFields)
  if (stored.length > 0) return reconcile(stored, input)
  const { versions: _, slice, ...whole } = input
  const first = { ...whole, live: undefined, next: withEntries(live, undefined), manager: firstManager }
  const claimed = slice === undefined ? trackNew(first) : yield* trackNewInSteps({ ...first, slice })
  return readStored(claimed.metadata.managedFields)
}

interface Plan {
  /** `live` itself if it is as wanted. */
  readonly object: KubeObject
  readonly fields: FieldSet
  readonly previous: Managed | undefined
  /** The other managers, without what this apply takes or removes. */
  readonly others: readonly Managed[]
  readonly conflicts: readonly Conflict[]
}

function* planned(input: ApplyInput, managed: readonly Managed[]): Steps<Plan> {
  const { live, schema, resetFields } = input
  const root = objectSchema(schema)
  const config = withoutServerMetadata(input.config)
  yield* pausing(input.slice)
  const fields =
    input.slice === undefined
      ? configuredFields(schema, config, resetFields)
      : yield* configuringFields(schema, config, resetFields, input.slice)
  const previous = managed.find((m) => sameManager(m, managerOf(input)))
  const others = knownOnly(
    managed.filter((m) => m !== previous),
    input,
  )
  if (live === undefined) return { object: config, fields, previous, others, conflicts: [] }

  const lay = (over: JsonObject): Steps<JsonObject> =>
    stepsOf(mergingValues(root, over, config as unknown as JsonObject) as MaybeResumable<JsonObject>, input.slice)
  yield* pausing(input.slice)
  const merged = yield* lay(live as unknown as JsonObject)
  yield* pausing(input.slice)
  const rest = previous === undefined ? merged : yield* pruned({ request: input, merged, previous, fields, others })
  // What was emptied by pruning is gone; if the configuration says it is empty, it must be there.
  const object = (rest === merged ? merged : yield* lay(rest)) as unknown as KubeObject
  yield* pausing(input.slice)
  const isSame = object === live || others.length === 0
  const changes = isSame ? undefined : yield* comparingObjects(schema, live, object, resetFields, input.slice)
  if (changes === undefined) return { object, fields, previous, others, conflicts: [] }
  yield* pausing(input.slice)
  const byVersion = new ChangesByVersion(input, live, object, changes)
  const found = yield* changesFor(others, byVersion, input)
  yield* pausing(input.slice)
  const remaining = yield* withoutFields(others, found, input.slice)
  yield* pausing(input.slice)
  return { object, fields, previous, others: remaining, conflicts: yield* conflictsWith(others, found, input.slice) }
}

const managerOf = ({ manager, apiVersion, subresource }: ApplyInput): ManagerId => ({
  manager: manager || 'unknown',
  operation: 'Apply',
  apiVersion,
  subresource: subresource ?? '',
})

/** Metadata that only the server sets; typed clients send some of it as null. */
function withoutServerMetadata(config: KubeObject): KubeObject {
  const { creationTimestamp, generation, selfLink, managedFields, ...metadata } = config.metadata
  const set = [creationTimestamp, generation, selfLink, managedFields].some((value) => value !== undefined)
  return set ? { ...config, metadata } : config
}

function realConflicts(input: ApplyInput, conflicts: readonly Conflict[]): readonly Conflict[] {
  if (conflicts.length === 0 || input.manager !== kubectlManager || input.live === undefined) return conflicts
  return allowedAside(conflicts, fieldsOfLastApplied(input.schema, input.live, input.apiVersion))
}

function entriesAfter(
  input: ApplyInput,
  before: readonly Managed[],
  plan: Plan,
): KubeObject['metadata']['managedFields'] {
  const mine = entryAfter(input, plan)
  const after = mine === undefined ? plan.others : [...plan.others, mine]
  const stored = input.live?.metadata.managedFields
  const known = new Set(before)
  const same = stored?.length === after.length && after.every((m) => m.entry !== undefined && known.has(m))
  return same ? stored : writeManaged(after)
}

/** Its time moves only if the object changed: repeating an apply is no write. */
function entryAfter(input: ApplyInput, { object, fields, previous }: Plan): Managed | undefined {
  if (isEmpty(fields)) return undefined
  const changed = object !== input.live
  const isWrite = changed || previous === undefined
  const time = isWrite ? timeOfWrite(input.subresource ?? '', input.now, previous) : previous.time
  const same = !changed && previous?.apiVersion === input.apiVersion && equalSets(previous.fields, fields)
  return same ? previous : { ...managerOf(input), time, fields }
}
