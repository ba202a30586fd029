/**
 * Who is asking: an ordered chain; the first authenticator that recognises its kind of credential decides.
 */
import type { UserInfo } from '../kube/user.ts'
import type { HeaderSource } from './header-text.ts'

export interface Credentials {
  /** DER of the leaf; the adapter has checked its chain and dates. */
  readonly clientCertificate?: Uint8Array
  /** A certificate was presented, and the adapter refused its chain or dates: so not an anonymous request. */
  readonly clientCertificateRejected?: boolean
  /** Without the `Bearer ` prefix. */
  readonly bearerToken?: string
  /** Whom the token must be meant for; absent = this server. */
  readonly audiences?: readonly string[]
  /** Whose turn it is where looking at a token takes long: the address; absent where the request was let in before. */
  readonly from?: string
  /** What the request is for; absent where a token alone is looked at. */
  readonly path?: string
  /** For a proxy that names the user in them; only with a certificate. */
  readonly headers?: HeaderSource
}

export interface Authenticator {
  /** undefined = not my kind of credential. @throws StatusError Unauthorized = mine, and bad. */
  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined>
}
