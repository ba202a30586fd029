/**
 * Types that keep nothing: their objects are those of a cluster-scoped type, as one namespace sees them. Read only, and
 * always the most recent.
 */
import { andThen, type Eventual, isPending } from '../base/eventual.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { isNotFound, notFound } from '../kube/status-error.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import { ObjectVersion, TypedVersion } from '../watch/stored-object.ts'
import type { ListPage, ListQuery, Projection, ProjectionView, ReadOptions, StoredObject } from './registry.ts'

/** How objects of the source are read. */
export interface SourceReads {
  get(type: ResourceType, name: string, options: ReadOptions | undefined): Eventual<StoredObject>
  list(type: ResourceType, query: ListQuery): Promise<ListPage>
}

/** @throws StatusError NotFound */
export function getProjected(
  type: ResourceType,
  { source, viewOf }: Projection,
  reads: Pick<SourceReads, 'get'>,
  { namespace, name, options }: { namespace: string; name: string; options: ReadOptions | undefined },
): Eventual<StoredObject> {
  const { resourceVersion: _, ...recent } = options ?? {}
  const show = (stored: StoredObject): StoredObject => {
    const view = viewOf(namespace)
    if (view === undefined || !view.sees(stored.object)) throw notFound(type, name)
    return shownAs(type, namespace, stored, view)
  }
  const renamed = (error: unknown): never => {
    throw isNotFound(error) ? notFound(type, name) : error
  }
  try {
    const found = andThen(reads.get(source, name, recent), show)
    return isPending(found) ? found.catch(renamed) : found
  } catch (error) {
    return renamed(error)
  }
}

export async function listProjected(
  type: ResourceType,
  { source, viewOf }: Projection,
  reads: Pick<SourceReads, 'list'>,
  { resourceVersion: _, resourceVersionMatch: _match, visible: _visible, view: _view, ...query }: ListQuery,
): Promise<ListPage> {
  const { namespace } = query
  const sees = (object: KubeObject): boolean => viewOf(namespace)?.sees(object) === true
  const page = await reads.list(source, { ...query, namespace: '', visible: sees })
  const view = viewOf(namespace)
  return {
    ...page,
    items: view === undefined ? [] : page.items.map((item) => shownAs(type, namespace, item, view)),
  }
}

function shownAs(type: ResourceType, namespace: string, source: StoredObject, view: ProjectionView): StoredObject {
  const object = view.show(source.object)
  const version = ObjectVersion.of(`${namespace}/${source.name}`, source.revision, encodeStored(object, type))
  return new TypedVersion(type, version)
}
