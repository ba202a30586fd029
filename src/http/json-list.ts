/**
 * Lists in JSON, copied from the stored bytes. What was assembled for one reader serves the next: clients that poll,
 * and the herd that comes back after a restart, list the same objects again and again. There is nothing to invalidate:
 * a body is used again only for exactly the versions that are in it. It is held weakly, so it costs memory that no
 * reader else wants.
 */
import { apiVersionOf } from '../kube/gvk.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { listItemHead, storedRestOffset } from '../kube/stored-form.ts'
import type { ListMeta } from '../kube/types.ts'
import type { ListPage, StoredObject } from '../registry/registry.ts'

const closing = Buffer.from(']}\n')

/** Bodies that are remembered, and from what size on it is worth it. */
const maxRemembered = 8
const rememberedFromBytes = 16 * 1024

/** Called before so many bytes are taken. May throw. */
export type Reserve = (bytes: number) => void

interface Assembled {
  /** Everything before the first item. */
  readonly head: string
  readonly items: readonly StoredObject[]
  readonly body: Uint8Array
}

export class JsonLists {
  /** The last used first. */
  readonly #recent: WeakRef<Assembled>[] = []

  /** The same array for the same question while nothing changes: a cache keyed by it finds its entry again. */
  body(type: ResourceType, { items, ...page }: ListPage, reserve: Reserve): Uint8Array | readonly Uint8Array[] {
    const head =
      `{"kind":${JSON.stringify(type.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(type))},` +
      `"metadata":${JSON.stringify(listMeta(page))},"items":[`
    const known = this.#take(items)
    if (known !== undefined) {
      this.#remember(known)
      // Elsewhere something changed: only what stands before the items is another.
      return known.head === head ? known.body : [Buffer.from(head, 'latin1'), known.body.subarray(known.head.length)]
    }
    const body = assemble(type, head, items, reserve)
    if (body.length >= rememberedFromBytes) this.#remember({ head, items, body })
    return body
  }

  /** Out of what is remembered: a list of exactly these versions. */
  #take(items: readonly StoredObject[]): Assembled | undefined {
    for (const [i, reference] of this.#recent.entries()) {
      const known = reference.deref()
      if (known === undefined || !areSame(known.items, items)) continue
      this.#recent.splice(i, 1)
      return known
    }
    return undefined
  }

  #remember(list: Assembled): void {
    this.#recent.unshift(new WeakRef(list))
    if (this.#recent.length > maxRemembered) this.#recent.pop()
  }
}

/** A revision is of one change, and so of one version. */
const areSame = (a: readonly StoredObject[], b: readonly StoredObject[]): boolean =>
  a.length === b.length && a.length > 0 && a.every((item, i) => isSame(item, b[i]))

const isSame = (a: StoredObject, b: StoredObject | undefined): boolean =>
  a === b || (a.revision === b?.revision && a.type === b.type)

/**
 * Copies each stored byte once, into one buffer of the right size. The heads are made as one text and turned into bytes
 * at once: a write of a short string costs more than the copy of the object behind it.
 */
function assemble(type: ResourceType, head: string, items: readonly StoredObject[], reserve: Reserve): Uint8Array {
  let text = head
  const headEnds: number[] = []
  let restsBytes = 0
  for (const item of items) {
    text += headEnds.length === 0 ? listItemHead(type, item.revision) : `,${listItemHead(type, item.revision)}`
    headEnds.push(text.length)
    restsBytes += item.sizeBytes - storedRestOffset
  }
  // Heads are ASCII: a character is a byte.
  const heads = Buffer.from(text, 'latin1')
  const sizeBytes = heads.length + restsBytes + closing.length
  reserve(sizeBytes)
  const whole = Buffer.allocUnsafe(sizeBytes)
  let from = 0
  let at = 0
  for (const [i, item] of items.entries()) {
    const headEnd = headEnds[i] ?? from
    at += heads.copy(whole, at, from, headEnd)
    from = headEnd
    at += item.copyTo(whole, at, storedRestOffset)
  }
  at += heads.copy(whole, at, from)
  whole.set(closing, at)
  return whole
}

export function listMeta(page: Omit<ListPage, 'items'>): ListMeta {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  }
}
