/**
 * Creates that are under way. A server holds them until the namespace is ready, longer than the form is shown that sent
 * them: what becomes of one is known to the page of the birth, and what was refused to the form that comes back.
 */
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Client } from '../../../client/client.ts'
import { isNotFound } from '../../../kube/status-error.ts'
import { notStored, writeOrLook } from '../lost-answer.ts'
import { isUnreached } from '../unreached.ts'
import { type Draft, namespaceOf } from './draft.ts'

export interface RefusedDraft {
  readonly draft: Draft
  readonly error: unknown
}

/** Those of one page. */
export class Creations {
  readonly #client: Client
  readonly #clock: Clock
  readonly #underWay = new Map<string, Promise<Namespace>>()
  #refused: RefusedDraft | undefined

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** The draft of one that is refused is had from `takeRefused`. */
  begin(draft: Draft): Promise<Namespace> {
    const { name } = draft
    const created = this.#create(name, namespaceOf(draft))
    this.#underWay.set(name, created)
    const end = (): void => {
      if (this.#underWay.get(name) === created) this.#underWay.delete(name)
    }
    created.then(end, (error: unknown) => {
      end()
      this.#refused = { draft, error }
    })
    return created
  }

  async #create(name: string, sent: Namespace): Promise<Namespace> {
    const client = this.#client
    const find = (): Promise<Namespace | undefined> =>
      client.get(namespaceResource, { name }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      })
    // Should the answer be lost, one that is found then may not be this one. A user who may not read it is not shown
    // another's.
    const before = await find().catch((error: unknown) => {
      if (isUnreached(error)) throw notStored(error)
      return undefined
    })
    return writeOrLook(() => client.create(namespaceResource, sent) as Promise<Namespace>, {
      clock: this.#clock,
      async look() {
        const found = await find()
        if (found === undefined) return undefined
        if (found.metadata.uid !== before?.metadata.uid && holds(found, sent)) return found
        throw new Error(`a namespace ${name} is there, and is not the one that was asked for: another client made it`)
      },
    })
  }

  /** Undefined where this tab does not wait for one: it was answered, or another tab or client sent it. */
  of(name: string): Promise<Namespace> | undefined {
    return this.#underWay.get(name)
  }

  /** What was refused last, once. */
  takeRefused(): RefusedDraft | undefined {
    const refused = this.#refused
    this.#refused = undefined
    return refused
  }
}

/** Labels and annotations that were asked for; the server may have added others. */
const holds = ({ metadata: found }: Namespace, { metadata: sent }: Namespace): boolean =>
  (['labels', 'annotations'] as const).every((part) =>
    Object.entries(sent[part] ?? {}).every(([key, value]) => found[part]?.[key] === value),
  )
