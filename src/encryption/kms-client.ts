/**
 * Speaks to a KMS plugin: gRPC over a unix socket, the three calls of `v2.KeyManagementService`. One connection, made
 * when it is needed and again after it broke.
 * @see k8s.io/kms/apis/v2/api.proto v0.36
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { ProtoReader, ProtoWriter } from '../base/protobuf.ts'

/** A call that failed. The message is one line; `code` is gRPC's. */
export class KmsError extends Error {
  override readonly name = 'KmsError'
  readonly code: number
  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** The plugin was not reached, or did not answer in time: it may another time. */
  get isPassing(): boolean {
    return this.code === codeUnavailable || this.code === codeDeadlineExceeded
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
const codeUnavailable = 14
const frameHead = 5
/** No answer is nearly as long. */
const maxAnswerBytes = 1024 * 1024

export class KmsClient {
  readonly #path: string
  readonly #timeoutMs: number
  #session: ClientHttp2Session | undefined

  /** `endpoint`: `unix:///path`, or `unix:///@name` for an abstract socket. */
  constructor(endpoint: string, timeoutMs: number) {
    const path = endpoint.slice('unix://'.length)
    this.#path = path.startsWith('/@') ? `\0${path.slice(2)}` : path
    this.#timeoutMs = timeoutMs
  }

  async status(): Promise<KmsStatus> {
    const texts = ['', '', '']
    const reader = new ProtoReader(await this.#call('Status', new ProtoWriter(16).finish()))
    while (reader.next()) {
      if (reader.field >= 1 && reader.field <= 3) texts[reader.field - 1] = reader.text()
      else reader.skip()
    }
    const [version = '', healthz = '', keyId = ''] = texts
    return { version, healthz, keyId }
  }

  async encrypt(plaintext: Uint8Array, uid: string): Promise<KmsCiphertext> {
    const request = new ProtoWriter()
    request.bytes(1, plaintext)
    request.bytes(2, Buffer.from(uid))
    const reader = new ProtoReader(await this.#call('Encrypt', request.finish()))
    let ciphertext: Uint8Array = new Uint8Array(0)
    let keyId = ''
    const annotations = new Map<string, Uint8Array>()
    while (reader.next()) {
      if (reader.field === 1) ciphertext = Uint8Array.from(reader.bytes())
      else if (reader.field === 2) keyId = reader.text()
      else if (reader.field === 3) annotations.set(...readAnnotation(reader.message()))
      else reader.skip()
    }
    return { ciphertext, keyId, annotations }
  }

  async decrypt({ ciphertext, keyId, annotations }: KmsCiphertext, uid: string): Promise<Uint8Array> {
    const request = new ProtoWriter()
    request.bytes(1, ciphertext)
    request.bytes(2, Buffer.from(uid))
    request.bytes(3, Buffer.from(keyId))
    writeAnnotations(request, 4, annotations)
    const reader = new ProtoReader(await this.#call('Decrypt', request.finish()))
    let plaintext: Uint8Array = new Uint8Array(0)
    while (reader.next()) {
      if (reader.field === 1) plaintext = Uint8Array.from(reader.bytes())
      else reader.skip()
    }
    return plaintext
  }

  close(): void {
    this.#session?.destroy()
    this.#session = undefined
  }

  /** @throws KmsError */
  #call(method: string, message: Uint8Array): Promise<Buffer> {
    const stream = this.#connected().request({
      ':method': 'POST',
      ':path': `/v2.KeyManagementService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': `${Math.ceil(this.#timeoutMs)}m`,
    })
    const frame = Buffer.alloc(frameHead + message.byteLength)
    frame.writeUInt32BE(message.byteLength, 1)
    frame.set(message, frameHead)
    stream.end(frame)
    return answerOf(stream, method, this.#timeoutMs)
  }

  #connected(): ClientHttp2Session {
    if (this.#session !== undefined && !this.#session.closed && !this.#session.destroyed) return this.#session
    const session = connect('http://localhost', { createConnection: () => connectSocket({ path: this.#path }) })
    // Its calls hear of it.
    session.on('error', () => session.destroy())
    this.#session = session
    return session
  }
}

function answerOf(stream: ClientHttp2Stream, method: string, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    let status: number | undefined
    let text = ''
    const fail = (code: number, message: string, cause?: unknown): void => {
      stream.close(constants.NGHTTP2_CANCEL)
      reject(new KmsError(code, `${method}: ${message}`, { cause }))
    }
    const noteStatus = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] === undefined) return
      status = Number(headers['grpc-status'])
      text = String(headers['grpc-message'] ?? '')
    }
    // Of Node, not of the clock: an answer is waited for in real time.
    stream.setTimeout(timeoutMs, () => fail(codeDeadlineExceeded, `no answer within ${timeoutMs} ms`))
    stream.on('response', noteStatus)
    stream.on('trailers', noteStatus)
    stream.on('data', (piece: Buffer) => {
      bytes += piece.byteLength
      if (bytes > maxAnswerBytes) fail(codeUnknown, 'the answer is too long')
      else pieces.push(piece)
    })
    stream.on('error', (cause: Error) => fail(codeUnavailable, cause.message, cause))
    stream.on('close', () => {
      const answer = Buffer.concat(pieces)
      if (status === undefined) fail(codeUnavailable, 'the connection ended before the answer')
      else if (status !== 0) fail(status, `gRPC code ${status}: ${messageOf(text)}`)
      else if (answer.byteLength < frameHead || answer.readUInt32BE(1) !== answer.byteLength - frameHead) {
        fail(codeUnknown, 'the answer is no message')
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
  return decoded.replace(/\s+/g, ' ').slice(0, 500)
}

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
