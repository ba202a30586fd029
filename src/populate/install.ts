/**
 * The kind that `borough populate` puts on a cluster at its start, and the namespace of its own. Its account and rights
 * are an administrator's business (`rights.ts`).
 */
import { featureLevel, featureLevelOf } from '../apis/templates/feature-level.ts'
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import { isAlreadyExists, isForbidden } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { definitionName, templateDefinition } from './definition.ts'
import { namespaceManifest } from './manifests.ts'
import { installFieldManager } from './names.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' } as const

/** How long a server may take to serve a kind that it was told of. */
const establishMs = 30_000

const applied = { fieldManager: installFieldManager, force: true } as const

/** Resolves when the kind is served. @throws Error if it is not after half a minute */
export async function installDefinition(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  const there = await findObject(client, definitions, { name: definitionName }, { signal })
  // A newer version's: under ours its templates would lose what only it knows, and with that what they made.
  const isNewer = there !== undefined && featureLevelOf(there) > featureLevel
  const installed = isNewer ? there : await client.apply(definitions, templateDefinition(), { ...applied, signal })
  if (isEstablished(installed)) return
  const late = new AbortController()
  const timer = clock.after(establishMs, () => late.abort())
  let last = installed
  try {
    const { resourceVersion = '' } = installed.metadata
    const fieldSelector = `metadata.name=${definitionName}`
    const changes = client.watch(definitions, {
      fieldSelector,
      resourceVersion,
      signal: AbortSignal.any([signal, late.signal]),
    })
    for await (const { type, object } of changes) {
      if (type === 'BOOKMARK') continue
      last = object
      if (isEstablished(object)) return
    }
  } finally {
    timer.cancel()
  }
  const refused = conditionsOf(last).find((c) => c.type === 'NamesAccepted' && c.status === 'False')
  throw new Error(`the cluster does not serve ${definitionName}${refused?.message ? `: ${refused.message}` : ''}`)
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string
}

const conditionsOf = ({ status }: KubeObject): readonly Condition[] =>
  (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? []

const isEstablished = (definition: KubeObject): boolean =>
  conditionsOf(definition).some((c) => c.type === 'Established' && c.status === 'True')

/** The namespace of its own. Who may not make namespaces has been given one. */
export async function ensureNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(namespaces, namespaceManifest(name))
  } catch (error) {
    if (!isAlreadyExists(error) && !isForbidden(error)) throw error
  }
}
