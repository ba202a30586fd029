/**
 * ID tokens of an OpenID Connect issuer: who a user is there, and in which groups.
 *
 * The issuer's keys are fetched when they are first needed and kept; a token signed with an unknown key makes them be
 * fetched again, at most once in `refetchMs`, so that keys can be rotated and strangers can't make us ask. Signatures
 * are verified once per token and remembered; its time is looked at with every request.
 *
 * @see k8s.io/apiserver/plugin/pkg/authenticator/token/oidc/oidc.go v0.36
 */
import { hash } from 'node:crypto'
import type { JWTPayload, JWTVerifyOptions } from 'jose'
import type { Clock } from '../base/clock.ts'
import { SizedCache } from '../base/sized-cache.ts'
import { StatusError, unauthorized } from '../kube/status-error.ts'
import type { JsonObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'
import { type ClaimMappings, ClaimsError, userOfClaims } from './claim-mapping.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { issuerOf } from './token-issuer.ts'
import { VerificationTurns } from './verification-turns.ts'

export const oidcAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const
export type OidcAlgorithm = (typeof oidcAlgorithms)[number]

export interface JwtIssuer {
  /** `https://…`, exactly as in the tokens. */
  readonly url: string
  /** Where it says where its keys are, if not below its URL. */
  readonly discoveryUrl?: string
  /** One of them must be among the audiences of a token. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly OidcAlgorithm[]
  readonly mappings: ClaimMappings
}

export interface OidcDeps {
  readonly clock: Clock
  /** GET of a JSON document of the issuer. Bounded in size and time. */
  readonly getJson: (url: string) => Promise<unknown>
  /** The issuer could not be asked: its tokens are refused meanwhile. */
  readonly onFault: (error: Error) => void
  /** The claims of a verified token name no user that may come in. Told once for each token. */
  readonly onRefused: (error: ClaimsError) => void
}

interface Verified {
  /** Absent = its claims name no user that may come in. */
  readonly user: UserInfo | undefined
  readonly notAfterMs: number
}

const refetchMs = 10_000
/** How far an issuer's clock may be ahead, as go-oidc has it. The end of a token is judged without it. */
const leewaySeconds = 300
/** Of all tokens that are remembered. */
const rememberedLength = 16 * 1024 * 1024

export class OidcAuthenticator implements Authenticator {
  readonly #issuer: JwtIssuer
  readonly #deps: OidcDeps
  readonly #verified = new SizedCache<Verified>(rememberedLength)
  readonly #turns = new VerificationTurns()
  #keys: IssuerKeys | undefined
  #fetching: Promise<IssuerKeys> | undefined
  #fetchedAtMs = Number.NEGATIVE_INFINITY

  constructor(issuer: JwtIssuer, deps: OidcDeps) {
    this.#issuer = issuer
    this.#deps = deps
  }

  async authenticate({ bearerToken: token, audiences, from }: Credentials): Promise<UserInfo | undefined> {
    // Who asks for audiences asks about tokens of this server; an ID token is for its client.
    if (token === undefined || audiences !== undefined) return undefined
    const digest = hash('sha256', token, 'base64')
    let verified = this.#verified.get(digest)
    if (!verified) {
      if (issuerOf(token) !== this.#issuer.url) return undefined
      verified = await this.#verify(token, from)
      this.#verified.set(digest, verified, token.length)
    }
    if (this.#deps.clock.now() >= verified.notAfterMs || verified.user === undefined) throw unauthorized()
    return verified.user
  }

  async #verify(token: string, from: string | undefined): Promise<Verified> {
    const { errors } = await import('jose')
    let payload: JWTPayload
    try {
      payload = await this.#checked(token, from)
    } catch (error) {
      if (error instanceof StatusError) throw error
      if (!(error instanceof errors.JOSEError))
        this.#deps.onFault(error instanceof Error ? error : new Error('unknown'))
      throw new StatusError('Unauthorized', { reason: 'Unauthorized', cause: error })
    }
    return { user: this.#userOf(payload), notAfterMs: (payload.exp ?? 0) * 1000 }
  }

  async #checked(token: string, from: string | undefined): Promise<JWTPayload> {
    const { errors } = await import('jose')
    const known = this.#keys
    if (known) {
      try {
        return await this.#checkedWith(known, token, from)
      } catch (error) {
        // A key may have been replaced under its name.
        const { JWKSNoMatchingKey, JWSSignatureVerificationFailed } = errors
        if (!(error instanceof JWKSNoMatchingKey || error instanceof JWSSignatureVerificationFailed)) throw error
      }
    }
    return this.#checkedWith(await this.#fetchKeys(), token, from)
  }

  #checkedWith(keys: IssuerKeys, token: string, from: string | undefined): Promise<JWTPayload> {
    const { url, audiences, algorithms } = this.#issuer
    const options: JWTVerifyOptions = {
      issuer: url,
      audience: [...audiences],
      algorithms: [...algorithms],
      requiredClaims: ['exp'],
      clockTolerance: leewaySeconds,
      currentDate: new Date(this.#deps.clock.now()),
    }
    return this.#turns.run(from, () => keys.verify(token, options))
  }

  #mayFetch(): boolean {
    return this.#deps.clock.monotonic() - this.#fetchedAtMs >= refetchMs
  }

  /**
   * What is under way is shared; what failed is tried again, but not by every stranger. Tokens that known keys verify
   * wait for none of it.
   */
  #fetchKeys(): Promise<IssuerKeys> {
    if (this.#fetching !== undefined) return this.#fetching
    if (!this.#mayFetch()) return Promise.reject(unauthorized())
    this.#fetchedAtMs = this.#deps.clock.monotonic()
    this.#fetching = this.#ask()
      .then((keys) => {
        this.#keys = keys
        return keys
      })
      .catch((error: unknown) => {
        // Once for all who wait: strangers could fill the log.
        this.#deps.onFault(error instanceof Error ? error : new Error('unknown'))
        throw new StatusError('Unauthorized', { reason: 'Unauthorized', cause: error })
      })
      .finally(() => {
        this.#fetching = undefined
      })
    return this.#fetching
  }

  async #ask(): Promise<IssuerKeys> {
    const { url, discoveryUrl = `${url.replace(/\/$/, '')}/.well-known/openid-configuration` } = this.#issuer
    const document = await this.#deps.getJson(discoveryUrl)
    const { issuer, jwks_uri: keysUrl } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown }
    if (issuer !== url) throw new Error(`${url} calls itself ${JSON.stringify(issuer)}`)
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) {
      throw new Error(`${url} does not say where its keys are`)
    }
    return IssuerKeys.read(await this.#deps.getJson(keysUrl), keysUrl)
  }

  #userOf(payload: JWTPayload): UserInfo | undefined {
    try {
      return userOfClaims(payload as JsonObject, this.#issuer.mappings)
    } catch (error) {
      if (!(error instanceof ClaimsError)) throw error
      this.#deps.onRefused(error)
      return undefined
    }
  }
}
