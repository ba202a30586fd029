/**
 * Headers that name a user. Their bytes are UTF-8, as Go sends them. kube-apiserver compares bytes and takes any; here
 * names are text, so bytes that are none are refused: read in any other way they would be the name of another user.
 * @see k8s.io/apiserver/pkg/endpoints/filters/impersonation (unescapeExtraKey) v0.36
 */
import { textOfBytes, textOfHeader } from '../base/header-bytes.ts'
import { badRequest } from '../kube/status-error.ts'

/** An `ApiRequest` is one. */
export interface HeaderSource {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** All values of a header that may repeat, with one character for each byte. */
  headerValues(name: string): readonly string[]
}

/** All values. @throws StatusError BadRequest for one that is not UTF-8 */
export function headerTexts(source: HeaderSource, name: string): readonly string[] {
  return source.headerValues(name).map((value) => {
    const text = textOfHeader(value)
    if (text === undefined) throw badRequest(`header ${shown(name)}: the value must be UTF-8`)
    return text
  })
}

/** Of a header that counts once: what comes after the first value is ignored, as by Go. Empty where there is none. */
export const firstHeaderText = (source: HeaderSource, name: string): string =>
  source.headers[name] === undefined ? '' : (headerTexts(source, name)[0] ?? '')

/** Key → values of the headers that begin so. Keys are percent-encoded, since names of headers hold few characters. */
export function extraHeaders(source: HeaderSource, prefixes: readonly string[]): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>()
  for (const name of Object.keys(source.headers)) {
    const prefix = prefixes.find((p) => name.startsWith(p))
    if (prefix === undefined) continue
    const key = unescapedKey(name, prefix.length)
    extra.set(key, [...(extra.get(key) ?? []), ...headerTexts(source, name)])
  }
  return extra
}

/** What is no percent-encoding is taken as it is. */
function unescapedKey(header: string, keyAt: number): string {
  const key = header.slice(keyAt)
  if (!key.includes('%') || /%(?![0-9a-f]{2})/i.test(key)) return key
  const bytes = key.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const text = textOfBytes(Buffer.from(bytes, 'latin1'))
  if (text === undefined) throw badRequest(`header ${shown(header)}: the key must be UTF-8`)
  return text
}

/** As Go prints it: `Impersonate-Extra-Scopes` */
const shown = (name: string): string => name.replace(/(?:^|-)[a-z]/g, (begin) => begin.toUpperCase())
