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
import type { RequestInfo } from '../http/request-info.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { type StatusError, storeReadError } from '../kube/status-error.ts'
import type { DamagedObjects } from '../watch/damaged-objects.ts'
import { spanOf } from '../watch/type-cache.ts'
import type { FeatureParts } from './feature.ts'

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

/** To be asked last: what intact rights do not allow, damaged ones might. It allows nothing. */
export const damagedRights = (damaged: DamagedObjects): Authorizer => ({
  authorize(attributes: AuthzAttributes) {
    const namespace = attributes.path === undefined ? attributes.namespace : ''
    const error = rightsDamagedIn(damaged, namespace)
    if (error !== undefined) throw error
    return { allowed: false, reason: '' }
  },
  rulesFor(_user, namespace) {
    const error = rightsDamagedIn(damaged, namespace)
    const nothing = { resourceRules: [], nonResourceRules: [] }
    return error === undefined
      ? { ...nothing, incomplete: false }
      : { ...nothing, incomplete: true, evaluationError: error.message }
  },
})

function rightsDamagedIn(damaged: DamagedObjects, namespace: string): StatusError | undefined {
  if (damaged.size === 0) return undefined
  const cluster = damageAmong(damaged, clusterRights)
  return namespace === '' ? cluster : (cluster ?? damageAmong(damaged, namespaceRights, namespace))
}

/** Requests for a resource whose definition is damaged do not hear that there is no such resource. */
export const requireDefinition =
  (damaged: DamagedObjects) =>
  ({ resource, group }: RequestInfo): void => {
    const name = `${resource}.${group}`
    const damage = damaged.find('customresourcedefinitions', { start: name, end: `${name}\0` })
    if (damage !== undefined) throw storeReadError(damage)
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
