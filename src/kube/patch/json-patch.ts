/**
 * JSON Patch (RFC 6902) as upstream's library reads it: negative indices count from the end, `replace` of a missing
 * member sets it, the first path segment is empty.
 *
 * Bounds: 10,000 operations; the bytes that `copy` may add (a few copies of copies otherwise make gigabytes); the number
 * of members moved or cloned on the way, since each insertion into a long list moves what follows; the depth of the result.
 * The document is never changed: containers are cloned when first written, the rest is shared.
 * @see RFC 6902, k8s.io/apiserver/pkg/endpoints/handlers/patch.go v0.36
 */
import { isJsonObject, jsonEqual, member, nestsDeeperThan, setMember } from '../json-value.ts'
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
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${body.length}`,
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

function tokensOf(pointer: string | undefined, what: string): string[] {
  if (pointer === undefined) throw new PatchFault(`operation missing ${what} field`)
  if (!pointer.startsWith('/')) throw new PatchFault(`doc is missing path: "${pointer}"`)
  return pointer
    .slice(1)
    .split('/')
    .map((t) => (t.includes('~') ? t.replaceAll('~1', '/').replaceAll('~0', '~') : t))
}

function indexOf(token: string, length: number): number {
  if (!/^[+-]?[0-9]{1,15}$/.test(token)) throw new PatchFault(`value was not a proper array index: '${token}'`)
  const index = Number(token)
  const found = index < 0 ? index + length : index
  if (found < 0 || found >= length) throw new PatchFault(`unable to access invalid index: ${index}`)
  return found
}

/** One application: knows which containers it made itself and may therefore change. */
class Application {
  #root: JsonValue
  #own = new Set<object>()
  #copiedBytes = 0
  #moved = 0

  constructor(document: JsonValue) {
    this.#root = document
  }

  run(operations: readonly JsonPatchOperation[]): JsonValue {
    operations.forEach((operation, i) => {
      try {
        this.#apply(operation)
      } catch (e) {
        if (e instanceof PatchFault) {
          throw new PatchFault(`operation ${i} (${operation.op}): ${e.message}`, e.isFailedTest)
        }
        throw e
      }
    })
    return this.#root
  }

  #apply({ op, path, from, value }: JsonPatchOperation): void {
    switch (op) {
      case 'add':
        return this.#add(tokensOf(path, 'path'), value ?? null)
      case 'remove':
        return void this.#remove(tokensOf(path, 'path'))
      case 'replace':
        return this.#replace(path, value ?? null)
      case 'move':
        return this.#add(tokensOf(path, 'path'), this.#remove(tokensOf(from, 'from')))
      case 'copy':
        return this.#copy(tokensOf(from, 'from'), tokensOf(path, 'path'))
      case 'test':
        return this.#test(path, value ?? null)
      default:
        throw new PatchFault(`Unexpected kind: ${op}`)
    }
  }

  #spend(members: number): void {
    this.#moved += members
    if (this.#moved > maxMovedMembers) throw requestTooLarge(maxMovedMembers)
  }

  #get(tokens: readonly string[]): JsonValue | undefined {
    let at: JsonValue | undefined = this.#root
    for (const token of tokens) {
      if (Array.isArray(at)) at = at[indexOf(token, at.length)]
      else if (isJsonObject(at)) at = member(at, token)
      else throw new PatchFault(`doc is missing path at "${token}"`)
    }
    return at
  }

  #cloned(container: JsonValue | undefined): JsonValue[] | JsonObject {
    if (!Array.isArray(container) && !isJsonObject(container)) throw new PatchFault('doc is missing path')
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? container.slice() : { ...container }
    this.#spend(Array.isArray(copy) ? copy.length : Object.keys(copy).length)
    this.#own.add(copy)
    return copy
  }

  /** The container that holds the last token, made writable together with all above it. */
  #parent(tokens: readonly string[]): JsonValue[] | JsonObject {
    let at = this.#cloned(this.#root)
    this.#root = at
    for (const token of tokens.slice(0, -1)) {
      if (Array.isArray(at)) {
        const i = indexOf(token, at.length)
        const child = this.#cloned(at[i])
        at[i] = child
        at = child
      } else {
        const child = this.#cloned(member(at, token))
        setMember(at, token, child)
        at = child
      }
    }
    return at
  }

  #add(tokens: readonly string[], value: JsonValue): void {
    const parent = this.#parent(tokens)
    const key = tokens.at(-1) ?? ''
    if (!Array.isArray(parent)) return setMember(parent, key, value)
    const index = key === '-' ? parent.length : indexOf(key, parent.length + 1)
    this.#spend(parent.length - index)
    parent.splice(index, 0, value)
  }

  #remove(tokens: readonly string[]): JsonValue {
    const key = tokens.at(-1) ?? ''
    const parent = this.#parent(tokens)
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

  #replace(path: string | undefined, value: JsonValue): void {
    if (path === '') {
      if (!Array.isArray(value) && !isJsonObject(value)) {
        throw new PatchFault('replace operation value must be object or array')
      }
      this.#root = value
      return
    }
    const tokens = tokensOf(path, 'path')
    const parent = this.#parent(tokens)
    const key = tokens.at(-1) ?? ''
    if (Array.isArray(parent)) parent[indexOf(key, parent.length)] = value
    else setMember(parent, key, value)
  }

  #copy(from: readonly string[], to: readonly string[]): void {
    const value = this.#get(from) ?? null
    this.#copiedBytes += Buffer.byteLength(JSON.stringify(value))
    if (this.#copiedBytes > maxCopiedBytes) {
      throw new PatchFault(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${maxCopiedBytes}`,
      )
    }
    this.#add(to, value)
    // From here on the value stands in two places: whoever writes to one must clone it first.
    this.#own = new Set()
  }

  #test(path: string | undefined, value: JsonValue): void {
    const found = path === '' ? this.#root : (this.#get(tokensOf(path, 'path')) ?? null)
    if (!jsonEqual(found, value)) throw new PatchFault(`testing value ${path} failed: test failed`, true)
  }
}

/** What Go's decoder says where a patch has made a list of the whole document, which it may. */
export const listIsNoObject: string = String.raw`couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`

/** @throws StatusError Invalid (422) without details if an operation does not apply, its cause says which and why. */
export function applyJsonPatch(document: JsonValue, patch: JsonPatch): JsonValue {
  try {
    const result = new Application(document).run(patch.operations)
    if (nestsDeeperThan(result, maxDepth)) throw new PatchFault('exceeded max depth')
    return result
  } catch (e) {
    throw e instanceof PatchFault ? rejected(e) : e
  }
}
