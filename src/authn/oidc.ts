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
import type { JSONWebKeySet, JWTPayload } from 'jose'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Clock } from '../base/clock.ts'
import { StatusError, unauthorized } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'
import { issuerOf } from './token-issuer.ts'

export const oidcAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const
export type OidcAlgorithm = (typeof oidcAlgorithms)[number]

/** As kube-apiserver's `--oidc-…` flags. */
export interface OidcIssuer {
  /** `https://…`, exactly as in the tokens. */
  readonly issuerUrl: string
  /** Must be among the audiences of a token. */
  readonly clientId: string
  readonly usernameClaim: string
  /** Absent: `<issuerUrl>#`, but nothing in front of an email. */
  readonly usernamePrefix?: string
  /** Absent = no user is in a group. */
  readonly groupsClaim?: string
  readonly groupsPrefix: string
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly algorithms: readonly OidcAlgorithm[]
}

export interface OidcDeps {
  readonly clock: Clock
  /** GET of a JSON document of the issuer. Bounded in size and time. */
  readonly getJson: (url: string) => Promise<unknown>
  /** The issuer could not be asked: its tokens are refused meanwhile. */
  readonly onFault: (error: Error) => void
}

interface Verified {
  readonly user: UserInfo
  readonly notAfterMs: number
}

const refetchMs = 10_000
const cacheSize = 8192

export class OidcAuthenticator implements Authenticator {
  readonly name = 'oidc'
  readonly #issuer: OidcIssuer
  readonly #deps: OidcDeps
  readonly #verified = new BoundedCache<string, Verified>(cacheSize)
  #keys: Promise<JSONWebKeySet> | undefined
  #fetchedAtMs = Number.NEGATIVE_INFINITY

  constructor(issuer: OidcIssuer, deps: OidcDeps) {
    this.#issuer = issuer
    this.#deps = deps
  }

  async authenticate({ bearerToken: token, audiences }: Credentials): Promise<UserInfo | undefined> {
    // Who asks for audiences asks about tokens of this server; an ID token is for its client.
    if (token === undefined || audiences !== undefined) return undefined
    const digest = hash('sha256', token, 'base64')
    let verified = this.#verified.get(digest)
    if (!verified) {
      if (issuerOf(token) !== this.#issuer.issuerUrl) return undefined
      verified = await this.#verify(token)
      this.#verified.set(digest, verified)
    }
    if (this.#deps.clock.now() >= verified.notAfterMs) throw unauthorized()
    return verified.user
  }

  async #verify(token: string): Promise<Verified> {
    const { errors } = await import('jose')
    try {
      const payload = await this.#checked(token)
      return { user: this.#userOf(payload), notAfterMs: (payload.exp ?? 0) * 1000 }
    } catch (error) {
      if (error instanceof StatusError) throw error
      if (!(error instanceof errors.JOSEError))
        this.#deps.onFault(error instanceof Error ? error : new Error('unknown'))
      throw new StatusError('Unauthorized', { reason: 'Unauthorized', cause: error })
    }
  }

  async #checked(token: string): Promise<JWTPayload> {
    const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
    const { issuerUrl, clientId, algorithms } = this.#issuer
    const check = async (keys: JSONWebKeySet): Promise<JWTPayload> => {
      const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
        issuer: issuerUrl,
        audience: clientId,
        algorithms: [...algorithms],
        requiredClaims: ['exp'],
        currentDate: new Date(this.#deps.clock.now()),
      })
      return payload
    }
    const known = this.#keys
    if (known) {
      try {
        return await check(await known)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayFetch()) throw error
      }
    }
    return check(await this.#fetchKeys())
  }

  #mayFetch(): boolean {
    return this.#deps.clock.monotonic() - this.#fetchedAtMs >= refetchMs
  }

  /** What is under way is shared; what failed is tried again, but not by every stranger. */
  #fetchKeys(): Promise<JSONWebKeySet> {
    if (!this.#mayFetch()) return this.#keys ?? Promise.reject(unauthorized())
    this.#fetchedAtMs = this.#deps.clock.monotonic()
    const before = this.#keys
    const fetching = this.#ask().catch((error: unknown) => {
      this.#keys = before
      throw error
    })
    this.#keys = fetching
    return fetching
  }

  async #ask(): Promise<JSONWebKeySet> {
    const { issuerUrl } = this.#issuer
    const document = await this.#deps.getJson(`${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const { issuer, jwks_uri: keysUrl } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown }
    if (issuer !== issuerUrl) throw new Error(`${issuerUrl} calls itself ${JSON.stringify(issuer)}`)
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) {
      throw new Error(`${issuerUrl} does not say where its keys are`)
    }
    const keys = await this.#deps.getJson(keysUrl)
    if (!Array.isArray((keys as { keys?: unknown } | undefined)?.keys)) throw new Error(`${keysUrl} is no set of keys`)
    return keys as JSONWebKeySet
  }

  /**
   * Half a surrogate pair, which JSON can spell and UTF-8 can't, becomes U+FFFD at once, as in Go: else two users would
   * become one when their names are stored.
   * @throws StatusError Unauthorized for claims that are missing or of the wrong form
   */
  #userOf(payload: JWTPayload): UserInfo {
    const { issuerUrl, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, requiredClaims } = this.#issuer
    for (const [claim, value] of requiredClaims) if (payload[claim] !== value) throw unauthorized()
    const name = payload[usernameClaim]
    if (typeof name !== 'string' || name === '') throw unauthorized()
    const isEmail = usernameClaim === 'email'
    if (isEmail && payload['email_verified'] !== undefined && payload['email_verified'] !== true) throw unauthorized()
    const username = `${usernamePrefix ?? (isEmail ? '' : `${issuerUrl}#`)}${name}`.toWellFormed()
    if (username.startsWith(reserved)) throw unauthorized()
    const claimed = groupsClaim === undefined ? [] : textsOf(payload[groupsClaim])
    const groups = claimed
      .map((group) => `${groupsPrefix}${group}`.toWellFormed())
      .filter((group) => !group.startsWith(reserved))
    const id = payload.jti === undefined ? {} : { extra: { [credentialId]: [`JTI=${payload.jti}`] } }
    return { username, groups, ...id }
  }
}

/** Names of the cluster's own: no issuer may give them (upstream lets it). */
const reserved = 'system:'
const credentialId = 'authentication.kubernetes.io/credential-id'

/** One text stands for a list of one. */
function textsOf(claim: unknown): readonly string[] {
  if (claim === undefined) return []
  const texts = Array.isArray(claim) ? (claim as unknown[]) : [claim]
  if (!texts.every((t) => typeof t === 'string')) throw unauthorized()
  return texts
}
