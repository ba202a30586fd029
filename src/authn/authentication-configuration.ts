/**
 * kube-apiserver's `AuthenticationConfiguration` (apiserver.config.k8s.io/v1 and v1beta1), read strictly and checked as
 * upstream does: same rules, same words.
 * @see k8s.io/apiserver/pkg/apis/apiserver/validation/validation.go v0.36 (ValidateAuthenticationConfiguration)
 */
import { append } from '../base/append.ts'
import { parseConfiguration } from '../kube/configuration-text.ts'
import { ObjectReader } from '../kube/object-reader.ts'
import { duplicateFault, invalidFault } from '../kube/value-faults.ts'
import { readClaimMappings } from './claim-mapping-configuration.ts'
import { readIssuer } from './issuer-configuration.ts'
import { type JwtIssuer, oidcAlgorithms } from './oidc.ts'

/** The message is one line for the operator. */
export class AuthenticationConfigurationError extends Error {
  override readonly name = 'AuthenticationConfigurationError'
}

export interface ConfiguredIssuer extends JwtIssuer {
  /** PEM; absent = the authorities that Node trusts. */
  readonly ca?: string
}

export interface AnonymousConfiguration {
  readonly enabled: boolean
  /** The only paths that may be asked for without credentials; empty = all. */
  readonly paths: readonly string[]
}

export interface AuthenticationConfiguration {
  readonly issuers: readonly ConfiguredIssuer[]
  /** Absent = as the flags say. */
  readonly anonymous?: AnonymousConfiguration
}

const versions = ['v1', 'v1beta1'].map((version) => `apiserver.config.k8s.io/${version}`)
const maxIssuers = 64

/** `ownIssuer`: of the server's own tokens. @throws AuthenticationConfigurationError */
export function parseAuthenticationConfiguration(text: string, ownIssuer: string): AuthenticationConfiguration {
  const reader = new ObjectReader(
    parseConfiguration(text, AuthenticationConfigurationError),
    '',
    AuthenticationConfigurationError,
  )
  if (!versions.includes(reader.text('apiVersion')) || reader.text('kind') !== 'AuthenticationConfiguration') {
    throw new AuthenticationConfigurationError(`it is no AuthenticationConfiguration of ${versions.join(' or ')}`)
  }
  const authenticators = reader.objects('jwt')
  const anonymous = reader.has('anonymous') ? reader.nested('anonymous') : undefined
  reader.end()
  const errors: string[] = []
  if (authenticators.length > maxIssuers) {
    throw refusal([`jwt: Too many: ${authenticators.length}: must have at most ${maxIssuers} items`])
  }
  const issuers = authenticators.map((jwt) => readAuthenticator(jwt, ownIssuer, errors))
  append(
    errors,
    repeated(issuers, 'url', ({ url }) => url),
  )
  append(
    errors,
    repeated(issuers, 'discoveryURL', ({ discoveryUrl }) => discoveryUrl),
  )
  const configuration = {
    issuers,
    ...(anonymous === undefined ? {} : { anonymous: readAnonymous(anonymous, errors) }),
  }
  if (errors.length > 0) throw refusal(errors)
  return configuration
}

/** As Go prints several errors, but in one line: without the line of an expression that a problem points at. */
function refusal(errors: readonly string[]): AuthenticationConfigurationError {
  const texts = [...new Set(errors.map((error) => error.replaceAll(/\n \|.*/g, '').replaceAll('\n', ', ')))]
  return new AuthenticationConfigurationError(texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`)
}

function readAuthenticator(jwt: ObjectReader, ownIssuer: string, errors: string[]): ConfiguredIssuer {
  const issuer = readIssuer(jwt.nested('issuer'), ownIssuer, errors)
  const mappings = readClaimMappings(jwt, errors)
  jwt.end()
  return { ...issuer, algorithms: oidcAlgorithms, mappings }
}

function repeated(
  issuers: readonly ConfiguredIssuer[],
  field: string,
  of: (issuer: ConfiguredIssuer) => string | undefined,
): readonly string[] {
  const seen = new Set<string>()
  return issuers.flatMap((issuer, i) => {
    const url = of(issuer)
    if (url === undefined) return []
    if (seen.has(url)) return [duplicateFault(`jwt[${i}].issuer.${field}`, url)]
    seen.add(url)
    return []
  })
}

function readAnonymous(reader: ObjectReader, errors: string[]): AnonymousConfiguration {
  const enabled = reader.boolean('enabled')
  const paths = reader.objects('conditions').map((condition) => {
    const path = condition.text('path')
    condition.end()
    return path
  })
  reader.end()
  if (!enabled && paths.length > 0) {
    const conditions = paths.map((path) => ({ path }))
    errors.push(
      invalidFault('anonymous.conditions', conditions, 'enabled should be set to true when conditions are defined'),
    )
  }
  return { enabled, paths }
}
