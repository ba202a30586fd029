/**
 * The mark that a population controller leaves in the store: up to a revision, what templates made was as its records
 * say, but for some namespaces. The controller that starts next reads no object that has not changed since.
 */
import type { FeatureContext } from '../../feature/feature.ts'
import { recordType } from '../../feature/record-type.ts'
import { objectKey } from '../../kube/object-key.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { KubeObject } from '../../kube/types.ts'
import { initialNamespaces } from '../namespaces/types.ts'

export interface Verified {
  readonly revision: number
  /** Namespaces in which something may differ from the record. */
  readonly except: ReadonlySet<string>
}

interface StoredMark extends KubeObject {
  readonly revision: number
  readonly except: readonly string[]
  /** Revisions of objects that every store has: a copy of the store has given them others. */
  readonly store: readonly number[]
}

const storageName = 'borough'
const name = 'verified'
/** Where more differ, the mark says nothing new. */
const mostExcepted = 1000

export class VerifiedMark {
  readonly #parts: Pick<FeatureContext, 'records' | 'stored'>
  readonly #namespaceType: ResourceType
  readonly #type: ResourceType<StoredMark>

  constructor(parts: Pick<FeatureContext, 'records' | 'stored'>, namespaceType: ResourceType) {
    this.#parts = parts
    this.#namespaceType = namespaceType
    this.#type = recordType(namespaceType, storageName)
  }

  /** undefined = there is none, or it is of another store: revisions are no longer those that it speaks of. */
  read(): Verified | undefined {
    const version = this.#parts.stored.find(storageName, '', name)
    if (version === undefined || version.damage !== undefined) return undefined
    const mark = version.as(this.#type).object
    const isOfThisStore = version.revision > mark.revision && String(mark.store) === String(this.#store())
    return isOfThisStore ? { revision: mark.revision, except: new Set(mark.except) } : undefined
  }

  async write({ revision, except }: Verified): Promise<void> {
    if (except.size > mostExcepted) return
    const { records, stored } = this.#parts
    const mark: StoredMark = { metadata: { name }, revision, except: [...except], store: this.#store() }
    // Another process that leads by now has left its own: that one stands.
    const expect = stored.find(storageName, '', name)?.revision ?? 'absent'
    const key = objectKey(storageName, '', name)
    await records.commit({ guards: [], writes: [{ key, expect, value: encodeStored(mark) }] }).done
  }

  #store(): readonly number[] {
    const { stored } = this.#parts
    return initialNamespaces.map((each) => stored.find(this.#namespaceType.storageName, '', each)?.revision ?? 0)
  }
}
