/** What makes an answer a finding: an error of the server that is not upstream's, or one that is no Status. */

export interface Outcome {
  readonly code: number
  /** Of what is no stream. */
  readonly text: string
  readonly contentType: string
}

interface Upstreams {
  readonly why: string
  readonly code: number
  readonly pattern: RegExp
}

/** Errors of the server that upstream answers in the same place, in whatever encoding. */
const upstreams: readonly Upstreams[] = [
  {
    why: 'an apply whose values have not the types of the schema (structuredmerge.go)',
    code: 500,
    pattern: /failed to create typed patch object \(/,
  },
  {
    why: 'a version that the store has not reached within 3 s (watch_cache.go)',
    code: 504,
    pattern: /Too large resource version/,
  },
  {
    why: 'a resourceVersion that is no number (api_object_versioner.go)',
    code: 500,
    pattern: /resourceVersion: Invalid value: [^]*strconv.ParseUint: parsing/,
  },
  {
    why: 'a stream from a kubelet, of which there is none: docs/compatibility.md',
    code: 501,
    pattern: /this server keeps objects and runs nothing/,
  },
]

/** undefined = as it should be. The same fault has the same text. */
export function problemOf({ code, text, contentType }: Outcome): string | undefined {
  const status = code >= 400 && /json/.test(contentType) ? statusIn(text) : undefined
  const message = typeof status?.['message'] === 'string' ? status['message'] : text
  if (code >= 500 && !upstreams.some((known) => known.code === code && known.pattern.test(text))) {
    return `${code} ${withoutNames(message)}`
  }
  if (code < 400 || !/json/.test(contentType)) return undefined
  if (status === undefined) return `${code} without a Status`
  return status['kind'] === 'Status' && status['code'] !== code ? `${code} with a Status of another code` : undefined
}

function statusIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** What differs from request to request. */
export const withoutNames = (message: string): string =>
  message
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replaceAll(/\d+/g, 'N')
    .slice(0, 300)

/** The texts in a line of the log that are the stack of an error. */
export function stackIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  for (const value of Object.values(fields)) {
    if (value instanceof Error) return value.stack ?? value.message
    if (typeof value === 'string' && /\n\s+at /.test(value)) return value
  }
  return undefined
}
