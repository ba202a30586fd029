/** Population: namespaces are created with what templates hold, and keep it. */
import { topic } from '../../base/diagnostics.ts'
import type { Feature, FeatureContext } from '../../feature/feature.ts'
import { clusterRolesResource } from '../../kube/rbac.ts'
import { formatTime } from '../../kube/time.ts'
import { serviceAccountUser } from '../../kube/user.ts'
import { recorderOf } from '../events/recorder.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { namespaceTemplates, type TemplateAdmissionDeps } from './admission.ts'
import { autoOptOut } from './auto-opt-out.ts'
import { checkTemplateObject } from './check-object.ts'
import { type CloneLookups, cloneResolver, cloneResource } from './clones.ts'
import { namespacePopulation } from './create-populated.ts'
import { templateKinds } from './kind.ts'
import { type Matcher, selectTemplates } from './match.ts'
import { heldLookups, kindFinder, storedIndexOf } from './open-stored-index.ts'
import { populationConfig } from './population-config.ts'
import { templateProtection } from './protection.ts'
import { populationControllers } from './reconcile.ts'
import { appliedRecord } from './record-admission.ts'
import { StoredRecords } from './stored-records.ts'
import { templateStrategies } from './strategy.ts'
import { TemplateIndex } from './template-index.ts'
import { templateMetrics } from './template-metrics.ts'
import { templateControllerName, templateResource } from './types.ts'

export { selectTemplates, TemplateIndex, templateControllerName }

export interface PopulationOptions {
  /** Without it the kind is not served and may be a custom one. */
  readonly enabled: boolean
  /** The creator of a namespace may see it while it waits for initializers: recorded without templates too. */
  readonly hasInitializers: boolean
  readonly templates: TemplateIndex
  /** What templates hold is stored in the namespace's own transaction. */
  readonly populatesOnCreate: boolean
}

const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' } as const
const controllerUser = serviceAccountUser('kube-system', templateControllerName)
const populatedOnCreateTopic = topic<undefined>('templates.populatesOnCreate')

export const population = (options: PopulationOptions): Feature => ({
  name: 'templates',
  // Without population this is a cluster like any other, on which the kind can be a custom one.
  kinds: options.enabled ? templateKinds : [],
  controllerRules: {
    // Applies whatever kinds a template holds, roles and bindings among them: what it may grant is settled when the
    // template is written. Removes itself from the initializers of a namespace.
    [templateControllerName]: [
      may([...read, 'create', 'delete', 'patch', 'update'], '*', '*'),
      may('bind escalate', 'rbac.authorization.k8s.io', 'clusterroles roles'),
      may('initialize', '', 'namespaces'),
      events,
    ],
  },
  open(context) {
    const { clock, diagnostics } = context
    const { enabled, hasInitializers, templates, populatesOnCreate } = options
    const matchers = (): Iterable<Matcher> => templates.matchers()
    const records = new StoredRecords({ ...context, namespaces: namespaceLookup(context) })
    if (enabled) templates.follow(context)
    return {
      strategies: enabled ? templateStrategies : {},
      admission: [
        ...(enabled || hasInitializers
          ? [namespaceTemplates(templateAdmission(context, { enabled, matchers }, records))]
          : []),
        ...(enabled ? [templateProtection(protectionDeps(context, templates, records))] : []),
        ...(populatesOnCreate ? [namespacePopulation(populatedCreateDeps(context, matchers, records))] : []),
        ...(enabled ? [appliedRecord({ records, username: controllerUser.username })] : []),
      ],
      controllers: (run) =>
        enabled
          ? populationControllers({
              client: run.client(templateControllerName, true),
              events: recorderOf(context, run, templateControllerName),
              records,
              openIndex: storedIndexOf(context, records),
              clock,
              turns: context.turns,
              onError: run.onError(templateControllerName),
            })
          : [],
      metrics(instruments) {
        const created = instruments.counter({
          name: 'borough_namespaces_born_populated_total',
          help: 'Namespaces that were stored together with what their templates hold.',
        })
        diagnostics.subscribe(populatedOnCreateTopic, () => created.inc())
        if (enabled) templateMetrics(instruments, matchers)
      },
    }
  },
})

function templateAdmission(
  context: FeatureContext,
  { enabled, matchers }: Pick<PopulationOptions, 'enabled'> & Pick<TemplateAdmissionDeps, 'matchers'>,
  records: StoredRecords,
): TemplateAdmissionDeps {
  const { authorizer, lister, typeOf } = context
  const findKind = kindFinder(context)
  const configMapType = typeOf(configMapsResource)
  const clusterRoleType = typeOf(clusterRolesResource)
  const { namespace, name } = populationConfig
  return {
    authorizer,
    turns: context.turns,
    matchers,
    hasLabelGate: !enabled,
    setsMetadata: enabled,
    optsOutAutomatically: autoOptOut(() => (enabled ? lister.find(configMapType, namespace, name)?.object : undefined)),
    findKind,
    sources: cloneLookups(context, records),
    ...(enabled ? { held: heldLookups(context, records) } : {}),
    *checkObject(object, parameters) {
      const type = findKind(String(object['apiVersion']), String(object['kind']))
      if (type === undefined) return { errors: [], warnings: [] }
      return yield* checkTemplateObject(context, type, object, parameters)
    },
    findClusterRole: (roleName) => lister.find(clusterRoleType, '', roleName)?.object,
  }
}

const protectionDeps = (
  context: FeatureContext,
  templates: TemplateIndex,
  records: StoredRecords,
): Parameters<typeof templateProtection>[0] => ({
  authorizer: context.authorizer,
  records,
  turns: context.turns,
  matchers: () => templates.matchers(),
  protects: (type) => templates.protects(type),
  onProtectedKindsChange: (listener) => templates.onProtectedKindsChange(listener),
  findNamespace: namespaceLookup(context).find,
})

const cloneLookups = ({ lister, typeOf }: FeatureContext, records: StoredRecords): CloneLookups => ({
  find: (from) => lister.find(typeOf(cloneResource(from)), from.namespace, from.name)?.object,
  madeIn: (namespace) => records.of(namespace),
})

const populatedCreateDeps = (
  context: FeatureContext,
  matchers: TemplateAdmissionDeps['matchers'],
  records: StoredRecords,
): Parameters<typeof namespacePopulation>[0] => ({
  authorizer: context.authorizer,
  turns: context.turns,
  templateType: context.typeOf(templateResource),
  user: controllerUser,
  records,
  clones: cloneResolver(cloneLookups(context, records)),
  observe: () => context.diagnostics.publish(populatedOnCreateTopic, undefined),
  matchers,
  findKind: kindFinder(context),
  now: () => formatTime(context.clock.now()),
  firstApplied: (type, config, manager) => context.applyNew(type, config, manager),
})
