/**
 * What the caller wants to read: a serialisation (JSON, YAML, protobuf) and a view (the object, a Table, metadata
 * only).
 * @see k8s.io/apiserver/pkg/endpoints/handlers/negotiation v0.36
 */
import { BoundedCache } from '../base/bounded-cache.ts'
import { notAcceptable, StatusError } from '../kube/status-error.ts'
import { isTrue } from './request-info.ts'

export type Format = 'json' | 'yaml' | 'protobuf'
export type View = 'object' | 'table' | 'partial' | 'partialList'

export interface Negotiated {
  readonly format: Format
  readonly view: View
  /** `v1` | `v1beta1`, of meta.k8s.io, for the views that are not the object. */
  readonly viewVersion: string
  readonly pretty: boolean
}

export const jsonMediaType = 'application/json'
export const yamlMediaType = 'application/yaml'
export const protobufMediaType = 'application/vnd.kubernetes.protobuf'
const allMediaTypes = [jsonMediaType, yamlMediaType, protobufMediaType]

export interface Offer {
  /** False for custom resources: objects in JSON and YAML only. */
  readonly protobuf: boolean
  readonly views: readonly View[]
}

const plainJson: Negotiated = { format: 'json', view: 'object', viewVersion: '', pretty: false }

interface Clause {
  readonly mediaType: string
  readonly parameters: ReadonlyMap<string, string>
}

/**
 * Accept headers repeat endlessly and are few: remember how they parse. A long one is of a client that makes it up, and
 * takes a thousand times its memory.
 */
const known = new BoundedCache<string, readonly Clause[]>(256)
const longestKnown = 1000
/** What stands behind them does not count. */
const mostClauses = 100
const mostParameters = 20

function parseAccept(header: string): readonly Clause[] {
  const before = known.get(header)
  if (before) return before
  const clauses = header.split(',', mostClauses).map((text, order) => {
    const [mediaType = '', ...rest] = text.split(';', mostParameters).map((p) => p.trim())
    const parameters = new Map<string, string>()
    for (const p of rest) {
      const at = p.indexOf('=')
      if (at > 0) parameters.set(p.slice(0, at).toLowerCase(), p.slice(at + 1))
    }
    return { mediaType: mediaType.toLowerCase(), parameters, quality: Number(parameters.get('q') ?? 1), order }
  })
  clauses.sort((a, b) => b.quality - a.quality || wildcards(a.mediaType) - wildcards(b.mediaType) || a.order - b.order)
  if (header.length <= longestKnown) known.set(header, clauses)
  return clauses
}

/** What is named comes before what may be anything. */
const wildcards = (mediaType: string): number => (mediaType === '*/*' ? 2 : mediaType.endsWith('/*') ? 1 : 0)

const formatByMediaType: ReadonlyMap<string, Format> = new Map([
  [jsonMediaType, 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
  ['', 'json'],
  [yamlMediaType, 'yaml'],
  [protobufMediaType, 'protobuf'],
])

const viewByName: ReadonlyMap<string, View> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'partial'],
  ['PartialObjectMetadataList', 'partialList'],
])

/** @param offered asked where the client does not simply want JSON. @throws StatusError NotAcceptable */
export function negotiate(
  headers: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  offered: () => Offer,
): Negotiated {
  const header = headers['accept'] ?? ''
  const pretty = wantsPretty(headers, query)
  if (header === '' || header === '*/*' || header === jsonMediaType)
    return pretty ? { ...plainJson, pretty } : plainJson
  const offer = offered()
  for (const clause of parseAccept(header)) {
    const format = formatByMediaType.get(clause.mediaType)
    if (format === undefined) continue
    const { parameters } = clause
    const stream = parameters.get('stream')
    if (stream && stream !== 'watch') continue
    const serverVersion = parameters.get('sv')
    if (serverVersion && serverVersion !== 'v1') continue
    const as = parameters.get('as') ?? (parameters.has('g') || parameters.has('v') ? '' : undefined)
    const prettyHere = pretty || clause.parameters.get('pretty') === '1'
    if (as === undefined) {
      if (format === 'protobuf' && !offer.protobuf) continue
      return { format, view: 'object', viewVersion: '', pretty: prettyHere }
    }
    const view = viewByName.get(as)
    const version = clause.parameters.get('v') ?? ''
    if (view === undefined || !offer.views.includes(view)) continue
    if (clause.parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue
    // Tables are never protobuf; the metadata views are, for every kind.
    if (format === 'protobuf' && view === 'table') continue
    return { format, view, viewVersion: version, pretty: prettyHere }
  }
  throw notAcceptable(allMediaTypes)
}

/** How an error is written: in the first form asked for that is of the object itself, else in JSON. */
export function negotiateError(
  headers: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
): Negotiated {
  try {
    return negotiate(headers, query, () => ({ protobuf: true, views: [] }))
  } catch (error) {
    if (error instanceof StatusError) return plainJson
    throw error
  }
}

function wantsPretty(headers: Readonly<Record<string, string | undefined>>, query: URLSearchParams): boolean {
  const asked = query.get('pretty')
  if (asked !== null) return isTrue(asked)
  const agent = headers['user-agent']
  return agent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(agent)
}

export const contentTypes: Readonly<Record<Format, string>> = {
  json: jsonMediaType,
  yaml: yamlMediaType,
  protobuf: protobufMediaType,
}

/** The media type of a request body; absent means JSON, parameters do not matter. */
export function bodyMediaType(headers: Readonly<Record<string, string | undefined>>): string {
  const header = headers['content-type']
  if (header === undefined || header === '') return jsonMediaType
  const end = header.indexOf(';')
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase()
}
