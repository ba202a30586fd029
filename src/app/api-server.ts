/** The pipeline over the core: which stages, which verbs, which documents. */
import { mayInitialize } from '../apis/initializers/admission.ts'
import type { HeldNamespace } from '../apis/initializers/hold.ts'
import { isInitializing, type Namespace, namespaceResource } from '../apis/namespaces/types.ts'
import { namespaceVisibility } from '../apis/namespaces/visibility.ts'
import type { ReviewHandlers } from '../apis/reviews/review-handlers.ts'
import { type OpenAudit } from '../audit/open-audit.ts'
import { impersonate as impersonation } from '../authn/impersonation.ts'
import type { AskElsewhere, Authorizer, AuthzAttributes } from '../authz/authz.ts'
import { forbiddenError } from '../authz/forbidden.ts'
import { sliceBegan } from '../base/turns.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { ProtobufCodec } from '../catalog/protobuf/protobuf-codec.ts'
import type { FlowControl } from '../flowcontrol/flowcontrol.ts'
import type { Stage } from '../http/api.ts'
import { BodyDecoder } from '../http/decode-body.ts'
import { type DispatchDeps, dispatcher } from '../http/dispatch.ts'
import { createDocuments, type DocumentsDeps } from '../http/documents.ts'
import { refusalWith } from '../http/explained-refusals.ts'
import { answerToCreators } from '../http/free-names.ts'
import { protobufMediaType } from '../http/negotiate.ts'
import type { Defense } from '../http/overload.ts'
import { createPipeline, type Serve, type StageName } from '../http/pipeline.ts'
import { leavePlaces } from '../http/places.ts'
import { isTrue } from '../http/request-info.ts'
import { isNamespaces } from '../http/resolution.ts'
import { resolveTarget } from '../http/resolve-target.ts'
import { Renderer } from '../http/respond.ts'
import { answerErrors } from '../http/stages/answer-errors.ts'
import { auditRefusals, auditRequests } from '../http/stages/audit.ts'
import { type Authenticate, authenticate } from '../http/stages/authenticate.ts'
import { type AuthorizeOptions, attributesOf, authorize, requireAuthorized } from '../http/stages/authorize.ts'
import { catchUp } from '../http/stages/catch-up.ts'
import { compressAnswers } from '../http/stages/compress-answers.ts'
import { impersonate } from '../http/stages/impersonate.ts'
import { keepForAdministrators } from '../http/stages/keep-for-administrators.ts'
import { limitTime } from '../http/stages/limit-time.ts'
import { priorityAndFairness } from '../http/stages/priority-and-fairness.ts'
import { createVerb } from '../http/verbs/create.ts'
import { deleteCollectionVerb, deleteVerb } from '../http/verbs/delete.ts'
import { patchVerb } from '../http/verbs/patch.ts'
import { getVerb, listVerb } from '../http/verbs/read.ts'
import { scaleVerbs } from '../http/verbs/scale.ts'
import { warn } from '../http/verbs/target.ts'
import { updateVerb } from '../http/verbs/update.ts'
import type { AwaitCreated, PermitOf, Visibility } from '../http/verbs/verb.ts'
import { watchVerb } from '../http/verbs/watch.ts'
import { parseGoDuration } from '../kube/duration.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import type { StatusError } from '../kube/status-error.ts'
import { parseJson } from '../kube/strict-json.ts'
import { authenticatedGroup } from '../kube/user.ts'
import { maxValues } from '../kube/value-count.ts'
import { parseYaml } from '../kube/yaml-body.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { translate } from '../registry/errors.ts'
import { applyWith } from '../registry/field-ownership.ts'
import type { StoredObject } from '../registry/registry.ts'
import { isShared } from '../storage/storage-choice.ts'
import { requireDefinition } from './damaged-deciders.ts'
import { answeredKinds, specialSubresources } from './subresources.ts'
import type { Core } from './wire.ts'

export interface ApiServerDeps {
  readonly core: Core
  readonly authenticate: Authenticate
  /** Who else may allow a request. */
  readonly askElsewhere: AskElsewhere | undefined
  readonly documents: Omit<DocumentsDeps, 'discovery'>
  /** `host:port`, for the discovery document. */
  readonly serverAddress: () => string
  readonly reviews: ReviewHandlers
  readonly metrics: Metrics
  readonly audit: OpenAudit | undefined
  readonly defense: Defense
  readonly flowControl: FlowControl
}

