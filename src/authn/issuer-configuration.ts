/** `jwt[*].issuer` of an AuthenticationConfiguration. */

import { append } from '../base/append.ts'
import { trimEndingSlashes } from '../base/trim-slashes.ts'
import { parseGoUrl } from '../kube/go-url.ts'
import type { ObjectReader } from '../kube/object-reader.ts'
import { duplicateFault, invalidFault, requiredFault } from '../kube/value-faults.ts'
import { authoritiesIn } from './certificates.ts'

export interface IssuerSettings {
  readonly url: string
  readonly discoveryUrl?: string
  readonly audiences: readonly string[]
  /** PEM. */
  readonly ca?: string
}

export function readIssuer(reader: ObjectReader, ownIssuer: string, errors: string[]): IssuerSettings {
  const url = reader.text('url')
  const discoveryUrl = reader.text('discoveryURL')
  const ca = reader.text('certificateAuthority')
  const audiences = reader.texts('audiences')
  const policy = reader.text('audienceMatchPolicy')
  const egress = reader.text('egressSelectorType')
  reader.end()
  const field = (name: string): string => `${reader.at}.${name}`
  append(errors, url === '' ? [requiredFault(field('url'))] : urlErrors(url, field('url'), ownIssuer))
  if (discoveryUrl !== '') {
    if (trimEndingSlashes(url) === trimEndingSlashes(discoveryUrl)) {
      errors.push(invalidFault(field('discoveryURL'), discoveryUrl, 'discoveryURL must be different from URL'))
    }
    append(errors, urlErrors(discoveryUrl, field('discoveryURL')))
  }
  append(errors, audienceErrors(audiences, policy, reader.at))
  if (ca !== '' && !holdsAuthorities(ca)) {
    const problem = 'data does not contain any valid RSA or ECDSA certificates'
    errors.push(invalidFault(field('certificateAuthority'), '<omitted>', problem))
  }
  if (egress !== '') {
    const problem =
      'egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is ' +
      'disabled'
    errors.push(invalidFault(field('egressSelectorType'), egress, problem))
  }
  return { url, audiences, ...(discoveryUrl === '' ? {} : { discoveryUrl }), ...(ca === '' ? {} : { ca }) }
}

function urlErrors(text: string, field: string, disallowed?: string): readonly string[] {
  const problems: string[] = []
  if (text === disallowed) problems.push(`URL must not overlap with disallowed issuers: [${disallowed}]`)
  const { url, problem } = { url: undefined, problem: undefined, ...parseGoUrl(text) }
  if (url === undefined) {
    problems.push(problem ?? '')
  } else {
    if (url.scheme !== 'https') problems.push('URL scheme must be https')
    if (url.user !== undefined) problems.push('URL must not contain a username or password')
    if (url.query !== '') problems.push('URL must not contain a query')
    if (url.fragment !== '') problems.push('URL must not contain a fragment')
  }
  return problems.map((why) => invalidFault(field, text, why))
}

function audienceErrors(audiences: readonly string[], policy: string, at: string): readonly string[] {
  const field = `${at}.audiences`
  if (audiences.length === 0) return [requiredFault(field, `at least one ${field} is required`)]
  const errors = audiences.flatMap((audience, i) => [
    ...(audience === '' ? [requiredFault(`${field}[${i}]`)] : []),
    ...(audiences.indexOf(audience) < i ? [duplicateFault(`${field}[${i}]`, audience)] : []),
  ])
  const isMatchAny = policy === 'MatchAny'
  const inPolicy = `${at}.audienceMatchPolicy`
  if (audiences.length > 1 && !isMatchAny) {
    errors.push(invalidFault(inPolicy, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences'))
  } else if (audiences.length === 1 && policy !== '' && !isMatchAny) {
    errors.push(invalidFault(inPolicy, policy, 'audienceMatchPolicy must be empty or MatchAny for single audience'))
  }
  return errors
}

function holdsAuthorities(pem: string): boolean {
  try {
    return authoritiesIn(pem).length > 0
  } catch {
    // What OpenSSL says of bytes that are no certificate helps no operator.
    return false
  }
}
