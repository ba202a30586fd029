/**
 * One way to encrypt values, with one key: what a value that it made begins with, and how to make and read one. The
 * forms are those of kube-apiserver's transformers. A value is bound to its key in the store: the key is authenticated
 * with it, so that one that was put under another key is not taken for sound.
 * @see k8s.io/apiserver/pkg/storage/value/encrypt v0.36
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { encryptedMark, isEncrypted } from '../storage/encrypted-mark.ts'

/** The value can't be decrypted. The message says why, and never holds what is secret. */
export class EncryptionError extends Error {
  override readonly name = 'EncryptionError'
}

export interface Provider {
  /** Of all that it writes, and reads; empty: values stay as they are. */
  readonly prefix: string
  /** `key`: in the store. @throws EncryptionError where nothing can be encrypted now */
  seal(key: string, value: Uint8Array): Uint8Array
  /** Of bytes that begin with the prefix. @throws EncryptionError */
  open(key: string, stored: Uint8Array): Uint8Array
  /** Not sealed as `seal` would do it now, although by this provider. */
  isStale(stored: Uint8Array): boolean
}

export const noProvider = 'it is encrypted, and no provider or key that is configured fits'

/** Leaves values as they are. */
export const identityProvider: Provider = {
  prefix: '',
  seal: (_key, value) => value,
  open(_key, stored) {
    if (isEncrypted(stored)) throw new EncryptionError(noProvider)
    return stored
  },
  isStale: () => false,
}

const nonceBytes = 12
const tagBytes = 16
const blockBytes = 16

/** `nonce | ciphertext | tag`, behind `head`. The key in the store is authenticated with it. */
export function sealGcm(secret: Uint8Array, key: string, value: Uint8Array, head: Uint8Array): Uint8Array {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(gcmOf(secret), secret, nonce).setAAD(Buffer.from(key))
  return Buffer.concat([head, nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
}

/** @throws EncryptionError */
export function openGcm(secret: Uint8Array, key: string, sealed: Uint8Array): Uint8Array {
  if (sealed.byteLength < nonceBytes + tagBytes) throw new EncryptionError('it is too short to be encrypted')
  const end = sealed.byteLength - tagBytes
  const decipher = createDecipheriv(gcmOf(secret), secret, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(key)).setAuthTag(sealed.subarray(end))
  return deciphered(() => Buffer.concat([decipher.update(sealed.subarray(nonceBytes, end)), decipher.final()]))
}

const gcmOf = (secret: Uint8Array): 'aes-256-gcm' => `aes-${secret.byteLength * 8}-gcm` as 'aes-256-gcm'

function deciphered(decipher: () => Uint8Array): Uint8Array {
  try {
    return decipher()
  } catch (cause) {
    throw new EncryptionError('it does not fit the key, or the place where it lies', { cause })
  }
}

/** A key of provider aesgcm. After some 200,000 writes with one key, chance may repeat a nonce: rotate. */
export function aesGcmProvider(name: string, secret: Uint8Array): Provider {
  const prefix = `${encryptedMark}aesgcm:v1:${name}:`
  const head = Buffer.from(prefix)
  return {
    prefix,
    seal: (key, value) => sealGcm(secret, key, value, head),
    open: (key, stored) => openGcm(secret, key, stored.subarray(head.byteLength)),
    isStale: () => false,
  }
}

/** A key of provider aescbc: nothing is authenticated, so it is for reading what was written with it. */
export function aesCbcProvider(name: string, secret: Uint8Array): Provider {
  const prefix = `${encryptedMark}aescbc:v1:${name}:`
  const head = Buffer.from(prefix)
  const cbc = `aes-${secret.byteLength * 8}-cbc`
  return {
    prefix,
    seal(_key, value) {
      const vector = randomBytes(blockBytes)
      const cipher = createCipheriv(cbc, secret, vector)
      return Buffer.concat([head, vector, cipher.update(value), cipher.final()])
    },
    open(_key, stored) {
      const sealed = stored.subarray(head.byteLength)
      if (sealed.byteLength < 2 * blockBytes) throw new EncryptionError('it is too short to be encrypted')
      const decipher = createDecipheriv(cbc, secret, sealed.subarray(0, blockBytes))
      return deciphered(() => Buffer.concat([decipher.update(sealed.subarray(blockBytes)), decipher.final()]))
    },
    isStale: () => false,
  }
}
