import { describe, expect, it } from 'vitest'
import { aesgcm, configurationText, identity, kms, secretOf } from '../../test/encryption/configurations.ts'
import { parseEncryptionConfiguration } from './configuration.ts'

const socket = 'unix:///run/kms.sock'
const one = (providers: readonly object[], resources: readonly string[] = ['secrets']): string =>
  configurationText({ resources, providers })
const key = (name: string, secret: string): object => ({ aesgcm: { keys: [{ name, secret }] } })

describe('an EncryptionConfiguration', () => {
  it('is read with all its providers, in their order', () => {
    const text = configurationText(
      { resources: ['secrets', 'configmaps'], providers: [aesgcm(2, 1), kms(socket), identity] },
      { resources: ['*.apps'], providers: [identity] },
      { resources: ['*.*'], providers: [{ aescbc: { keys: [{ name: 'old', secret: secretOf(3) }] } }] },
    )
    const entries = parseEncryptionConfiguration(text)
    expect(entries.map(({ resources }) => resources)).toEqual([['secrets', 'configmaps'], ['*.apps'], ['*.*']])
    expect(entries[0]?.providers).toEqual([
      {
        type: 'aesgcm',
        keys: [
          { name: 'key2', secret: Buffer.from('2'.repeat(32)) },
          { name: 'key1', secret: Buffer.from('1'.repeat(32)) },
        ],
      },
      { type: 'kms', kms: { name: 'test', endpoint: socket, timeoutMs: 3000 } },
      { type: 'identity' },
    ])
  })

  it('may be YAML, with an identity that says nothing more', () => {
    const text = [
      'apiVersion: apiserver.config.k8s.io/v1',
      'kind: EncryptionConfiguration',
      'resources:',
      '- resources: [secrets]',
      '  providers:',
      '  - identity:',
    ].join('\n')
    expect(parseEncryptionConfiguration(text)).toEqual([{ resources: ['secrets'], providers: [{ type: 'identity' }] }])
  })

  const at = 'resources[0].providers[0]'
  const refused: readonly { readonly name: string; readonly text: string; readonly says: string }[] = [
    { name: 'nothing', text: ' \n', says: 'it is empty' },
    {
      name: 'two documents',
      text: 'kind: A\n---\nkind: B',
      says: 'it holds several YAML documents, and only one is read',
    },
    { name: 'no YAML', text: '{', says: 'it is not YAML, or has a key twice' },
    { name: 'a key twice', text: 'kind: A\nkind: B', says: 'it is not YAML, or has a key twice' },
    {
      name: 'another kind',
      text: '{"apiVersion":"v1","kind":"Secret"}',
      says: 'it is no EncryptionConfiguration of apiserver.config.k8s.io/v1',
    },
    { name: 'a list', text: '[]', says: 'it must be an object' },
    {
      name: 'no resources',
      text: configurationText(),
      says: 'resources: Required value: at least one resources is required',
    },
    {
      name: 'an unknown field',
      text: one([identity]).replace('"resources":[{', '"resources":[{"more":1,'),
      says: 'resources[0].more: there is no such field',
    },
    {
      name: 'an entry without resources',
      text: one([identity], []),
      says: 'resources[0].resources: Required value: at least one resources[0].resources is required',
    },
    {
      name: 'an entry without providers',
      text: one([]),
      says: 'resources[0].providers: Required value: at least one resources[0].providers is required',
    },
    {
      name: 'an unknown provider',
      text: one([{ rot13: {} }]),
      says: `${at}.rot13: there is no such field`,
    },
    {
      name: 'an empty provider',
      text: one([{}]),
      says:
        `${at}: Invalid value: "REDACTED": provider does not contain any of the expected providers: KMS, AESGCM, ` +
        'AESCBC, Secretbox, Identity',
    },
    {
      name: 'secretbox',
      text: one([{ secretbox: { keys: [] } }]),
      says: `${at}.secretbox: provider secretbox is not supported: use aesgcm or kms`,
    },
    {
      name: 'no keys',
      text: one([{ aesgcm: { keys: [] } }]),
      says: `${at}.aesgcm.keys: Required value: at least one keys is required`,
    },
    {
      name: 'a key without a name',
      text: one([key('', secretOf(1))]),
      says: `${at}.aesgcm.keys[0].name: Required value: name is a mandatory field for a key`,
    },
    {
      name: 'a key without a secret',
      text: one([key('key1', '')]),
      says: `${at}.aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key`,
    },
    {
      name: 'a secret that is not base64',
      text: one([key('key1', 'not base64!')]),
      says: `${at}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
    },
    {
      name: 'a short secret',
      text: one([key('key1', 'YWJj')]),
      says:
        `${at}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, ` +
        'expected one of [16 24 32]',
    },
    {
      name: 'a secret that is no text',
      text: one([{ aesgcm: { keys: [{ name: 'key1', secret: 5 }] } }]),
      says: `${at}.aesgcm.keys[0].secret: it must be text`,
    },
    {
      name: 'KMS v1',
      text: one([{ kms: { name: 'a', endpoint: socket } }]),
      says:
        `${at}.kms.apiVersion: Invalid value: "v1": unsupported apiVersion v1 for KMS provider, ` +
        'only v2 is supported',
    },
    {
      name: 'a KMS provider over the network',
      text: one([kms('tcp://127.0.0.1:80')]),
      says:
        `${at}.kms.endpoint: Invalid value: "tcp://127.0.0.1:80": unsupported scheme "tcp" for KMS ` +
        'provider, only unix is supported',
    },
    {
      name: 'a KMS provider without an endpoint',
      text: one([kms('')]),
      says: `${at}.kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms`,
    },
    {
      name: 'a KMS provider without a name',
      text: one([kms(socket, '')]),
      says: `${at}.kms.name: Required value: name is a mandatory field for a provider`,
    },
    {
      name: 'a KMS provider with a colon in its name',
      text: one([kms(socket, 'a:b')]),
      says: `${at}.kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
    },
    {
      name: 'two KMS providers of one name',
      text: one([kms(socket), kms(socket)]),
      says:
        'resources[0].providers[1].kms.name: Invalid value: "test": duplicate KMS provider name ' +
        'test, names must be unique',
    },
    {
      name: 'a timeout of nothing',
      text: one([{ kms: { apiVersion: 'v2', name: 'a', endpoint: socket, timeout: '0s' } }]),
      says: `${at}.kms.timeout: Invalid value: "0s": timeout should be a positive value`,
    },
    {
      name: 'a cache size',
      text: one([{ kms: { apiVersion: 'v2', name: 'a', endpoint: socket, cachesize: 5 } }]),
      says: `${at}.kms.cachesize: Invalid value: 5: cachesize is not supported in v2`,
    },
    {
      name: 'capital letters',
      text: one([identity], ['Secrets']),
      says: 'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
    },
    {
      name: 'a star alone',
      text: one([identity], ['*']),
      says:
        `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from ` +
        'core API group or *.* to encrypt all resources',
    },
    {
      name: 'one resource of all groups',
      text: one([identity], ['secrets.*']),
      says:
        'resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource ' +
        'across groups is not supported',
    },
    {
      name: 'Events by their group',
      text: one([identity], ['*.events.k8s.io']),
      says:
        'resources[0].resources[0]: Invalid value: "*.events.k8s.io": ' +
        "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the " +
        'config file',
    },
    {
      name: 'a group that is gone',
      text: one([identity], ['ingresses.extensions']),
      says:
        'resources[0].resources[0]: Invalid value: "ingresses.extensions": ' +
        "'extensions' group has been removed and cannot be used for encryption",
    },
    {
      name: 'what no client sees',
      text: one([identity], ['serviceipallocations']),
      says:
        'resources[0].resources[0]: Invalid value: "serviceipallocations": ' +
        'resources which do not have REST API/s cannot be encrypted',
    },
    {
      name: 'a resource twice',
      text: one([identity], ['secrets', 'secrets']),
      says:
        'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be ' +
        'specified multiple times',
    },
    {
      name: 'a resource beside its group',
      text: one([identity], ['secrets', '*.']),
      says:
        'resources[0].resources: Invalid value: ["secrets","*."]: using overlapping resources such ' +
        `as 'secrets' and '*.' in the same resource list is not allowed as they will be masked`,
    },
    {
      name: 'a resource behind everything',
      text: configurationText(
        { resources: ['*.*'], providers: [identity] },
        { resources: ['secrets'], providers: [aesgcm(1)] },
      ),
      says: 'resource "secrets" is masked by earlier rule "*.*"',
    },
  ]
  it.each(refused)('with $name is refused', ({ text, says }) => {
    expect(() => parseEncryptionConfiguration(text)).toThrow(
      expect.objectContaining({ name: 'EncryptionConfigurationError', message: says }),
    )
  })

  it('never repeats a secret', () => {
    const text = one([aesgcm(1)]).slice(0, -4)
    const secret = secretOf(1).slice(0, 20)
    try {
      parseEncryptionConfiguration(text)
      expect.unreachable()
    } catch (error) {
      expect(String(error)).not.toContain(secret)
    }
  })
})
