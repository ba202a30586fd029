/** HTTP/2 by hand: frames that no client library would send. */

export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const types = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const endStream = 1
export const endHeaders = 4

export function frame(type: keyof typeof types, flags: number, stream: number, payload: Uint8Array = noBytes): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = types[type]
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const noBytes = new Uint8Array(0)

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const authority = Buffer.from([0x41, 1, 0x78])
/** `:method: GET`, `:scheme: https`, and the path. */
export const get = (path: string): Buffer => request(0x82, path)
export const post = (path: string): Buffer => request(0x83, path)

function request(method: number, path: string): Buffer {
  const named = Buffer.concat([Buffer.from([0x44, path.length]), Buffer.from(path)])
  return Buffer.concat([Buffer.from([method, 0x87]), named, authority])
}

export interface Frame {
  readonly type: number
  readonly stream: number
  readonly payload: Buffer
}

/** Whole frames in what has come. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3)
    if (at + 9 + length > bytes.length) break
    frames.push({
      type: bytes[at + 3] ?? 0,
      stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
      payload: bytes.subarray(at + 9, at + 9 + length),
    })
    at += 9 + length
  }
  return frames
}
