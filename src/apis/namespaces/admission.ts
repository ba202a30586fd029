/**
 * Namespace lifecycle: content needs a namespace that exists and is not going away, and some namespaces must stay.
 *
 * Upstream closes the race between a create and the deletion of its namespace by waiting and by remembering deletions.
 * Here the create's own transaction is guarded by the revision of the namespace that was found Active: an object can't
 * appear in a Terminating namespace, on any number of replicas.
 *
 * @see k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go v0.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { conflict, forbidden, isAlreadyExists, notFound, StatusError } from '../../kube/status-error.ts'
import type { ObjectMeta, Unvalidated } from '../../kube/types.ts'
import { serviceAccountUser, type UserInfo } from '../../kube/user.ts'
import { expiresAtAnnotation, expiryControllerName } from '../expiry/types.ts'
import type { NamespaceContent } from './content.ts'
import { type NamespaceLookup, namespaceOf } from './lookup.ts'
import {
  deletionProtectionAnnotation,
  immortalNamespaces,
  kubernetesFinalizer,
  type Namespace,
  namespaceResource,
  phaseOf,
} from './types.ts'

/** Either half of admission asks: of an object, what both know is read. */
type About = Omit<Attributes, 'object'> & { readonly object: { readonly metadata: ObjectMeta } | undefined }

const isNamespace = (a: Pick<Attributes, 'type'>): boolean => a.type.group === '' && a.type.resource === 'namespaces'

/** The time has come that the namespace names, and nothing keeps it. */
export type HasExpired = (namespace: Namespace) => boolean

export function namespaceLifecycle(lookup: NamespaceLookup, hasExpired: HasExpired): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles(operation, type) {
      if (isNamespace({ type })) return operation === 'DELETE' && ['validate']
      if (!type.namespaced || operation === 'CONNECT' || operation === 'DELETE') return false
      const decides = operation === 'CREATE' && type.stored
      return [...(isAccessReview({ type }) ? [] : (['mutate'] as const)), ...(decides ? (['decide'] as const) : [])]
    },
    /** Here and not in `validate`: a missing namespace is said before an invalid object is. */
    mutate(a) {
      if (a.namespace === '') return undefined
      const namespace = namespaceOf(lookup, a)
      // A miss is settled by catching up with the store, never by waiting a little.
      if (namespace === undefined) return lookup.refresh().then(() => admit(a, lookup.find(a.namespace), hasExpired))
      return admit(a, namespace, hasExpired)
    },
    validate(a) {
      refuseUnlessExpired(a, hasExpired)
      if (immortalNamespaces.has(a.name)) throw forbidden(a.type, a.name, 'this namespace may not be deleted')
      if (a.oldObject?.metadata.annotations?.[deletionProtectionAnnotation] === 'true') {
        throw forbidden(
          a.type,
          a.name,
          `it is protected; to lift the protection: kubectl annotate namespace ${a.name} ` +
            `${deletionProtectionAnnotation}-`,
        )
      }
    },
    decide(a, view) {
      if (a.namespace === '') return {}
      const seen = view.see(lookup.type, '', a.namespace)
      admit(a, seen.object, hasExpired)
      return { guards: [{ key: seen.key, expect: seen.expect }] }
    },
  }
}

/** @throws StatusError */
function admit(a: About, namespace: Namespace | undefined, hasExpired: HasExpired): undefined {
  if (namespace === undefined) throw notFound(namespaceResource, a.namespace)
  if (a.operation !== 'CREATE') return
  if (phaseOf(namespace) === 'Terminating') throw endedFor(a, 'is being terminated')
  const expiresAt = namespace.metadata.annotations?.[expiresAtAnnotation]
  if (expiresAt !== undefined && hasExpired(namespace)) throw endedFor(a, `expired at ${expiresAt}`)
}

const endsExpired = serviceAccountUser('kube-system', expiryControllerName).username

/**
 * Who ends namespaces names no version: who writes one all the time would always be faster. So what it judged is judged
 * here again, of the very version that goes. @throws StatusError Conflict
 */
function refuseUnlessExpired({ type, name, user, oldObject }: Attributes, hasExpired: HasExpired): void {
  if (user.username !== endsExpired || hasExpired(oldObject as Namespace)) return
  throw conflict(type, name, 'it has not expired')
}