export function createApiServer(deps: ApiServerDeps): Serve {
  const { core } = deps
  const { config, catalog, registry, authorizer } = core
  const { clock, ids, log } = config
  const protobuf = new ProtobufCodec({ maxValues })
  const renderer = new Renderer({ protobuf, now: () => clock.now() })
  const decoder = new BodyDecoder({
    decodeProtobuf: (bytes, assumed) => protobuf.decode(bytes, assumed),
    supportsProtobuf: (gvk) => protobuf.supports(gvk),
    completeDefaults: (type, object) => catalog.completeDefaults(type, object),
    turns: core.turns,
  })
  const authorization = authorizationOf(core, deps.askElsewhere)
  const verbDeps = {
    registry,
    types: catalog.types,
    decoder,
    renderer,
    visibility: visibilityOf(core),
    awaitCreated: holdUntilInitialized(core),
    requireCreate: (context) => requireAuthorized(authorization, { ...attributesOf(context), verb: 'create' }, context),
    createsOnUpdate: ({ type }: { type: ResourceType }) => core.strategyOf(type).createOnUpdate === true,
    returnsDeleted: ({ type }: { type: ResourceType }) => core.strategyOf(type).returnsDeleted === true,
    protobufEvents: protobuf,
    turns: core.turns,
    permitOf: permitOf(core),
    random: Math.random,
    apply: applyWith(clock, { types: catalog.types, strategyOf: core.strategyOf }),
  } satisfies VerbParts

  const refusal = refusalOf(authorizer)
  const audit = deps.audit && { ...deps.audit, clock, decode: recordedBodies(protobuf) }
  const scale = scaleVerbs({ ...verbDeps, scaleType: scaleTypeOf(catalog) })
  const answering = { core, decoder, renderer, reviews: deps.reviews, scale }
  const documents = createDocuments({
    ...deps.documents,
    discovery: {
      types: catalog.types,
      serverAddress: deps.serverAddress,
      render: (value, kind, n) => renderer.value(value, kind, n),
    },
  })
  return createPipeline({
    clock,
    ids,
    stages: {
      metrics: deps.metrics.stage,
      compressAnswers: compressAnswers(),
      answerErrors: answerErrors(
        (error, { requestId, info }) =>
          log.error({ error, requestId, verb: info.verb, path: info.path }, 'a request failed'),
        (status, n) => renderer.status(status, n),
      ),
      limitTime: limitTime({ ...deps.defense, handlerMs: config.load.deadlines.handlerMs }),
      auditRefusals: audit && auditRefusals(audit),
      catchUp: isShared(config) ? catchUp(() => translate(core.lister.refresh())) : undefined,
      resolveTarget: resolveTarget(catalog.types),
      authenticate: authenticate(deps.authenticate),
      keepForAdministrators: config.adminListen && keepForAdministrators,
      auditRequests: audit && auditRequests(audit),
      impersonate: impersonate((request, context) => impersonation(request, () => attributesOf(context), refusal)),
      priorityAndFairness: priorityAndFairness({
        flowControl: deps.flowControl,
        now: () => clock.now(),
        began: (context) => core.diagnostics.publish(sliceBegan, context),
      }),
      authorize: authorize(authorization),
    } satisfies Record<StageName, Stage | undefined>,
    dispatch: dispatcher({
      onUnknown: requireDefinition(core.cache.damaged),
      verbs: verbsOf(verbDeps),
      special: specialSubresources(answering),
      answered: answeredKinds(answering),
      documents: (path) => documents.find(path),
      knownPaths: () => documents.paths(),
    }),
  })
}

/** What all verbs together need. */
type VerbParts = Parameters<typeof patchVerb>[0] &
  Parameters<typeof watchVerb>[0] &
  Parameters<typeof deleteVerb>[0] &
  Parameters<typeof updateVerb>[0]

const verbsOf = (parts: VerbParts): DispatchDeps['verbs'] => ({
  get: getVerb(parts),
  list: listVerb(parts),
  watch: watchVerb(parts),
  create: createVerb(parts),
  update: updateVerb(parts),
  patch: patchVerb(parts),
  delete: deleteVerb(parts),
  deletecollection: deleteCollectionVerb(parts),
})

function authorizationOf(core: Core, askElsewhere: AskElsewhere | undefined): AuthorizeOptions {
  const refuse = refusalWith(core)
  const namespaceType = requiredType(core.catalog.types, namespaceResource)
  return {
    decide: (attributes) => core.authorizer.authorize(attributes),
    askElsewhere,
    refuse,
    insteadOfRefusal: answerToCreators({
      namespaceExists: (name) => core.lister.find(namespaceType, '', name) !== undefined,
      refuse,
    }),
    ...(core.namespacesOf ? { narrow: narrowToOwn } : {}),
    refresh: async () => {
      await core.lister.refresh()
      return true
    },
  }
}

/** With a reason it is refused in any case. */
const refusalOf =
  (authorizer: Authorizer) =>
  (attributes: AuthzAttributes, why?: string): StatusError | undefined => {
    if (why !== undefined) return forbiddenError(attributes, why)
    const { allowed, reason } = authorizer.authorize(attributes)
    return allowed ? undefined : forbiddenError(attributes, reason)
  }

/** Bodies as the audit log parses them. */
function recordedBodies(protobuf: ProtobufCodec): (bytes: Uint8Array, mediaType: string) => unknown {
  return (bytes, mediaType) => {
    if (mediaType === protobufMediaType) return protobuf.decode(bytes).object
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return /yaml/.test(mediaType) ? parseYaml(text).value : parseJson(text).value
  }
}

