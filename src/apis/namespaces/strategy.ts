/**
 * What namespaces add to the built-in kind: two lists of finalizers, a phase that follows from the rest of the object,
 * and a deletion in two steps.
 */

import type { Strategy, StrategyContext } from '../../catalog/strategy.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isQualifiedName, notFullyQualified, standardFinalizers } from '../../kube/names.ts'
import { formatTime } from '../../kube/time.ts'
import type { MaybeAbsent, ObjectMeta, Unvalidated } from '../../kube/types.ts'
import { mergeConditions } from './conditions.ts'
import {
  type Initializers,
  isInitializing,
  kubernetesFinalizer,
  type Namespace,
  type NamespaceCondition,
  nameLabel,
  phaseOf,
  selectablePhase,
} from './types.ts'

export interface NamespaceStrategyOptions {
  /** Feature gate NamespaceInitializers; off drops the field. */
  readonly initializers: boolean
  /** How long the turn of an initializer may take, and what happens then; undefined = for ever. */
  readonly deadlineOf?: (namespace: Pick<Namespace, 'metadata'>, initializer: string) => Deadline | undefined
  /** What a write makes of the annotations that say when it ends. */
  readonly settleExpiry?: (next: Unvalidated<Namespace>, old: Namespace | undefined) => Unvalidated<Namespace>
}

type GivenInitializers = NonNullable<MaybeAbsent<Initializers>>

export interface Deadline {
  readonly timeoutMs: number
  /** True: without it. False: the namespace fails. */
  readonly goesOn: boolean
}

export function namespaceStrategy(options: NamespaceStrategyOptions): Strategy {
  return {
    storageWordedPreconditions: true,
    selectableFields: { 'status.phase': selectablePhase() },

    prepare(given: Unvalidated<Namespace>, old: Namespace | undefined, context) {
      const next = options.settleExpiry?.(given, old) ?? given
      if (old === undefined) return prepareCreate(next, options, context)
      switch (context.subresource) {
        case 'finalize':
          return { ...next, ...specOf(next.spec?.finalizers ?? [], old.spec?.initializers), ...statusOf(old) }
        case 'status':
          return { ...next, ...specOf(old.spec?.finalizers ?? [], old.spec?.initializers), ...defaultPhase(next, old) }
        default:
          return prepareUpdate(next, old, options, context)
      }
    },

    validate(next: Namespace, old: Namespace | undefined, context) {
      return [...finalizerErrors(next, context), ...(old ? phaseErrors(next) : [])]
    },

    beginDeletion(object: Namespace, context) {
      // Always by way of the controller, even when its finalizer had been taken off: only it knows that nothing is
      // left.
      const finalizers = object.spec?.finalizers ?? []
      const kept = finalizers.includes(kubernetesFinalizer) ? finalizers : [...finalizers, kubernetesFinalizer]
      return {
        ...object,
        ...specOf(kept, object.spec?.initializers),
        status: { ...object.status, phase: 'Terminating' as const, ...notReady(object, context) },
      }
    },

    heldBy: (object: Namespace) => object.spec?.finalizers ?? [],
  }
}

/** One that was never initialized has no such conditions, and is given none. */
function notReady({ status }: Namespace, context: StrategyContext): { readonly conditions?: NamespaceCondition[] } {
  const before = status?.conditions
  if (before === undefined) return {}
  const message = 'The namespace is being deleted'
  const fresh = (['Ready', 'Initializing'] as const)
    .filter((type) => before.some((c) => c.type === type && c.status === 'True'))
    .map((type) => ({ type, status: 'False' as const, reason: 'Terminating', message }))
  return { conditions: withConditions(before, fresh, context) }
}

function specOf<I extends object | null>(
  finalizers: readonly string[],
  initializers: I | undefined,
): { spec: { finalizers?: string[]; initializers?: I } } {
  return {
    spec: {
      ...(finalizers.length > 0 ? { finalizers: [...finalizers] } : {}),
      ...(initializers === undefined ? {} : { initializers }),
    },
  }
}

const statusOf = (o: Namespace): Pick<Namespace, 'status'> => (o.status === undefined ? {} : { status: o.status })

function defaultPhase(next: Unvalidated<Namespace>, old: Namespace): Pick<Unvalidated<Namespace>, 'status'> {
  const { conditions, ...status } = next.status ?? {}
  return {
    status: {
      ...status,
      phase: status.phase || phaseOf(old),
      // Upstream's type has no way to leave the time out.
      ...(conditions
        ? { conditions: conditions.map((c) => ({ ...c, lastTransitionTime: c.lastTransitionTime ?? null })) }
        : {}),
    },
  }
}

function prepareCreate(
  next: Unvalidated<Namespace>,
  options: NamespaceStrategyOptions,
  context: StrategyContext,
): Unvalidated<Namespace> {
  const given = next.spec?.finalizers ?? []
  const finalizers = given.includes(kubernetesFinalizer) ? given : [...given, kubernetesFinalizer]
  const initializers = options.initializers ? normalize(next) : undefined
  const metadata = labelledWithName(next.metadata)
  const object: Unvalidated<Namespace> = { ...next, ...specOf<GivenInitializers>(finalizers, initializers), metadata }
  if (initializers === undefined) return { ...object, status: { phase: 'Active' } }
  return {
    ...object,
    status: {
      phase: 'Initializing',
      conditions: withConditions([], initializingConditions(object, options, context), context),
    },
  }
}

