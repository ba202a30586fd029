/** Which store a command works on: its flags, and the place that they name. */
import { type Command, Option } from 'commander'
import type { PlaceOptions, StorePlace } from '../backup/backup.ts'
import type { EncryptionChoice } from '../encryption/encryption.ts'
import { outputOption } from './output.ts'
import { usableFolder } from './path-flags.ts'
import { addEtcdOptions, type EtcdFlags, type NamedStorage, parseStorage, storageChoice } from './storage-flags.ts'

export interface StoreFlags extends EtcdFlags {
  readonly storage: NamedStorage
  readonly dataDir: string
}

/** Where the data directory of a command holds no server's keys. */
export const nameDataDir = "name a server's data directory with --data-dir, or start 'borough up' first"

export function addStoreOptions(command: Command): Command {
  command
    .option('--data-dir <dir>', 'the data directory of a SQLite store', '.borough')
    .addOption(
      new Option('--storage <engine>', 'sqlite, or etcd://host:port[,host:port…]')
        .argParser(parseStorage)
        .default({ engine: 'sqlite' } satisfies NamedStorage, 'sqlite'),
    )
  return addEtcdOptions(command, { prefix: true }).addOption(outputOption('the result'))
}

/** `choice`: for copies, which hold keys that are encrypted where they go. */
export async function placeOptions(choice?: EncryptionChoice): Promise<PlaceOptions> {
  const { systemClock } = await import('../base/clock.ts')
  const { silentLog } = await import('../base/log.ts')
  const options = { clock: systemClock, log: silentLog }
  if (choice === undefined) return options
  const { openCopyEncryption } = await import('../backup/backup.ts')
  return { ...options, encryption: await openCopyEncryption(choice, options) }
}

/** `choice`: to look whether values can be opened. */
export async function readingOptions(choice?: EncryptionChoice): Promise<PlaceOptions> {
  const options = await placeOptions()
  if (choice === undefined) return options
  const { openReadingEncryption } = await import('../backup/backup.ts')
  return { ...options, encryption: await openReadingEncryption(choice, options) }
}

export function storeOf(flags: StoreFlags, command: Command): StorePlace {
  const choice = storageChoice(flags.storage, flags, command)
  if (choice.engine === 'etcd') return { etcd: choice }
  if (choice.engine === 'memory') command.error('a store in memory ends with its server: there is nothing to read')
  return { dataDir: usableFolder(command, 'data-dir', flags.dataDir) }
}
