/** Objects that hold more than their template says, as the passes of this process found them: no record tells it. */
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { contentDigest } from './marks.ts'
import { objectPlace, type PopulatedObject, type Written } from './populated-objects.ts'

type Extension = Required<Pick<PopulatedObject, 'uid' | 'digest' | 'applied' | 'extended'>>

export class ExtendedObjects {
  readonly #byPlace = new Map<string, Extension>()

  /** What a pass wrote there. */
  note(kind: GroupVersionResource, written: NonNullable<Parameters<Written>[0]>): void {
    const { object, config: applied, extended } = written
    const { namespace = '' } = object.metadata
    const name = nameOf(object.metadata)
    const uid = uidOf(object.metadata)
    const place = objectPlace(kind, namespace, name)
    if (extended === undefined) this.#byPlace.delete(place)
    else this.#byPlace.set(place, { uid, digest: contentDigest(object), applied, extended })
  }

  /** It is gone. */
  forget(kind: GroupVersionResource, namespace: string, name: string): void {
    this.#byPlace.delete(objectPlace(kind, namespace, name))
  }

  /** The object with what is known of it, as long as it says the same. */
  describe(object: PopulatedObject): PopulatedObject {
    const known = this.#byPlace.get(objectPlace(object.resource, object.namespace, object.name))
    if (known === undefined || known.uid !== object.uid || known.digest !== object.digest) return object
    const { held: _, ...described } = object
    return { ...described, applied: known.applied, extended: known.extended }
  }
}
