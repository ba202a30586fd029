/** New objects that are written beside another object, in its transaction. */
import type { DecidedWrite } from '../admission/admission.ts'
import { objectKey } from '../kube/object-key.ts'
import { encodeStored } from '../kube/stored-form.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject } from '../kube/types.ts'
import type { FeatureContext } from './feature.ts'

export type NewObject = (storageName: string, object: KubeObject) => DecidedWrite

export function newObjectWriter({ clock, ids }: Pick<FeatureContext, 'clock' | 'ids'>): NewObject {
  return (storageName, object) => {
    const { namespace = '', name = '' } = object.metadata
    const complete: KubeObject = {
      ...object,
      metadata: { ...object.metadata, uid: ids.uid(), creationTimestamp: formatTime(clock.now()) },
    }
    const key = objectKey(storageName, namespace, name)
    return { key, value: encodeStored(complete), expect: 'absent', object: complete }
  }
}
