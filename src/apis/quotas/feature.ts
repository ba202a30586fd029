/** ResourceQuota: charged in the transaction that changes content. */
import type { ObjectKey } from '../../controller/controller.ts'
import { changesOf, sweep } from '../../controller/source.ts'
import type { Feature } from '../../feature/feature.ts'
import { laterFeed, versionSteps } from '../../feature/type-feed.ts'
import type { StoredObject } from '../../registry/registry.ts'
import { operationsOf, QuotaRecords } from '../clusterquotas/records.ts'
import { clusterQuotaResource } from '../clusterquotas/types.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { quotaAccountant } from './accountant.ts'
import type { LimitedResource } from './limited-resources.ts'
import { quotaControllerName, quotaReconciler, showsWhatHolds } from './reconcile.ts'
import { StoredEpochs } from './stored-epochs.ts'
import { quotaStrategy } from './strategy.ts'
import { quotaResource } from './types.ts'

export const resourceQuotas = (limited: readonly LimitedResource[]): Feature => ({
  name: 'quotas',
  controllerRules: {
    // Puts the status of a quota right when another client wrote it.
    [quotaControllerName]: [may(read, '', 'resourcequotas'), may('patch update', '', 'resourcequotas/status'), events],
  },
  open(context) {
    const { lister, stored, typeOf } = context
    const quotaType = typeOf(quotaResource)
    const records = new QuotaRecords(quotaType)
    const quotasIn = (namespace: string): number => stored.count(quotaType.storageName, namespace)
    let hasOthers = false
    // What the server must write before it serves clients needs no quota.
    let inForce: readonly LimitedResource[] = []
    lister.subscribe(typeOf(clusterQuotaResource), () => {
      hasOthers = true
    })
    return {
      strategies: { resourcequotas: quotaStrategy },
      accountants: [
        quotaAccountant({
          quotaType,
          limited: () => inForce,
          epochs: new StoredEpochs(context, quotaType),
          quotas: (namespace) =>
            // Most namespaces have none, and every change of content asks.
            quotasIn(namespace) === 0 ? [] : stored.versions(quotaType.storageName, namespace).map(({ name }) => name),
          operations: (namespace, view) =>
            quotasIn(namespace) + (hasOthers ? operationsOf(records.account(view, namespace).object) : 0),
          contentOf: (namespace) => lister.contentOf(namespace),
          list: (type, namespace) => [...lister.list(type, namespace)].map(({ object }) => object),
        }),
      ],
      start() {
        inForce = limited
      },
      controllers: ({ client }) => [
        {
          name: quotaControllerName,
          workers: 1,
          sources: [
            changesOf(laterFeed(lister, quotaType)).map((next) => next && withOtherLimits(next)),
            sweep(() => versionSteps(stored, quotaType), withOtherLimits),
          ],
          reconciler: quotaReconciler(client(quotaControllerName)),
        },
      ],
    }
  },
})

/** By bytes first: the quota of a busy namespace changes with every object in it. */
function withOtherLimits(quota: StoredObject): ObjectKey | undefined {
  const { bytes, namespace, name } = quota
  return hasSameLimits(bytes) || showsWhatHolds(quota.parsedOnce()) ? undefined : { namespace, name }
}

const limitsMark = '"hard":{'

/** The limits of the spec and those of the status are the same text. False = look closer. */
function hasSameLimits(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const limitsAt = (from: number): Buffer => text.subarray(from, text.indexOf('}', from))
  const first = text.indexOf(limitsMark)
  const second = text.indexOf(limitsMark, first + 1)
  return second >= 0 && limitsAt(first).equals(limitsAt(second))
}
