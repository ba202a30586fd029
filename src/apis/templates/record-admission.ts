/**
 * On Borough the record is written by admission, in the transaction of what it is about: an apply of the controller
 * takes its entry along, the removal of a namespace its record. What is created with a namespace brings the record too
 * (`create-populated.ts`).
 */
import type { AdmissionPlugin, Attributes, DecidedWrite, DecisionView } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import { uidOf } from '../../kube/metadata.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { contentDigest } from './marks.ts'
import { identityOf } from './render.ts'
import { templateFieldManager } from './types.ts'

/** Records as a decision sees and writes them. */
export interface RecordWriter {
  /** What the controller of this process is about to apply at this place. */
  announced(namespace: string, identity: string): AppliedObject | undefined
  /** The record of a namespace with these in it; undefined = it says so already. */
  written(view: DecisionView, namespace: string, applied: readonly AppliedObject[]): DecidedWrite | undefined
  /** undefined = there is none. */
  removed(view: DecisionView, namespace: string): DecidedWrite | undefined
}

export interface RecordAdmissionDeps {
  readonly records: RecordWriter
  /** As whom the controller acts. */
  readonly username: string
}

/** What is larger is recorded after its apply, by the controller: a transaction takes 1 MiB. */
const largestTogether = 512 * 1024

const isNamespaces = ({ type }: Pick<Attributes, 'type'>): boolean =>
  type.group === '' && type.resource === 'namespaces'

export function appliedRecord({ records, username }: RecordAdmissionDeps): AdmissionPlugin {
  return {
    name: 'AppliedRecord',
    handles: (operation, type, subresource) =>
      isNamespaces({ type })
        ? operation === 'UPDATE'
        : type.namespaced && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    decide(a, view) {
      const write = a.type.namespaced
        ? a.user.username === username && appliedNow(a, view, records)
        : isRemoved(objectOf(namespaceResource, a)) && records.removed(view, a.name)
      return write ? { writes: [write] } : {}
    },
  }
}

/** Nothing holds it any more: this write takes it out of the store. */
const isRemoved = ({ metadata, spec }: Namespace): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (spec?.finalizers ?? []).length === 0

function appliedNow(a: Attributes, view: DecisionView, records: RecordWriter): DecidedWrite | undefined {
  const { object, options, pendingScope } = a
  if (object === undefined || pendingScope !== undefined || options['fieldManager'] !== templateFieldManager) {
    return undefined
  }
  const { group, version, kind } = a.type
  const identity = identityOf({ apiVersion: `${group}/${version}`, kind, metadata: { name: a.name } })
  const announced = records.announced(a.namespace, identity)
  if (announced === undefined || JSON.stringify(object).length > largestTogether) return undefined
  const applied = { ...announced, uid: uidOf(object.metadata), content: contentDigest(object) }
  return records.written(view, a.namespace, [applied])
}
