/** What tells the population controller of this server, and admission, what there is: its own store. */
import { BoundedCache } from '../../base/bounded-cache.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { ObjectVersion } from '../../registry/registry.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { PopulationDeps } from './population-deps.ts'
import type { HeldLookups, Holding } from './stop-warning.ts'
import { StoredIndex } from './stored-index.ts'
import type { StoredRecords } from './stored-records.ts'
import { metadataHoldersAnnotation, optedOutNamespace, optOutAnnotation } from './types.ts'
import { VerifiedMark } from './verified-mark.ts'

type FindKind = (apiVersion: string, kind: string) => ResourceType | undefined

/** What is served now. */
export const kindFinder =
  ({ catalog }: FeatureContext): FindKind =>
  (apiVersion, kind) => {
    const gv = parseApiVersion(apiVersion)
    return gv && catalog.types.findKind({ ...gv, kind })
  }

export function storedIndexOf(
  context: FeatureContext,
  records: StoredRecords,
): NonNullable<PopulationDeps['openIndex']> {
  const { stored, clock, typeOf } = context
  const mark = new VerifiedMark(context, typeOf(namespaceResource))
  return ({ onDrift, onRecorded, onLeft, onError }, watched) =>
    new StoredIndex({
      stored,
      records,
      mark,
      clock,
      watched,
      findKind: kindFinder(context),
      onDrift,
      onRecorded,
      onLeft,
      onError,
    })
}

/** Namespaces read in one step of a look at all of them. */
const stepNamespaces = 50

export function heldLookups({ stored, typeOf, clock }: FeatureContext, records: StoredRecords): HeldLookups {
  const type = typeOf(namespaceResource)
  const versions = function* (): Iterable<ObjectVersion> {
    for (const step of stored.glances(type.storageName, stepNamespaces)) yield* step
  }
  const holdingIn = (version: ObjectVersion, template: string, isAside: boolean): Holding | undefined => {
    const { bytes, name } = version
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (isAside && name !== optedOutNamespace && !text.includes(optOutAnnotation)) return undefined
    const isRecorded = records.names(template, name)
    if (!isRecorded && !text.includes(metadataHoldersAnnotation)) return undefined
    return { namespace: version.as(type).parsedOnce(), isRecorded }
  }
  return {
    *holding(template, isAside) {
      for (const version of versions()) yield holdingIn(version, template, isAside)
    },
    *others(but) {
      for (const version of versions()) yield but.has(version.name) ? undefined : version.as(type).parsedOnce()
    },
    countNamespaces: () => stored.count(type.storageName, ''),
    claimsIn: (namespace) => records.of(namespace),
    now: () => clock.monotonic(),
    found: new BoundedCache(rememberedLooks),
  }
}

const rememberedLooks = 16
