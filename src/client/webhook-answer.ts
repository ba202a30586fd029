/** What a webhook answers, and what is wrong with it, in the words of Go's HTTP client. Long ones come in slices. */

import type { Eventual } from '../base/eventual.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Slice } from '../base/turns.ts'
import { goTypeMeta } from '../kube/gvk.ts'
import { isJsonObject } from '../kube/json-value.ts'
import { JsonSyntaxError, parsingJson } from '../kube/strict-json.ts'
import { TooManyValuesError } from '../kube/value-count.ts'

/** From here on an answer takes long to read, and few are read at once. */
export const longAnswerBytes: number = 64 * 1024
/** Of an answer that is read in slices. Objects that are larger can't be stored, and a patch is one text. */
const maxAnswerValues = 100_000
const quotedAnswerLength = 2048

/** The webhook could not be asked, or did not answer as it should. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError'
  /** HTTP status of its answer; undefined = there was none. */
  readonly status: number | undefined
  /** It took longer than `timeoutMs`. */
  readonly timedOut: boolean

  constructor(
    message: string,
    options: { readonly status?: number; readonly timedOut?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = options.status
    this.timedOut = options.timedOut ?? false
  }
}

/** Unread. */
export class WebhookAnswer implements Disposable {
  readonly status: number
  readonly body: Buffer
  readonly #release: (() => void) | undefined

  /** `release` gives the place of a large one back. */
  constructor(status: number, body: Buffer, release: (() => void) | undefined) {
    this.status = status
    this.body = body
    this.#release = release
  }

  get isLong(): boolean {
    return this.body.length > longAnswerBytes
  }

  [Symbol.dispose](): void {
    this.#release?.()
  }
}

/** The JSON of a 2xx answer. Without a slice in one piece. @throws WebhookCallError */
export function readAnswer({ status, body }: WebhookAnswer, slice: Slice | undefined): Eventual<unknown> {
  const text = body.toString('utf8')
  if (slice === undefined) return sound(status, text, parse(text))
  return parseInSlices(text, status, slice).then((value) => sound(status, text, value))
}

function sound(status: number, text: string, value: unknown): unknown {
  if (status < 200 || status > 206) throw new WebhookCallError(refusalText(status, text, value), { status })
  if (!isJsonObject(value)) {
    throw new WebhookCallError(`couldn't get version/kind; json parse error: ${whyUnreadable(text, value)}`, { status })
  }
  return value
}

function parse(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    // What is no JSON is told apart by the caller, who knows what was expected.
    return undefined
  }
}

async function parseInSlices(text: string, status: number, slice: Slice): Promise<unknown> {
  try {
    return (await runInSlices(parsingJson(text, { maxValues: maxAnswerValues }), slice)).value
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    if (!(error instanceof TooManyValuesError)) throw error
    throw new WebhookCallError(`the answer has more than ${maxAnswerValues} values`, { status, cause: error })
  }
}

/**
 * Go's words, which quote no more than a character: what answers may be another server than a webhook, and say what the
 * client that reads this may not know.
 */
function whyUnreadable(text: string, value: unknown): string {
  if (value !== undefined) {
    const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    return `json: cannot unmarshal ${value === null ? 'null' : found} into Go value of type ${goTypeMeta}`
  }
  const first = text.trimStart()[0]
  if (first === undefined) return 'unexpected end of JSON input'
  return /["{[\d\-tfn]/.test(first) ? 'invalid JSON' : `invalid character '${first}' looking for beginning of value`
}

/** What a client makes of an answer that is no success. @see k8s.io/apimachinery NewGenericServerResponse v0.36 */
function refusalText(status: number, text: string, value: unknown): string {
  if (isJsonObject(value) && value['kind'] === 'Status' && typeof value['message'] === 'string' && value['message']) {
    return value['message']
  }
  const said = text.trim().slice(0, quotedAnswerLength) || 'unknown'
  switch (status) {
    case 400:
      return 'the server rejected our request for an unknown reason'
    case 401:
      return 'the server has asked for the client to provide credentials'
    case 403:
    case 415:
      return said
    case 404:
      return 'the server could not find the requested resource'
    case 405:
      return 'the server does not allow this method on the requested resource'
    case 409:
      return 'the server reported a conflict'
    case 422:
      return 'the server rejected our request due to an error in our request'
    case 429:
      return 'the server has received too many requests and has asked us to try again later'
    case 503:
      return 'the server is currently unable to handle the request'
    case 504:
      return 'the server was unable to return a response in the time allotted, but may still be processing the request'
    default:
      return status >= 500
        ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
        : `the server responded with the status code ${status} but did not return more information`
  }
}
