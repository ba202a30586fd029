/**
 * Conversion of custom resources by a webhook. What was converted is remembered by uid, resourceVersion and version,
 * for all who read: an object is asked about once per change, however many watch it. Readers of the same object at the
 * same time share one question.
 */
import { append } from '../../base/append.ts'
import { type Eventual, isPending } from '../../base/eventual.ts'
import type { Ids } from '../../base/ids.ts'
import type { SizedCache } from '../../base/sized-cache.ts'
import type { Turns } from '../../base/turns.ts'
import { readAnswer, WebhookCallError } from '../../client/webhook-answer.ts'
import type { WebhookAddress, WebhookClient } from '../../client/webhook-client.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { countValues } from '../../kube/value-count.ts'
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
  readonly turns: Turns
}

/** Upstream's; it can't be configured. */
const timeoutMs = 30_000
/** So that one question stays well below what a webhook's server takes. */
const objectsPerQuestion = 500
const bytesPerQuestion = 4 * 1024 * 1024
/** Half of what an answer may have: what is converted may have more of them. */
const valuesPerQuestion = 50_000

type Shape = (object: KubeObject) => KubeObject

/** How objects are shown. */
export interface Shaping {
  /** Makes of an object what its own version shows of it; asked as often as the webhook is. */
  readonly complete: Shape
  /** Makes of it what the desired version shows. */
  readonly shape: Shape
}

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
   * @throws StatusError
   */
  read(objects: readonly KubeObject[], desired: string, { complete, shape }: Shaping): Eventual<readonly KubeObject[]> {
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
    if (missing.length === 0 && !results.some(isPending)) return (results as KubeObject[]).map(shape)
    const asked = this.#convertMissing(missing, desired, complete)
    for (const [i, { index, key }] of missing.entries()) {
      const one = asked.then((converted) => converted[i] as KubeObject)
      this.#underWay.set(key, one)
      const forget = (): void => void this.#underWay.delete(key)
      one.then(forget, forget)
      results[index] = one
    }
    return this.#shaped(results, shape)
  }

  /**
   * Of objects that are not stored like that: nothing is remembered.
   * @throws StatusError
   */
  async convert(objects: readonly KubeObject[], desired: string, complete: Shape): Promise<readonly KubeObject[]> {
    const slice = this.#deps.turns.slice()
    const converted: KubeObject[] = []
    let question = new Question()
    for (const object of objects) {
      const whole = complete(object)
      const text = JSON.stringify(whole)
      const values = countValues(whole as unknown as JsonValue, valuesPerQuestion)
      if (!question.hasRoomFor(text, values)) {
        append(converted, await this.#ask(question, desired))
        question = new Question()
      }
      question.add(whole, text, values)
      const pause = slice.pause()
      if (pause !== undefined) await pause
    }
    if (question.objects.length > 0) append(converted, await this.#ask(question, desired))
    return converted
  }

  /** And remembers what they became. */
  async #convertMissing(
    missing: readonly { readonly object: KubeObject; readonly key: string }[],
    desired: string,
    complete: Shape,
  ): Promise<readonly KubeObject[]> {
    const converted = await this.convert(
      missing.map(({ object }) => object),
      desired,
      complete,
    )
    const slice = this.#deps.turns.slice()
    for (const [i, { key }] of missing.entries()) {
      const object = converted[i] as KubeObject
      this.#deps.cache.set(key, object, JSON.stringify(object).length)
      const pause = slice.pause()
      if (pause !== undefined) await pause
    }
    return converted
  }

  async #shaped(objects: readonly Eventual<KubeObject>[], shape: Shape): Promise<readonly KubeObject[]> {
    const all = await Promise.all(objects.map((one) => Promise.resolve(one)))
    const slice = this.#deps.turns.slice()
    const shaped: KubeObject[] = []
    for (const object of all) {
      shaped.push(shape(object))
      const pause = slice.pause()
      if (pause !== undefined) await pause
    }
    return shaped
  }

  async #ask({ objects, texts }: Question, desired: string): Promise<readonly KubeObject[]> {
    const uid = this.#deps.ids.uid()
    const version = conversionVersion(this.#reviewVersions)
    if (version === undefined) throw new Error('a definition was stored without a version of reviews that is known')
    try {
      using answer = await this.#deps.client.send({
        address: this.#address,
        body: conversionText(version, uid, desired, texts),
        timeoutMs,
      })
      const slice = answer.isLong ? await this.#deps.turns.begin() : undefined
      const given = convertedObjects(await readAnswer(answer, slice), version, uid, objects.length)
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

/** The objects of one question, as they are and as they are sent. */
class Question {
  readonly objects: KubeObject[] = []
  readonly texts: string[] = []
  #length = 0
  #values = 0

  /** One object always has. */
  hasRoomFor(text: string, values: number): boolean {
    const { length } = this.objects
    if (length === 0) return true
    const isShort = length < objectsPerQuestion && this.#length + text.length <= bytesPerQuestion
    return isShort && this.#values + values <= valuesPerQuestion
  }

  add(object: KubeObject, text: string, values: number): void {
    this.objects.push(object)
    this.texts.push(text)
    this.#length += text.length
    this.#values += values
  }
}
