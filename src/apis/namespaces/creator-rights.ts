/**
 * What the creator of a namespace may do with it while it initializes, whatever RBAC says: get it, watch it, delete
 * it. Its rights come from objects that initializers make, so until they are done it has none, and could neither see
 * what its namespace waits for nor give it up. Nothing in the namespace is readable by this, and once it is
 * initialized RBAC decides.
 *
 * `kubectl delete` waits by a list and a watch of the one name, until the namespace is gone. So both count as a get
 * where they name it, and the creator of a namespace that went before it was initialized may go on reading the name
 * for a moment; answered 403 instead, the client would ask for ever (as in `src/authz/deleted-namespace-rights.ts`).
 */
import type { Authorizer, AuthzAttributes, AuthzDecision, RuleSet } from '../../authz/authz.ts'
import type { Clock } from '../../base/clock.ts'
import { quote } from '../../kube/go-quote.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { authenticatedGroup } from '../../kube/user.ts'
import type { Lister, StoredObject } from '../../registry/registry.ts'
import { creatorKey } from '../templates/types.ts'
import { isInitializing, type Namespace, namespaceResource } from './types.ts'

const keepMs = 60_000
/** Remembered namespaces that are gone; the oldest is forgotten first. */
const keptNamespaces = 16_384

const noOpinion: AuthzDecision = { allowed: false, reason: '' }
const noRules: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

const mark = Buffer.from('"initializers"')

/** The user who created a namespace that still initializes. Nearly all are initialized: shown without parsing them. */
function creatorIn(stored: StoredObject<Namespace>): string | undefined {
  const { buffer, byteOffset, byteLength } = stored.storedBytes
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(mark)) return undefined
  const namespace = stored.object
  return isInitializing(namespace) ? namespace.metadata.annotations?.[creatorKey] : undefined
}

export class CreatorRights implements Authorizer {
  readonly #lister: Lister
  readonly #type: ResourceType<Namespace>
  readonly #clock: Clock
  /** Namespace → its creator, and until when that user may read the name. In the order of their removal. */
  readonly #gone = new Map<string, { readonly creator: string; readonly untilMs: number }>()

  /** @param type of namespaces */
  constructor(lister: Lister, type: ResourceType<Namespace>, clock: Clock) {
    this.#lister = lister
    this.#type = type
    this.#clock = clock
    lister.follow(type, (next, old) => {
      if (next === undefined && old !== undefined) this.#remember(old.name, creatorIn(old))
      else if (next !== undefined && old === undefined) this.#gone.delete(next.name)
    })
  }

  authorize(attributes: AuthzAttributes): AuthzDecision {
    if (attributes.path !== undefined || attributes.group !== namespaceResource.group) return noOpinion
    const { user, verb, resource, subresource = '', name } = attributes
    if (resource !== namespaceResource.resource || subresource !== '' || name === '') return noOpinion
    const isRead = reads.has(verb)
    // Anonymous callers all have one name.
    if ((!isRead && verb !== 'delete') || !user.groups.includes(authenticatedGroup)) return noOpinion
    const namespace = this.#lister.find(this.#type, '', name)
    const creator = namespace === undefined ? isRead && this.#creatorOfGone(name) : creatorIn(namespace)
    if (creator !== user.username) return noOpinion
    return { allowed: true, reason: `user created namespace ${quote(name)}, which is being initialized` }
  }

  /** None that could be given to others. */
  rulesFor(): RuleSet {
    return noRules
  }

  #remember(name: string, creator: string | undefined): void {
    this.#gone.delete(name)
    if (creator === undefined) return
    this.#gone.set(name, { creator, untilMs: this.#clock.monotonic() + keepMs })
    const oldest = this.#gone.keys().next().value
    if (this.#gone.size > keptNamespaces && oldest !== undefined) this.#gone.delete(oldest)
  }

  #creatorOfGone(name: string): string | undefined {
    const gone = this.#gone.get(name)
    return gone !== undefined && this.#clock.monotonic() < gone.untilMs ? gone.creator : undefined
  }
}

/** Is told which namespaces creators may get: `NamespaceGrants`. */
export interface CreatorObserver {
  onCreator(
    namespace: string,
    next: string | undefined,
    old: string | undefined,
    change: { readonly isGone: boolean; readonly revision: number },
  ): void
}

/** Before the authorizer is made that the same observer follows: what exists must not count as a change. */
export function followCreators(
  observer: CreatorObserver,
  subscribe: (listener: Parameters<Lister['subscribe']>[1]) => unknown,
): void {
  subscribe((next, old, revision) => {
    const name = (next ?? old)?.name ?? ''
    observer.onCreator(name, next && creatorIn(next), old && creatorIn(old), { isGone: next === undefined, revision })
  })
}
