/**
 * What a template said before: one ControllerRevision per generation in `kube-system`, the last ten of them. They go
 * with their template.
 */
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { isAlreadyExists, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { generationBefore, heldGeneration, versionOf } from './held-version.ts'
import type { Matcher } from './match.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

export const revisionResource = { group: 'apps', version: 'v1', resource: 'controllerrevisions' } as const
export const revisionNamespace = 'kube-system'
/** On a revision: whose it is. */
export const revisionLabel = 'policy.borough.dev/namespace-template'
const keptRevisions = 10

export interface TemplateRevision {
  readonly generation: number
  readonly spec: NonNullable<NamespaceTemplate['spec']>
  readonly object: KubeObject
}

export const revisionName = (template: string, generation: number): string =>
  `namespacetemplate-${template}-${generation}`

/** Generations that were seen and are not kept as a revision yet. */
export class PendingRevisions {
  readonly #byTemplate = new Map<string, NamespaceTemplate[]>()
  readonly #keeping = new Map<string, Promise<void>>()

  add(template: NamespaceTemplate): void {
    const { uid, generation } = template.metadata
    const name = nameOf(template.metadata)
    const pending = this.#byTemplate.get(name) ?? []
    const last = pending.at(-1)?.metadata
    if (last?.uid === uid && last?.generation === generation) return
    this.#byTemplate.set(name, [...pending, template])
  }

  /** Oldest first; what fails is pending still. */
  keep(client: Client, template: string, signal: AbortSignal): Promise<void> {
    const begun = this.#keeping.get(template)
    if (begun !== undefined) return begun
    if (this.#next(template) === undefined) return Promise.resolve()
    const keeping = this.#keepAll(client, template, signal).finally(() => this.#keeping.delete(template))
    this.#keeping.set(template, keeping)
    return keeping
  }

  async #keepAll(client: Client, template: string, signal: AbortSignal): Promise<void> {
    for (let next = this.#next(template); next !== undefined; next = this.#next(template)) {
      if (next.metadata.deletionTimestamp === undefined) await keepRevision(client, next, signal)
      this.#byTemplate.get(template)?.shift()
    }
    this.#byTemplate.delete(template)
  }

  forget(template: string): void {
    this.#byTemplate.delete(template)
  }

  #next(template: string): NamespaceTemplate | undefined {
    return this.#byTemplate.get(template)?.[0]
  }
}

/** Keeps this generation, if it is not kept already, and lets the oldest go that is not in force. */
async function keepRevision(client: Client, template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
  const { generation = 0 } = template.metadata
  const name = nameOf(template.metadata)
  const uid = uidOf(template.metadata)
  const revision: KubeObject = {
    apiVersion: apiVersionOf(revisionResource),
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(name, generation),
      namespace: revisionNamespace,
      labels: { [revisionLabel]: name },
      ownerReferences: [{ apiVersion: apiVersionOf(templateResource), kind: 'NamespaceTemplate', name, uid }],
    },
    revision: generation,
    data: { spec: template.spec ?? {} },
  }
  try {
    await client.create(revisionResource, revision, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const ref = { namespace: revisionNamespace, name: revisionName(name, generation) }
    const there = await client.get(revisionResource, ref, { signal })
    if (isRevisionOf(there, template.metadata)) return
    // Of an earlier template of this name, not yet collected.
    await remove(client, there, signal)
    await client.create(revisionResource, revision, { signal })
  }
  const held = generationBefore(template)
  const old = (await revisionsOf(client, template, signal)).slice(keptRevisions)
  for (const { object, generation: of } of old) if (of !== held) await remove(client, object, signal)
}

/** Newest first. */
export async function revisionsOf(
  client: Client,
  { metadata }: NamespaceTemplate,
  signal?: AbortSignal,
): Promise<readonly TemplateRevision[]> {
  const { items } = await client.list(revisionResource, {
    namespace: revisionNamespace,
    labelSelector: `${revisionLabel}=${metadata.name}`,
    ...(signal === undefined ? {} : { signal }),
  })
  return items
    .filter((o) => isRevisionOf(o, metadata))
    .map(readRevision)
    .sort((a, b) => b.generation - a.generation)
}

/** Not of another template that had its name. */
export const isRevisionOf = ({ metadata }: KubeObject, { uid }: NamespaceTemplate['metadata']): boolean =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) === true

export const readRevision = (object: KubeObject): TemplateRevision => ({
  generation: Number(object['revision']),
  spec: (object['data'] as { spec?: TemplateRevision['spec'] } | undefined)?.spec ?? {},
  object,
})

/** The version in force; undefined = its revision is not there. */
export function heldVersion(template: NamespaceTemplate, revision: KubeObject | undefined): Matcher | undefined {
  if (revision === undefined || !isRevisionOf(revision, template.metadata)) return undefined
  const { generation, spec } = readRevision(revision)
  return versionOf(template, generation, spec)
}

/** The same, read when it is asked for. */
export async function findHeldVersion(
  client: Pick<Client, 'get'>,
  template: NamespaceTemplate,
  signal?: AbortSignal,
): Promise<Matcher | undefined> {
  const generation = heldGeneration(template)
  if (generation === undefined) return undefined
  const ref = { namespace: revisionNamespace, name: revisionName(nameOf(template.metadata), generation) }
  return heldVersion(template, await findObject(client, revisionResource, ref, signal && { signal }))
}

async function remove(client: Client, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
  const ref = { namespace: revisionNamespace, name: nameOf(metadata) }
  try {
    await client.delete(revisionResource, ref, { preconditions: { uid: uidOf(metadata) }, signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
