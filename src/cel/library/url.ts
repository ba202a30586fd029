/**
 * Addresses of the web, read as Go's `url.ParseRequestURI` reads them: an absolute URL or an absolute path.
 * @see k8s.io/apiserver/pkg/cel/library/urls.go v0.36
 */
import type { Budget } from '../budget.ts'
import { fn, type Library, method } from '../functions.ts'
import { ArrayList, CelError, EntryMap, OpaqueValue } from '../values.ts'

class Url extends OpaqueValue {
  override readonly typeName = 'kubernetes.URL'
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string

  constructor(text: string) {
    super()
    const wrong = (why: string): CelError =>
      new CelError(`URL parse error during conversion from string: parse ${JSON.stringify(text.slice(0, 256))}: ${why}`)
    if (text === '') throw wrong('empty url')
    if (hasControl(text)) throw wrong('net/url: invalid control character in URL')
    const m = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?]*)(?![^/?]))?([^?]*)(?:\?(.*))?$/s.exec(text)
    const [, scheme = '', authority, path = '', query = ''] = m ?? []
    if (!m || (scheme === '' && (authority !== undefined || !path.startsWith('/')))) {
      // A path may begin with two slashes: without a scheme there is no host.
      if (!text.startsWith('/')) throw wrong('invalid URI for request')
    }
    const isPath = scheme === ''
    this.text = text
    this.scheme = scheme.toLowerCase()
    this.host = isPath ? '' : (authority ?? '').replace(/^.*@/s, '')
    this.path = isPath ? (text.split('?', 1)[0] ?? '') : path
    this.query = query
    if (!isPath && authority === undefined && !path.startsWith('/')) {
      if (path === '') throw wrong('invalid URI for request')
    }
    const badEscape = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(this.path + this.host)
    if (badEscape) throw wrong(`invalid URL escape ${JSON.stringify(badEscape[0])}`)
    // Behind what is an address in brackets.
    const colon = this.host.indexOf(':', this.host.lastIndexOf(']') + 1)
    const port = colon < 0 ? '' : this.host.slice(colon)
    if (!/^(?::\d*)?$/.test(port)) throw wrong(`invalid port ${JSON.stringify(port)} after host`)
    if (/[ <>"{}|\\^`]/.test(this.host)) throw wrong('invalid character in host name')
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Url && other.text === this.text
  }
  override get size(): number {
    return this.text.length
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c < 0x20 || c === 0x7f) return true
  }
  return false
}

function parseUrl(text: string, budget: Budget): Url {
  budget.work(text.length)
  return new Url(text)
}

function isUrl(text: string, budget: Budget): boolean {
  try {
    parseUrl(text, budget)
    return true
  } catch (e) {
    if (e instanceof CelError) return false
    throw e
  }
}

const bare = (host: string): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1')

function escapedPath(path: string): string {
  return path.replace(/[^\w\-.~!$&'()*+,/:;=@%[\]]/gu, (c) => encodeURIComponent(c))
}

function queryOf(query: string, budget: Budget): EntryMap {
  const byKey = new Map<string, string[]>()
  const decode = (text: string): string | undefined => {
    try {
      return decodeURIComponent(text.replaceAll('+', ' '))
    } catch (e) {
      if (e instanceof URIError) return undefined
      throw e
    }
  }
  budget.work(query.length)
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const at = pair.indexOf('=')
    const key = decode(at < 0 ? pair : pair.slice(0, at))
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (key === undefined || value === undefined) continue
    const values = byKey.get(key)
    if (values) values.push(value)
    else byKey.set(key, [value])
  }
  const map = new EntryMap()
  for (const [key, values] of byKey) map.add(key, new ArrayList(values))
  return map
}

export const urlLibrary: Library = [
  fn('string_to_url', 'url', ['string', 'kubernetes.URL'], parseUrl),
  fn('is_url_string', 'isURL', ['string', 'bool'], isUrl),
  method('url_get_scheme', 'getScheme', ['kubernetes.URL', 'string'], (u: Url) => u.scheme),
  method('url_get_host', 'getHost', ['kubernetes.URL', 'string'], (u: Url) => u.host),
  method('url_get_hostname', 'getHostname', ['kubernetes.URL', 'string'], (u: Url) => bare(u.host)),
  method('url_get_port', 'getPort', ['kubernetes.URL', 'string'], (u: Url) => /:(\d*)$/.exec(u.host)?.[1] ?? ''),
  method('url_get_escaped_path', 'getEscapedPath', ['kubernetes.URL', 'string'], (u: Url) => escapedPath(u.path)),
  method('url_get_query', 'getQuery', ['kubernetes.URL', 'map(string, list(string))'], (u: Url, b: Budget) =>
    queryOf(u.query, b),
  ),
]
