/**
 * What a verb is: a function from a request and its target to an answer, made once from the parts it needs. The stages
 * before it have settled who asks and whether they may; a verb only reads the request, calls the registry and renders.
 */
import type { Eventual } from '../../base/eventual.ts'
import type { Turns } from '../../base/turns.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import type { Registry, StoredObject } from '../../registry/registry.ts'
import type { WatchPermit } from '../../registry/watch-permits.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import type { BodyDecoder } from '../decode-body.ts'
import type { Target } from '../resolution.ts'
import type { Renderer } from '../respond.ts'
import type { Visible } from './target.ts'

export type VerbHandler = (request: ApiRequest, context: RequestContext, target: Target) => Eventual<ApiResponse>

/** What of a type a caller may see in lists and watches. */
export type Visibility = (target: Target, context: RequestContext) => Visible

/** Lets an answer to a create wait for what others still do to the object. Of cluster-scoped types. */
export type AwaitCreated = (
  stored: StoredObject,
  request: ApiRequest,
  context: RequestContext,
  target: Target,
) => Eventual<StoredObject>

/**
 * Asked when a PUT or an apply is about to make what is not there: the right to update or patch is no right to create.
 * @throws StatusError Forbidden
 */
export type RequireCreate = (context: RequestContext) => Promise<void>

/** The right by which namespaces are watched, or what is in one; undefined = it is not one namespace. */
export type PermitOf = (target: Target, context: RequestContext) => WatchPermit | undefined

export interface VerbDeps {
  readonly registry: Registry
  readonly types: ResourceTypes
  readonly decoder: BodyDecoder
  readonly renderer: Renderer
  readonly visibility: Visibility
  readonly awaitCreated: AwaitCreated
  readonly requireCreate: RequireCreate
  /** What takes long goes on in slices. */
  readonly turns: Turns
}
