/**
 * Conversion of custom resources by a webhook. What was converted is remembered by uid, resourceVersion and version,
 * for all who read: an object is asked about once per change, however many watch it. Readers of the same object at the
 * same time share one question.
 */
import { append } from '../../base/append.ts'
import { type Eventual, isPending } from '../../base/eventual.ts'
import type { Ids } from '../../base/ids.ts'
import type { SizedCache } from '../../base/sized-cache.ts'
import { WebhookCallError } from '../../client/webhook-answer.ts'
import type { WebhookAddress, WebhookClient } from '../../client/webhook-client.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import {
  ConversionFault,
  checkedObject,
  conversionText,
  conversionVersion,
  convertedObjects,
} from './conversion-review.ts'
import type { CustomResourceDefinition } from './types.ts'

export interface WebhookConversionDeps {
  readonly client: WebhookClient
  readonly ids: Ids
  /** Of all definitions together, by size of JSON. */
  readonly cache: SizedCache<KubeObject>
}

/** Upstream's; it can't be configured. */
const timeoutMs = 30_000
/** So that one question stays well below what a webhook's server takes. */
const objectsPerQuestion = 500
const bytesPerQuestion = 4 * 1024 * 1024

export class WebhookConversion {
  readonly #deps: WebhookConversionDeps
  readonly #address: WebhookAddress
  readonly #reviewVersions: readonly string[]
  /** Tells what one definition's webhook made from what another one made. */
  readonly #scope: string
  readonly #underWay = new Map<string, Promise<KubeObject>>()

  constructor(deps: WebhookConversionDeps, { metadata, spec }: CustomResourceDefinition) {
    const webhook = (spec.conversion?.webhook ?? {}) as {
      clientConfig?: JsonObject
      conversionReviewVersions?: string[]
    }
    this.#deps = deps
    this.#address = webhook.clientConfig ?? {}
    this.#reviewVersions = webhook.conversionReviewVersions ?? []
    this.#scope = `${metadata.uid}/${metadata.generation}`
  }

  /**
   * Objects of the store, in whatever version, in the desired one: in their order, shared with others.
   * @param complete makes of an object what its own version shows of it; asked as often as the webhook is
   * @throws StatusError
   */
  read(
    objects: readonly KubeObject[],
    desired: string,
    complete: (object: KubeObject) => KubeObject,
  ): Eventual<readonly KubeObject[]> {
    const results = new Array<KubeObject | Promise<KubeObject>>(objects.length)
    const missing: { readonly object: KubeObject; readonly index: number; readonly key: string }[] = []
    for (const [index, object] of objects.entries()) {
      if (object.apiVersion === desired) {
        results[index] = complete(object)
        continue
      }
      const key = `${this.#scope}/${object.metadata.uid}/${object.metadata.resourceVersion}/${desired}`
      const known = this.#deps.cache.get(key) ?? this.#underWay.get(key)
      if (known === undefined) missing.push({ object, index, key })
      else results[index] = known
    }
    if (missing.length === 0 && !results.some(isPending)) return results as KubeObject[]
    const asked = this.convert(
      missing.map(({ object }) => complete(object)),
      desired,
    )
    for (const [i, { index, key }] of missing.entries()) {
      const one = asked.then((converted) => {
        const object = converted[i] as KubeObject
        this.#deps.cache.set(key, object, JSON.stringify(object).length)
        return object
      })
      this.#underWay.set(key, one)
      const forget = (): void => void this.#underWay.delete(key)
      one.then(forget, forget)
      results[index] = one
    }
    return Promise.all(results.map((one) => Promise.resolve(one)))
  }

  /** Of objects that are not stored like that: nothing is remembered. @throws StatusError */
  async convert(objects: readonly KubeObject[], desired: string): Promise<readonly KubeObject[]> {
    const converted: KubeObject[] = []
    for (const piece of pieces(objects)) append(converted, await this.#ask(piece, desired))
    return converted
  }

  async #ask(objects: readonly KubeObject[], desired: string): Promise<readonly KubeObject[]> {
    const uid = this.#deps.ids.uid()
    const version = conversionVersion(this.#reviewVersions)
    if (version === undefined) throw new Error('a definition was stored without a version of reviews that is known')
    try {
      const answer = await this.#deps.client.post({
        address: this.#address,
        body: conversionText(version, uid, desired, objects),
        timeoutMs,
      })
      const given = convertedObjects(answer, version, uid, objects.length)
      return objects.map((object, i) => checkedObject(object, given[i], desired, i))
    } catch (error) {
      const [first] = objects
      const what = `conversion webhook for ${first?.apiVersion}, Kind=${first?.kind}`
      if (error instanceof ConversionFault) {
        const joined = error.verb === 'failed' ? `failed: ${error.message}` : `returned ${error.message}`
        throw new StatusError(`${what} ${joined}`, { cause: error })
      }
      if (error instanceof WebhookCallError) throw new StatusError(`${what} failed: ${error.message}`, { cause: error })
      throw error
    }
  }
}

function* pieces(objects: readonly KubeObject[]): Generator<readonly KubeObject[]> {
  let piece: KubeObject[] = []
  let sizeBytes = 0
  for (const object of objects) {
    const size = JSON.stringify(object).length
    if (piece.length > 0 && (piece.length >= objectsPerQuestion || sizeBytes + size > bytesPerQuestion)) {
      yield piece
      piece = []
      sizeBytes = 0
    }
    piece.push(object)
    sizeBytes += size
  }
  if (piece.length > 0) yield piece
}
