/**
 * Creates that are under way. A server holds them until the namespace is ready, longer than the form is shown that sent
 * them: what becomes of one is known to the page of the birth, and what was refused to the form that comes back.
 */
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { Client } from '../../../client/client.ts'
import { type Draft, namespaceOf } from './draft.ts'

export interface RefusedDraft {
  readonly draft: Draft
  readonly error: unknown
}

/** Those of one page. */
export class Creations {
  readonly #client: Client
  readonly #underWay = new Map<string, Promise<Namespace>>()
  #refused: RefusedDraft | undefined

  constructor(client: Client) {
    this.#client = client
  }

  /** The draft of one that is refused is had from `takeRefused`. */
  begin(draft: Draft): Promise<Namespace> {
    const { name } = draft
    const created = this.#client.create(namespaceResource, namespaceOf(draft)) as Promise<Namespace>
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
