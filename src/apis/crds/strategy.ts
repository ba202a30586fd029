/**
 * What is special about the CustomResourceDefinition kind itself: names filled in, storedVersions kept, a status that
 * is the controller's.
 * @see k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go,
 *   pkg/apis/apiextensions/v1/defaults.go v0.36
 */

import type { Strategy } from '../../catalog/strategy.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { Unvalidated } from '../../kube/types.ts'
import {
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionStatus,
  withConditions,
} from './types.ts'
import { definitionErrors, statusErrors } from './validation.ts'
import { definitionWarnings } from './warnings.ts'

type Given = NonNullable<Unvalidated<CustomResourceDefinition>['spec']>
type GivenConversion = NonNullable<Given['conversion']>

/** @param objectMeta schema of ObjectMeta */
export const definitionStrategy = (objectMeta: Schema): Strategy => ({
  plainFinalizers: true,
  prepare(next: Unvalidated<CustomResourceDefinition>, old: CustomResourceDefinition | undefined, { subresource }) {
    if (subresource === 'status') return next
    const named = withDefaultNames(next)
    return { ...named, status: withStoredVersion(named.spec.versions, old?.status) }
  },
  validate: (next: CustomResourceDefinition, old: CustomResourceDefinition | undefined, { subresource }) =>
    subresource === 'status' ? statusErrors(next) : definitionErrors(next, old, objectMeta),
  warnings: (next: CustomResourceDefinition) => definitionWarnings(next),
  beginDeletion(definition: CustomResourceDefinition, { now }) {
    const conditions = withConditions(definition.status?.conditions ?? [], [deletionPending], now)
    return { ...definition, status: { ...definition.status, conditions } }
  },
})

const deletionPending: DefinitionCondition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

/** Also makes whole what a client left out, so that what judges it can read it. */
function withDefaultNames(
  definition: Unvalidated<CustomResourceDefinition>,
): Unvalidated<CustomResourceDefinition> & { spec: { versions: NonNullable<Given['versions']> } } {
  const spec = definition.spec ?? {}
  const names = spec.names ?? {}
  const kind = names.kind ?? ''
  return {
    ...definition,
    spec: {
      ...spec,
      group: spec.group ?? '',
      scope: spec.scope ?? '',
      versions: spec.versions ?? [],
      names: {
        ...names,
        plural: names.plural ?? '',
        kind,
        singular: names.singular || kind.toLowerCase(),
        listKind: names.listKind || (kind === '' ? '' : `${kind}List`),
      },
      conversion: withDefaultPort(spec.conversion ?? { strategy: 'None' }),
    },
  }
}

function withDefaultPort(conversion: GivenConversion): GivenConversion {
  const webhook: unknown = conversion.webhook
  const client = isJsonObject(webhook) ? webhook['clientConfig'] : undefined
  if (!isJsonObject(webhook) || !isJsonObject(client) || !isJsonObject(client['service'])) return conversion
  const service = { port: 443, ...client['service'] }
  return { ...conversion, webhook: { ...webhook, clientConfig: { ...client, service } } }
}

/** Objects may be stored in the present storage version from now on. */
function withStoredVersion(
  versions: NonNullable<Given['versions']>,
  old: DefinitionStatus | undefined,
): DefinitionStatus {
  const { conditions = null, acceptedNames = { plural: '', kind: '' }, storedVersions } = old ?? {}
  const stored = [...(storedVersions ?? [])]
  for (const { storage, name } of versions) {
    if (storage && !stored.includes(name ?? '')) stored.push(name ?? '')
  }
  return { conditions, acceptedNames, storedVersions: stored }
}
