/** `borough kubeconfig`: a kubeconfig with a fresh client certificate for a user. */
import { fstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { visibleText } from '../base/shell-text.ts'
import { dayMs, durationOption, validityBounds } from './duration.ts'
import { parseNamespace } from './namespace-name.ts'
import { outputOption, serialized } from './output.ts'
import { usableFolder, writableFile } from './path-flags.ts'
import { parseServer } from './server-url.ts'
import { nameDataDir } from './store-place.ts'

interface KubeconfigFlags {
  readonly user: string
  readonly group: readonly string[]
  readonly duration: number
  readonly dataDir: string
  readonly server?: string
  readonly namespace?: string
  readonly out?: string
  readonly force: boolean
  readonly output: string
}

export function addKubeconfigCommand(program: Command): void {
  program
    .command('kubeconfig')
    .description('make a kubeconfig with a fresh client certificate')
    .requiredOption('--user <name>', 'user name (the certificate’s CN)')
    .option('--group <names...>', 'groups (the certificate’s O); may be repeated', [])
    .option('--groups <names>', 'groups, separated by commas')
    .addOption(
      durationOption('--duration <duration>', 'how long the certificate is good: 90m, 24h, 30d', dayMs, validityBounds),
    )
    .option('--namespace <name>', 'namespace of the context', parseNamespace)
    .option('--server <url>', 'where the server is; default: where the one on the data directory listens', parseServer)
    .option('--data-dir <dir>', "the server's data directory", '.borough')
    .option('--out <file>', 'write it here, readable by you alone; default: print it')
    .option('--force', 'with --out: replace a file that is there', false)
    .addOption(outputOption('it: text and wide are YAML, name is the file of --out'))
    .addHelpText(
      'after',
      `
It holds a private key: whoever reads it is that user. With --out the file is written whole or not at all, with mode
0600.

Examples:
  borough kubeconfig --user dev1 --group devs --out dev1.kubeconfig
  borough kubeconfig --user ci --group builders --group readers --duration 30d --out ci.kubeconfig`,
    )
    .action(async (flags: KubeconfigFlags & { readonly groups?: string }, command: Command) => {
      if (flags.force && flags.out === undefined) command.error('--force needs --out')
      if (flags.output === 'name' && flags.out === undefined) {
        command.error('-o name needs --out: without a file a kubeconfig is text, wide, json or yaml')
      }
      writableFile(command, 'out', flags.out)
      const { systemClock } = await import('../base/clock.ts')
      const { findEndpoint } = await import('../datadir/data-dir.ts')
      const { kubeconfigYaml } = await import('../client/kubeconfig.ts')
      const { directoryPkiStore, openCertificateAuthority } = await import('../pki/pki.ts')
      const dataDir = usableFolder(command, 'data-dir', flags.dataDir)
      const authority = await openCertificateAuthority(
        directoryPkiStore(join(dataDir, 'pki')),
        systemClock,
        nameDataDir,
      )
      const server = flags.server ?? (await findEndpoint(dataDir))?.url ?? 'https://127.0.0.1:6443'
      const groups = [...flags.group, ...(flags.groups?.split(',') ?? [])].map((g) => g.trim()).filter((g) => g !== '')
      const { cert, key } = authority.mintClientCertificate({ user: flags.user, groups, durationMs: flags.duration })
      const yaml = kubeconfigYaml({
        server,
        caCert: authority.caCert,
        credential: { cert, key },
        userName: flags.user,
        ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
      })
      const text = flags.output === 'json' ? await serialized((await import('yaml')).parse(yaml), 'json') : yaml
      if (flags.out === undefined) print(text)
      else await write(text, flags.out, flags.force)
      if (flags.output === 'name') process.stdout.write(`${visibleText(flags.out ?? '')}\n`)
    })
}

function print(text: string): void {
  process.stdout.write(text)
  const target = fstatSync(process.stdout.fd)
  if (target.isFile() && process.platform !== 'win32' && (target.mode & 0o007) !== 0) {
    process.stderr.write('borough: every user can read the file that the key went to: --out makes one that is yours\n')
  }
}

async function write(text: string, path: string, replace: boolean): Promise<void> {
  const { createPrivateFile, isTaken, writePrivateFile } = await import('../base/private-files.ts')
  const file = resolve(path)
  if (replace) return writePrivateFile(file, text)
  try {
    await createPrivateFile(file, text)
  } catch (error) {
    if (!isTaken(error)) throw error
    throw new Error(`${path} is there already: choose another name, or --force to replace it`, { cause: error })
  }
}
