/**
 * The keys of an issuer of ID tokens. Tokens are tried before their sender is known, so what one costs is bounded: by
 * the number of keys in a set, and by the number of those that are tried where a token does not say which it is.
 */
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'

/** Issuers publish a few: the one in use, the one before, and the next. */
const maxKeys = 256
/** One after the other, each on a thread of the pool: 16 take some two milliseconds. */
const maxTriedKeys = 16

export class IssuerKeys {
  readonly #find: JWTVerifyGetKey

  private constructor(find: JWTVerifyGetKey) {
    this.#find = find
  }

  /** `where` they were found is for errors. @throws Error for what is no set of keys, or a larger one than is taken */
  static async read(document: unknown, where: string): Promise<IssuerKeys> {
    if (!isKeySet(document)) throw new Error(`${where} is no set of keys`)
    const { length } = document.keys
    if (length > maxKeys) throw new Error(`${where} has ${length} keys, and ${maxKeys} are taken at most`)
    const { createLocalJWKSet } = await import('jose')
    return new IssuerKeys(createLocalJWKSet(document))
  }

  /** The claims of a token that one of the keys signed. @throws JOSEError */
  async verify(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const { errors, jwtVerify } = await import('jose')
    try {
      return (await jwtVerify(token, this.#find, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
      // It does not say which key: any of them will do.
      let tried = 0
      for await (const key of error) {
        if (tried++ === maxTriedKeys) break
        try {
          return (await jwtVerify(token, key, options)).payload
        } catch (failure) {
          if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
        }
      }
      throw new errors.JWSSignatureVerificationFailed()
    }
  }
}

/** Of what a key holds each is judged by itself. */
function isKeySet(document: unknown): document is JSONWebKeySet {
  const keys: unknown = (document as { readonly keys?: unknown } | null | undefined)?.keys
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null && !Array.isArray(key))
}
