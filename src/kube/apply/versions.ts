/**
 * The versions of a kind, as far as ownership is concerned: an entry names fields of its own version, so they are
 * compared with what the object looks like in that version.
 *
 * Converting may mean asking a webhook, so what needs it is written as steps: a generator that yields
 * conversions and is given the converted objects. Without such a question nothing is awaited.
 * @see sigs.k8s.io/structured-merge-diff/v6 merge/update.go (Converter)
 */
import type { Slice } from '../../base/turns.ts'
import type { Schema } from '../schema/schema.ts'
import type { KubeObject } from '../types.ts'
import type { Changes } from './compare.ts'
import { comparingObjects } from './comparing.ts'
import type { FieldSet } from './field-set.ts'
import { withEntries } from './managed-fields.ts'
import type { Steps } from './steps.ts'

/** What a version of the kind is like. */
export interface Version {
  readonly schema: Schema
  /** Parts that the endpoint of the request can't set, in this version. */
  readonly resetFields?: FieldSet | undefined
}

export interface Versions {
  /** Undefined = there is no such version (any more): its entries are dropped. */
  find(apiVersion: string): Version | undefined
  /** True where both show an object alike but for `apiVersion`: then nothing is converted. */
  isAlike(a: string, b: string): boolean
  /** Between versions that `find` knows. The answer may share parts with the object. @throws StatusError */
  convert(object: KubeObject, from: string, to: string): KubeObject | Promise<KubeObject>
}

/** The version of the request and, if it has any, its siblings. */
export interface RequestVersion extends Version {
  readonly apiVersion: string
  /** Absent: the kind has one form, whatever its versions are called. */
  readonly versions?: Versions | undefined
}

/** The version in whose form the fields of an entry are compared; undefined = it is gone. */
export function formOf({ apiVersion, schema, resetFields, versions }: RequestVersion, entry: string): Form | undefined {
  if (versions === undefined || entry === apiVersion) return { apiVersion, schema, resetFields }
  const version = versions.find(entry)
  if (version === undefined) return undefined
  return versions.isAlike(entry, apiVersion) ? { apiVersion, schema, resetFields } : { apiVersion: entry, ...version }
}

export interface Form extends Version {
  readonly apiVersion: string
}

export function* inForm(
  versions: Versions | undefined,
  object: KubeObject,
  from: string,
  to: string,
): Steps<KubeObject> {
  if (from === to || versions === undefined) return object
  return yield versions.convert(object, from, to)
}

/** Work for it is done in slices. */
export interface Sliced {
  readonly slice?: Slice | undefined
}

/**
 * What happened between two states, as other versions see it: each is compared once.
 * `own` is what the version of the request sees.
 */
export class ChangesByVersion {
  readonly #request: RequestVersion & Sliced
  readonly #live: KubeObject | undefined
  readonly #next: KubeObject
  readonly #known: Map<string, Changes | undefined>

  constructor(
    request: RequestVersion & Sliced,
    live: KubeObject | undefined,
    next: KubeObject,
    own: Changes | undefined,
  ) {
    this.#request = request
    this.#live = live
    this.#next = next
    this.#known = new Map([[request.apiVersion, own]])
  }

  *in(form: Form): Steps<Changes | undefined> {
    const { apiVersion, schema, resetFields } = form
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion)
    const { apiVersion: from, versions, slice } = this.#request
    // Without managedFields: they are not to be converted.
    const live = this.#live && withEntries(this.#live, undefined)
    const before = live && (yield* inForm(versions, live, from, apiVersion))
    const after = yield* inForm(versions, withEntries(this.#next, undefined), from, apiVersion)
    const changes = yield* comparingObjects(schema, before, after, resetFields, slice)
    this.#known.set(apiVersion, changes)
    return changes
  }
}
