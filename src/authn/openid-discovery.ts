/**
 * What others need to verify our service-account tokens: the discovery document and the public keys.
 * @see k8s.io/kubernetes/pkg/serviceaccount/openidmetadata.go v1.36
 */
import type { ServiceAccountKey } from './service-account-key.ts'

export const discoveryPath = '/.well-known/openid-configuration'
export const keySetPath = '/openid/v1/jwks'
/** Of the key set; the discovery document is plain JSON. */
export const keySetContentType = 'application/jwk-set+json'

/** `jwksUri` is the full address of `keySetPath`. */
export const discoveryDocument = (issuer: string, jwksUri: string): Record<string, unknown> => ({
  issuer,
  jwks_uri: jwksUri,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})

export const keySet = (keys: readonly ServiceAccountKey[]): { readonly keys: readonly Record<string, unknown>[] } => ({
  keys: keys.map(({ kid, publicKey }) => ({ use: 'sig', kid, alg: 'ES256', ...publicKey.export({ format: 'jwk' }) })),
})
