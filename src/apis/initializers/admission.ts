/**
 * Who waits for whom, and who may act meanwhile.
 *
 * - A new namespace gets its list of initializers here; clients can't set it unless they hold `initialize`.
 * - Only the first of the list can be removed, by a holder of `initialize`.
 * - While any is pending, writing content of the namespace needs `initialize` on it; others who have the right to write
 *   are told to come back (429), since the namespace will be theirs in a moment.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { append } from '../../base/append.ts'
import { type FieldError, fieldForbidden, fieldInvalid } from '../../kube/field-error.ts'
import { forbidden, invalid, tooManyRequests } from '../../kube/status-error.ts'
import type { MaybeAbsent, Unvalidated } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { type NamespaceLookup, namespaceOf } from '../namespaces/lookup.ts'
import { type Initializers, isInitializing, type Namespace, namespaceResource } from '../namespaces/types.ts'
import { initializerNameErrors } from './strategy.ts'
import { givenInitializersAnnotation, namespaceTemplateInitializer } from './types.ts'

export interface InitializersDeps {
  readonly lookup: NamespaceLookup
  readonly authorizer: Authorizer
  /** Names that a new namespace must wait for, in order. */
  pendingFor(namespace: Pick<Namespace, 'metadata'>, user: UserInfo): readonly string[]
}

export function mayInitialize(authorizer: Authorizer, user: UserInfo, namespace: string): boolean {
  return authorizer.authorize({
    user,
    verb: 'initialize',
    group: '',
    version: 'v1',
    resource: 'namespaces',
    subresource: '',
    namespace,
    name: namespace,
  }).allowed
}

type Mutating = Attributes<Unvalidated>

export function namespaceInitializers({ lookup, authorizer, pendingFor }: InitializersDeps): AdmissionPlugin {
  const onCreate = (a: Mutating): Unvalidated | undefined => {
    const namespace = objectOf(namespaceResource, a)
    const given = namespace.spec?.initializers
    if (given !== undefined && given !== null) {
      if (!mayInitialize(authorizer, a.user, a.namespace)) {
        throw forbidden(
          a.type,
          a.name,
          'create with initializers denied: it needs the verb "initialize" on the namespace',
        )
      }
      const errors = givenErrors(given)
      if (errors.length > 0) throw invalid(a.type, a.name, errors)
      return marked(namespace, true)
    }
    const pending = pendingFor(namespace, a.user).map((name) => ({ name }))
    if (pending.length === 0) return undefined
    return { ...marked(namespace, false), spec: { ...namespace.spec, initializers: { pending } } }
  }

  const onUpdate = (a: Mutating): undefined => {
    const next = objectOf(namespaceResource, a).spec?.initializers
    const old = (a.oldObject as Namespace).spec?.initializers
    // Absent keeps what is stored (the strategy sees to it): a client that does not know the field changes nothing.
    if (next === undefined || JSON.stringify(next) === JSON.stringify(old)) return
    const errors = transitionErrors(old, next)
    if (errors.length > 0) throw invalid(a.type, a.name, errors)
    if (!mayInitialize(authorizer, a.user, a.name)) {
      throw forbidden(a.type, a.name, 'update of initializers denied: it needs the verb "initialize" on the namespace')
    }
  }

  const onContent = (a: Mutating): void => {
    const found = namespaceOf(lookup, a)
    // What is going away is past being initialized: its content must be able to go too.
    if (!found || !isInitializing(found) || found.metadata.deletionTimestamp !== undefined) return
    if (mayInitialize(authorizer, a.user, a.namespace)) return
    const awaited = found.spec?.initializers?.pending?.[0]?.name ?? ''
    throw tooManyRequests(
      `namespace ${JSON.stringify(a.namespace)} is being initialized: waiting for ` +
        `${JSON.stringify(awaited)}; try again in a moment`,
      1,
    )
  }

  return {
    name: 'NamespaceInitializers',
    handles(operation, type, subresource) {
      if (type.namespaced) return operation !== 'CONNECT' && type.stored
      const isWrite = operation === 'CREATE' || operation === 'UPDATE'
      return type.group === '' && type.resource === 'namespaces' && subresource === '' && isWrite
    },
    mutate(a) {
      if (!a.type.namespaced) return a.operation === 'CREATE' ? onCreate(a) : onUpdate(a)
      if (a.namespace !== '') onContent(a)
      return undefined
    },
  }
}

type Given = NonNullable<MaybeAbsent<Initializers>>

function givenErrors({ pending, result }: Given): FieldError[] {
  const errors = (pending ?? []).flatMap(({ name }, i) =>
    name === namespaceTemplateInitializer
      ? []
      : initializerNameErrors(name ?? '', `spec.initializers.pending[${i}].name`),
  )
  return [...errors, ...resultErrors(result)]
}

const resultErrors = (result: Given['result']): FieldError[] =>
  !result || result.status === 'Failure'
    ? []
    : [fieldInvalid('spec.initializers.result.status', result.status, "must be 'Failure'")]

function marked(namespace: Unvalidated<Namespace>, isGiven: boolean): Unvalidated<Namespace> {
  const { [givenInitializersAnnotation]: mark, ...annotations } = namespace.metadata.annotations ?? {}
  if (!isGiven && mark === undefined) return namespace
  return {
    ...namespace,
    metadata: {
      ...namespace.metadata,
      annotations: isGiven ? { ...annotations, [givenInitializersAnnotation]: 'true' } : annotations,
    },
  }
}

/** What a change of the list may be: the first one gone, a failure reported, or all done. */
export function transitionErrors(old: Initializers | undefined, next: Given | null): FieldError[] {
  const field = 'spec.initializers'
  if (old === undefined) {
    return [fieldInvalid(field, next, 'field is immutable once initialization has completed')]
  }
  const before = (old.pending ?? []).map((p) => p.name)
  const after = (next?.pending ?? []).map((p) => p.name)
  const errors: FieldError[] = []
  const unchanged = before.join() === after.join()
  const firstRemoved = before.slice(1).join() === after.join()
  if (!unchanged && !firstRemoved) {
    errors.push(
      fieldForbidden(
        `${field}.pending`,
        `initializers act in order: only the first, ${JSON.stringify(before[0])}, can be removed`,
      ),
    )
  }
  if (old.result !== undefined && JSON.stringify(old.result) !== JSON.stringify(next?.result)) {
    errors.push(fieldInvalid(`${field}.result`, next?.result, 'field is immutable'))
  } else {
    append(errors, resultErrors(next?.result))
  }
  return errors
}
