/** Sub-resources that are more than a part of the stored object: who answers them, by place. */
import { bindPod } from '../apis/pods/binding.ts'
import { connectionOptions } from '../apis/pods/connection.ts'
import { evictPod } from '../apis/pods/eviction.ts'
import { budgetResource, podResource } from '../apis/pods/types.ts'
import { type ReviewHandlers, reviewHandlers } from '../apis/reviews/review-handlers.ts'
import type { Authentication } from '../authn/open-authentication.ts'
import { serviceAccountIssuer } from '../authn/token-issuer.ts'
import type { AskElsewhere } from '../authz/authz.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { BodyDecoder } from '../http/decode-body.ts'
import type { HandlerVerb } from '../http/dispatch.ts'
import type { Renderer } from '../http/respond.ts'
import { type Answer, answerVerb } from '../http/verbs/answer.ts'
import { writeScope } from '../http/verbs/target.ts'
import type { VerbHandler } from '../http/verbs/verb.ts'
import { type GroupVersionResource, qualifiedResource } from '../kube/gvk.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import { StatusError } from '../kube/status-error.ts'
import type { Core } from './wire.ts'

export type SpecialVerbs = Partial<Record<HandlerVerb, VerbHandler>>

export interface SubresourceParts {
  readonly core: Core
  readonly decoder: BodyDecoder
  readonly renderer: Renderer
  readonly reviews: ReviewHandlers
  readonly scale: SpecialVerbs
}

/** What reviews of access and identity are answered with. */
export function reviewsOf(
  core: Core,
  { tokens, chain }: Authentication,
  askElsewhere: AskElsewhere | undefined,
): ReviewHandlers {
  return reviewHandlers({
    authorizer: core.authorizer,
    askElsewhere,
    authenticate: async (credentials) => chain.authenticate(credentials),
    tokens,
    audiences: [serviceAccountIssuer],
    find: (resource, namespace, name) => core.find(resource, namespace, name),
    clock: core.config.clock,
  })
}

/** Key: `resource.group/subresource`. */
export function specialSubresources(parts: SubresourceParts): ReadonlyMap<string, SpecialVerbs> {
  const { core, decoder, renderer, reviews, scale } = parts
  const { catalog, registry } = core
  const answering = (place: string, answer: Answer): [string, SpecialVerbs] => {
    const bodyType = bodyTypeOf(catalog, place)
    const admit = registry.admit.bind(registry)
    return [place, { create: answerVerb({ decoder, renderer, bodyType, admit }, answer) }]
  }
  const pods = podAnswers(core)
  return new Map<string, SpecialVerbs>([
    ...[...reviews.subresources].map(([place, answer]) => answering(place, answer)),
    answering('pods/binding', pods.bind),
    answering('pods/eviction', pods.evict),
    ['*/scale', scale],
    ...kubeletPlaces.map(([place, what]): [string, SpecialVerbs] => [place, refusing(core, what)]),
  ])
}

/** Kinds that are answered and not kept, by `resource.group`. */
export function answeredKinds(parts: SubresourceParts): ReadonlyMap<string, VerbHandler> {
  const { core, decoder, renderer, reviews } = parts
  const admit = core.registry.admit.bind(core.registry)
  return new Map<string, VerbHandler>([
    ...[...reviews.kinds].map(([kind, answer]): [string, VerbHandler] => [
      kind,
      answerVerb({ decoder, renderer }, answer),
    ]),
    // The older form of `pods/binding`: the body names the pod.
    ['bindings', answerVerb({ decoder, renderer, admit }, podAnswers(core).bind)],
  ])
}

function podAnswers({ registry, catalog, lister, config }: Core): { readonly bind: Answer; readonly evict: Answer } {
  const typeOf = (gvr: GroupVersionResource): ResourceType => requiredType(catalog.types, gvr)
  const budgetType = typeOf(budgetResource)
  const deps = {
    registry,
    podType: typeOf(podResource),
    clock: config.clock,
    budgetType,
    budgets: (namespace: string) => [...lister.list(budgetType, namespace)].map((b) => b.object),
  }
  return {
    bind: async (question, { scope }) => ({ ...(await bindPod(deps, question, scope)) }),
    evict: async (question, { scope }) => ({ ...(await evictPod(deps, question, scope)) }),
  }
}

/** What only a kubelet, or a network, could answer. */
const kubeletPlaces = [
  ['pods/log', 'has no log'],
  ['pods/exec', 'runs no process'],
  ['pods/attach', 'runs no process'],
  ['pods/portforward', 'has no ports'],
  ['pods/proxy', 'has no ports'],
  ['services/proxy', 'has no endpoints'],
  ['nodes/proxy', 'has no kubelet'],
] as const

const notImplemented = 501

function refusing({ registry }: Core, what: string): SpecialVerbs {
  const refuse: VerbHandler = async (request, context, target) => {
    const { type, namespace, name, subresource } = target
    const { kind } = type.subresources.get(subresource)?.kind ?? type
    // A user who may not connect gets 403 rather than 501. Reading a log is no connection.
    if (kind.endsWith('Options')) {
      const options = connectionOptions(kind, context.info.query)
      await registry.admit(writeScope(request, context, target), options, 'CONNECT')
    }
    await registry.get(type, namespace, name)
    throw new StatusError(
      `${qualifiedResource(type)} ${JSON.stringify(name)} ${what} here: this server keeps objects and runs nothing`,
      { code: notImplemented, details: { name, kind: type.resource } },
    )
  }
  return { get: refuse, create: refuse, update: refuse, patch: refuse, delete: refuse }
}

/** The type of what is sent to a sub-resource: `serviceaccounts/token` takes a TokenRequest. */
function bodyTypeOf(catalog: Catalog, place: string): ResourceType {
  const [resource = '', subresource = ''] = place.split('/')
  const parent = catalog.types.find({ group: '', version: 'v1', resource })
  const declared = parent?.subresources.get(subresource)
  if (parent === undefined || declared === undefined) throw new Error(`the catalogue lacks ${place}`)
  const { group, version, kind } = declared.kind
  const schema = catalog.schemaOf(`io.k8s.api.${group === '' ? 'core' : group.split('.')[0]}.${version}.${kind}`)
  return { ...parent, group, version, kind, schema }
}
