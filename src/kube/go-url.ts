/**
 * URLs as Go's net/url reads them, and what it says of those that it does not read. Not what `URL` of the platform
 * takes: that one mends, and takes or refuses other characters.
 *
 * Escapes are of bytes, so inside this file text is one character for each byte of its UTF-8.
 * @see net/url (Parse) of Go 1.26
 */
import { quote } from './go-quote.ts'
import { parseAddress } from './ip-address.ts'

export interface GoUrl {
  /** In lower case. */
  readonly scheme: string
  /** With its port; empty where there is none. */
  readonly host: string
  /** As it would be printed. Absent without an `@`. */
  readonly user?: string
  readonly query: string
  readonly fragment: string
}

export type ParsedGoUrl = { readonly url: GoUrl; readonly problem?: undefined } | { readonly problem: string }

/** The problem is the whole text of Go's error: `parse "…": …`. */
export function parseGoUrl(text: string): ParsedGoUrl {
  const bytes = toBytes(text)
  const [before, fragment] = cut(bytes, '#')
  let shown = before
  try {
    const parts = partsOf(before)
    shown = bytes
    return { url: { ...parts, fragment: toText(unescapeBytes(fragment ?? '', 'other')) } }
  } catch (error) {
    if (!(error instanceof UrlFault)) throw error
    return { problem: `parse ${quoted(shown)}: ${error.message}` }
  }
}

class UrlFault extends Error {
  override readonly name = 'UrlFault'
}

const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** What is no UTF-8, because it was cut, is shown by its bytes. */
function quoted(bytes: string): string {
  const text = toText(bytes)
  if (toBytes(text) === bytes) return quote(text)
  const shown = [...bytes].map((c) => (c < '\x80' ? quote(c).slice(1, -1) : `\\x${c.charCodeAt(0).toString(16)}`))
  return `"${shown.join('')}"`
}

/** Around the first separator; nothing after it where there is none. */
function cut(text: string, separator: string): [before: string, after: string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function partsOf(bytes: string): Omit<GoUrl, 'fragment'> {
  if (/[\x00-\x1f\x7f]/.test(bytes)) throw new UrlFault('net/url: invalid control character in URL')
  if (bytes === '*') return { scheme: '', host: '', query: '' }
  if (bytes.startsWith(':')) throw new UrlFault('missing protocol scheme')
  const schemed = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(bytes)
  const scheme = (schemed?.[1] ?? '').toLowerCase()
  const [rest, query = ''] = cut(bytes.slice(schemed?.[0].length ?? 0), '?')
  const found = { scheme, query: toText(query) }
  if (!rest.startsWith('/')) {
    // What follows is not a path and is not read.
    if (scheme !== '') return { ...found, host: '' }
    if (cut(rest, '/')[0].includes(':')) {
      throw new UrlFault('first path segment in URL cannot contain colon')
    }
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))
  if (!hasAuthority) {
    unescapeBytes(rest, 'other')
    return { ...found, host: '' }
  }
  const [authority, path] = cut(rest.slice(2), '/')
  const at = authority.lastIndexOf('@')
  const host = hostOf(scheme, authority.slice(at + 1))
  const user = at < 0 ? {} : { user: userOf(authority.slice(0, at)) }
  unescapeBytes(path ?? '', 'other')
  return { ...found, host: toText(host), ...user }
}

function userOf(bytes: string): string {
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(bytes)) throw new UrlFault('net/url: invalid userinfo')
  const [name, password] = cut(bytes, ':')
  const printed = (part: string): string =>
    unescapeBytes(part, 'other').replace(
      /[^\w\-.~$&+,;=]/g,
      (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
  return password === undefined ? printed(name) : `${printed(name)}:${printed(password)}`
}

function hostOf(scheme: string, bytes: string): string {
  const open = bytes.lastIndexOf('[')
  if (open > 0) throw new UrlFault('invalid IP-literal')
  if (open === 0) return literalOf(bytes)
  const isWeb = scheme === 'http' || scheme === 'https'
  const colon = isWeb ? bytes.indexOf(':') : bytes.lastIndexOf(':')
  if (colon >= 0) checkPort(bytes.slice(colon))
  return unescapeBytes(bytes, 'host')
}

function literalOf(bytes: string): string {
  const close = bytes.lastIndexOf(']')
  if (close < 0) throw new UrlFault("missing ']' in host")
  const port = bytes.slice(close + 1)
  checkPort(port)
  const inside = bytes.slice(1, close)
  const zoneAt = inside.indexOf('%25')
  const name =
    zoneAt < 0
      ? unescapeBytes(inside, 'host')
      : unescapeBytes(inside.slice(0, zoneAt), 'host') + unescapeBytes(inside.slice(zoneAt), 'zone')
  const [ip, zone] = cut(name, '%')
  const address = parseAddress(ip)
  if (address === undefined || zone === '') throw new UrlFault(`invalid host: ${addressFault(name)}`)
  if (address.family === 'IPv4' && !ip.includes(':')) {
    throw new UrlFault(zone === undefined ? 'invalid IP-literal' : `invalid host: ${addressFault(name)}`)
  }
  return `[${name}]${port}`
}

/** As far as Go's words depend on nothing but which characters there are. */
function addressFault(name: string): string {
  const first = /[.:%]/.exec(name)?.[0]
  const why =
    first === '%'
      ? 'missing IPv6 address'
      : first === ':' && name.endsWith('%')
        ? 'zone must be a non-empty string'
        : 'unable to parse IP'
  return `ParseAddr(${quoted(name)}): ${why}`
}

function checkPort(bytes: string): void {
  if (!/^(?::[0-9]*)?$/.test(bytes)) throw new UrlFault(`invalid port ${quoted(bytes)} after host`)
}

const inHost = /^[\w\-.~!$&'()*+,;=:[\]<>"\x80-\xff]$/

/** A host takes no escapes of ASCII but that of `%`, a zone those of what could stand there. */
function unescapeBytes(bytes: string, mode: 'host' | 'zone' | 'other'): string {
  let out = ''
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes.charAt(i)
    if (c !== '%') {
      if (mode !== 'other' && !inHost.test(c)) throw new UrlFault(`invalid character ${quoted(c)} in host name`)
      out += c
      continue
    }
    const escape = bytes.slice(i, i + 3)
    if (!/^%[0-9a-fA-F]{2}$/.test(escape)) throw new UrlFault(`invalid URL escape ${quoted(escape)}`)
    const byte = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    const isOut =
      escape !== '%25' && (mode === 'host' ? byte < '\x80' : mode === 'zone' && byte !== ' ' && !inZone.test(byte))
    if (isOut) throw new UrlFault(`invalid URL escape ${quoted(escape)}`)
    out += byte
    i += 2
  }
  return out
}

/** Unlike what may stand in it as it is, what may be escaped is ASCII. */
const inZone = /^[\w\-.~!$&'()*+,;=:[\]<>"]$/
