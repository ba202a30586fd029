/**
 * Keys of the authority and of service accounts on their way between places. In a data directory they are files and in
 * clear; in an etcd and in a backup of a store that is encrypted they are encrypted as secrets. Within a copy they are
 * in clear where there is a configuration, so that its two digests are over the same bytes.
 */
import { type Encryption, EncryptionError, isEncrypted } from '../encryption/encryption.ts'
import { sharedPkiPrefix } from '../pki/pki.ts'
import { type Contents, CopyError, type Pair, type Source, type Target } from './store-copy.ts'

const isKey = ({ key }: Pair): boolean => key.startsWith(sharedPkiPrefix)

export function decryptedSource(source: Source, encryption: Encryption): Source {
  return { name: source.name, read: async () => decryptedContents(await source.read(), encryption) }
}

/** What is written is encrypted as `encryption` says, and decrypted where it is read back. */
export function encryptedTarget(target: Target, encryption: Encryption): Target {
  return {
    name: target.name,
    isEmpty: () => target.isEmpty(),
    begin: (revision, from) => target.begin(revision, from),
    write: (pair) => target.write(isKey(pair) ? { key: pair.key, value: encryption.seal(pair.key, pair.value) } : pair),
    finish: () => target.finish(),
    read: async () => decryptedContents(await target.read(), encryption),
    seal: () => target.seal(),
    [Symbol.asyncDispose]: () => Promise.resolve(target[Symbol.asyncDispose]()),
  }
}

function decryptedContents(contents: Contents, encryption: Encryption): Contents {
  return {
    revision: contents.revision,
    ...(contents.lastIssued === undefined ? {} : { lastIssued: contents.lastIssued }),
    ...(contents.size === undefined ? {} : { size: contents.size }),
    async *pairs() {
      for await (const pair of contents.pairs()) yield isKey(pair) ? await decrypted(pair, encryption) : pair
    },
    [Symbol.asyncDispose]: () => Promise.resolve(contents[Symbol.asyncDispose]()),
  }
}

/** @throws CopyError */
async function decrypted({ key, value }: Pair, encryption: Encryption): Promise<Pair> {
  try {
    return { key, value: (await encryption.openAsking(key, value)).value }
  } catch (error) {
    if (!(error instanceof EncryptionError)) throw error
    throw new CopyError(`${key} can't be decrypted: ${error.message}`, { cause: error })
  }
}

/** For a place that keeps keys in clear. @throws CopyError */
export function requireInClear({ key, value }: Pair): void {
  if (!isEncrypted(value)) return
  throw new CopyError(`${key} is encrypted, and here it is a file: --encryption-provider-config <file> with its key`)
}