/** Must not tell whether a namespace exists. */
const isAccessReview = (a: Pick<Attributes, 'type'>): boolean =>
  a.type.group === 'authorization.k8s.io' && a.type.resource === 'localsubjectaccessreviews'

/** Clients know by the reason of the cause that trying again is no use. */
function endedFor(a: About, how: string): StatusError {
  const name = a.name || a.object?.metadata.name || a.object?.metadata.generateName || 'Unknown'
  const text = `namespace ${a.namespace} ${how}`
  return forbidden(a.type, name, `unable to create new content in namespace ${a.namespace} because it ${how}`, [
    { reason: 'NamespaceTerminating', message: text, field: 'metadata.namespace' },
  ])
}

/** Objects listed in a refusal to let go of the namespace. */
const listedObjects = 10

/**
 * The `kubernetes` finalizer stays while content is left. Upstream lets it go and strands the objects, invisible in the
 * store, to reappear when a namespace of that name is made again.
 */
export function namespaceFinalization(content: NamespaceContent): AdmissionPlugin {
  return {
    name: 'NamespaceFinalization',
    handles: (operation, type, subresource) =>
      operation === 'UPDATE' && subresource === 'finalize' && type.group === '' && type.resource === 'namespaces',
    async mutate(a) {
      if (letsGo(a)) await content.refresh()
      return undefined
    },
    decide(a) {
      if (!letsGo(a)) return {}
      const left = content.of(a.name)
      if (left.length > 0) throw contentLeft(a.name, left, content)
      return {}
    },
  }
}

function letsGo({ object, oldObject }: Attributes | Attributes<Unvalidated>): boolean {
  const before = (oldObject as Namespace | undefined)?.spec?.finalizers ?? []
  const after = (object as Namespace | Unvalidated<Namespace> | undefined)?.spec?.finalizers ?? []
  return before.includes(kubernetesFinalizer) && !after.includes(kubernetesFinalizer)
}

function contentLeft(name: string, left: ReturnType<NamespaceContent['of']>, content: NamespaceContent): StatusError {
  const { named } = content.remaining(name, listedObjects)
  const total = left.reduce((sum, c) => sum + c.count, 0)
  return new StatusError(
    `Operation cannot be fulfilled on namespaces ${JSON.stringify(name)}: ${total} ` +
      `${total === 1 ? 'object is' : 'objects are'} left in it, so the finalizer "${kubernetesFinalizer}" ` +
      `can't be removed`,
    {
      reason: 'Conflict',
      details: {
        name,
        kind: 'namespaces',
        causes: named.map((r) => ({
          reason: 'NamespaceContentRemaining',
          message: `${r.resource}/${r.name}`,
          field: 'spec.finalizers',
        })),
      },
    },
  )
}

/** Off by default, as upstream: a namespace must exist for CREATE, UPDATE and DELETE alike. */
export function namespaceExists(lookup: Pick<NamespaceLookup, 'find' | 'refresh'>): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    handles: (operation, type) => operation !== 'CONNECT' && type.namespaced,
    async validate(a) {
      if (a.namespace === '' || namespaceOf(lookup, a)) return
      await lookup.refresh()
      if (!lookup.find(a.namespace)) throw notFound(namespaceResource, a.namespace)
    },
  }
}

/**
 * Off by default, as upstream: a create makes the namespace it needs. One that is terminating exists, so it is not made
 * again, and `NamespaceLifecycle` refuses.
 * The user of that create counts as the creator of the namespace, though it needs no right to create namespaces.
 * @param provision makes a namespace in the name of a user. @throws StatusError
 */
export function namespaceAutoProvision(
  lookup: NamespaceLookup,
  provision: (name: string, creator: UserInfo) => Promise<void>,
): AdmissionPlugin {
  return {
    name: 'NamespaceAutoProvision',
    handles: (operation, type) => operation === 'CREATE' && type.namespaced,
    async mutate(a) {
      if (a.dryRun || a.namespace === '' || isAccessReview(a) || namespaceOf(lookup, a)) return undefined
      await lookup.refresh()
      if (lookup.find(a.namespace)) return undefined
      try {
        await provision(a.namespace, a.user)
      } catch (error) {
        if (!isAlreadyExists(error)) {
          throw forbidden(a.type, a.name, error instanceof Error ? error.message : String(error))
        }
      }
      return undefined
    },
  }
}
