/** ClusterResourceQuota: limits over several namespaces, charged in the transaction that changes content. */
import { changesOf } from '../../controller/source.ts'
import type { Feature, FeatureContext, FeatureParts } from '../../feature/feature.ts'
import { typeFeed, versionSteps } from '../../feature/type-feed.ts'
import { qualifiedResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { QuotaEpochs } from '../quotas/epoch.ts'
import { StoredEpochs } from '../quotas/stored-epochs.ts'
import { quotaResource } from '../quotas/types.ts'
import { may, read } from '../rbac/bootstrap-rules.ts'
import { clusterQuotaAccountant } from './accountant.ts'
import { clusterQuotaAdmission } from './admission.ts'
import type { AlignDeps } from './align.ts'
import { appliedQuotaKind, appliedQuotas } from './applied.ts'
import { Figures } from './figures.ts'
import { clusterQuotaKind } from './kind.ts'
import { QuotaIndex } from './quota-index.ts'
import { ClusterQuotaReconciler, changedFigures, clusterQuotaControllerName, formerQuotas } from './reconcile.ts'
import { accountFolder, counterFolder, QuotaRecords, recordStorage } from './records.ts'
import { StatusWriter } from './status-writer.ts'
import { clusterQuotaStrategy } from './strategy.ts'
import { appliedQuotaResource, type ClusterResourceQuota, clusterQuotaResource } from './types.ts'

export interface ClusterQuotaOptions {
  /** Other processes write to the store. */
  readonly isShared: boolean
  readonly recordsCreators: boolean
}

export const clusterResourceQuotas = (options: ClusterQuotaOptions): Feature => ({
  name: 'clusterquotas',
  kinds: [clusterQuotaKind, appliedQuotaKind],
  controllerRules: {
    // Brings the accounts of namespaces in line, which are no objects of the API.
    [clusterQuotaControllerName]: [
      may(read, 'policy.borough.dev', 'clusterresourcequotas'),
      may(read, '', 'namespaces'),
    ],
  },
  open: (context) => openClusterQuotas(context, options),
})

function openClusterQuotas(context: FeatureContext, { isShared, recordsCreators }: ClusterQuotaOptions): FeatureParts {
  const { authorizer, catalog, clock, lister, log, stored, turns, typeOf, writeRecords } = context
  const type = typeOf(clusterQuotaResource)
  const namespaceType = typeOf(namespaceResource)
  const quotaType = typeOf(quotaResource)
  const [limits, { types }] = [catalog.strategyOf(quotaType), catalog]
  const quotas = new QuotaIndex()
  const records = new QuotaRecords(type)
  const figures = new Figures({ stored, records, turns })
  const statuses = new StatusWriter({ quotas, figures, type, writeRecords, log })
  const use = new Use(() => {
    figures.follow()
    return new StoredEpochs(context, quotaType)
  })
  quotas.follow(lister, type, () => use.begin())
  // Left by quotas that went while no controller ran.
  if ([accountFolder, counterFolder].some((f) => stored.count(recordStorage, f) > 0)) use.begin()

  const deps: AlignDeps = {
    quotas,
    records,
    epochs: () => use.begin(),
    limitsIn: (namespace) => stored.count(quotaType.storageName, namespace),
    contentOf: (namespace) => lister.contentOf(namespace),
    list: (ofType, namespace) => [...lister.list(ofType, namespace)].map(({ object }) => object),
  }
  /** Nothing that is damaged is passed over: whether a quota selects it is not known. */
  function* namespaces(): ReturnType<typeof versionSteps<KubeObject>> {
    yield* versionSteps(stored, namespaceType)
    stored.checkSound(namespaceType.storageName)
  }
  const findNamespace = (name: string): KubeObject | undefined => lister.find(namespaceType, '', name)?.object
  const isInUse = (): boolean => use.hasBegun
  const onUse = (listener: () => void): void => use.onBegin(listener)
  return {
    strategies: {
      [qualifiedResource(type)]: clusterQuotaStrategy({ limits, recordsCreators, types }),
    },
    admission: [
      clusterQuotaAdmission({
        ...deps,
        ...{ authorizer, turns, namespaces },
        usedBy: (uid, holder) => figures.counterOf(uid, holder)?.used,
        isInUse,
        onUse,
      }),
    ],
    accountants: [clusterQuotaAccountant({ ...deps, isInUse, onUse, isShared })],
    beforeRead: new Map([[type, (name: string) => statuses.settled(name)]]),
    projections: new Map([
      [typeOf(appliedQuotaResource), appliedQuotas({ source: type, quotas, figures, findNamespace })],
    ]),
    controllers: () => [
      {
        name: clusterQuotaControllerName,
        workers: 2,
        sources: [
          changesOf(typeFeed(lister, type)).map((next, old) =>
            isCounted(next?.object) && old !== undefined
              ? undefined
              : { namespace: '', name: (next ?? old)?.name ?? '' },
          ),
          changedFigures(figures, (uid) => quotas.byUid(uid)?.name, clock),
          formerQuotas,
        ],
        reconciler: new ClusterQuotaReconciler({
          ...deps,
          figures,
          statuses,
          turns,
          namespaces,
          see: (view, namespace) => view.see(namespaceType, '', namespace),
          writeRecords,
          log,
        }),
      },
    ],
  }
}

/** As it is now; statuses change with what is used. */
const isCounted = (quota: ClusterResourceQuota | undefined): boolean =>
  quota !== undefined && quota.status?.observedGeneration === Number(quota.metadata.generation ?? 0)

/** From the first quota on: until then nothing is followed, and no request enters this folder. */
class Use {
  readonly #open: () => QuotaEpochs
  readonly #listeners: (() => void)[] = []
  #epochs: QuotaEpochs | undefined

  constructor(open: () => QuotaEpochs) {
    this.#open = open
  }

  get hasBegun(): boolean {
    return this.#epochs !== undefined
  }

  begin(): QuotaEpochs {
    if (this.#epochs === undefined) {
      this.#epochs = this.#open()
      for (const listener of this.#listeners) listener()
    }
    return this.#epochs
  }

  onBegin(listener: () => void): void {
    this.#listeners.push(listener)
  }
}
