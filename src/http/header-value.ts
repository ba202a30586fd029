/**
 * Header values as they can be sent. Upstream sends their UTF-8, and so do we; but Node takes a text for bytes, one a
 * character. Over HTTP/1.1 it throws where a character is beyond that, and the answer to a write that is stored would
 * be lost; over HTTP/2 it sends the low half of it.
 * @see NewWarningHeader in k8s.io/apimachinery/pkg/util/net/http.go v0.36
 */
const plain = /^[\t\x20-\x7e]*$/

/** Control characters become spaces: upstream leaves out a warning that has any. */
export const headerValue = (text: string): string =>
  plain.test(text) ? text : Buffer.from(text.replace(/\p{Cc}/gu, ' ')).toString('latin1')

/** On nearly every answer, and made by this server of nothing but ASCII: not looked at again. */
const alwaysPlain: ReadonlySet<string> = new Set([
  'audit-id',
  'cache-control',
  'content-type',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
])

type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** The same record if all can be sent as they are. */
export function sendableHeaders(headers: HeaderValues): HeaderValues {
  for (const name in headers) {
    if (alwaysPlain.has(name)) continue
    const value = headers[name] as string | readonly string[]
    if (typeof value === 'string' ? !plain.test(value) : !value.every((v) => plain.test(v))) return encodeAll(headers)
  }
  return headers
}

const encodeAll = (headers: HeaderValues): HeaderValues =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? headerValue(value) : value.map(headerValue),
    ]),
  )
