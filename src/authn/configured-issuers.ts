/**
 * ID tokens of the issuers of an AuthenticationConfiguration. A token is put to its own issuer alone, so the slowness
 * of one concerns no token of another. The file is read again when it has changed; a file that can't be read or used
 * changes nothing, and is told once.
 */
import { readBoundedFile } from '../base/bounded-file.ts'
import { ChangingFile, UnreadableFileError } from '../base/changing-file.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { UserInfo } from '../kube/user.ts'
import {
  type AuthenticationConfiguration,
  AuthenticationConfigurationError,
  type ConfiguredIssuer,
  parseAuthenticationConfiguration,
} from './authentication-configuration.ts'
import type { Authenticator, Credentials } from './authn.ts'
import { OidcAuthenticator, type OidcDeps } from './oidc.ts'
import { issuerOf } from './token-issuer.ts'

export interface ConfiguredIssuersOptions {
  readonly path: string
  readonly clock: Clock
  readonly log: Log
  /** What the flags say of requests without credentials; the file may say it where they say nothing against it. */
  readonly anonymous: boolean
  /** Of the server's own tokens: no other issuer may have it. */
  readonly ownIssuer: string
  readonly depsOf: (issuer: ConfiguredIssuer) => OidcDeps
}

/** How long a change of the file may go unnoticed. */
const checkEveryMs = 1000

export class ConfiguredIssuers implements Authenticator {
  readonly #options: ConfiguredIssuersOptions
  #authenticators: ReadonlyMap<string, OidcAuthenticator> = new Map()
  #anonymous: AuthenticationConfiguration['anonymous']
  readonly #file: ChangingFile<string>
  #checkedAtMs = 0
  #checking: Promise<void> | undefined

  private constructor(options: ConfiguredIssuersOptions) {
    this.#options = options
    this.#file = new ChangingFile(options.path, async (path) => (await readBoundedFile(path)).toString())
  }

  /** @throws AuthenticationConfigurationError for a file that can't be read or used */
  static async open(options: ConfiguredIssuersOptions): Promise<ConfiguredIssuers> {
    const issuers = new ConfiguredIssuers(options)
    await issuers.#read()
    return issuers
  }

  authenticate(credentials: Credentials): Promise<UserInfo | undefined> | undefined {
    const isDue = this.#options.clock.monotonic() - this.#checkedAtMs >= checkEveryMs
    if (isDue) this.#checking ??= this.#check()
    return credentials.bearerToken === undefined ? undefined : this.#ask(credentials, credentials.bearerToken)
  }

  /** As of the file that was read last: a request without credentials waits for none. */
  allowsAnonymous({ path }: Credentials): boolean {
    if (this.#anonymous === undefined) return this.#options.anonymous
    const { enabled, paths } = this.#anonymous
    return enabled && (paths.length === 0 || (path !== undefined && paths.includes(path)))
  }

  async #ask(credentials: Credentials, token: string): Promise<UserInfo | undefined> {
    await this.#checking
    const issuer = issuerOf(token)
    return typeof issuer === 'string' ? this.#authenticators.get(issuer)?.authenticate(credentials) : undefined
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    try {
      await this.#read()
    } catch (error) {
      const message = 'the authentication configuration could not be read again; what it said before still holds'
      this.#options.log.error({ error: error instanceof Error ? error.message : String(error) }, message)
    } finally {
      this.#checking = undefined
    }
  }

  async #read(): Promise<void> {
    const { path, clock, ownIssuer, anonymous } = this.#options
    this.#checkedAtMs = clock.monotonic()
    const text = await this.#readChanged()
    if (text === undefined) return
    let configuration: AuthenticationConfiguration
    try {
      configuration = parseAuthenticationConfiguration(text, ownIssuer)
    } catch (error) {
      if (!(error instanceof AuthenticationConfigurationError)) throw error
      const message = `the authentication configuration ${path} can't be used: ${error.message}`
      throw new AuthenticationConfigurationError(message, { cause: error })
    }
    if (configuration.anonymous !== undefined && !anonymous) {
      const message = `--no-anonymous-auth can't be set while ${path} has the field anonymous`
      throw new AuthenticationConfigurationError(message)
    }
    this.#anonymous = configuration.anonymous
    this.#authenticators = new Map(
      configuration.issuers.map((issuer) => [issuer.url, new OidcAuthenticator(issuer, this.#options.depsOf(issuer))]),
    )
  }

  async #readChanged(): Promise<string | undefined> {
    try {
      return await this.#file.readChanged()
    } catch (cause) {
      if (!(cause instanceof UnreadableFileError)) throw cause
      const message = `can't read the authentication configuration ${this.#options.path} (${cause.code})`
      throw new AuthenticationConfigurationError(message, { cause })
    }
  }
}
