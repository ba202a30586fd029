/** `borough rotate-key`: a new key for service-account tokens. */
import { join, resolve } from 'node:path'
import { type Command } from 'commander'

interface RotateKeyFlags {
  readonly dataDir: string
}

export function addRotateKeyCommand(program: Command): void {
  program
    .command('rotate-key')
    .description('make a new key for service-account tokens; tokens of the older keys stay good')
    .option('--data-dir <dir>', "the server's data directory", '.borough')
    .addHelpText(
      'after',
      `
The new key signs from the next start of the server on. Retire the old one when its last token has expired: remove
its .key and its .crt.

Examples:
  borough rotate-key --data-dir /var/lib/borough`,
    )
    .action(async (flags: RotateKeyFlags) => {
      const { systemClock } = await import('../base/clock.ts')
      const { directoryPkiStore, openCertificateAuthority, rotateServiceAccountKey } = await import('../app/pki.ts')
      const directory = join(resolve(flags.dataDir), 'pki')
      const store = directoryPkiStore(directory)
      // A directory without an authority is a mistake, not a place for a first key.
      await openCertificateAuthority(store, systemClock)
      const kid = await rotateServiceAccountKey(store, systemClock)
      process.stdout.write(`${join(directory, `sa-${kid}.key`)} signs from the next start on\n`)
    })
}
