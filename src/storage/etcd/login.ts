/**
 * A user of etcd: the token that stands for name and password, asked for when it is first needed and again when etcd
 * takes it no more. Tokens end when they have not been used for a while, with a member that is started anew, and when
 * an administrator changes users or roles.
 */
import { isTokenRefused, saysAuthIsOff } from './errors.ts'

export interface EtcdUser {
  readonly name: string
  /** Asked for at each login: it may change while we run. */
  readonly password: () => Promise<string>
}

/** Asks etcd for a token. */
type Authenticate = (name: string, password: string) => Promise<string>

export class Login {
  readonly #user: EtcdUser
  #token: Promise<string | undefined> | undefined

  constructor(user: EtcdUser) {
    this.#user = user
  }

  /** Undefined where etcd knows no users yet. Callers that wait at the same time share one login. */
  token(authenticate: Authenticate): Promise<string | undefined> {
    this.#token ??= this.#ask(authenticate)
    return this.#token
  }

  /**
   * True if the error says that this token is good no more, and that nothing was done: to be sent again with another.
   */
  refused(error: unknown): boolean {
    if (!isTokenRefused(error)) return false
    this.forget()
    return true
  }

  forget(): void {
    this.#token = undefined
  }

  async #ask(authenticate: Authenticate): Promise<string | undefined> {
    try {
      return await authenticate(this.#user.name, await this.#user.password())
    } catch (error) {
      this.forget()
      if (saysAuthIsOff(error)) return undefined
      throw error
    }
  }
}
