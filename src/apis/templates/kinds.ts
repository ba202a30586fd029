/**
 * Which kinds a template has ever put anywhere: the list in its status is what lets another process find leftovers. So
 * a kind is written down before the first object of it is made, and taken off only when no object of it is left.
 */
import type { Client, ServedKind } from '../../client/client.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { objectsOf } from './template-objects.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'
import { type AskedKind, askKind } from './unanswered-kinds.ts'

/** `networking.k8s.io/v1/NetworkPolicy` */
export function kindsOf(template: NamespaceTemplate): string[] {
  const kinds = objectsOf(template).map(({ source }) => `${String(source['apiVersion'])}/${String(source['kind'])}`)
  return [...new Set(kinds)].sort()
}

export function kindsEverOf(template: NamespaceTemplate): readonly string[] {
  return [...(template.status?.kinds ?? []), ...kindsOf(template)]
}

/** Where the server keeps a kind that is named as `kindsOf` does. @throws StatusError */
export function findKindNamed({ discovery }: Pick<Client, 'discovery'>, text: string): Promise<ServedKind | undefined> {
  const slash = text.lastIndexOf('/')
  return discovery.findKind(text.slice(0, slash), text.slice(slash + 1))
}

/** The same where one API that does not answer is no fault of all. @throws as `askKind` */
export function askKindNamed({ discovery }: Pick<Client, 'discovery'>, text: string): Promise<AskedKind> {
  const slash = text.lastIndexOf('/')
  return askKind(discovery, text.slice(0, slash), text.slice(slash + 1))
}

export class RecordedKinds {
  readonly #client: Client
  /** uid → kinds that are in the status, or on their way into it. */
  readonly #recorded = new Map<string, { readonly kinds: ReadonlySet<string>; readonly done: Promise<void> }>()

  constructor(client: Client) {
    this.#client = client
  }

  /** Resolves when the status of the template names all kinds that it holds. */
  async ensure(template: NamespaceTemplate, signal: AbortSignal): Promise<void> {
    const uid = uidOf(template.metadata)
    const wanted = kindsOf(template)
    const known = this.#recorded.get(uid)
    if (known !== undefined && wanted.every((kind) => known.kinds.has(kind))) return known.done
    const kinds = new Set([...(known?.kinds ?? template.status?.kinds ?? []), ...wanted])
    if (known === undefined && wanted.every((kind) => template.status?.kinds?.includes(kind))) {
      this.#recorded.set(uid, { kinds, done: Promise.resolve() })
      return
    }
    const done = this.#write(template, wanted, signal)
    const recorded = { kinds, done }
    this.#recorded.set(uid, recorded)
    try {
      await done
    } catch (error) {
      if (this.#recorded.get(uid) === recorded) this.#recorded.delete(uid)
      throw error
    }
  }

  /** What a status that is about to be written says from now on. */
  narrowed(template: NamespaceTemplate, kinds: readonly string[]): void {
    this.#recorded.set(uidOf(template.metadata), { kinds: new Set(kinds), done: Promise.resolve() })
  }

  forget(uid: string): void {
    this.#recorded.delete(uid)
  }

  async #write(template: NamespaceTemplate, wanted: readonly string[], signal: AbortSignal): Promise<void> {
    const { uid } = template.metadata
    const name = nameOf(template.metadata)
    let seen = template
    for (;;) {
      const kinds = [...new Set([...(seen.status?.kinds ?? []), ...wanted])].sort()
      const { resourceVersion } = seen.metadata
      const patch = { metadata: { resourceVersion }, status: { kinds } }
      try {
        await this.#client.patch(templateResource, { name }, patch, { subresource: 'status', signal })
        return
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error)) throw error
      }
      seen = (await this.#client.get(templateResource, { name }, { signal })) as NamespaceTemplate
      if (seen.metadata.uid !== uid) return
    }
  }
}
