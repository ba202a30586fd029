/**
 * What can be done with the resources of one group version, in a form both versions of OpenAPI are written from.
 * Clients look here for the kind an operation is about and for the parameters it takes: kubectl believes in dry runs
 * and field validation if a PATCH of that kind has them.
 */
import { apiVersionOf, type GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType, Subresource, Verb } from '../../kube/resource-type.ts'
import { type DefinitionNames, metaType } from './definition-names.ts'
import { patchName } from './special-definitions.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

export interface Operation {
  readonly method: Method
  readonly id: string
  readonly description: string
  readonly tag: string
  /** x-kubernetes-action */
  readonly action: string
  readonly kind: GroupVersionKind
  readonly parameters: readonly Parameter[]
  /** Names a definition. */
  readonly body?: string
  /** Of the body; absent = any that objects come in. */
  readonly bodyTypes?: readonly string[]
  /** Status code → the definition that comes back. */
  readonly answers: Readonly<Record<string, string>>
  readonly answerTypes: readonly string[]
}

export interface PathOperations {
  readonly path: string
  /** Of all its operations. */
  readonly parameters: readonly Parameter[]
  readonly operations: readonly Operation[]
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
})
const inPath = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description })

const pretty = query('pretty', 'string', "'true' asks for indented output.")
const dryRun = query('dryRun', 'string', "'All' runs every stage of the request and stores nothing.")
const fieldManager = query('fieldManager', 'string', 'The name under which the fields set by this request are owned.')
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What happens to unknown and duplicate fields: Ignore drops them, Warn also names them in warnings, Strict ' +
    'refuses the request.',
)
const force = query('force', 'boolean', 'Take over fields that others own. For apply patches only.')
const namespaceInPath = inPath('namespace', 'The namespace.')

const deleteParameters: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds before the object goes; 0 means at once.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'What happens to dependents: Orphan, Background or Foreground.'),
]

const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'A watch also gets events of type BOOKMARK.'),
  query('continue', 'string', 'Goes on where an earlier list with a limit ended.'),
  query('fieldSelector', 'string', 'Restricts the objects by their fields.'),
  query('labelSelector', 'string', 'Restricts the objects by their labels.'),
  query('limit', 'integer', 'Most objects in one answer; `continue` in its metadata leads to the rest.'),
  query('resourceVersion', 'string', 'How old the answer may be, or where a watch begins.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: NotOlderThan or Exact.'),
  query('sendInitialEvents', 'boolean', 'A watch begins with events that tell the present state.'),
  query('timeoutSeconds', 'integer', 'The longest time the request may take.'),
  query('watch', 'boolean', 'Watch instead of list.'),
]

const writeParameters: readonly Parameter[] = [dryRun, fieldManager, fieldValidation]
const patchParameters: readonly Parameter[] = [dryRun, fieldManager, fieldValidation, force]

const objectTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const
const watchTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'] as const
const customTypes = ['application/json', 'application/yaml'] as const
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
] as const
const strategicMergePatch = 'application/strategic-merge-patch+json'

const deleteOptions = metaType('DeleteOptions')
const status = metaType('Status')

