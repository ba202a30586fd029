/**
 * kube-apiserver's `EncryptionConfiguration` (apiserver.config.k8s.io/v1), read strictly and checked as upstream does:
 * same rules, same words. Secrets are in no message.
 * @see k8s.io/apiserver/pkg/apis/apiserver/validation/validation_encryption.go v0.36
 */
import { hasSeveralDocuments, severalDocuments } from '../kube/configuration-text.ts'
import { parseGoDuration } from '../kube/duration.ts'
import { quote } from '../kube/go-quote.ts'
import { ObjectReader } from '../kube/object-reader.ts'
import type { StoredResource } from '../kube/stored-group.ts'
import type { JsonValue } from '../kube/types.ts'
import { invalidFault, requiredFault } from '../kube/value-faults.ts'
import { parseYaml } from '../kube/yaml-body.ts'

/** The message is one line for the operator. */
export class EncryptionConfigurationError extends Error {
  override readonly name = 'EncryptionConfigurationError'
}

export interface NamedKey {
  readonly name: string
  readonly secret: Uint8Array
}

export interface KmsSettings {
  readonly name: string
  /** `unix:///path` */
  readonly endpoint: string
  readonly timeoutMs: number
}

export type ProviderSettings =
  | { readonly type: 'aesgcm'; readonly keys: readonly NamedKey[] }
  | { readonly type: 'aescbc'; readonly keys: readonly NamedKey[] }
  | { readonly type: 'kms'; readonly kms: KmsSettings }
  | { readonly type: 'identity' }

export interface EncryptionEntry {
  readonly resources: readonly string[]
  readonly providers: readonly ProviderSettings[]
}

const providerTypes = ['aesgcm', 'aescbc', 'secretbox', 'identity', 'kms'] as const
const aesKeySizes = [16, 24, 32]
const defaultKmsTimeoutMs = 3000

/** `secrets`, `deployments.apps`, `*.`, `*.apps`, `*.*`. */
export function parseGroupResource(text: string): StoredResource {
  const dot = text.indexOf('.')
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) }
}

/** @throws EncryptionConfigurationError */
export function parseEncryptionConfiguration(text: string): readonly EncryptionEntry[] {
  if (text.trim() === '') throw new EncryptionConfigurationError('it is empty')
  let document: JsonValue
  try {
    const { value, duplicates } = parseYaml(text)
    if (duplicates.length > 0) throw new Error(`${duplicates[0]} is there twice`)
    document = value
  } catch {
    // Without what the library says: it may quote the file, which holds secrets, and causes are logged.
    throw new EncryptionConfigurationError('it is not YAML, or has a key twice')
  }
  if (hasSeveralDocuments(text)) throw new EncryptionConfigurationError(severalDocuments)
  const top = new ObjectReader(document, '', EncryptionConfigurationError)
  const apiVersion = top.text('apiVersion')
  if (apiVersion !== 'apiserver.config.k8s.io/v1' || top.text('kind') !== 'EncryptionConfiguration') {
    throw new EncryptionConfigurationError('it is no EncryptionConfiguration of apiserver.config.k8s.io/v1')
  }
  const errors: string[] = []
  const kmsNames = new Set<string>()
  const entries = top.objects('resources').map((entry) => readEntry(entry, errors, kmsNames))
  top.end()
  if (entries.length === 0) errors.push(requiredFault('resources', 'at least one resources is required'))
  const [first] = errors
  if (first !== undefined) throw new EncryptionConfigurationError(first)
  checkMasks(entries)
  return entries
}

function readEntry(reader: ObjectReader, errors: string[], kmsNames: Set<string>): EncryptionEntry {
  const { at } = reader
  const resources = reader.texts('resources')
  const providers = reader.objects('providers')
  reader.end()
  const inResources = `${at}.resources`
  if (resources.length === 0) errors.push(requiredFault(inResources, `at least one ${inResources} is required`))
  checkOverlap(resources, inResources, errors)
  for (const [i, resource] of resources.entries()) checkResource(resource, `${inResources}[${i}]`, errors)
  const inProviders = `${at}.providers`
  if (providers.length === 0) errors.push(requiredFault(inProviders, `at least one ${inProviders} is required`))
  const read = providers.flatMap((provider) => {
    const settings = readProvider(provider, errors, kmsNames)
    return settings === undefined ? [] : [settings]
  })
  return { resources, providers: read }
}

function readProvider(reader: ObjectReader, errors: string[], kmsNames: Set<string>): ProviderSettings | undefined {
  const { at } = reader
  const given = providerTypes.filter((type) => reader.has(type))
  const [type] = given
  if (type === undefined || given.length > 1) {
    reader.end()
    const problem =
      type === undefined
        ? 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
        : 'more than one provider specified in a single element, should split into different list elements'
    // Upstream prints the provider with its keys: this is told without.
    errors.push(invalidFault(at, 'REDACTED', problem))
    return undefined
  }
  const settings = reader.nested(type)
  reader.end()
  switch (type) {
    case 'identity':
      settings.end()
      return { type }
    case 'kms':
      return { type, kms: readKms(settings, errors, kmsNames) }
    case 'secretbox':
      throw new EncryptionConfigurationError(`${at}.secretbox: provider secretbox is not supported: use aesgcm or kms`)
    case 'aesgcm':
    case 'aescbc': {
      const keys = settings.objects('keys')
      const inKeys = `${settings.at}.keys`
      settings.end()
      if (keys.length === 0) errors.push(requiredFault(inKeys, 'at least one keys is required'))
      return { type, keys: keys.map((key) => readKey(key, errors)) }
    }
  }
}

