/**
 * Which flow a request belongs to. Schemas are tried in their order; to try them for every request would cost more than
 * most requests do. So their subjects are matched once per user, and the flow is remembered for each kind of request:
 * user, verb, resource and namespace, or user, verb and path. All of it is bounded, and forgotten when the
 * configuration changes.
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { UserInfo } from '../kube/user.ts'
import { dealHand, hashFlow } from './dealer.ts'
import type { FlowHeaders, FlowRequest, RequestAttributes } from './flow-control.ts'
import { type FlowSchema, matchesRequest, type PolicyRule } from './flow-schema.ts'
import type { FlowStats } from './flow-stats.ts'
import type { PriorityLevel } from './level.ts'
import type { Flow, Queue } from './queue.ts'
import { RequestKinds } from './request-kinds.ts'

/** A schema whose priority level exists. */
export interface Route {
  readonly schema: FlowSchema
  readonly level: PriorityLevel
  readonly stats: FlowStats
}

/** A flow as the classifier knows it: with its level as such. */
export interface RoutedFlow extends Flow {
  readonly level: PriorityLevel
}

export interface ClassifierOptions {
  /** In the order of their precedence. */
  readonly routes: readonly Route[]
  /** Where a request goes that no schema matches. */
  readonly fallback: Route
  /** See `hashFlow`. */
  readonly salt: string
}

interface RouteOfUser {
  readonly route: Route
  /** Those with a subject that is the user. */
  readonly rules: readonly PolicyRule[]
}

interface UserRoutes {
  readonly routes: readonly RouteOfUser[]
  readonly flows: RequestKinds<RoutedFlow>
}

const maxUsers = 4096
const maxFlows = 8192
/** What is longer is no valid name; clients would choose how much memory the flows take. */
const maxDistinguisherLength = 512
/** Those of longer names and groups are remembered by a digest: an impersonator chooses 64 KB of them. */
const maxIdentityLength = 512
/** Of all users together. Beyond it all are forgotten at once: to keep an order of use would cost every request. */
export const maxKinds = 16_384

export class Classifier {
  readonly #routes: readonly Route[]
  readonly #fallback: Route
  readonly #salt: string
  /** Authenticators answer the same object for the same user as long as they remember it. */
  #byUser = new WeakMap<UserInfo, UserRoutes>()
  /** Who asked last asks again. */
  #last: { readonly user: UserInfo; readonly routes: UserRoutes } | undefined
  #byIdentity = new BoundedCache<string, UserRoutes>(maxUsers)
  #kinds = 0
  readonly #flows = new BoundedCache<string, RoutedFlow>(maxFlows)

  constructor({ routes, fallback, salt }: ClassifierOptions) {
    this.#routes = routes
    this.#fallback = fallback
    this.#salt = salt
  }

  /** Kinds of requests whose flow is remembered. */
  get remembered(): number {
    return this.#kinds
  }

  flowOf({ user, info }: FlowRequest): RoutedFlow {
    const { routes, flows } = this.#routesOf(user)
    const kept = flows.get(info)
    if (kept !== undefined) return kept
    const matching = routes.find(({ rules }) => rules.some((rule) => matchesRequest(rule, info)))
    const flow = this.#flowFor(matching?.route ?? this.#fallback, user, info)
    if (flows.set(info, flow) && ++this.#kinds > maxKinds) this.#forget()
    return flow
  }

  #forget(): void {
    this.#kinds = 0
    this.#byUser = new WeakMap()
    this.#last = undefined
    this.#byIdentity = new BoundedCache(maxUsers)
  }

  #routesOf(user: UserInfo): UserRoutes {
    if (this.#last?.user === user) return this.#last.routes
    const known = this.#byUser.get(user)
    if (known !== undefined) {
      this.#last = { user, routes: known }
      return known
    }
    const identity = identityOf(user)
    let found = this.#byIdentity.get(identity)
    if (found === undefined) {
      found = { routes: this.#pick(user), flows: new RequestKinds() }
      this.#byIdentity.set(identity, found)
    }
    this.#byUser.set(user, found)
    return found
  }

  #pick(user: UserInfo): RouteOfUser[] {
    return this.#routes
      .map((route) => ({ route, rules: route.schema.rules.filter((rule) => rule.matchesUser(user)) }))
      .filter(({ rules }) => rules.length > 0)
  }

  #flowFor(route: Route, user: UserInfo, info: RequestAttributes): RoutedFlow {
    const { schema, level, stats } = route
    const distinguisher = distinguisherOf(route, user, info)
    const key = `${schema.name} ${distinguisher}`
    let flow = this.#flows.get(key)
    if (flow === undefined) {
      const headers: FlowHeaders = Object.freeze({
        'x-kubernetes-pf-flowschema-uid': schema.uid,
        'x-kubernetes-pf-prioritylevel-uid': level.config.uid,
      })
      flow = Object.freeze({
        schemaName: schema.name,
        level,
        stats,
        distinguisher,
        headers,
        hand: this.#deal(route, distinguisher),
      })
      if (distinguisher.length <= maxDistinguisherLength) this.#flows.set(key, flow)
    }
    return flow
  }

  #deal({ schema, level }: Route, distinguisher: string): readonly Queue[] {
    const { queuing } = level.config
    if (queuing === undefined) return []
    const hand = dealHand(hashFlow(schema.name, distinguisher, this.#salt), queuing.queues, queuing.handSize)
    return hand.map((index) => level.queues.queueAt(index))
  }
}

function identityOf({ username, groups }: UserInfo): string {
  // Not joined with a separator: a user name may hold any character.
  const identity = JSON.stringify([username, groups])
  return identity.length <= maxIdentityLength ? identity : hash('sha256', identity, 'base64')
}

function distinguisherOf({ schema, level }: Route, user: UserInfo, info: RequestAttributes): string {
  // With one queue or none there is nothing to choose by.
  if ((level.config.queuing?.queues ?? 0) <= 1) return ''
  switch (schema.distinguisher) {
    case 'ByUser':
      return user.username
    case 'ByNamespace':
      return info.namespace
    default:
      return ''
  }
}
