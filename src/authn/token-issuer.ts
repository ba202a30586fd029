/** Of the tokens that this server signs for service accounts. */
import { parseJsonText } from '../base/parse-json-text.ts'
export const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local'

/** What a token claims to be issued by, unverified: only to tell whose kind it is. */
export function issuerOf(token: string): unknown {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    const payload: unknown = parseJsonText(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'))
    return typeof payload === 'object' && payload !== null && 'iss' in payload ? payload.iss : undefined
  } catch {
    // Not JSON, so not a JWT: another authenticator's kind, or unknown.
    return undefined
  }
}
