/**
 * Long answers in gzip for those who take it. Not streams: a watch must not wait for a block to fill. The fastest
 * level, on another thread; an answer whose bytes are kept (a document) is compressed once.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/writers.go v0.36
 */
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { andThen } from '../../base/eventual.ts'
import { type ApiBody, type ApiResponse, isStream, type Stage } from '../api.ts'

/** Above that, as upstream: in a fast network less is not worth the work. */
export const compressedFromBytes: number = 128 * 1024

const compress = promisify(gzip)
const options = { level: constants.Z_BEST_SPEED }

export function compressAnswers(): Stage {
  const kept = new WeakMap<Uint8Array, Promise<Uint8Array>>()
  const compressed = (body: Uint8Array): Promise<Uint8Array> => {
    let made = kept.get(body)
    if (made === undefined) {
      made = compress(body, options)
      kept.set(body, made)
    }
    return made
  }
  const isKept = (body: Uint8Array | readonly Uint8Array[]): boolean => body instanceof Uint8Array && kept.has(body)
  return (next) => (request, context) =>
    andThen(next(request, context), (response) => {
      const { status, body, headers } = response
      if (
        !isLong(body) ||
        headers['content-encoding'] !== undefined ||
        !takesGzip(request.headers['accept-encoding']) ||
        !(isKept(body) || (request.account?.tryCharge(costOf(body)) ?? true))
      ) {
        return response
      }
      return compressed(body instanceof Uint8Array ? body : Buffer.concat(body)).then(
        (bytes): ApiResponse => ({
          status,
          headers: { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
          body: bytes,
        }),
      )
    })
}

function isLong(body: ApiBody): body is Uint8Array | readonly Uint8Array[] {
  return !isStream(body) && sizeOf(body) > compressedFromBytes
}

const sizeOf = (body: Uint8Array | readonly Uint8Array[]): number =>
  body instanceof Uint8Array ? body.length : body.reduce((size, chunk) => size + chunk.length, 0)

/** Memory beside the answer: the compressed bytes, and joined pieces. Where none is left, it is sent as it is. */
const costOf = (body: Uint8Array | readonly Uint8Array[]): number =>
  body instanceof Uint8Array ? body.length / 2 : sizeOf(body) * 1.5

/** Upstream looks for the bare word: `gzip;q=0` and `gzip;q=1` both are no request for it. */
const takesGzip = (accepted: string | undefined): boolean =>
  accepted?.split(',').some((token) => token.trim() === 'gzip') ?? false