function readKey(reader: ObjectReader, errors: string[]): NamedKey {
  const { at } = reader
  const name = reader.text('name')
  const secret = reader.text('secret')
  reader.end()
  if (name === '') errors.push(requiredFault(`${at}.name`, 'name is a mandatory field for a key'))
  if (secret === '') errors.push(requiredFault(`${at}.secret`, 'secret is a mandatory field for a key'))
  const bytes = Buffer.from(secret, 'base64')
  // Go refuses what Node reads around. Line breaks are skipped by both.
  if (bytes.toString('base64') !== secret.replace(/[\r\n]/g, '')) {
    errors.push(invalidFault(`${at}.secret`, 'REDACTED', 'secrets must be base64 encoded'))
  } else if (secret !== '' && !aesKeySizes.includes(bytes.length)) {
    const problem = `secret is not of the expected length, got ${bytes.length}, expected one of [16 24 32]`
    errors.push(invalidFault(`${at}.secret`, 'REDACTED', problem))
  }
  return { name, secret: bytes }
}

function readKms(reader: ObjectReader, errors: string[], kmsNames: Set<string>): KmsSettings {
  const { at } = reader
  const apiVersion = reader.text('apiVersion', 'v1')
  const name = reader.text('name')
  const endpoint = reader.text('endpoint')
  const timeout = reader.text('timeout', `${defaultKmsTimeoutMs}ms`)
  const cacheSize = reader.number('cachesize')
  reader.end()
  const refuse = (field: string, value: unknown, problem: string): void =>
    void errors.push(invalidFault(`${at}.${field}`, value, problem))
  if (name === '') errors.push(requiredFault(`${at}.name`, 'name is a mandatory field for a provider'))
  if (name.includes(':')) refuse('name', name, `invalid KMS provider name ${name}, must not contain ':'`)
  if (kmsNames.has(name)) refuse('name', name, `duplicate KMS provider name ${name}, names must be unique`)
  kmsNames.add(name)
  const timeoutMs = parseGoDuration(timeout) ?? Number.NaN
  if (!(timeoutMs > 0)) refuse('timeout', timeout, 'timeout should be a positive value')
  if (endpoint === '') {
    refuse('endpoint', '', 'endpoint is a mandatory field for a kms')
  } else if (!endpoint.startsWith('unix://')) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1] ?? ''
    refuse('endpoint', endpoint, `unsupported scheme ${quote(scheme)} for KMS provider, only unix is supported`)
  }
  if (apiVersion !== 'v2') {
    refuse('apiVersion', apiVersion, `unsupported apiVersion ${apiVersion} for KMS provider, only v2 is supported`)
  } else if (cacheSize !== undefined) refuse('cachesize', cacheSize, 'cachesize is not supported in v2')
  return { name, endpoint, timeoutMs }
}

function checkOverlap(resources: readonly string[], field: string, errors: string[]): void {
  const parsed = resources.map(parseGroupResource)
  if (new Set(resources).size < resources.length) {
    errors.push(invalidFault(field, resources, 'the same resource cannot be specified multiple times'))
  }
  const overlaps = parsed.some(
    (one, i) =>
      parsed.length > 1 &&
      ((one.group === '*' && one.resource === '*') ||
        (one.resource === '*' && parsed.some((other, j) => i !== j && other.group === one.group))),
  )
  if (overlaps) {
    const problem =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will " +
      'be masked'
    errors.push(invalidFault(field, resources, problem))
  }
}

const withoutRest = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']

function checkResource(resource: string, field: string, errors: string[]): void {
  const problem = resourceProblem(resource)
  if (problem !== undefined) errors.push(invalidFault(field, resource, problem))
}

function resourceProblem(text: string): string | undefined {
  if (text.toLowerCase() !== text) return 'resource name should not contain capital letters'
  if (text === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  if (withoutRest.includes(text)) return 'resources which do not have REST API/s cannot be encrypted'
  const { group, resource } = parseGroupResource(text)
  if (group === 'events.k8s.io') {
    return (
      "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config " +
      'file'
    )
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption"
  if (group !== '*' || resource === '*') return undefined
  return 'encrypting the same resource across groups is not supported'
}

/** An entry that could never be asked is a mistake. @throws EncryptionConfigurationError */
function checkMasks(entries: readonly EncryptionEntry[]): void {
  const earlier = new Set<string>()
  for (const { resources } of entries) {
    for (const resource of resources) {
      const { group } = parseGroupResource(resource)
      const mask = [`*.${group}`, '*.*'].find((wildcard) => earlier.has(wildcard))
      if (mask !== undefined) {
        throw new EncryptionConfigurationError(`resource ${quote(resource)} is masked by earlier rule ${quote(mask)}`)
      }
    }
    for (const resource of resources) earlier.add(resource)
  }
}
