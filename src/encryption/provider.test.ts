import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { goldenEnvelopes, goldenValues, plaintext, secretText, storedKey } from '../../test/encryption/golden-values.ts'
import { upstreamValues } from '../../test/encryption/upstream-values.ts'
import { decodeEnvelope, openEnvelope } from './kms-envelope.ts'
import { aesCbcProvider, aesGcmProvider, EncryptionError, identityProvider, type Provider } from './provider.ts'

const secret = (bytes: number): Buffer => Buffer.from(secretText.slice(0, bytes))
const providerOf = (name: string, bytes: number): Provider =>
  name === 'aesgcm' ? aesGcmProvider('key1', secret(bytes)) : aesCbcProvider('key1', secret(bytes))

describe('values of other implementations are read', () => {
  it.each(goldenValues)('$provider with $bytes bytes', ({ provider, bytes, stored }) => {
    const opened = providerOf(provider, bytes).open(storedKey, Buffer.from(stored, 'base64'))
    expect(Buffer.from(opened).toString()).toBe(plaintext)
  })

  it.each(goldenEnvelopes)('kms, from a seed: $isSeed', ({ stored, isSeed }) => {
    const envelope = decodeEnvelope(Buffer.from(stored, 'base64').subarray('k8s:enc:kms:v2:test:'.length))
    const { keyId, ciphertext, annotations } = envelope.source
    expect(envelope.isSeed).toBe(isSeed)
    expect(keyId).toBe('1')
    expect(Buffer.from(ciphertext).toString()).toBe('encrypted seed')
    expect([...annotations].map(([name, value]) => [name, Buffer.from(value).toString()])).toEqual([
      ['version.kms.example.com', 'one'],
    ])
    expect(Buffer.from(openEnvelope(envelope, secret(32), storedKey)).toString()).toBe(plaintext)
  })
})

describe('values that kube-apiserver wrote are read', () => {
  const { aesgcm, aescbc, kms } = upstreamValues
  const stored = ({ stored: text }: { readonly stored: string }): Buffer => Buffer.from(text, 'base64')
  /** Its envelope of a protobuf message, and what the Secret holds. */
  const expectSecret = (opened: Uint8Array): void => {
    const text = Buffer.from(opened).toString('latin1')
    expect(text.slice(0, 18)).toBe('k8s\0\n\f\n\x02v1\x12\x06Secret')
    expect(text).toContain('\n\x06golden')
    expect(text).toContain('\n\x04user\x12\x03ann')
  }

  it('aesgcm, bound to its key in etcd', () => {
    const provider = aesGcmProvider('key1', Buffer.from('1'.repeat(32)))
    expectSecret(provider.open(aesgcm.key, stored(aesgcm)))
    expect(() => provider.open('/aesgcm/secrets/default/other', stored(aesgcm))).toThrow(
      'it does not fit the key, or the place where it lies',
    )
  })

  it('aescbc', () => {
    expectSecret(aesCbcProvider('key1', Buffer.from('2'.repeat(32))).open(aescbc.key, stored(aescbc)))
  })

  it('kms, by the seed that the plugin decrypts, bound to its key in etcd', () => {
    const envelope = decodeEnvelope(stored(kms).subarray('k8s:enc:kms:v2:test:'.length))
    expect(envelope).toMatchObject({ isSeed: true, source: { keyId: '1' } })
    const seed = envelope.source.ciphertext.map((byte) => byte ^ '1'.charCodeAt(0))
    expectSecret(openEnvelope(envelope, seed, kms.key))
    expect(() => openEnvelope(envelope, seed, '/kms/secrets/default/other')).toThrow(EncryptionError)
  })
})

describe('a provider', () => {
  const key = fc.string({ minLength: 1 }).map((text) => `/registry/secrets/${text.toWellFormed()}`)

  it.each(goldenValues)('$provider with $bytes bytes reads what it writes', ({ provider, bytes }) => {
    const one = providerOf(provider, bytes)
    fc.assert(
      fc.property(key, fc.uint8Array({ maxLength: 200 }), (place, value) => {
        const stored = one.seal(place, value)
        expect(Buffer.from(stored.subarray(0, one.prefix.length)).toString()).toBe(one.prefix)
        expect(Buffer.from(one.open(place, stored))).toEqual(Buffer.from(value))
      }),
    )
  })

  it('aesgcm refuses a value with a changed byte, and one that lies under another key', () => {
    const gcm = providerOf('aesgcm', 32)
    const stored = Uint8Array.from(gcm.seal(storedKey, Buffer.from(plaintext)))
    fc.assert(
      fc.property(fc.nat(stored.length - gcm.prefix.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Uint8Array.from(stored)
        const i = gcm.prefix.length + at
        changed[i] = (changed[i] ?? 0) ^ change
        expect(() => gcm.open(storedKey, changed)).toThrow(EncryptionError)
      }),
    )
    expect(() => gcm.open('/registry/secrets/team-b/password', stored)).toThrow(
      'it does not fit the key, or the place where it lies',
    )
    expect(() => gcm.open(storedKey, stored.subarray(0, gcm.prefix.length + 20))).toThrow('it is too short')
  })

  it('identity refuses what is encrypted', () => {
    const stored = providerOf('aesgcm', 16).seal(storedKey, Buffer.from(plaintext))
    expect(() => identityProvider.open(storedKey, stored)).toThrow(
      'it is encrypted, and no provider or key that is configured fits',
    )
  })
})
