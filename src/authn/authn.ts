/**
 * Who is asking: an ordered chain; the first authenticator that recognises its kind of credential decides.
 */
import type { UserInfo } from '../kube/user.ts'

export interface Credentials {
  readonly clientCertificate?: Uint8Array
  /** Without the `Bearer ` prefix. */
  readonly bearerToken?: string
}

export interface Authenticator {
  readonly name: string
  /** undefined = not my kind of credential. @throws StatusError Unauthorized = mine, and bad. */
  authenticate(credentials: Credentials): Promise<UserInfo | undefined>
}
