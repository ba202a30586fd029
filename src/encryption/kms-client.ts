/**
 * Speaks to a KMS plugin: gRPC over a unix socket, the three calls of `v2.KeyManagementService`. One connection, made
 * when it is needed and again after it broke.
 * @see k8s.io/kms/apis/v2/api.proto v0.36
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { ProtoReader, ProtoWriter } from '../base/protobuf.ts'
import { checkKmsSocket } from './kms-socket.ts'

/** A call that failed. The message is one line; `code` is gRPC's. */
export class KmsError extends Error {
  override readonly name = 'KmsError'
  readonly code: number
  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /**
   * The plugin was not reached, did not answer in time, or is not well: it may another time. Other refusals are of what
   * it was asked for, such as a key that it has no more.
   */
  get isPassing(): boolean {
    return passingCodes.includes(this.code)
  }
}

export interface KmsStatus {
  readonly version: string
  readonly healthz: string
  readonly keyId: string
}

/** What the plugin made of a secret, and needs to make it readable again. */
export interface KmsCiphertext {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: ReadonlyMap<string, Uint8Array>
}

const codeUnknown = 2
const codeDeadlineExceeded = 4
/** The plugin is not well. */
export const codeInternal = 13
const codeUnavailable = 14
/** Canceled, deadline exceeded, resource exhausted, aborted, internal, unavailable. */
const passingCodes: readonly number[] = [1, codeDeadlineExceeded, 8, 10, codeInternal, codeUnavailable]
/** Of Node's timers. */
const mostTimeoutMs = 2 ** 31 - 1
/** Of gRPC: eight digits. */
const mostGrpcMs = 99_999_999
const frameHead = 5
/** No answer is nearly as long. */
const maxAnswerBytes = 1024 * 1024
/** Of what is encrypted: what keys are derived from. */
export const seedBytes = 32

export class KmsClient {
  readonly #path: string
  readonly #timeoutMs: number
  #session: ClientHttp2Session | undefined
  #isClosed = false

  /** `endpoint`: `unix:///path`, or `unix:///@name` for an abstract socket. */
  constructor(endpoint: string, timeoutMs: number) {
    const path = endpoint.slice('unix://'.length)
    this.#path = path.startsWith('/@') ? `\0${path.slice(2)}` : path
    this.#timeoutMs = Math.min(Math.max(1, Math.ceil(timeoutMs)), mostTimeoutMs)
  }

