/** `borough rotate-key`: a new key for service-account tokens. */
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { addEncryptionOption, type EncryptionFlags, encryptionOf } from './encryption-flags.ts'
import { outputOption, printAnswer } from './output.ts'
import { usableFolder } from './path-flags.ts'
import { addEtcdOptions, type EtcdFlags, type NamedStorage, parseStorage, storageChoice } from './storage-flags.ts'
import { nameDataDir } from './store-place.ts'

interface RotateKeyFlags extends EtcdFlags, EncryptionFlags {
  readonly dataDir: string
  readonly storage: NamedStorage
}

export function addRotateKeyCommand(program: Command): void {
  const command = program
    .command('rotate-key')
    .description('make a new key for service-account tokens; tokens of the older keys stay good')
    .option('--data-dir <dir>', "the server's data directory", '.borough')
    .addOption(
      new Option('--storage <engine>', 'sqlite, or etcd://host:port[,host:port…], where replicas share their keys')
        .argParser(parseStorage)
        .default({ engine: 'sqlite' } satisfies NamedStorage, 'sqlite'),
    )
  addEtcdOptions(command, { prefix: true })
  addEncryptionOption(command)
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
Servers that run take the new key up within seconds, and sign with it 10 s later. Retire the old one when its last token
has expired: remove its .key and its .crt.

Examples:
  borough rotate-key --data-dir /var/lib/borough
  borough rotate-key --storage etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379 --etcd-cafile ca.pem`,
    )
    .action(async (flags: RotateKeyFlags, command: Command) => {
      const { systemClock } = await import('../base/clock.ts')
      const { silentLog } = await import('../base/log.ts')
      const pki = await import('../pki/pki.ts')
      const choice = storageChoice(flags.storage, flags, command)
      if (choice.engine === 'memory') command.error('a store in memory ends with its server: there is no key to rotate')
      const dataDir = usableFolder(command, 'data-dir', flags.dataDir)
      const { openServerStorage } = await import('../encryption/server-storage.ts')
      const place = { storage: choice, clock: systemClock, log: silentLog, ...encryptionOf(flags, command) }
      await using shared = choice.engine === 'etcd' ? await openServerStorage(place) : undefined
      const store = shared
        ? pki.sharedPkiStore(shared, pki.memoryPkiStore())
        : pki.directoryPkiStore(join(dataDir, 'pki'))
      // A place without an authority is a mistake, not a place for a first key.
      await pki.openCertificateAuthority(store, systemClock, shared ? undefined : nameDataDir)
      const kid = await pki.rotateServiceAccountKey(store, systemClock)
      const key = `sa-${kid}`
      await printAnswer(command, {
        value: { key, place: store.place },
        text: () => `${key} in ${store.place} signs within 15 s; tokens of the older keys stay good\n`,
        names: [key],
      })
    })
}
