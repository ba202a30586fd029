/**
 * Follows the definitions in the store and serves what they define, inside the application of the change: a client that
 * sees a definition Established can use its kinds, and one that sees it gone can't.
 *
 * A kind that is built in stays what it is, whatever a definition of the same name says.
 */
import { append } from '../../base/append.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Strategy } from '../../catalog/strategy.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { type ResourceType, requiredType } from '../../kube/resource-type.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { Lister } from '../../registry/registry.ts'
import { customTypesOf } from './custom-type.ts'
import { type CustomResourceDefinition, definitionResource, isEstablished, isTerminating } from './types.ts'
import type { WebhookConversion } from './webhook-conversion.ts'

export interface CustomResourcesDeps {
  readonly types: Catalog['types']
  readonly lister: Lister
  /** Schema of ObjectMeta. */
  readonly objectMeta: Schema
  /** Asks the webhook of a definition. */
  readonly convertBy: (definition: CustomResourceDefinition) => WebhookConversion
  /** The objects of this storage name are shown otherwise from now on, or not at all. */
  readonly onReplaced: (storageName: string) => void
  /** A definition in the store can't be served; the others are. */
  readonly onFault: (name: string, error: unknown) => void
}

interface Served {
  readonly definition: CustomResourceDefinition
  readonly types: readonly ResourceType[]
}

interface TypeChange {
  readonly add: readonly ResourceType[]
  readonly remove: readonly ResourceType[]
}

const ordinary: Strategy = { unconditionalUpdate: false }

export class CustomResources {
  readonly #deps: CustomResourcesDeps
  readonly #definitionType: ResourceType<CustomResourceDefinition>
  readonly #served = new Map<string, Served>()
  readonly #strategies = new WeakMap<ResourceType, Strategy>()

  /** What is established already is served when this returns. */
  constructor(deps: CustomResourcesDeps) {
    this.#deps = deps
    this.#definitionType = requiredType(deps.types, definitionResource)
    // One change for all that is there at the start: each makes the order of discovery anew.
    let atStart: ResourceType[] | undefined = []
    const serve = (change: TypeChange): void => {
      if (atStart === undefined) deps.types.change(change)
      else append(atStart, change.add)
    }
    deps.lister.subscribe(this.#definitionType, (next, old) => {
      const name = next?.name ?? old?.name ?? ''
      try {
        this.#changed(name, next?.object, serve)
      } catch (error) {
        deps.onFault(name, error)
      }
    })
    const add = atStart
    atStart = undefined
    if (add.length > 0) deps.types.change({ add })
  }

  /** Of a custom type. */
  strategyOf(type: ResourceType): Strategy {
    return this.#strategies.get(type) ?? ordinary
  }

  /** True if a kind of ours has the definition's resource. */
  overlapsBuiltIn(definition: CustomResourceDefinition): boolean {
    const { group, names } = definition.spec
    return this.#deps.types.findPreferred(group, names.plural)?.custom === false
  }

  find(name: string): CustomResourceDefinition | undefined {
    return this.#deps.lister.find(this.#definitionType, '', name)?.object
  }

  /** Definitions of a group. */
  *inGroup(group: string): Iterable<CustomResourceDefinition> {
    for (const { object } of this.#deps.lister.list(this.#definitionType, '')) {
      if (object.spec.group === group) yield object
    }
  }

  /** First for every definition there is, then for each change. */
  subscribe(listener: (name: string, group: string) => void): () => void {
    return this.#deps.lister.subscribe(this.#definitionType, (next, old) => {
      const definition = (next ?? old)?.object
      if (definition !== undefined) listener(definition.metadata.name ?? '', definition.spec.group)
    })
  }

  #changed(name: string, definition: CustomResourceDefinition | undefined, serve: (change: TypeChange) => void): void {
    const before = this.#served.get(name)
    const isServed = definition !== undefined && isEstablished(definition) && !this.overlapsBuiltIn(definition)
    if (!isServed) {
      if (before === undefined) return
      this.#served.delete(name)
      serve({ remove: before.types, add: [] })
      this.#deps.onReplaced(name)
      return
    }
    const shownAlike = before !== undefined && isSame(before.definition, definition)
    if (shownAlike && isTerminating(before.definition) === isTerminating(definition)) return
    const made = customTypesOf(definition, this.#deps.objectMeta, this.#deps.convertBy)
    const types = made.map(({ type }) => type)
    for (const { type, strategy } of made) this.#strategies.set(type, strategy)
    this.#served.set(name, { definition, types })
    serve({ remove: before?.types ?? [], add: types })
    if (before !== undefined && !shownAlike) this.#deps.onReplaced(name)
  }
}

/** Nothing that decides how instances are shown differs. */
const isSame = (a: CustomResourceDefinition, b: CustomResourceDefinition): boolean =>
  a.metadata.uid === b.metadata.uid &&
  jsonEqual(a.spec, b.spec) &&
  jsonEqual(a.status?.acceptedNames, b.status?.acceptedNames) &&
  a.status?.storedVersions?.[0] === b.status?.storedVersions?.[0]
