/**
 * Which providers are asked for which key of the store: those of its resource, else of its group, else of everything.
 * The first writes; all whose prefix fits are tried for reading, in their order.
 */
import { parseObjectKey } from '../kube/object-key.ts'
import { type StoredResource, storedResource } from '../kube/stored-group.ts'
import { beginsWith, isEncrypted } from '../storage/encrypted-mark.ts'
import { scrubKey } from '../storage/scrubber.ts'
import { type EncryptionEntry, parseGroupResource } from './configuration.ts'
import { EncryptionError, identityProvider, noProvider, type Provider } from './provider.ts'

/** Own records of the server, its keys, and all else that is no object of the API: as secrets. */
const secrets: StoredResource = { group: '', resource: 'secrets' }
const ownObjects = 'borough'

/** What must be readable without any key. */
const neverEncrypted = ['/borough/encryption/', '/borough/unfinished-copy', scrubKey, '/borough/format-']

const onlyIdentity: readonly Provider[] = [identityProvider]

export class EncryptionRules {
  readonly #byResource = new Map<string, Provider[]>()
  /** By storage name. */
  readonly #known = new Map<string, { readonly resource: string; readonly providers: readonly Provider[] }>()
  readonly #heads = new Map<Provider, Buffer>()
  /** Some value may be written encrypted, or read. */
  readonly encrypts: boolean

  /** `providersOf`: those of an entry, in their order. */
  constructor(entries: readonly EncryptionEntry[], providersOf: (entry: EncryptionEntry) => readonly Provider[]) {
    for (const entry of entries) {
      const providers = providersOf(entry)
      for (const text of entry.resources) {
        const name = nameOf(parseGroupResource(text))
        this.#byResource.set(name, [...(this.#byResource.get(name) ?? []), ...providers])
      }
    }
    const all = [...this.#byResource.values()].flat()
    for (const provider of all) this.#heads.set(provider, Buffer.from(provider.prefix))
    this.encrypts = all.some(({ prefix }) => prefix !== '')
  }

  /** @throws EncryptionError */
  seal(key: string, value: Uint8Array): Uint8Array {
    const [first = identityProvider] = this.#lookUp(key).providers
    return first.seal(key, value)
  }

  /**
   * `isStale`: it would be written in another way now.
   *
   * @throws EncryptionError of the last one that was tried
   */
  open(key: string, stored: Uint8Array): { readonly value: Uint8Array; readonly isStale: boolean } {
    let failure: EncryptionError | undefined
    let isFirst = true
    for (const provider of this.#lookUp(key).providers) {
      if (provider.prefix === '' || this.#fits(provider, stored)) {
        try {
          return { value: provider.open(key, stored), isStale: !isFirst || provider.isStale(stored) }
        } catch (error) {
          if (!(error instanceof EncryptionError)) throw error
          // What identity says is the least that can be said.
          if (failure === undefined || provider.prefix !== '') failure = error
        }
      }
      isFirst = false
    }
    throw failure ?? new EncryptionError(isEncrypted(stored) ? noProvider : 'it is not encrypted, and must be')
  }

  /** `secrets`, `deployments.apps`: by which rules a key goes. */
  resourceOf(key: string): string {
    return this.#lookUp(key).resource
  }

  #fits(provider: Provider, stored: Uint8Array): boolean {
    const head = this.#heads.get(provider)
    return head !== undefined && beginsWith(stored, head)
  }

  #lookUp(key: string): { readonly resource: string; readonly providers: readonly Provider[] } {
    const storageName = parseObjectKey(key)?.storageName ?? ownObjects
    const known = this.#known.get(storageName)
    if (known !== undefined && storageName !== ownObjects) return known
    if (neverEncrypted.some((prefix) => key.startsWith(prefix))) return { resource: '', providers: onlyIdentity }
    const stored = storageName === ownObjects ? secrets : storedResource(storageName)
    const found = {
      resource: stored.group === '' ? stored.resource : nameOf(stored),
      providers:
        this.#byResource.get(nameOf(stored)) ??
        this.#byResource.get(nameOf({ resource: '*', group: stored.group })) ??
        this.#byResource.get('*.*') ??
        onlyIdentity,
    }
    this.#known.set(storageName, found)
    return found
  }
}

/** `*.` is of the core group, and so is `secrets`. */
const nameOf = ({ resource, group }: StoredResource): string => `${resource}.${group}`