/** Defaulting has labelled it already, unless the name was still to be generated. */
function labelledWithName(metadata: ObjectMeta): ObjectMeta {
  if (!metadata.generateName || !metadata.name) return metadata
  return { ...metadata, labels: { ...metadata.labels, [nameLabel]: metadata.name } }
}

/** The main resource: finalizers and status are not its business, and initializers change only when given. */
function prepareUpdate(
  next: Unvalidated<Namespace>,
  old: Namespace,
  options: NamespaceStrategyOptions,
  context: StrategyContext,
): Unvalidated<Namespace> {
  const finalizers = old.spec?.finalizers ?? []
  if (!options.initializers) return { ...next, ...specOf(finalizers, undefined), ...statusOf(old) }
  const given = next.spec?.initializers !== undefined
  const initializers = given ? normalize(next) : old.spec?.initializers
  const spec = specOf<GivenInitializers>(finalizers, initializers)
  const object: Unvalidated<Namespace> = { ...next, ...spec, ...statusOf(old) }
  if (!isInitializing(old) || JSON.stringify(initializers) === JSON.stringify(old.spec?.initializers)) return object
  // Whatever initializers still do to it, it is going.
  if (old.metadata.deletionTimestamp !== undefined) return object
  const phase = initializers === undefined ? 'Active' : 'Initializing'
  const fresh = initializingConditions(object, options, context)
  const before = (old.status?.conditions ?? []).filter((c) => !isTurnOver(old, object) || c.type !== 'Initializing')
  return { ...object, status: { ...old.status, phase, conditions: withConditions(before, fresh, context) } }
}

/** The next one's time counts from now: `lastTransitionTime` of `Initializing` says when the turn began. */
const isTurnOver = (old: Namespace, next: Unvalidated<Namespace>): boolean =>
  old.spec?.initializers?.pending?.[0]?.name !== next.spec?.initializers?.pending?.[0]?.name

/** Nothing pending and no result means done, and done is absent. */
function normalize(o: Unvalidated<Namespace>): GivenInitializers | undefined {
  const given = o.spec?.initializers
  if (given === undefined || given === null) return undefined
  const pending = given.pending ?? []
  return pending.length === 0 && !given.result ? undefined : given
}

function initializingConditions(
  o: Unvalidated<Namespace>,
  { deadlineOf }: NamespaceStrategyOptions,
  context: StrategyContext,
): NamespaceCondition[] {
  const initializers = o.spec?.initializers
  if (!initializers) {
    return [
      { type: 'Initializing', status: 'False', reason: 'Initialized', message: 'All initializers have finished' },
      { type: 'Ready', status: 'True', reason: 'Initialized', message: 'All initializers have finished' },
    ]
  }
  const failure = initializers.result
  const awaited = initializers.pending?.[0]?.name ?? ''
  const reason = failure ? 'InitializationFailed' : 'InitializersPending'
  const message = failure
    ? `Initialization failed: ${failure.message ?? failure.reason ?? 'no reason given'}`
    : `Waiting for initializer ${awaited} since ${context.now}${deadlineText(deadlineOf?.(o, awaited), context.now)}`
  return [
    { type: 'Initializing', status: failure ? 'False' : 'True', reason, message },
    { type: 'Ready', status: 'False', reason, message },
  ]
}

/** Who may not read the configurations learns it from here. */
function deadlineText(deadline: Deadline | undefined, began: string): string {
  if (deadline === undefined) return ''
  return ` until ${formatTime(Date.parse(began) + deadline.timeoutMs)}, then ${afterDeadline(deadline.goesOn)}`
}

export const afterDeadline = (goesOn: boolean): string =>
  goesOn ? 'it goes on without it' : 'the namespace fails and is deleted'

function withConditions(
  old: readonly NamespaceCondition[],
  fresh: readonly NamespaceCondition[],
  context: StrategyContext,
): NamespaceCondition[] {
  return mergeConditions(old, fresh, context.now) ?? [...old]
}

function finalizerErrors(next: Namespace, context: StrategyContext): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, name] of (next.spec?.finalizers ?? []).entries()) {
    const field = context.subresource === 'finalize' ? `spec.finalizers[${i}]` : 'spec.finalizers'
    for (const problem of isQualifiedName(name)) errors.push(fieldInvalid(field, name, problem))
    if (!name.includes('/') && !standardFinalizers.has(name)) {
      errors.push(fieldInvalid(field, name, notFullyQualified))
    }
  }
  return errors
}

function phaseErrors(next: Namespace): FieldError[] {
  const phase = next.status?.phase
  if (next.metadata.deletionTimestamp !== undefined) {
    if (phase === 'Terminating') return []
    return [fieldInvalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
  }
  if (phase === 'Active') return []
  if (phase === 'Initializing' && isInitializing(next)) return []
  return [fieldInvalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")]
}
