import type { Seen } from '../admission/admission.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Expect } from '../storage/storage.ts'

/** What a decision sees of one object; parsed only if it looks. */
export class SeenValue implements Seen {
  readonly key: string
  readonly expect: Expect
  readonly #parse: () => KubeObject | undefined

  constructor(key: string, expect: Expect, parse: () => KubeObject | undefined) {
    this.key = key
    this.expect = expect
    this.#parse = parse
  }

  get object(): KubeObject | undefined {
    return this.#parse()
  }
}