  async status(): Promise<KmsStatus> {
    const texts = ['', '', '']
    await this.#call('Status', new ProtoWriter(16).finish(), (reader) => {
      if (reader.field >= 1 && reader.field <= 3) texts[reader.field - 1] = reader.text()
      else reader.skip()
    })
    const [version = '', healthz = '', keyId = ''] = texts
    return { version, healthz, keyId }
  }

  async encrypt(plaintext: Uint8Array, uid: string): Promise<KmsCiphertext> {
    const request = new ProtoWriter()
    request.bytes(1, plaintext)
    request.bytes(2, Buffer.from(uid))
    let ciphertext: Uint8Array = new Uint8Array(0)
    let keyId = ''
    const annotations = new Map<string, Uint8Array>()
    await this.#call('Encrypt', request.finish(), (reader) => {
      if (reader.field === 1) ciphertext = Uint8Array.from(reader.bytes())
      else if (reader.field === 2) keyId = reader.text()
      else if (reader.field === 3) annotations.set(...readAnnotation(reader.message()))
      else reader.skip()
    })
    return { ciphertext, keyId, annotations }
  }

  async decrypt({ ciphertext, keyId, annotations }: KmsCiphertext, uid: string): Promise<Uint8Array> {
    const request = new ProtoWriter()
    request.bytes(1, ciphertext)
    request.bytes(2, Buffer.from(uid))
    request.bytes(3, Buffer.from(keyId))
    writeAnnotations(request, 4, annotations)
    let plaintext: Uint8Array = new Uint8Array(0)
    await this.#call('Decrypt', request.finish(), (reader) => {
      if (reader.field === 1) plaintext = Uint8Array.from(reader.bytes())
      else reader.skip()
    })
    // All that is ever encrypted has this length. An empty one would make keys that anyone can derive.
    if (plaintext.byteLength === seedBytes) return plaintext
    throw new KmsError(codeInternal, `Decrypt: the plaintext has ${plaintext.byteLength} bytes, not ${seedBytes}`)
  }

  close(): void {
    this.#isClosed = true
    this.#session?.destroy()
    this.#session = undefined
  }

  /** `read`: what to do with each field of the answer. @throws KmsError */
  async #call(method: string, message: Uint8Array, read: (reader: ProtoReader) => void): Promise<void> {
    // Of Node, not of the clock: an answer is waited for in real time; and in whole, however many pieces it comes in.
    const signal = AbortSignal.timeout(this.#timeoutMs)
    const session = await this.#connected(method)
    try {
      const reader = new ProtoReader(await answerOf(this.#request(session, method, message, signal), method))
      while (reader.next()) read(reader)
    } catch (cause) {
      if (signal.aborted) {
        // What comes next begins anew: a plugin that hangs on this connection may never answer on it again.
        session.destroy()
        throw new KmsError(codeDeadlineExceeded, `${method}: no answer within ${this.#timeoutMs} ms`, { cause })
      }
      if (cause instanceof KmsError) throw cause
      throw new KmsError(codeInternal, `${method}: the answer is no message`, { cause })
    }
  }

  #request(session: ClientHttp2Session, method: string, message: Uint8Array, signal: AbortSignal): ClientHttp2Stream {
    const ms = this.#timeoutMs
    const headers = {
      ':method': 'POST',
      ':path': `/v2.KeyManagementService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': ms > mostGrpcMs ? `${Math.ceil(ms / 1000)}S` : `${ms}m`,
    }
    const frame = Buffer.alloc(frameHead + message.byteLength)
    frame.writeUInt32BE(message.byteLength, 1)
    frame.set(message, frameHead)
    try {
      const stream = session.request(headers, { signal })
      stream.end(frame)
      return stream
    } catch (cause) {
      throw unavailable(method, cause)
    }
  }

  /** @throws KmsError */
  async #connected(method: string): Promise<ClientHttp2Session> {
    if (isUsable(this.#session)) return this.#session
    try {
      await checkKmsSocket(this.#path)
    } catch (cause) {
      throw unavailable(method, cause)
    }
    if (this.#isClosed) throw new KmsError(codeUnavailable, `${method}: the provider is not used any more`)
    // Another call may have been faster.
    if (isUsable(this.#session)) return this.#session
    const session = connect('http://localhost', {
      createConnection: () => connectSocket({ path: this.#path }),
      settings: { enablePush: false },
    })
    // Its calls hear of it.
    session.on('error', () => session.destroy())
    this.#session = session
    return session
  }
}

const isUsable = (session: ClientHttp2Session | undefined): session is ClientHttp2Session =>
  session !== undefined && !session.closed && !session.destroyed

const unavailable = (method: string, cause: unknown): KmsError =>
  new KmsError(codeUnavailable, `${method}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })

function answerOf(stream: ClientHttp2Stream, method: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    let httpStatus: unknown
    let status: number | undefined
    let text = ''
    const fail = (code: number, message: string, cause?: unknown): void => {
      stream.close(constants.NGHTTP2_CANCEL)
      reject(new KmsError(code, `${method}: ${message}`, { cause }))
    }
    const noteStatus = (headers: Record<string, unknown>): void => {
      httpStatus ??= headers[':status']
      if (headers['grpc-status'] === undefined) return
      const given = Number(headers['grpc-status'])
      status = Number.isInteger(given) ? given : codeUnknown
      text = String(headers['grpc-message'] ?? '')
    }
    stream.on('response', noteStatus)
    stream.on('trailers', noteStatus)
    stream.on('data', (piece: Buffer) => {
      bytes += piece.byteLength
      if (bytes > maxAnswerBytes) fail(codeInternal, 'the answer is too long')
      else pieces.push(piece)
    })
    stream.on('error', (cause: Error) => fail(codeUnavailable, cause.message, cause))
    stream.on('close', () => {
      const answer = Buffer.concat(pieces)
      if (status === undefined && httpStatus !== undefined && httpStatus !== 200) {
        fail(codeUnavailable, `HTTP status ${String(httpStatus)}, and no gRPC`)
      } else if (status === undefined) fail(codeUnavailable, 'the connection ended before the answer')
      else if (status !== 0) fail(status, `gRPC code ${status}: ${messageOf(text)}`)
      // Not compressed: nothing else was said to be understood.
      else if (
        answer.byteLength < frameHead ||
        answer[0] !== 0 ||
        answer.readUInt32BE(1) !== answer.byteLength - frameHead
      ) {
        fail(codeInternal, 'the answer is no message')
      } else resolve(answer.subarray(frameHead))
    })
  })
}

/** On one line, and no longer than a line should be. */
function messageOf(text: string): string {
  let decoded = text
  try {
    decoded = decodeURIComponent(text)
  } catch {
    // Not encoded as gRPC wants it: then as it came.
  }
  return onOneLine(decoded)
}

/** What a plugin says, for a log. */
export const onOneLine = (text: string): string => text.replace(/[\s\p{C}]+/gu, ' ').slice(0, 500)

export function writeAnnotations(
  writer: ProtoWriter,
  field: number,
  annotations: ReadonlyMap<string, Uint8Array>,
): void {
  for (const [name, value] of annotations) {
    writer.message(field, (entry) => {
      entry.bytes(1, Buffer.from(name))
      entry.bytes(2, value)
    })
  }
}

export function readAnnotation(reader: ProtoReader): [string, Uint8Array] {
  let name = ''
  let value: Uint8Array = new Uint8Array(0)
  while (reader.next()) {
    if (reader.field === 1) name = reader.text()
    else if (reader.field === 2) value = Uint8Array.from(reader.bytes())
    else reader.skip()
  }
  return [name, value]
}
