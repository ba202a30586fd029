/**
 * Server-side apply and the tracking of plain writes, with what each endpoint can't set left without owner, and with
 * what is known of the other versions of a kind.
 */

import type { Clock } from '../base/clock.ts'
import { isPending } from '../base/eventual.ts'
import type { Log } from '../base/log.ts'
import type { Slice } from '../base/turns.ts'
import type { Strategy } from '../catalog/strategy.ts'
import { applyConfiguration } from '../kube/apply/apply-configuration.ts'
import type { FieldSet } from '../kube/apply/field-set.ts'
import { withEntries } from '../kube/apply/managed-fields.ts'
import { resetFieldsOf } from '../kube/apply/reset-fields.ts'
import { trackNew, trackUpdate } from '../kube/apply/track-update.ts'
import type { RequestVersion, Versions } from '../kube/apply/versions.ts'
import { cloneJson } from '../kube/clone-json.ts'
import { convertObject } from '../kube/convert-object.ts'
import { apiVersionOf, parseApiVersion } from '../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import { DecodeError } from '../kube/schema/decode.ts'
import { decodeObject } from '../kube/schema/decode-object.ts'
import { findStatusError } from '../kube/status-error.ts'
import { formatTime } from '../kube/time.ts'
import type { JsonObject, KubeObject, Unvalidated } from '../kube/types.ts'
import { assumeValid } from '../kube/unvalidated.ts'
import type { RegistryDeps, TrackedWrite } from './parts.ts'

/**
 * Server-side apply. `live` undefined = there is none yet. A promise where versions are converted. @throws StatusError
 */
export type Apply = (input: {
  readonly live: KubeObject | undefined
  readonly config: KubeObject
  readonly type: ResourceType
  readonly subresource: string
  readonly manager: string
  readonly force: boolean
  readonly slice?: Slice | undefined
}) => KubeObject | Promise<KubeObject>

interface Kinds {
  readonly types: Pick<ResourceTypes, 'find'>
  strategyOf(type: ResourceType): Strategy
}

function resetBy(kinds: Kinds, type: ResourceType, subresource: string): FieldSet | undefined {
  if (subresource === '' || type.custom) return resetFieldsOf(type, subresource)
  return resetFieldsOf(type, subresource, kinds.strategyOf(type).keptMetadata?.[subresource])
}

/** The versions of a kind: of a custom one all that its definition has, of others those that are served. */
class KindVersions implements Versions {
  readonly #kinds: Kinds
  readonly #type: ResourceType
  readonly #subresource: string

  constructor(kinds: Kinds, type: ResourceType, subresource: string) {
    this.#kinds = kinds
    this.#type = type
    this.#subresource = subresource
  }

  find(apiVersion: string): ReturnType<Versions['find']> {
    const type = this.#typeOf(apiVersion)
    return type && { schema: type.schema, resetFields: resetBy(this.#kinds, type, this.#subresource) }
  }

  isAlike(a: string, b: string): boolean {
    const [one, other] = [this.#typeOf(a), this.#typeOf(b)]
    return one === other || (one?.conversion === undefined && other?.conversion === undefined)
  }

  convert(object: KubeObject, from: string, to: string): KubeObject | Promise<KubeObject> {
    const [source, target] = [this.#typeOf(from), this.#typeOf(to)]
    if (source === undefined || target === undefined) throw new TypeError(`no conversion from ${from} to ${to}`)
    return convertObject(object, source, target)
  }

  #typeOf(apiVersion: string): ResourceType | undefined {
    const gv = parseApiVersion(apiVersion)
    if (gv === undefined) return undefined
    const { versions, group, resource, storageName } = this.#type
    if (versions !== undefined) return gv.group === group ? versions.get(gv.version) : undefined
    const found = this.#kinds.types.find({ ...gv, resource })
    return found?.storageName === storageName ? found : undefined
  }
}

function requestVersion(kinds: Kinds, type: ResourceType, subresource: string): RequestVersion {
  return {
    apiVersion: apiVersionOf(type),
    schema: type.schema,
    resetFields: resetBy(kinds, type, subresource),
    versions: new KindVersions(kinds, type, subresource),
  }
}

/**
 * Where the object can't be converted, ownership stays as it was, and the log says so: a plain write is not refused
 * because of it.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go (UpdateNoErrors) v0.36
 */
export function trackWrites(kinds: Kinds, log: Log): RegistryDeps['trackUpdate'] {
  const asBefore = ({ type, live, next }: TrackedWrite, error: unknown): KubeObject => {
    if (findStatusError(error) === undefined) throw error
    log.warn({ error, kind: type.kind, name: next.metadata.name }, 'field ownership could not be converted')
    return withEntries(next, live?.metadata.managedFields)
  }
  return (write) => {
    const { type, live, next, manager, subresource, now, slice } = write
    if (live === undefined && slice === undefined && !next.metadata.managedFields) {
      const { schema } = type
      const resetFields = resetBy(kinds, type, subresource)
      return trackNew({ schema, resetFields, next, apiVersion: apiVersionOf(type), manager, subresource, now })
    }
    try {
      const tracked = trackUpdate({
        ...requestVersion(kinds, type, subresource),
        live,
        next,
        manager,
        subresource,
        now,
        slice,
      })
      return isPending(tracked) ? tracked.catch((error: unknown) => asBefore(write, error)) : tracked
    } catch (error) {
      return asBefore(write, error)
    }
  }
}

export function applyWith(clock: Clock, kinds: Kinds): Apply {
  return ({ live, config, type, subresource, manager, force, slice }) =>
    applyConfiguration({
      ...requestVersion(kinds, type, subresource),
      live,
      config,
      kind: type.kind,
      manager,
      force,
      subresource,
      now: formatTime(clock.now()),
      slice,
    })
}

/**
 * What an apply makes where there is nothing, defaulted: no other version of the kind has a say. Shares nothing with
 * the configuration. undefined = it does not fit the schema. @throws StatusError
 */
export function firstApplied(
  clock: Clock,
  applyDefaults: (type: ResourceType, object: KubeObject) => Unvalidated,
): (type: ResourceType, config: KubeObject, manager: string) => KubeObject | undefined {
  return (type, config, manager) => {
    const applied = applyConfiguration({
      apiVersion: apiVersionOf(type),
      schema: type.schema,
      resetFields: resetFieldsOf(type, ''),
      live: undefined,
      config,
      kind: type.kind,
      manager,
      subresource: '',
      now: formatTime(clock.now()),
    })
    try {
      const { value } = decodeObject(cloneJson(applied) as unknown as JsonObject, type, 'typed')
      return assumeValid(applyDefaults(type, value as unknown as KubeObject))
    } catch (error) {
      if (error instanceof DecodeError) return undefined
      throw error
    }
  }
}
