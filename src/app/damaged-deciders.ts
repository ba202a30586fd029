/**
 * What must not be decided without an object that can't be read (DECISIONS 64). Reads of such an object fail by
 * themselves; here stands what would otherwise look as if it did not exist:
 *
 *   damaged                                        fails with 500, naming it
 *   a role or binding                              what the others do not allow, in its namespace or everywhere
 *   a webhook configuration, admission policy,     every write but those of such objects themselves
 *     or binding of one
 *   a quota or limit range                         writes in its namespace
 *   an initializer configuration or a template     writes of namespaces
 *   a CustomResourceDefinition                     requests for its resource
 */
import type { AdmissionPlugin, Attributes } from '../admission/admission.ts'
import type { Authorizer, AuthzAttributes } from '../authz/authz.ts'
import type { FeatureParts } from '../feature/feature.ts'
import type { Handler } from '../http/api.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { type StatusError, storeReadError } from '../kube/status-error.ts'
import type { DamagedObjects } from '../watch/damaged-objects.ts'
import { spanOf } from '../watch/type-cache.ts'

const ofAllWrites = [
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
]
const ofWritesInNamespace = ['resourcequotas', 'limitranges']
const ofNamespaces = ['namespaceinitializerconfigurations.policy.borough.dev', 'namespacetemplates.policy.borough.dev']
const clusterRights = ['clusterroles', 'clusterrolebindings']
const namespaceRights = ['roles', 'rolebindings']

/** The first damaged object of these kinds, as the error that what depends on it ends with. */
function damageAmong(damaged: DamagedObjects, kinds: readonly string[], namespace = ''): StatusError | undefined {
  for (const kind of kinds) {
    const damage = damaged.find(kind, spanOf(namespace))
    if (damage !== undefined) return storeReadError(damage)
  }
  return undefined
}

/** Allows what intact rights allow. Where they do not, the damaged ones might. */
export function failClosed(authorizer: Authorizer, damaged: DamagedObjects): Authorizer {
  return {
    authorize(attributes: AuthzAttributes) {
      const decision = authorizer.authorize(attributes)
      if (decision.allowed || damaged.size === 0) return decision
      const namespace = attributes.path === undefined ? attributes.namespace : ''
      const error =
        damageAmong(damaged, clusterRights) ??
        (namespace === '' ? undefined : damageAmong(damaged, namespaceRights, namespace))
      if (error !== undefined) throw error
      return decision
    },
    rulesFor: (user, namespace) => {
      const rules = authorizer.rulesFor(user, namespace)
      const error = damageAmong(damaged, clusterRights) ?? damageAmong(damaged, namespaceRights, namespace)
      return error === undefined ? rules : { ...rules, incomplete: true, evaluationError: error.message }
    },
  }
}

/** Requests for a resource whose definition is damaged do not hear that there is no such resource. */
export const failWithoutDefinition =
  (damaged: DamagedObjects, next: Handler): Handler =>
  (request, context) => {
    const { info, resolution } = context
    if (damaged.size > 0 && info.isResource && typeof resolution !== 'object') {
      const name = `${info.resource}.${info.group}`
      const damage = damaged.find('customresourcedefinitions', { start: name, end: `${name}\0` })
      if (damage !== undefined) throw storeReadError(damage)
    }
    return next(request, context)
  }

/** Part of the server as features are: admission, a metric, and nothing before the server's own objects are there. */
export function damagedDeciders(damaged: DamagedObjects): FeatureParts {
  let isStarted = false
  const listeners: (() => void)[] = []
  const changed = (): void => {
    for (const listener of listeners) listener()
  }
  damaged.onChange(changed)
  const plugin: AdmissionPlugin = {
    name: 'DamagedObjects',
    handles: (_operation, type) => isStarted && damaged.size > 0 && !isRepair(type),
    onHandlesChange: (listener) => void listeners.push(listener),
    validate({ type, namespace }: Attributes) {
      const error =
        damageAmong(damaged, ofAllWrites) ??
        (namespace === '' ? undefined : damageAmong(damaged, ofWritesInNamespace, namespace)) ??
        (type.storageName === 'namespaces' ? damageAmong(damaged, ofNamespaces) : undefined)
      if (error !== undefined) throw error
    },
  }
  return {
    admission: [plugin],
    metrics: ({ gauge }) =>
      void gauge({
        name: 'borough_damaged_objects',
        help: 'Objects whose stored value is not what was written; requests that need one fail.',
        aggregator: 'max',
        collect: (figure) => figure.set(damaged.size),
      }),
    start() {
      isStarted = true
      changed()
    },
  }
}

/** As upstream leaves these out of admission by themselves: else a bad one could never be replaced. */
const isRepair = ({ storageName }: ResourceType): boolean => ofAllWrites.includes(storageName)
