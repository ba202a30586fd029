/** The pipeline over the core: which stages, which verbs, which documents. */

import type { Authentication } from '../authn/open-authentication.ts'
import type { AskElsewhere } from '../authz/authz.ts'
import { sliceBegan } from '../base/turns.ts'
import { requireDefinition } from '../feature/damaged-deciders.ts'
import type { FlowControl } from '../flowcontrol/flowcontrol.ts'
import { createCodecs } from '../http/codecs.ts'
import { dispatcher } from '../http/dispatch.ts'
import { createDocuments, type DocumentsDeps } from '../http/documents.ts'
import { LateRefusals } from '../http/late-refusals.ts'
import type { Defense } from '../http/overload.ts'
import { createPipeline, type Serve } from '../http/pipeline.ts'
import { createStages, type StagesOptions } from '../http/stages/stages.ts'
import { scaleVerbs } from '../http/verbs/scale.ts'
import { createVerbs, type VerbParts } from '../http/verbs/verbs.ts'
import { type ResourceType } from '../kube/resource-type.ts'
import { scaleTypeOf } from '../kube/scale.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { translate } from '../registry/errors.ts'
import { applyWith } from '../registry/field-ownership.ts'
import { isShared } from '../storage/storage-choice.ts'
import { authorizationOf, impersonationBy, permitOf, requireCreateBy, visibilityOf } from './authorization.ts'
import { holdUntilInitialized } from './held-creates.ts'
import { answeredKinds, reviewsOf, specialSubresources } from './subresources.ts'
import type { Core } from './wire.ts'

export interface ApiServerDeps {
  readonly core: Core
  readonly authentication: Authentication
  /** Who else may allow a request. */
  readonly askElsewhere: AskElsewhere | undefined
  readonly documents: Omit<DocumentsDeps, 'discovery'>
  /** `host:port`, for the discovery document. */
  readonly serverAddress: () => string
  readonly metrics: Metrics
  readonly audit: StagesOptions['audit']
  readonly defense: Defense
  readonly flowControl: FlowControl
}

export function createApiServer(deps: ApiServerDeps): Serve {
  const { core, authentication } = deps
  const { chain } = authentication
  const { config, catalog, registry, authorizer } = core
  const { clock, ids, log } = config
  const { protobuf, decoder, renderer, longWork } = createCodecs(catalog, {
    ...deps.defense,
    clock,
    turns: core.turns,
    waitMs: config.load.deadlines.handlerMs,
  })
  const authorization = authorizationOf(core, deps.askElsewhere)
  const verbDeps = {
    registry,
    types: catalog.types,
    decoder,
    renderer,
    visibility: visibilityOf(core),
    awaitCreated: holdUntilInitialized(core),
    requireCreate: requireCreateBy(authorization),
    createsOnUpdate: ({ type }: { type: ResourceType }) => core.strategyOf(type).createOnUpdate === true,
    returnsDeleted: ({ type }: { type: ResourceType }) => core.strategyOf(type).returnsDeleted === true,
    protobufEvents: protobuf,
    turns: core.turns,
    permitOf: permitOf(core),
    random: Math.random,
    apply: applyWith(clock, { types: catalog.types, strategyOf: core.strategyOf }),
  } satisfies VerbParts

  const scaleType = scaleTypeOf(catalog.schemaOf('io.k8s.api.autoscaling.v1.Scale'))
  const scale = scaleVerbs({ ...verbDeps, scaleType })
  const answering = { core, decoder, renderer, reviews: reviewsOf(core, authentication, deps.askElsewhere), scale }
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
    stages: createStages({
      clock,
      log,
      types: catalog.types,
      renderer,
      decodeProtobuf: (bytes) => protobuf.decode(bytes),
      metrics: deps.metrics.stage,
      timeLimit: { ...deps.defense, handlerMs: config.load.deadlines.handlerMs },
      audit: deps.audit,
      refresh: isShared(config) ? () => translate(core.lister.refresh()) : undefined,
      authenticate: (credentials) => chain.authenticate(credentials),
      reservesAddress: config.adminListen !== undefined,
      impersonation: impersonationBy(authorizer),
      fairness: {
        flowControl: deps.flowControl,
        now: () => clock.now(),
        began: (context) => core.diagnostics.publish(sliceBegan, context),
        lateRefusals: new LateRefusals(clock),
        longWork,
      },
      authorization,
    }),
    dispatch: dispatcher({
      onUnknown: requireDefinition(core.cache.damaged),
      verbs: createVerbs(verbDeps),
      special: specialSubresources(answering),
      answered: answeredKinds(answering),
      documents: (path) => documents.find(path),
      knownPaths: () => documents.paths(),
    }),
  })
}
