/** A key that signs or verifies service-account tokens. Several may be valid at once, so that keys can be rotated. */
import { hash, type KeyObject } from 'node:crypto'

export interface ServiceAccountKey {
  /** base64url of the SHA-256 of the public key's DER. */
  readonly kid: string
  /** EC P-256. */
  readonly publicKey: KeyObject
  /** Absent on a retired key: its tokens stay valid, it signs no new ones. */
  readonly privateKey?: KeyObject
}

export function serviceAccountKey(publicKey: KeyObject, privateKey?: KeyObject): ServiceAccountKey {
  const kid = hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url')
  return { kid, publicKey, ...(privateKey ? { privateKey } : {}) }
}
