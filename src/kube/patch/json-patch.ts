/**
 * JSON Patch (RFC 6902) as upstream's library reads it: negative indices count from the end, `replace` of a missing
 * member sets it, what stands before the first slash of a path is not read.
 *
 * Bounds: 10,000 operations; the bytes that `copy` may add (a few copies of copies otherwise make gigabytes); the
 * number of members moved or cloned on the way, since each insertion into a long list moves what follows; the depth of
 * the result. The document is never changed: a container is cloned when it is first written, at most once for each
 * place it stands at. A copied value is cloned whole at once, which its bytes pay for: the containers around it stay
 * the patch's own, so an operation costs what it names, whatever came before it.
 * What does not apply is said in the words of that library; webhooks and policies see them, clients do not.
 * @see RFC 6902, gopkg.in/evanphx/json-patch.v4, k8s.io/apiserver/pkg/endpoints/handlers/patch.go v0.36
 */

import { setMember } from '../../base/json-text.ts'
import { type Resumable, runAtOnce } from '../../base/resumable.ts'
import { cloneJson } from '../clone-json.ts'
import { quote } from '../go-quote.ts'
import { goTypeMeta } from '../gvk.ts'
import { isJsonObject, jsonEqual, member, nestsDeeperThan } from '../json-value.ts'
import { badRequest, rejected, requestTooLarge, StatusError } from '../status-error.ts'
import { maxDepth } from '../strict-json.ts'
import type { JsonObject, JsonValue } from '../types.ts'

export const maxOperations = 10_000
const maxCopiedBytes = 3 * 1024 * 1024
const maxMovedMembers = 50_000_000

export interface JsonPatchOperation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: JsonValue | undefined
}

export interface JsonPatch {
  readonly operations: readonly JsonPatchOperation[]
  /** What fieldValidation Warn and Strict report. */
  readonly strictErrors: readonly string[]
}

const known = new Set(['op', 'path', 'from', 'value'])

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return isJsonObject(value) ? 'object' : typeof value === 'string' ? 'string' : 'number'
}

function textOf(operation: JsonObject, key: string): string | undefined {
  const value = member(operation, key)
  return typeof value === 'string' ? value : undefined
}

