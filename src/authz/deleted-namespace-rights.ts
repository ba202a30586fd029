/**
 * Rights that outlive their namespace for a moment.
 *
 * The creator of a namespace may read it because of a RoleBinding inside it. When the namespace goes, that binding goes
 * first, and the creator's `kubectl delete namespace`, which asks again and again until it sees 404, would see 403 and
 * never return. So the rights that a terminating namespace's bindings gave are kept, for reads alone:
 *
 *   on the namespace itself   from the removal of the binding until `keepMs` after the namespace is gone
 *   on content                until `keepMs` after the removal; if the namespace goes within that time, until `keepMs`
 *                             after that. So a binding that an administrator takes away in a namespace that hangs in
 *                             Terminating does stop giving access to what is left in it.
 *
 * A new namespace of the same name starts with nothing of this. Times are monotonic milliseconds. At most `limit` gone
 * namespaces are remembered, the oldest is forgotten first; those still terminating are as many as exist.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { UserInfo } from '../kube/user.ts'
import { BindingIndex, type IndexedBinding } from './binding-index.ts'
import type { CompiledRules } from './rbac-rules.ts'

const keepMs = 60_000

interface Retained {
  readonly rules: CompiledRules
  contentUntilMs: number
}

interface DeletedNamespace {
  readonly index: BindingIndex
  readonly retained: Map<IndexedBinding, Retained>
  /** Infinity while the namespace is terminating. */
  untilMs: number
}

export interface DeletedNamespaceRightsOptions {
  readonly limit?: number
}

export class DeletedNamespaceRights implements Disposable {
  readonly #clock: Clock
  readonly #limit: number
  readonly #terminating = new Map<string, DeletedNamespace>()
  /** In the order they went, which is the order they are forgotten in. */
  readonly #gone = new Map<string, DeletedNamespace>()
  #timer: Timer | undefined

  constructor(clock: Clock, options: DeletedNamespaceRightsOptions = {}) {
    this.#clock = clock
    this.#limit = options.limit ?? 16_384
  }

  get size(): number {
    return this.#terminating.size + this.#gone.size
  }

  /** A binding of a terminating namespace, or the role it refers to, is being removed. */
  retain(namespace: string, binding: IndexedBinding, rules: CompiledRules): void {
    let deleted = this.#terminating.get(namespace)
    if (!deleted) {
      deleted = { index: new BindingIndex(), retained: new Map(), untilMs: Number.POSITIVE_INFINITY }
      this.#terminating.set(namespace, deleted)
    }
    if (deleted.retained.has(binding)) return
    deleted.retained.set(binding, { rules, contentUntilMs: this.#clock.monotonic() + keepMs })
    deleted.index.add(binding)
  }

  /** The namespace has been removed from the store. */
  gone(namespace: string): void {
    const deleted = this.#terminating.get(namespace)
    if (!deleted) return
    const now = this.#clock.monotonic()
    deleted.untilMs = now + keepMs
    for (const right of deleted.retained.values()) {
      if (right.contentUntilMs > now) right.contentUntilMs = deleted.untilMs
    }
    this.#terminating.delete(namespace)
    this.#gone.set(namespace, deleted)
    if (this.#gone.size > this.#limit) {
      const oldest = this.#gone.keys().next().value
      if (oldest !== undefined) this.#gone.delete(oldest)
    }
    this.#schedule()
  }

  /** A namespace of that name exists again. */
  forget(namespace: string): void {
    this.#terminating.delete(namespace)
    this.#gone.delete(namespace)
  }

  /** `own` = the namespace itself is read, not what is in it. */
  allows(namespace: string, user: UserInfo, own: boolean, accept: (rules: CompiledRules) => boolean): boolean {
    const deleted = this.#terminating.get(namespace) ?? this.#gone.get(namespace)
    if (!deleted) return false
    const now = this.#clock.monotonic()
    if (now >= deleted.untilMs) return false
    const binding = deleted.index.find(user, (b) => {
      const right = deleted.retained.get(b)
      return right !== undefined && (own || now < right.contentUntilMs) && accept(right.rules)
    })
    return binding !== undefined
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#terminating.clear()
    this.#gone.clear()
  }

  #schedule(): void {
    if (this.#timer) return
    const oldest = this.#gone.values().next().value
    if (!oldest) return
    this.#timer = this.#clock.after(Math.max(0, oldest.untilMs - this.#clock.monotonic()), () => {
      this.#timer = undefined
      this.#sweep()
      this.#schedule()
    })
  }

  #sweep(): void {
    const now = this.#clock.monotonic()
    for (const [namespace, deleted] of this.#gone) {
      if (deleted.untilMs > now) break
      this.#gone.delete(namespace)
    }
  }
}
