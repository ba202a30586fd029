/**
 * Objects of the built-in kinds to and from Kubernetes' protobuf. Objects are plain JSON values on this side, as
 * everywhere; custom resources and Tables have no protobuf form.
 *
 * An instance keeps its plans and one scratch buffer: make one per process. Nothing here waits, so calls never overlap.
 */
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from '../../kube/gvk.ts'
import { badRequest, StatusError } from '../../kube/status-error.ts'
import type { ListMeta, WatchEventType } from '../../kube/types.ts'
import { countValues, ValueBudget } from '../../kube/value-count.ts'
import { envelopeTail, hasMagic, readEnvelope, type TypeMeta, writeEnvelope, writeEnvelopeHead } from './envelope.ts'
import { packageOf } from './kind-messages.ts'
import type { MessageFields, MessagePlan } from './message-plan.ts'
import { MessagePlans } from './message-plans.ts'
import { parseRawJson } from './special-codec.ts'
import { DecodeError, WireReader } from './wire-reader.ts'
import { EncodeError, WireWriter } from './wire-writer.ts'

export interface DecodedObject {
  readonly apiVersion: string
  readonly kind: string
  /** With apiVersion and kind as its first keys. */
  readonly object: MessageFields
}

/** Field 2 of every List message. */
const listItemTag = 0x12
const listMetaTag = 0x0a
const watchTypeTag = 0x0a
const watchObjectTag = 0x12
const rawExtensionTag = 0x0a

/** Most envelopes inside envelopes (a List in a List, an object in an AdmissionReview). */
const maxEmbedding = 8

export class ProtobufCodec {
  readonly #writer = new WireWriter()
  readonly #plans: MessagePlans
  readonly #maxValues: number
  /** Of the call under way. */
  #budget: ValueBudget | undefined
  #embedding = 0
  /** Every request asks, and always with the type it is about: resource types are not changed. */
  readonly #supported = new WeakMap<GroupVersionKind, boolean>()

  /** `maxValues`: of what is decoded. Absent = any number. */
  constructor({ maxValues = Number.POSITIVE_INFINITY }: { readonly maxValues?: number } = {}) {
    this.#maxValues = maxValues
    this.#plans = new MessagePlans((bytes) => this.#readEmbedded(bytes))
  }

  /** True if the kind has a protobuf form. */
  supports(gvk: GroupVersionKind): boolean {
    let supported = this.#supported.get(gvk)
    if (supported === undefined) {
      const packageName = packageOf(gvk)
      supported = packageName !== undefined && this.#plans.isKind(packageName, gvk.kind)
      this.#supported.set(gvk, supported)
    }
    return supported
  }

