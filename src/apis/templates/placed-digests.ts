/**
 * Digests of objects for a plan over many namespaces, most of which say the same but for the texts of their place: what
 * was worked out of one object stands for those that are alike.
 */
import type { ServedKind } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { digestOfText } from './digest.ts'
import { heldConfig } from './held-config.ts'
import { contentText, fieldsGiven } from './marks.ts'
import { PlaceTexts } from './place-texts.ts'
import type { PopulatedObject } from './populated-objects.ts'

type Digests = Pick<PopulatedObject, 'digest' | 'held' | 'unplaced'>

export class PlacedDigests {
  readonly #texts: ReadonlyMap<string, PlaceTexts>
  /** What was applied last, with marks; by what the object says. */
  readonly #held = new Map<string, string | undefined>()

  constructor(namespaces: readonly Namespace[]) {
    this.#texts = new Map(namespaces.map((n) => [nameOf(n.metadata), new PlaceTexts(n)]))
  }

  /** undefined: its namespace is not one of those that are planned. */
  of(object: KubeObject, kind: ServedKind): Digests | undefined {
    const { name, namespace = '', finalizers, ownerReferences } = object.metadata
    const texts = this.#texts.get(namespace)
    if (texts === undefined) return undefined
    const content = contentText(object)
    // A plan tells of these too.
    const told = [name, finalizers, ownerReferences]
    const { text, marks } = texts.takeOut(JSON.stringify([told, fieldsGiven(object)]) + content)
    const unplaced = { digest: digestOfText(text), marks }
    const key = `${kind.group}/${kind.version}/${kind.kind} ${unplaced.digest}`
    if (!this.#held.has(key)) {
      const config = heldConfig(object, kind)
      this.#held.set(key, config && texts.takeOut(JSON.stringify(config)).text)
    }
    const held = this.#held.get(key)
    return {
      digest: digestOfText(content),
      unplaced,
      ...(held === undefined ? {} : { held: digestOfText(texts.putIn(held)) }),
    }
  }

  textsOf(namespace: Namespace): PlaceTexts {
    return this.#texts.get(nameOf(namespace.metadata)) ?? new PlaceTexts(namespace)
  }
}
