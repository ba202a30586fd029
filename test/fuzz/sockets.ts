/** A request as bytes of HTTP/1.1 or HTTP/2, mostly as a client sends it, and bytes that are neither. */
import { frame, preface, types, uint32 } from '../attacks/frames.ts'
import { Random } from './random.ts'
import type { FuzzRequest } from './requests.ts'
import { text } from './words.ts'

export interface Bytes {
  readonly protocol: 'http/1.1' | 'h2'
  /** base64 */
  readonly bytes: string
}

/** The request with number `i` of a seed, or something in its place. */
export function bytesOf(seed: number, i: number, request: FuzzRequest): Bytes {
  const random = new Random(seed, i, 1)
  if (random.chance(0.3)) return { protocol: 'h2', bytes: Buffer.concat(frames(random)).toString('base64') }
  return { protocol: 'http/1.1', bytes: damaged(random, head(random, request)).toString('base64') }
}

/** What a body comes in, in bytes: each piece costs the server more than what it brings. */
export const chunkBytes: readonly number[] = [1, 17, 1000]

function chunked(body: Buffer, size: number): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

function head(random: Random, { method, path, query, headers, body }: FuzzRequest): Buffer {
  const bytes = Buffer.from(body, 'base64')
  const lengths: readonly (readonly [string, string])[] = [
    ['content-length', String(bytes.length)],
    ['content-length', String(bytes.length + random.below(3) - 1)],
    ['content-length', random.pick(['-1', '+1', '1, 1', '0x1', '99999999999999999999', ''])],
    ['transfer-encoding', random.pick(['chunked', 'chunked, chunked', 'gzip, chunked', 'identity', 'x'])],
    ['expect', '100-continue'],
  ]
  const given = headers.map(([name, value]) => `${name}: ${value}`)
  const added = random.some(2, () => random.pick(lengths).join(': '))
  const target = `${path}${query === '' ? '' : `?${query}`}`
  const first = `${method} ${target} HTTP/${random.pick(['1.1', '1.1', '1.1', '1.0', '2.0', '9.9'])}`
  const size = random.chance(0.5) ? random.pick(chunkBytes) : undefined
  // Nothing else says how long it is, or the head is refused before the chunks are read.
  const framing = size === undefined ? [`content-length: ${bytes.length}`, ...added] : ['transfer-encoding: chunked']
  const lines = [first, 'host: localhost', 'connection: close', ...framing, ...given]
  const sent = size === undefined ? bytes : chunked(bytes, size)
  return Buffer.concat([Buffer.from(`${lines.join(random.chance(0.95) ? '\r\n' : '\n')}\r\n\r\n`), sent])
}

function damaged(random: Random, bytes: Buffer): Buffer {
  if (random.chance(0.6)) return bytes
  const copy = Buffer.from(bytes)
  for (let i = random.below(6); i > 0; i--) copy[random.below(copy.length)] = random.below(256)
  return random.chance(0.3) ? copy.subarray(0, random.below(copy.length)) : copy
}

function frames(random: Random): Buffer[] {
  const kinds = Object.keys(types) as (keyof typeof types)[]
  const payload = (): Buffer =>
    random.pick([
      Buffer.alloc(0),
      uint32(random.below(2 ** 31)),
      Buffer.from(text(random)),
      Buffer.from([0x82, 0x87, 0x84, 0x41, 1, 0x78]),
      Buffer.alloc(random.below(20_000), random.below(256)),
    ])
  const some = random.some(20, () =>
    frame(random.pick(kinds), random.below(256), random.pick([0, 1, 2, 3, 5, 2 ** 31 - 1]), payload()),
  )
  return [random.chance(0.9) ? preface : Buffer.alloc(0), frame('settings', 0, 0), ...some]
}
