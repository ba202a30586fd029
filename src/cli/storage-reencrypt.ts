/** `borough storage reencrypt`: every value as the first key of its provider writes it. */
import type { Command } from 'commander'
import type { Reencryption } from '../backup/backup.ts'
import { addEncryptionOption, type EncryptionFlags, encryptionOf } from './encryption-flags.ts'
import { printAnswer } from './output.ts'
import { progressOf, withQuietFlag } from './progress-line.ts'
import { addStoreOptions, placeOptions, type StoreFlags, storeOf } from './store-place.ts'

interface ReencryptFlags extends StoreFlags, EncryptionFlags {}

export function addReencryptCommand(program: Command): void {
  const reencrypt = program.command('reencrypt')
  reencrypt.description('write anew what is not encrypted with the first key of its provider')
  withQuietFlag(addEncryptionOption(addStoreOptions(reencrypt)))
    .addHelpText(
      'after',
      `
A SQLite store must not be served meanwhile, an etcd may be. What was stopped is begun again: it finds what is left. It
ends with 1 where something could not be read, and names it; that is left as it is.

Examples:
  borough storage reencrypt --data-dir /var/lib/borough --encryption-provider-config encryption.yaml
  borough storage reencrypt --storage etcd://10.0.0.1:2379 --encryption-provider-config encryption.yaml`,
    )
    .action((flags: ReencryptFlags, command: Command) => run(flags, command))
}

async function run(flags: ReencryptFlags, command: Command): Promise<void> {
  const { encryption: choice } = encryptionOf(flags, command)
  if (choice === undefined) return command.error('--encryption-provider-config is needed')
  const place = storeOf(flags, command)
  const { placeName, reencryptAt } = await import('../backup/backup.ts')
  const { Encryption } = await import('../encryption/encryption.ts')
  const options = await placeOptions()
  using progress = progressOf(command)
  const done = await reencryptAt(
    place,
    options,
    (storage) => Encryption.open({ ...options, choice, storage }),
    progress.report,
  )
  progress[Symbol.dispose]()
  await printAnswer(command, {
    value: done,
    text: (_paint, _isWide, shown) => inWords(shown),
    names: [placeName(place)],
  })
  process.exitCode = done.unreadable.length === 0 ? 0 : 1
}

function inWords({ entries, rewritten, encrypted, unreadable }: Reencryption): string {
  const lines = unreadable.map((line) => `unreadable: ${line}\n`).join('')
  const figures = `${entries} entries, ${rewritten} written anew; ${encrypted} are encrypted`
  return `${lines}${figures}, ${unreadable.length} unreadable\n`
}
