/** What a server says beside its answer, in `Warning` headers: a write that is taken may not do what was meant. */

export type OnWarning = (text: string) => void

/**
 * `299 - "would create ConfigMap/greeting", 299 - "…"`; other codes are of proxies.
 * @see k8s.io/apimachinery/pkg/util/net/http.go v0.36, ParseWarningHeader
 * @see k8s.io/client-go/rest/warnings.go v0.36
 */
export const warningsIn = (header: string): string[] =>
  [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => textOf(text.replaceAll(/\\(.)/g, '$1')))

/** Transports that read bytes make one character of each, and servers write UTF-8. */
function textOf(text: string): string {
  if (/[^\x00-\xff]/.test(text) || !/[\x80-\xff]/.test(text)) return text
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (c) => c.charCodeAt(0)))
  } catch {
    // It was a text already.
    return text
  }
}
