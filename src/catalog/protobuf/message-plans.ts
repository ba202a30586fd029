/**
 * Makes plans from facts. A plan is made when first needed and kept; a message that contains itself finds its own plan
 * half made, which is fine: no writer uses it yet.
 */
import {
  bytesField,
  type FieldFact,
  inlineField,
  listField,
  mapField,
  parseField,
  singularField,
} from './field-plan.ts'
import { messageExtensions } from './message-extensions.ts'
import { messageFacts } from './message-facts.ts'
import { type FieldPlan, MessagePlan } from './message-plan.ts'
import {
  intOrStringCodec,
  parseRawJson,
  quantityCodec,
  type ReadEmbedded,
  rawJsonCodec,
  schemaOrBoolCodec,
  schemaOrListCodec,
  stringsCodec,
} from './special-codec.ts'
import { microTimeCodec, timeCodec } from './time-codec.ts'
import {
  boolCodec,
  bytesCodec,
  doubleCodec,
  int32Codec,
  int64Codec,
  stringCodec,
  type ValueCodec,
} from './value-codec.ts'

/** All plans of one codec. */
export class MessagePlans {
  readonly #plans = new Map<string, MessagePlan>()
  readonly #special: ReadonlyMap<string, ValueCodec>

  constructor(readEmbedded: ReadEmbedded = parseRawJson) {
    this.#special = new Map<string, ValueCodec>([
      ['string', stringCodec],
      ['bool', boolCodec],
      ['int32', int32Codec],
      ['int64', int64Codec],
      ['double', doubleCodec],
      ['bytes', bytesCodec],
      ['strings', stringsCodec],
      ['Time', timeCodec],
      ['MicroTime', microTimeCodec],
      ['IntOrString', intOrStringCodec],
      ['Quantity', quantityCodec],
      ['RawJson', rawJsonCodec(readEmbedded)],
    ])
  }

  /** Undefined if there is no such message. @param typeName `core.v1.Pod` */
  find(typeName: string): MessagePlan | undefined {
    const known = this.#plans.get(typeName)
    if (known) return known
    const at = typeName.lastIndexOf('.')
    const packageName = typeName.slice(0, at)
    const name = typeName.slice(at + 1)
    const facts = ownValue(ownValue(messageFacts, packageName), name)
    const extension = ownValue(messageExtensions, typeName)
    if (facts === undefined && extension === undefined) return undefined
    const plan = new MessagePlan(typeName)
    this.#plans.set(typeName, plan)
    const text = `${facts?.replace(/^@/, '') ?? ''} ${extension ?? ''}`
    const fields = text.split(' ').filter((field) => field !== '')
    plan.setFields(fields.map((field) => this.#field(parseField(field), packageName)))
    return plan
  }

  /** @throws Error for a message that the facts lack, which is a fault in them. */
  get(typeName: string): MessagePlan {
    const plan = this.find(typeName)
    if (!plan) throw new Error(`no facts about message ${typeName}`)
    return plan
  }

  /** True for messages that travel in an envelope of their own. */
  isKind(packageName: string, kind: string): boolean {
    return ownValue(ownValue(messageFacts, packageName), kind)?.startsWith('@') === true
  }

  #field(fact: FieldFact, packageName: string): FieldPlan {
    if (fact.inline) return inlineField(fact, this.#message(fact.type, packageName))
    if (fact.type.startsWith('[]')) return listField(fact, this.#codec(fact.type.slice(2), packageName))
    if (fact.type.startsWith('{}')) return mapField(fact, this.#codec(fact.type.slice(2), packageName))
    if (fact.type === 'bytes') return bytesField(fact)
    return singularField(fact, this.#codec(fact.type, packageName))
  }

  #codec(type: string, packageName: string): ValueCodec {
    const special = this.#special.get(type)
    if (special) return special
    switch (type) {
      case 'SchemaOrBool':
        return schemaOrBoolCodec(this.#message('JSONSchemaProps', packageName))
      case 'SchemaOrArray': {
        const schema = this.#message('JSONSchemaProps', packageName)
        return schemaOrListCodec(schema, schema)
      }
      case 'SchemaOrStrings':
        return schemaOrListCodec(this.#message('JSONSchemaProps', packageName), stringCodec)
      default:
        return this.#message(type, packageName)
    }
  }

  #message(type: string, packageName: string): MessagePlan {
    return this.get(type.includes('.') ? type : `${packageName}.${type}`)
  }
}

function ownValue<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