/** @throws StatusError BadRequest, RequestEntityTooLarge */
export function parseJsonPatch(body: unknown): JsonPatch {
  if (body === null) return { operations: [], strictErrors: [] }
  if (!Array.isArray(body)) {
    throw badRequest(`json: cannot unmarshal ${jsonTypeOf(body)} into Go value of type jsonpatch.Patch`)
  }
  if (body.length > maxOperations) {
    throw new StatusError(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ` +
        `${body.length}`,
      { reason: 'RequestEntityTooLarge' },
    )
  }
  const strictErrors: string[] = []
  const operations = body.map((item: unknown, i): JsonPatchOperation => {
    if (item === null) return { op: 'unknown', path: undefined, from: undefined, value: undefined }
    if (!isJsonObject(item)) {
      throw badRequest(`json: cannot unmarshal ${jsonTypeOf(item)} into Go value of type jsonpatch.Operation`)
    }
    for (const key of Object.keys(item)) {
      if (!known.has(key)) strictErrors.push(`json patch unknown field "[${i}].${key}"`)
    }
    return {
      op: textOf(item, 'op') ?? 'unknown',
      path: textOf(item, 'path'),
      from: textOf(item, 'from'),
      value: member(item, 'value'),
    }
  })
  return { operations, strictErrors }
}

class PatchFault extends Error {
  override readonly name = 'PatchFault'
  readonly isFailedTest: boolean
  constructor(message: string, isFailedTest = false) {
    super(message)
    this.isFailedTest = isFailedTest
  }
}

/** True if a `test` operation of the patch did not hold. */
export const isFailedTest = (error: unknown): boolean =>
  error instanceof StatusError && error.cause instanceof PatchFault && error.cause.isFailedTest

/** What Go's decoder says where a patch has made a list of the whole document, which it may. */
export const listIsNoObject: string =
  "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of " + `type ${goTypeMeta}`

/** Says before what is wrong what it was wrong for. */
function within<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (e) {
    throw e instanceof PatchFault ? new PatchFault(`${what}: ${e.message}`, e.isFailedTest) : e
  }
}

const noPath = 'operation missing path field: missing value'
const noFrom = 'operation, missing from field: missing value'

function given(pointer: string | undefined, fault: string): string {
  if (pointer === undefined) throw new PatchFault(fault)
  return pointer
}

/** No document is so deep that more steps would lead anywhere: a path may have a million. */
const maxTokens = maxDepth + 2

/** Undefined for what points to no member. What stands before the first slash is not read. */
function tokensOf(pointer: string): string[] | undefined {
  const [, ...tokens] = pointer.split('/', maxTokens + 1)
  if (tokens.length === 0) return undefined
  return tokens.map((t) => (t.includes('~') ? t.replaceAll('~1', '/').replaceAll('~0', '~') : t))
}

type Container = JsonValue[] | JsonObject

/** Where a member is, or may come. */
interface Place {
  readonly parent: Container
  readonly key: string
}

const isContainer = (value: JsonValue | undefined): value is Container => Array.isArray(value) || isJsonObject(value)

function indexOf(token: string, length: number): number {
  if (!/^[+-]?[0-9]{1,15}$/.test(token)) throw new PatchFault(`strconv.Atoi: parsing ${quote(token)}: invalid syntax`)
  const index = Number(token)
  const found = index < 0 ? index + length : index
  if (found < 0 || found >= length) {
    throw new PatchFault(`Unable to access invalid index: ${index}: invalid index referenced`)
  }
  return found
}

const insertionIndex = (token: string, length: number): number =>
  /^[+-]?[0-9]+$/.test(token)
    ? indexOf(token, length)
    : within(`value was not a proper array index: '${token}'`, () => indexOf(token, length))

/** Null for what is not there. */
function valueAt({ parent, key }: Place): JsonValue {
  const value = Array.isArray(parent) ? parent[indexOf(key, parent.length)] : member(parent, key)
  return value ?? null
}

/** The member that a path goes on through. */
function stepInto(container: Container, token: string): JsonValue | undefined {
  if (!Array.isArray(container)) return member(container, token)
  const index = /^[+-]?[0-9]{1,15}$/.test(token) ? Number(token) : Number.NaN
  return container[index < 0 ? index + container.length : index]
}

/** One application: knows which containers it made itself and may therefore change. */
class Application {
  #root: JsonValue
  readonly #own = new Set<object>()
  #copiedBytes = 0
  #moved = 0

  constructor(document: JsonValue) {
    this.#root = document
  }

  *run(operations: readonly JsonPatchOperation[]): Resumable<JsonValue> {
    for (const operation of operations) {
      this.#apply(operation)
      yield
    }
    return this.#root
  }

  #apply({ op, path, from, value }: JsonPatchOperation): void {
    switch (op) {
      case 'add':
        return this.#add(given(path, 'add operation failed to decode path: missing value'), value ?? null)
      case 'remove':
        return this.#remove(given(path, 'remove operation failed to decode path: missing value'))
      case 'replace':
        return this.#replace(given(path, `replace operation failed to decode path: ${noPath}`), value ?? null)
      case 'move':
        return this.#move(given(from, `move operation failed to decode from: ${noFrom}`), path)
      case 'copy':
        return this.#copy(given(from, `copy operation failed to decode from: ${noFrom}`), path)
      case 'test':
        return this.#test(given(path, `test operation failed to decode path: ${noPath}`), value ?? null)
      default:
        throw new PatchFault(`Unexpected kind: ${op}`)
    }
  }

  #spend(members: number): void {
    this.#moved += members
    if (this.#moved > maxMovedMembers) throw requestTooLarge(maxMovedMembers)
  }

  /** To be read only. */
  #find(pointer: string, fault: string): Place {
    const tokens = tokensOf(pointer)
    let at: JsonValue | undefined = tokens && this.#root
    for (const token of tokens?.slice(0, -1) ?? []) at = isContainer(at) ? stepInto(at, token) : undefined
    if (!isContainer(at)) throw new PatchFault(`${fault}: missing value`)
    return { parent: at, key: tokens?.at(-1) ?? '' }
  }

  /** The parent made writable, together with all above it. */
  #writable(pointer: string, fault: string): Place {
    const { key } = this.#find(pointer, fault)
    let at = this.#cloned(this.#root as Container)
    this.#root = at
    for (const token of tokensOf(pointer)?.slice(0, -1) ?? []) {
      const child = this.#cloned(stepInto(at, token) as Container)
      if (Array.isArray(at)) at[indexOf(token, at.length)] = child
      else setMember(at, token, child)
      at = child
    }
    return { parent: at, key }
  }

  #cloned(container: Container): Container {
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? container.slice() : { ...container }
    this.#spend(Array.isArray(copy) ? copy.length : Object.keys(copy).length)
    this.#own.add(copy)
    return copy
  }

  #insert({ parent, key }: Place, value: JsonValue): void {
    if (!Array.isArray(parent)) return setMember(parent, key, value)
    const index = key === '-' ? parent.length : insertionIndex(key, parent.length + 1)
    this.#spend(parent.length - index)
    parent.splice(index, 0, value)
  }

  #take({ parent, key }: Place): JsonValue {
    if (Array.isArray(parent)) {
      const index = indexOf(key, parent.length)
      this.#spend(parent.length - index)
      return parent.splice(index, 1)[0] ?? null
    }
    const value = member(parent, key)
    if (value === undefined) throw new PatchFault(`Unable to remove nonexistent key: ${key}: missing value`)
    delete parent[key]
    return value
  }

  #add(path: string, value: JsonValue): void {
    const place = this.#writable(path, `add operation does not apply: doc is missing path: "${path}"`)
    within(`error in add for path: '${path}'`, () => this.#insert(place, value))
  }

  #remove(path: string): void {
    const place = this.#writable(path, `remove operation does not apply: doc is missing path: "${path}"`)
    within(`error in remove for path: '${path}'`, () => this.#take(place))
  }

  #replace(path: string, value: JsonValue): void {
    if (path === '') {
      if (!isContainer(value)) throw new PatchFault('replace operation value must be object or array')
      this.#root = value
      return
    }
    const { parent, key } = this.#writable(path, `replace operation does not apply: doc is missing path: ${path}`)
    if (!Array.isArray(parent)) return setMember(parent, key, value)
    const index = stepInto(parent, key) === undefined ? undefined : indexOf(key, parent.length)
    if (index === undefined) {
      throw new PatchFault(`replace operation does not apply: doc is missing key: ${path}: missing value`)
    }
    parent[index] = value
  }

  #move(from: string, path: string | undefined): void {
    const origin = this.#writable(from, `move operation does not apply: doc is missing from path: ${from}`)
    const value = within(`error in move for path: '${origin.key}'`, () => this.#take(origin))
    const to = given(path, `move operation failed to decode path: ${noPath}`)
    const place = this.#writable(to, `move operation does not apply: doc is missing destination path: ${to}`)
    within(`error in move for path: '${to}'`, () => this.#insert(place, value))
  }

  #copy(from: string, path: string | undefined): void {
    const origin = this.#find(from, `copy operation does not apply: doc is missing from path: ${from}`)
    const value = within(`error in copy for from: '${from}'`, () => valueAt(origin))
    const to = given(path, 'copy operation failed to decode path: missing value')
    const place = this.#writable(to, `copy operation does not apply: doc is missing destination path: ${to}`)
    // Depth first: what prints and clones the value recurses.
    if (nestsDeeperThan(value, maxDepth)) throw new PatchFault('exceeded max depth')
    this.#copiedBytes += Buffer.byteLength(JSON.stringify(value))
    if (this.#copiedBytes > maxCopiedBytes) {
      throw new PatchFault(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, ` +
          `exceeding the limit ${maxCopiedBytes}`,
      )
    }
    // A value that stood in two places would have to be cloned, with all around it, before the next write to either.
    within('error while adding value during copy', () => this.#insert(place, cloneJson(value)))
  }

  #test(path: string, value: JsonValue): void {
    const found = path === '' ? this.#root : this.#tested(path)
    if (!jsonEqual(found, value)) throw new PatchFault(`testing value ${path} failed: test failed`, true)
  }

  #tested(path: string): JsonValue {
    const place = this.#find(path, `test operation does not apply: is missing path: ${path}`)
    return within(`error in test for path: '${path}'`, () => valueAt(place))
  }
}

/** @throws StatusError Invalid (422) without details if an operation does not apply, its cause says which and why. */
export const applyJsonPatch = (document: JsonValue, patch: JsonPatch): JsonValue =>
  runAtOnce(applyingJsonPatch(document, patch))

/** The same, with places for a pause between the operations. @throws StatusError Invalid */
export function* applyingJsonPatch(document: JsonValue, patch: JsonPatch): Resumable<JsonValue> {
  try {
    const result = yield* new Application(document).run(patch.operations)
    if (nestsDeeperThan(result, maxDepth)) throw new PatchFault('exceeded max depth')
    return result
  } catch (e) {
    throw e instanceof PatchFault ? rejected(e) : e
  }
}
