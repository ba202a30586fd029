/**
 * A KMS plugin for tests, as upstream's mock: gRPC on a unix socket, `v2.KeyManagementService`. It encrypts by an
 * exclusive or with a byte that belongs to the key, so that what it gives is not what it got.
 */
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { ProtoReader, ProtoWriter } from '../../src/base/protobuf.ts'
import { readAnnotation, writeAnnotations } from '../../src/encryption/kms-client.ts'

export class KmsPlugin implements AsyncDisposable {
  readonly endpoint: string
  readonly calls: string[] = []
  /** Name of the key in use; others go on decrypting, unless they are in `forgotten`. */
  keyId: string = '1'
  healthz: string = 'ok'
  readonly forgotten: Set<string> = new Set()
  /** What these ciphertexts stand for, whatever the key. */
  readonly plaintextOf: Map<string, Buffer> = new Map()
  /** Refuses everything with this gRPC code and message. */
  refuses: readonly [code: number, message: string] | undefined
  /** Answers these calls in another way than it should, such as not at all. */
  readonly instead: Map<string, (stream: ServerHttp2Stream, request: Buffer) => void> = new Map()
  readonly #path: string
  #server: Http2Server | undefined
  readonly #sockets = new Set<Socket>()

  private constructor(path: string) {
    this.#path = path
    this.endpoint = `unix://${path}`
  }

  static async start(folder: string): Promise<KmsPlugin> {
    const plugin = new KmsPlugin(join(folder, 'kms.sock'))
    await plugin.start()
    return plugin
  }

  async start(): Promise<void> {
    const server = createServer()
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
      this.#answer(stream, String(headers[':path'])),
    )
    this.#server = server
    await new Promise<void>((resolve) => server.listen(this.#path, resolve))
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #answer(stream: ServerHttp2Stream, path: string): void {
    const pieces: Buffer[] = []
    stream.on('error', () => undefined)
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('end', () => {
      const method = path.slice(path.lastIndexOf('/') + 1)
      this.calls.push(method)
      const instead = this.instead.get(method)
      if (instead !== undefined) return instead(stream, Buffer.concat(pieces).subarray(5))
      this.handle(stream, method, Buffer.concat(pieces).subarray(5))
    })
  }

  /** As it should. */
  handle(stream: ServerHttp2Stream, method: string, request: Buffer): void {
    answer(stream, this.#handle(method, request))
  }

  #handle(method: string, bytes: Buffer): PluginAnswer {
    if (this.refuses !== undefined) return { code: this.refuses[0], text: this.refuses[1] }
    const { data, keyId, annotations } = read(bytes)
    const writer = new ProtoWriter()
    if (method === 'Status') {
      for (const [i, text] of ['v2', this.healthz, this.keyId].entries()) writer.bytes(i + 1, Buffer.from(text))
    } else if (method === 'Encrypt') {
      writer.bytes(1, turned(data, this.keyId))
      writer.bytes(2, Buffer.from(this.keyId))
      writeAnnotations(writer, 3, new Map([['version.kms.example.com', Buffer.from('one')]]))
    } else {
      const version = Buffer.from(annotations.get('version.kms.example.com') ?? []).toString()
      if (this.forgotten.has(keyId)) return { code: 5, text: `key ${keyId} is gone` }
      if (version !== 'one') return { code: 3, text: `annotations are missing` }
      writer.bytes(1, this.plaintextOf.get(data.toString()) ?? turned(data, keyId))
    }
    return { message: Buffer.from(writer.finish()) }
  }
}

export interface PluginAnswer {
  readonly message?: Uint8Array
  /** gRPC's. */
  readonly code?: number
  readonly text?: string
}

export function answer(stream: ServerHttp2Stream, { message, code = 0, text = '' }: PluginAnswer): void {
  if (stream.destroyed) return
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () =>
    stream.sendTrailers({ 'grpc-status': String(code), 'grpc-message': encodeURIComponent(text) }),
  )
  if (message === undefined) return void stream.end()
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([head, message]))
}

const turned = (data: Uint8Array, keyId: string): Buffer =>
  Buffer.from(data.map((byte) => byte ^ (Buffer.from(keyId)[0] ?? 0)))

/** Fields 1, 3 and 4 of a request to decrypt; of one to encrypt, field 1. */
function read(bytes: Buffer): { data: Buffer; keyId: string; annotations: Map<string, Uint8Array> } {
  const reader = new ProtoReader(bytes)
  const annotations = new Map<string, Uint8Array>()
  let data: Buffer = Buffer.alloc(0)
  let keyId = ''
  while (reader.next()) {
    if (reader.field === 1) data = reader.bytes()
    else if (reader.field === 3) keyId = reader.text()
    else if (reader.field === 4) annotations.set(...readAnnotation(reader.message()))
    else reader.skip()
  }
  return { data, keyId, annotations }
}