function scaleTypeOf(catalog: Catalog): ResourceType {
  return {
    group: 'autoscaling',
    version: 'v1',
    resource: 'scales',
    kind: 'Scale',
    listKind: '',
    singular: 'scale',
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
    subresources: new Map(),
    schema: catalog.schemaOf('io.k8s.api.autoscaling.v1.Scale'),
    storageName: '',
    stored: false,
    custom: false,
    columns: [
      { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
      { name: 'Available', type: 'integer', jsonPath: '.status.replicas' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  }
}

/**
 * Lists and watches of namespaces by users who may not list them all. Not for anonymous callers: an authenticated user
 * has a binding to ask about.
 */
function narrowToOwn(a: AuthzAttributes): string | undefined {
  const asked = a.path === undefined && (a.verb === 'list' || a.verb === 'watch') && !a.subresource
  if (!asked || a.group !== namespaceResource.group || a.resource !== namespaceResource.resource) return undefined
  return a.user.groups.includes(authenticatedGroup) ? 'only namespaces that the user may get' : undefined
}

function visibilityOf({ authorizer, namespacesOf }: Core): Visibility {
  return ({ type }, { user, onlyOwn, info }) => {
    if (!isNamespaces(type)) {
      if (onlyOwn) throw new Error(`nothing tells which ${type.resource} a user may see`)
      return {}
    }
    const visible = namespaceVisibility(user, isTrue(info.query.get('includeUninitialized')), (u) =>
      mayInitialize(authorizer, u, ''),
    )
    const view = onlyOwn ? namespacesOf?.(user) : undefined
    if (onlyOwn && !view) throw new Error('nothing tells which namespaces a user may see')
    return { ...(visible ? { visible } : {}), ...(view ? { view } : {}) }
  }
}

/** What a create that is held is counted as: by default a flow may have some 2,000 of them. */
const heldCreateBytes = 32 * 1024

/** With own namespaces it is the view that follows rights. */
function permitOf({ authorizer }: Core): PermitOf {
  return ({ type }, context) => {
    const attributes = attributesOf(context)
    if (attributes.path !== undefined || context.onlyOwn) return undefined
    const namespace = isNamespaces(type) ? attributes.name : attributes.namespace
    return namespace === '' ? undefined : { namespace, holds: () => authorizer.authorize(attributes).allowed }
  }
}

/** Seconds kept in hand for the answer when the client says how long it waits. */
const answerReserveMs = 1000

type AwaitReady = (held: HeldNamespace, ...created: Parameters<AwaitCreated>) => Promise<StoredObject>

/** The answer to a create of a namespace waits until the namespace is ready. */
function holdUntilInitialized({ config, features: { hold }, lister }: Core): AwaitCreated {
  const ready: AwaitReady = async (held, stored, request, context, { type }) => {
    leavePlaces(context)
    const find = (): StoredObject | undefined => lister.find(type, '', held.name)
    const current = (): Namespace | undefined => find()?.object
    // It is created, so it is not refused: a flow that has too many of them waiting is answered at once.
    const mayWait = request.account?.tryCharge(heldCreateBytes) ?? true
    const timeoutMs = mayWait ? holdMs(config.initializationTimeoutMs, context.info.query) : 0
    const outcome = await hold.wait(held, current, timeoutMs, request.signal)
    const latest = find()
    const answer = latest !== undefined && latest.object.metadata.uid === held.uid ? latest : stored
    if (outcome === 'waited') {
      const awaited = (answer.object as Namespace).spec?.initializers?.pending?.[0]?.name ?? ''
      warn(context, `namespace ${held.name} is still being initialized: waiting for ${awaited}`)
    }
    return answer
  }
  return (stored, request, context, target) => {
    const { query } = context.info
    // Before anything looks at `stored.object`: creates of other kinds are answered without parsing what was stored.
    if (
      target.type.namespaced ||
      !isNamespaces(target.type) ||
      stored.revision === 0 ||
      isTrue(query.get('includeUninitialized'))
    )
      return stored
    const held = heldOf(stored)
    return held === undefined ? stored : ready(held, stored, request, context, target)
  }
}

const initializersMark = '"initializers":'

function heldOf(stored: StoredObject): HeldNamespace | undefined {
  // Most namespaces wait for nothing: their bytes say so without being parsed.
  const { buffer, byteOffset, length } = stored.bytes
  if (!Buffer.from(buffer, byteOffset, length).includes(initializersMark)) return undefined
  const { name, object } = stored
  return isInitializing(object) ? { name, uid: object.metadata.uid ?? '' } : undefined
}

function holdMs(limitMs: number, query: URLSearchParams): number {
  const askedMs = parseGoDuration(query.get('timeout') ?? '')
  return askedMs === undefined ? limitMs : Math.max(0, Math.min(limitMs, askedMs - answerReserveMs))
}
