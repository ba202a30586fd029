import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import { parseEncryptionConfiguration } from '../../src/encryption/configuration.ts'
import { aesGcmProvider, identityProvider } from '../../src/encryption/provider.ts'
import { EncryptionRules } from '../../src/encryption/rules.ts'
import { objectKey } from '../../src/kube/object-key.ts'
import { storedResource } from '../../src/kube/stored-group.ts'
import { aesgcm, configurationText, type EntryText, identity } from './configurations.ts'

const rulesOf = (...entries: readonly EntryText[]): EncryptionRules =>
  new EncryptionRules(parseEncryptionConfiguration(configurationText(...entries)), ({ providers }) =>
    providers.flatMap((one) =>
      one.type === 'aesgcm' ? one.keys.map(({ name, secret }) => aesGcmProvider(name, secret)) : [identityProvider],
    ),
  )

const value = Buffer.from('{"metadata":{"name":"x"}}')
const keyOf = (stored: Uint8Array): string =>
  /^k8s:enc:aesgcm:v1:([^:]+):/.exec(Buffer.from(stored).toString('latin1'))?.[1] ?? 'none'

describe('which provider writes', () => {
  const rules = rulesOf(
    { resources: ['secrets', 'deployments.apps'], providers: [aesgcm(1)] },
    { resources: ['pods'], providers: [identity, aesgcm(1)] },
    { resources: ['*.'], providers: [aesgcm(2)] },
    { resources: ['*.apps'], providers: [aesgcm(3)] },
    { resources: ['*.*'], providers: [aesgcm(4)] },
  )
  const cases: readonly { readonly key: string; readonly by: string }[] = [
    { key: '/registry/secrets/a/b', by: 'key1' },
    { key: '/registry/deployments/a/b', by: 'key1' },
    { key: '/registry/pods/a/b', by: 'none' },
    { key: '/registry/configmaps/a/b', by: 'key2' },
    { key: '/registry/events/a/b', by: 'key2' },
    { key: '/registry/daemonsets/a/b', by: 'key3' },
    { key: '/registry/leases/a/b', by: 'key4' },
    { key: '/registry/widgets.example.com/a/b', by: 'key4' },
    { key: '/registry/borough/applied/team-a', by: 'key1' },
    { key: '/borough/pki/ca.key', by: 'key1' },
    { key: '/borough/encryption/encrypted', by: 'none' },
    { key: '/borough/unfinished-copy', by: 'none' },
  ]
  it.each(cases)('$key: $by', ({ key, by }) => {
    expect(keyOf(rules.seal(key, value))).toBe(by)
    // A second time from what is remembered.
    expect(keyOf(rules.seal(key, value))).toBe(by)
  })

  it('custom resources are named as definitions name them', () => {
    const custom = rulesOf({ resources: ['widgets.example.com'], providers: [aesgcm(1)] })
    expect(keyOf(custom.seal('/registry/widgets.example.com/a/b', value))).toBe('key1')
    expect(keyOf(custom.seal('/registry/widgets.other.com/a/b', value))).toBe('none')
  })

  it('knows the group of every built-in resource', () => {
    const wrong = [...loadCatalog().types.all()]
      // Reviews are answered, not stored.
      .filter(({ group, resource }) => group !== 'events.k8s.io' && !resource.endsWith('reviews'))
      .filter(({ group, storageName }) => storedResource(storageName).group !== group)
      .map(({ storageName }) => storageName)
    expect(wrong).toEqual([])
  })
})

describe('rotation', () => {
  const key = objectKey('secrets', 'a', 'b')
  const before = rulesOf({ resources: ['secrets'], providers: [aesgcm(1), identity] })
  const both = rulesOf({ resources: ['secrets'], providers: [aesgcm(2, 1), identity] })
  const after = rulesOf({ resources: ['secrets'], providers: [aesgcm(2)] })

  it('the first writes, all read, and what the first did not write is stale', () => {
    const old = before.seal(key, value)
    expect(keyOf(both.seal(key, value))).toBe('key2')
    expect(both.open(key, old)).toEqual({ value, isStale: true })
    expect(both.open(key, value)).toEqual({ value, isStale: true })
    expect(both.open(key, both.seal(key, value))).toEqual({ value, isStale: false })
    expect(after.open(key, both.seal(key, value))).toEqual({ value, isStale: false })
  })

  it('what no key fits is refused, and so is what should be encrypted and is not', () => {
    expect(() => after.open(key, before.seal(key, value))).toThrow(
      'it is encrypted, and no provider or key that is configured fits',
    )
    expect(() => after.open(key, value)).toThrow('it is not encrypted, and must be')
  })

  it('a key of the same name with another secret does not hide the right one', () => {
    const named = (secret: string): EncryptionRules =>
      rulesOf({ resources: ['secrets'], providers: [{ aesgcm: { keys: [{ name: 'k', secret }] } }] })
    const [one, two] = [1, 2].map((digit) => Buffer.from(`${digit}`.repeat(32)).toString('base64')) as [string, string]
    const keys = [two, one].map((secret) => ({ name: 'k', secret }))
    const mixed = rulesOf({ resources: ['secrets'], providers: [{ aesgcm: { keys } }] })
    expect(mixed.open(key, named(one).seal(key, value))).toEqual({ value, isStale: true })
    expect(() => named(two).open(key, named(one).seal(key, value))).toThrow('it does not fit the key')
  })
})
