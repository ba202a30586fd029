/**
 * Service-account tokens: JWTs that this server signs (TokenRequest) and verifies. A token is good as long as its
 * signature, time and audience are, and its ServiceAccount, and the object it is bound to, exist with the same uid.
 *
 * Signatures are verified once per token and remembered; existence is looked up at every request, so a deleted account
 * is out at once.
 *
 * @see k8s.io/kubernetes/pkg/serviceaccount/{jwt,claims}.go v1.36
 */
import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import { SizedCache } from '../base/sized-cache.ts'
import { StatusError, unauthorized } from '../kube/status-error.ts'
import { formatTime } from '../kube/time.ts'
import { serviceAccountUser, type UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'
import type { ServiceAccountKey } from './service-account-key.ts'
import { issuerOf } from './token-issuer.ts'
import type {
  BoundResource,
  IssuedToken,
  ObjectIdentity,
  TokenGrant,
  TokenIssuer,
  TokenObjectLookup,
} from './tokens.ts'
import { VerificationTurns } from './verification-turns.ts'

export interface ServiceAccountTokensOptions {
  /** `https://kubernetes.default.svc.cluster.local` */
  readonly issuer: string
  /** This server's own; the first stands for it. */
  readonly audiences: readonly string[]
  /** As they are now; the one that signs comes first. */
  readonly keys: () => readonly ServiceAccountKey[]
  readonly clock: Clock
  readonly ids: Ids
  readonly find: TokenObjectLookup
  /** Of all tokens whose signatures are remembered: who asks for one chooses its audiences, and so its length. */
  readonly rememberedLength?: number
}

interface KubernetesClaims {
  readonly namespace: string
  readonly serviceaccount: ObjectIdentity
  readonly pod?: ObjectIdentity
  readonly secret?: ObjectIdentity
  readonly node?: ObjectIdentity
}

interface Verified {
  readonly notAfterMs: number
  readonly audiences: readonly string[]
  readonly claims: KubernetesClaims
  readonly id: string | undefined
  /** Of the key that signed it. */
  readonly kid: string
}

/** Clocks of replicas differ; also how long an object that is being deleted still counts. */
const leewaySeconds = 60
const claimsKey = 'kubernetes.io'
const extraPrefix = 'authentication.kubernetes.io/'
const claimOf = { pods: 'pod', secrets: 'secret', nodes: 'node' } as const

export class ServiceAccountTokens implements Authenticator, TokenIssuer {
  readonly #options: ServiceAccountTokensOptions
  readonly #verified: SizedCache<Verified>
  readonly #turns = new VerificationTurns()

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options
    this.#verified = new SizedCache(options.rememberedLength ?? 16 * 1024 * 1024)
  }

  async issue(grant: TokenGrant): Promise<IssuedToken> {
    const { issuer, clock, ids, keys } = this.#options
    const key = keys().find((k) => k.privateKey)
    if (!key?.privateKey) throw new Error('no service-account key can sign')
    const audiences = grant.audiences.length > 0 ? grant.audiences : this.#options.audiences
    const issuedAt = Math.floor(clock.now() / 1000)
    const expires = issuedAt + grant.expirationSeconds
    const { bound } = grant
    const claims: KubernetesClaims = {
      namespace: grant.namespace,
      ...(bound ? { [claimOf[bound.resource]]: { name: bound.name, uid: bound.uid } } : {}),
      ...(grant.node ? { node: grant.node } : {}),
      serviceaccount: grant.serviceAccount,
    }
    const { SignJWT } = await import('jose')
    const token = await new SignJWT({ [claimsKey]: claims })
      .setProtectedHeader({ alg: 'ES256', kid: key.kid })
      .setAudience([...audiences])
      .setExpirationTime(expires)
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setIssuer(issuer)
      .setSubject(serviceAccountUser(grant.namespace, grant.serviceAccount.name).username)
      .setJti(ids.uid())
      .sign(key.privateKey)
    return { token, audiences, expirationTimestamp: formatTime(expires * 1000) }
  }

  async authenticate(credentials: Credentials): Promise<UserInfo | undefined> {
    const token = credentials.bearerToken
    if (token === undefined) return undefined
    const digest = hash('sha256', token, 'base64')
    let verified = this.#verified.get(digest)
    if (!verified) {
      if (issuerOf(token) !== this.#options.issuer) return undefined
      const remembered = async (): Promise<Verified> => this.#verified.get(digest) ?? this.#verify(token)
      // A client's connections may all have waited with the same one.
      verified = await this.#turns.run(credentials.from, remembered)
      this.#verified.set(digest, verified, token.length)
    }
    const wanted = credentials.audiences ?? this.#options.audiences
    const inTime = this.#options.clock.now() < verified.notAfterMs && this.#find(verified.kid) !== undefined
    if (!inTime || !verified.audiences.some((audience) => wanted.includes(audience))) throw unauthorized()
    return this.#userOf(verified)
  }

  audiencesOf(token: string): readonly string[] | undefined {
    return this.#verified.get(hash('sha256', token, 'base64'))?.audiences
  }

  #find(kid: string | undefined): ServiceAccountKey | undefined {
    return this.#options.keys().find((key) => key.kid === kid)
  }

  async #verify(token: string): Promise<Verified> {
    const { errors, jwtVerify } = await import('jose')
    let payload: JWTPayload
    let kid = ''
    try {
      const result = await jwtVerify(
        token,
        (header) => {
          const key = this.#find(header.kid)
          if (!key) throw unauthorized()
          kid = key.kid
          return key.publicKey
        },
        {
          algorithms: ['ES256'],
          issuer: this.#options.issuer,
          requiredClaims: ['exp', 'sub', 'aud'],
          clockTolerance: leewaySeconds,
          currentDate: new Date(this.#options.clock.now()),
        },
      )
      payload = result.payload
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      throw new StatusError('Unauthorized', { reason: 'Unauthorized', cause: error })
    }
    const claims = payload[claimsKey]
    const { exp, sub, aud } = payload
    if (!isKubernetesClaims(claims) || exp === undefined || aud === undefined) throw unauthorized()
    if (sub !== serviceAccountUser(claims.namespace, claims.serviceaccount.name).username) throw unauthorized()
    return {
      notAfterMs: (exp + leewaySeconds) * 1000,
      audiences: typeof aud === 'string' ? [aud] : aud,
      claims,
      id: payload.jti,
      kid,
    }
  }

  #userOf({ claims, id }: Verified): UserInfo {
    const { namespace, serviceaccount, pod, secret, node } = claims
    this.#mustExist('serviceaccounts', namespace, serviceaccount)
    if (pod) this.#mustExist('pods', namespace, pod)
    if (secret) this.#mustExist('secrets', namespace, secret)
    // A pod's token names its node for information: the pod decides.
    if (node && !pod) this.#mustExist('nodes', '', node)
    const extra: Record<string, readonly string[]> = {}
    if (id !== undefined) extra[`${extraPrefix}credential-id`] = [`JTI=${id}`]
    if (pod) Object.assign(extra, { [`${extraPrefix}pod-name`]: [pod.name], [`${extraPrefix}pod-uid`]: [pod.uid] })
    if (node) Object.assign(extra, { [`${extraPrefix}node-name`]: [node.name], [`${extraPrefix}node-uid`]: [node.uid] })
    return { ...serviceAccountUser(namespace, serviceaccount.name, serviceaccount.uid), extra }
  }

  #mustExist(resource: 'serviceaccounts' | BoundResource, namespace: string, { name, uid }: ObjectIdentity): void {
    const metadata = this.#options.find(resource, namespace, name)?.metadata
    if (metadata?.uid !== uid) throw unauthorized()
    if (metadata.deletionTimestamp === undefined) return
    if (Date.parse(metadata.deletionTimestamp) < this.#options.clock.now() - leewaySeconds * 1000) throw unauthorized()
  }
}

function isKubernetesClaims(value: unknown): value is KubernetesClaims {
  if (typeof value !== 'object' || value === null) return false
  const claims = value as Record<string, unknown>
  return (
    typeof claims['namespace'] === 'string' &&
    isIdentity(claims['serviceaccount']) &&
    [claims['pod'], claims['secret'], claims['node']].every((c) => c === undefined || isIdentity(c))
  )
}

function isIdentity(value: unknown): value is ObjectIdentity {
  if (typeof value !== 'object' || value === null) return false
  const { name, uid } = value as Record<string, unknown>
  return typeof name === 'string' && typeof uid === 'string' && uid !== ''
}