/** `rbac.authorization.k8s.io` → `RbacAuthorization` */
function groupWord(group: string): string {
  const parts = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return parts.map(capitalized).join('')
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const uncapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** All paths of a type. */
export function operationsOf(type: ResourceType, names: DefinitionNames): PathOperations[] {
  return new TypeOperations(type, names).paths()
}

interface Draft {
  readonly method: Method
  readonly verb: string
  readonly action: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly body?: string
  readonly bodyTypes?: readonly string[]
  readonly answers: Readonly<Record<string, string>>
  readonly answerTypes?: readonly string[]
  /** Other than the type's own. */
  readonly kind?: GroupVersionKind
}

class TypeOperations {
  readonly #type: ResourceType
  readonly #names: DefinitionNames
  readonly #base: string
  readonly #groupVersion: string
  readonly #answerTypes: readonly string[]

  constructor(type: ResourceType, names: DefinitionNames) {
    this.#type = type
    this.#names = names
    this.#base = `${type.group === '' ? '/api' : '/apis'}/${apiVersionOf(type)}`
    this.#groupVersion = groupWord(type.group) + capitalized(type.version)
    this.#answerTypes = type.custom ? customTypes : objectTypes
  }

  paths(): PathOperations[] {
    const { resource, namespaced } = this.#type
    const scoped = namespaced ? `${this.#base}/namespaces/{namespace}/${resource}` : `${this.#base}/${resource}`
    const scope = namespaced ? [namespaceInPath] : []
    const named = [inPath('name', `Name of the ${this.#type.kind}.`), ...scope]
    const paths: PathOperations[] = [
      { path: scoped, parameters: [...scope, pretty], operations: this.#collection() },
      { path: `${scoped}/{name}`, parameters: [...named, pretty], operations: this.#single() },
    ]
    if (namespaced && this.#can('list')) {
      const all = { path: `${this.#base}/${resource}`, parameters: [...listParameters, pretty] }
      paths.push({ ...all, operations: [this.#list('ForAllNamespaces', [])] })
    }
    for (const subresource of this.#type.subresources.values()) {
      const path = `${scoped}/{name}/${subresource.name}`
      paths.push({ path, parameters: [...named, pretty], operations: this.#subresource(subresource) })
    }
    return paths.filter(({ operations }) => operations.length > 0)
  }

  #can(verb: Verb): boolean {
    return this.#type.verbs.includes(verb)
  }

  #operation(draft: Draft, what: string): Operation {
    const { verb, kind, parameters, answerTypes, ...rest } = draft
    return {
      ...rest,
      id: `${verb}${this.#groupVersion}${what}`,
      tag: `${uncapitalized(groupWord(this.#type.group))}_${this.#type.version}`,
      kind: kind ?? this.#type,
      parameters: parameters ?? [],
      answerTypes: answerTypes ?? this.#answerTypes,
    }
  }

  /** `NamespacedPod`, `Node`: how operations name the type. */
  get #scopedKind(): string {
    return `${this.#type.namespaced ? 'Namespaced' : ''}${this.#type.kind}`
  }

  #list(suffix: string, parameters: readonly Parameter[]): Operation {
    const { group, version, kind, listKind, custom } = this.#type
    const draft: Draft = {
      method: 'get',
      verb: 'list',
      action: 'list',
      description: `list or watch objects of kind ${kind}`,
      parameters,
      answers: { 200: this.#names.of({ group, version, kind: listKind }) },
      answerTypes: custom ? customTypes : [...objectTypes, ...watchTypes],
    }
    return this.#operation(draft, suffix === '' ? this.#scopedKind : `${kind}${suffix}`)
  }

  #collection(): Operation[] {
    const { kind } = this.#type
    const object = this.#names.of(this.#type)
    const operations: Operation[] = []
    if (this.#can('list')) operations.push(this.#list('', listParameters))
    if (this.#can('create')) {
      const draft: Draft = {
        method: 'post',
        verb: 'create',
        action: 'post',
        description: `create a ${kind}`,
        parameters: writeParameters,
        body: object,
        answers: { 200: object, 201: object, 202: object },
      }
      operations.push(this.#operation(draft, this.#scopedKind))
    }
    if (this.#can('deletecollection')) {
      const draft: Draft = {
        method: 'delete',
        verb: 'delete',
        action: 'deletecollection',
        description: `delete collection of ${kind}`,
        parameters: [...deleteParameters, ...listParameters.filter((p) => !/^(watch|allowWatch)/.test(p.name))],
        body: deleteOptions,
        answers: { 200: status },
      }
      operations.push(this.#operation(draft, `Collection${this.#scopedKind}`))
    }
    return operations
  }

  #single(): Operation[] {
    const { kind } = this.#type
    const object = this.#names.of(this.#type)
    const operations = this.#readAndWrite(this.#type.verbs, object, this.#scopedKind, `the specified ${kind}`)
    if (this.#can('delete')) {
      const draft: Draft = {
        method: 'delete',
        verb: 'delete',
        action: 'delete',
        description: `delete a ${kind}`,
        parameters: deleteParameters,
        body: deleteOptions,
        answers: { 200: status, 202: status },
      }
      operations.push(this.#operation(draft, this.#scopedKind))
    }
    return operations
  }

  #readAndWrite(
    verbs: readonly string[],
    object: string,
    what: string,
    description: string,
    kind?: GroupVersionKind,
  ): Operation[] {
    const about = kind ? { kind } : {}
    const operations: Operation[] = []
    const add = (draft: Draft): void => void operations.push(this.#operation({ ...draft, ...about }, what))
    if (verbs.includes('get')) {
      add({ method: 'get', verb: 'read', action: 'get', description: `read ${description}`, answers: { 200: object } })
    }
    const written = { 200: object, 201: object }
    if (verbs.includes('update')) {
      add({
        method: 'put',
        verb: 'replace',
        action: 'put',
        description: `replace ${description}`,
        parameters: writeParameters,
        body: object,
        answers: written,
      })
    }
    if (verbs.includes('patch')) {
      add({
        method: 'patch',
        verb: 'patch',
        action: 'patch',
        description: `partially update ${description}`,
        parameters: patchParameters,
        body: patchName,
        bodyTypes: this.#type.custom ? patchTypes : [...patchTypes, strategicMergePatch],
        answers: written,
      })
    }
    return operations
  }

  #subresource({ name, verbs, kind }: Subresource): Operation[] {
    const object = this.#names.of(kind)
    // Streams (logs, proxies, shells) have no definition: their kinds are only options in a query.
    if (!this.#names.isDefined(kind)) return []
    const what = `${this.#scopedKind}${capitalized(name)}`
    const description = `${name} of the specified ${this.#type.kind}`
    const operations = this.#readAndWrite(verbs, object, what, description, kind)
    if (verbs.includes('create')) {
      const draft: Draft = {
        method: 'post',
        verb: 'create',
        action: 'post',
        description: `create ${description}`,
        parameters: writeParameters,
        body: object,
        answers: { 200: object, 201: object, 202: object },
        kind,
      }
      operations.push(this.#operation(draft, what))
    }
    return operations
  }
}
