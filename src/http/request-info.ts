/**
 * The URL grammar, parsed once, first.
 *
 *   /api/v1/…  /apis/{group}/{version}/…           followed by one of
 *     {resource}[/{name}[/{subresource}]]
 *     namespaces/{ns}/{resource}[/{name}[/{subresource}]]
 *     namespaces/{name}[/status|/finalize]
 *     watch/…                                       any of the above, always a watch (legacy)
 *     list/{resource}                               all namespaces (legacy)
 *
 * @see k8s.io/apiserver/pkg/endpoints/request/requestinfo.go v0.36
 */
import { parseFieldSelector, requiredField } from '../kube/field-selector.ts'
import { namespaceSubresources } from '../kube/namespace-subresources.ts'

export interface RequestInfo {
  readonly isResource: boolean
  /** For non-resource requests: the lower-case method. */
  readonly verb: string
  readonly path: string
  readonly group: string
  readonly version: string
  /** For `/namespaces/x` itself: x. */
  readonly namespace: string
  /** The path has `namespaces/{namespace}/` in front of the resource, with whatever name, even an empty one. */
  readonly underNamespace: boolean
  /** The path is one of the legacy forms, `watch/…` or `list/…`, which answer GET and no other method. */
  readonly legacy: boolean
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Path elements after the resource, itself included. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

/** A peer of HTTP/2 makes up methods as it likes: `constructor` is none of these. */
const verbByMethod: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

const noQuery: URLSearchParams = new URLSearchParams()

/** Never throws: what it does not understand is a non-resource request, which the dispatcher answers. */
export function parseRequestInfo(method: string, path: string, rawQuery: string): RequestInfo {
  const query = rawQuery === '' ? noQuery : new URLSearchParams(rawQuery)
  const elements = splitPath(path)
  /** Where what follows the version begins: behind `/api/v1`, or `/apis/{group}/{version}`. */
  const start = elements[0] === 'apis' ? 3 : 2
  const isResource = (elements[0] === 'api' || elements[0] === 'apis') && elements.length > start
  if (!isResource) return nonResource(method, path, query)
  const group = start === 3 ? (elements[1] as string) : ''
  const version = elements[start - 1] as string

  let at = start
  let verb = verbByMethod.get(method) ?? ''
  const legacyWatch = elements[at] === 'watch' && elements.length - at > 1
  const legacyList = elements[at] === 'list' && elements.length - at === 2
  if (legacyWatch) verb = 'watch'
  if (legacyWatch || legacyList) at++

  let namespace = ''
  let underNamespace = false
  if (elements[at] === 'namespaces') {
    namespace = elements[at + 1] ?? ''
    // `/namespaces/x/pods` is about pods in x, but `/namespaces/x/status` about x itself.
    underNamespace = elements.length - at > 2 && !namespaceSubresources.has(elements[at + 2] as string)
    if (underNamespace) at += 2
  }

  const parts = elements.slice(at)
  // One by one: taken apart as a list they cost as much as the rest of this.
  const resource = parts[0] ?? ''
  let name = parts[1] ?? ''
  const subresource = parts[2] ?? ''
  if (verb === 'create' && resource === 'namespaces' && subresource === 'finalize') {
    // The seeds name POST for finalize, upstream knows PUT alone: both replace the finalizers, so both are updates.
    verb = 'update'
  } else if (name === '' && verb === 'get') {
    verb = isTrue(query.get('watch')) ? 'watch' : 'list'
  } else if (name === '' && verb === 'delete') {
    verb = 'deletecollection'
  }
  if (name === '' && (verb === 'list' || verb === 'watch' || verb === 'deletecollection')) {
    name = nameInFieldSelector(query.get('fieldSelector'))
  }
  return {
    isResource: true,
    verb,
    path,
    group,
    version,
    namespace,
    underNamespace,
    legacy: legacyWatch || legacyList,
    resource,
    subresource,
    name,
    parts,
    query,
  }
}

function nonResource(method: string, path: string, query: URLSearchParams): RequestInfo {
  return {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    group: '',
    version: '',
    namespace: '',
    underNamespace: false,
    legacy: false,
    resource: '',
    subresource: '',
    name: '',
    parts: [],
    query,
  }
}

const slash = 0x2f
/** No route has a quarter of them. What follows is one element with slashes in it, which is none of ours. */
const mostElements = 64

/**
 * Empty if a part can't be decoded. Slashes at the ends vanish; inside, `//` is an empty part. By hand: `split`
 * goes through a cache of its own, which paths that name objects only wear out.
 */
function splitPath(path: string): string[] {
  let start = 0
  let end = path.length
  while (path.charCodeAt(start) === slash) start++
  while (path.charCodeAt(end - 1) === slash) end--
  const parts: string[] = []
  while (parts.length < mostElements - 1) {
    const next = path.indexOf('/', start)
    if (next === -1 || next >= end) break
    parts.push(path.slice(start, next))
    start = next + 1
  }
  parts.push(path.slice(start, end))
  if (!path.includes('%')) return parts
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return []
  }
}

/** Anything but `false` and `0` means yes; absent means no. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}

const pinsName = /metadata\.name\s*=/

/** A selector that pins one name authorizes like a request for that name; one that can't be read pins none. */
function nameInFieldSelector(selector: string | null): string {
  // Asked before it is known who the client is: what can pin none is not read.
  if (selector === null || !pinsName.test(selector)) return ''
  try {
    return requiredField(parseFieldSelector(selector), 'metadata.name') ?? ''
  } catch {
    return ''
  }
}
