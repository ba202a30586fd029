import type { Seen } from '../admission/admission.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { parseStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Expect } from '../storage/storage.ts'

/** What a decision sees of one object; parsed only if it looks. */
export class SeenValue<T extends KubeObject> implements Seen<T> {
  readonly key: string
  readonly expect: Expect
  readonly #parse: () => KubeObject | undefined

  constructor(key: string, expect: Expect, parse: () => KubeObject | undefined) {
    this.key = key
    this.expect = expect
    this.#parse = parse
  }

  /** What is stored was validated as an object of the type it is seen as. */
  get object(): T | undefined {
    return this.#parse() as T | undefined
  }
}

/** What a write leaves, for those that come after it. `object`: the parsed form, where it is at hand. */
export const leftBy = <T extends KubeObject>(
  {
    key,
    value,
    object,
  }: { readonly key: string; readonly value: Uint8Array | undefined; readonly object?: KubeObject | undefined },
  expect: Expect,
  type: ResourceType<T>,
): Seen<T> =>
  new SeenValue(key, expect, () => (value === undefined ? undefined : (object ?? parseStored(value, type, 0))))