  /**
   * Reads an enveloped object.
   *
   * @param assumed Stands in for what the envelope leaves empty.
   * @throws StatusError reason=BadRequest if the bytes are malformed or the kind has no protobuf form.
   * @throws TooManyValuesError
   */
  decode(bytes: Uint8Array, assumed?: GroupVersionKind): DecodedObject {
    this.#budget = new ValueBudget(this.#maxValues)
    try {
      return this.#decode(bytes, assumed)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new StatusError(`the object provided is not valid protobuf: ${error.message}`, {
        reason: 'BadRequest',
        cause: error,
      })
    } finally {
      this.#embedding = 0
    }
  }

  #decode(bytes: Uint8Array, assumed: GroupVersionKind | undefined): DecodedObject {
    const envelope = readEnvelope(bytes)
    const kind = envelope.kind || (assumed?.kind ?? '')
    const apiVersion = envelope.apiVersion || (assumed ? apiVersionOf(assumed) : '')
    const object: MessageFields = { apiVersion, kind }
    const plan = this.#planOf(apiVersion, kind)
    plan.readBody(new WireReader(envelope.raw, this.#budget), object)
    // A list without items has an empty one, as in JSON.
    if (kind.endsWith('List') && plan.has('items')) object['items'] ??= []
    return { apiVersion, kind, object }
  }

  #readEmbedded(bytes: Buffer): unknown {
    if (!hasMagic(bytes)) return this.#rawJson(bytes)
    if (++this.#embedding > maxEmbedding) throw new DecodeError(`more than ${maxEmbedding} objects inside one another`)
    const { object } = this.#decode(bytes, undefined)
    this.#embedding--
    return object
  }

  #rawJson(bytes: Buffer): unknown {
    const value = parseRawJson(bytes, this.#maxValues)
    // The value itself is a field that has been counted.
    this.#budget?.take(countValues(value, this.#maxValues) - 1)
    return value
  }

  /** The object in its envelope. @throws EncodeError if it does not have the shape of its kind. */
  encode(object: object, gvk: GroupVersionKind): Uint8Array {
    return this.#write(gvk, (writer, plan) => {
      writeEnvelope(writer, typeMetaOf(gvk), () => plan.writeBody(writer, object as MessageFields))
    })
  }

  /** One item as it stands in a list: what `ListEncoder.addEncoded` takes. It may be kept and used again. */
  encodeListItem(object: object, gvk: GroupVersionKind): Uint8Array {
    return this.#write(gvk, (writer, plan) => {
      plan.write(writer, object)
      writer.unsigned(listItemTag)
    })
  }

  /** Everything of a list that precedes its items. @param sizeBytes The sum of the encoded items. */
  encodeListHead(metadata: ListMeta, gvk: GroupVersionKind, sizeBytes: number): Uint8Array {
    return this.#write(gvk, (writer) => {
      this.#plans.get('meta.v1.ListMeta').write(writer, metadata)
      writer.unsigned(listMetaTag)
      const type = { apiVersion: apiVersionOf(gvk), kind: `${gvk.kind}List` }
      writeEnvelopeHead(writer, type, writer.length + sizeBytes)
    })
  }

  /** Everything of a list that follows its items. */
  get listTail(): Uint8Array {
    return envelopeTail()
  }

  /** Starts a list. @param gvk The kind of the items. */
  listEncoder(gvk: GroupVersionKind): ListEncoder {
    return new ListEncoder(this, gvk)
  }

  /** A whole list; its items are encoded as they come. @param gvk The kind of the items. */
  encodeList(items: Iterable<object>, metadata: ListMeta, gvk: GroupVersionKind): Uint8Array {
    const list = this.listEncoder(gvk)
    for (const item of items) list.add(item)
    return Buffer.concat(list.finish(metadata))
  }

  /** One frame of a watch: a length of four bytes, then WatchEvent {1: type, 2: {1: the enveloped object}}. */
  encodeWatchEvent(type: WatchEventType, object: object, gvk: GroupVersionKind): Uint8Array {
    return this.frameWatchEvent(type, this.encode(object, gvk))
  }

  /** The same for an object that is already encoded: one encoding serves all watchers. */
  frameWatchEvent(type: WatchEventType, envelope: Uint8Array): Uint8Array {
    const writer = this.#writer
    writer.bytes(envelope)
    writer.unsigned(envelope.length)
    writer.unsigned(rawExtensionTag)
    writer.unsigned(writer.length)
    writer.unsigned(watchObjectTag)
    writer.string(type)
    writer.unsigned(watchTypeTag)
    const size = writer.length
    writer.bytes([size >>> 24, (size >>> 16) & 0xff, (size >>> 8) & 0xff, size & 0xff])
    return writer.finish()
  }

  /** Reads one frame of a watch, without its length. */
  decodeWatchEvent(frame: Uint8Array): { readonly type: string; readonly object: unknown } {
    const event: MessageFields = {}
    try {
      this.#planOf('v1', 'WatchEvent').readBody(new WireReader(frame), event)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new StatusError(`the watch event is not valid protobuf: ${error.message}`, {
        reason: 'BadRequest',
        cause: error,
      })
    } finally {
      this.#embedding = 0
    }
    return { type: String(event['type'] ?? ''), object: event['object'] }
  }

  #write(gvk: GroupVersionKind, body: (writer: WireWriter, plan: MessagePlan) => void): Uint8Array {
    const plan = this.#find(gvk)
    if (!plan) throw new EncodeError(`${apiVersionOf(gvk)} ${gvk.kind} has no protobuf form`)
    try {
      body(this.#writer, plan)
      return this.#writer.finish()
    } catch (error) {
      this.#writer.reset()
      throw error instanceof EncodeError ? new EncodeError(`${gvk.kind}: ${error.message}`, { cause: error }) : error
    }
  }

  #planOf(apiVersion: string, kind: string): MessagePlan {
    const gv = parseApiVersion(apiVersion)
    const plan = gv && this.#find({ ...gv, kind })
    if (!plan)
      throw badRequest(`no kind ${JSON.stringify(kind)} of version ${JSON.stringify(apiVersion)} is known in protobuf`)
    return plan
  }

  #find(gvk: GroupVersionKind): MessagePlan | undefined {
    const packageName = packageOf(gvk)
    return packageName === undefined ? undefined : this.#plans.find(`${packageName}.${gvk.kind}`)
  }
}

const typeMetaOf = (gvk: GroupVersionKind): TypeMeta => ({ apiVersion: apiVersionOf(gvk), kind: gvk.kind })

/** A list whose items come one by one. */
export class ListEncoder {
  readonly #codec: ProtobufCodec
  readonly #gvk: GroupVersionKind
  readonly #items: Uint8Array[] = []
  #sizeBytes = 0

  constructor(codec: ProtobufCodec, gvk: GroupVersionKind) {
    this.#codec = codec
    this.#gvk = gvk
  }

  add(item: object): void {
    this.addEncoded(this.#codec.encodeListItem(item, this.#gvk))
  }

  /** @param item From `ProtobufCodec.encodeListItem` for the same kind. */
  addEncoded(item: Uint8Array): void {
    this.#items.push(item)
    this.#sizeBytes += item.length
  }

  /**
   * The enveloped list, as chunks to be sent one after the other. Its metadata need not be known before: the head is
   * made last.
   */
  finish(metadata: ListMeta): readonly Uint8Array[] {
    return [this.#codec.encodeListHead(metadata, this.#gvk, this.#sizeBytes), ...this.#items, envelopeTail()]
  }
}
