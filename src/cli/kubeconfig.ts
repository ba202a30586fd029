/** `borough kubeconfig`: a fresh client certificate for somebody, ready to use. */
import { join, resolve } from 'node:path'
import { type Command } from 'commander'
import { parseDuration } from './duration.ts'

interface KubeconfigFlags {
  readonly user: string
  readonly group: readonly string[]
  readonly duration: number
  readonly dataDir: string
  readonly server?: string
  readonly namespace?: string
}

const dayMs = 86_400_000

export function addKubeconfigCommand(program: Command): void {
  program
    .command('kubeconfig')
    .description('print a kubeconfig with a fresh client certificate')
    .requiredOption('--user <name>', 'user name (the certificate’s CN)')
    .option('--group <names...>', 'groups (the certificate’s O); may be repeated', [])
    .option('--groups <names>', 'groups, separated by commas')
    .option('--duration <time>', 'how long the certificate is good: 90m, 24h, 30d', parseDuration, dayMs)
    .option('--namespace <name>', 'namespace of the context')
    .option('--server <url>', 'where the server is; default: where the one on the data directory listens')
    .option('--data-dir <dir>', "the server's data directory", '.borough')
    .addHelpText(
      'after',
      `
Examples:
  borough kubeconfig --user dev1 --group devs > dev1.kubeconfig
  borough kubeconfig --user ci --group builders --group readers --duration 30d`,
    )
    .action(async (flags: KubeconfigFlags & { readonly groups?: string }) => {
      const { systemClock } = await import('../base/clock.ts')
      const { findEndpoint } = await import('../datadir/data-dir.ts')
      const { kubeconfigYaml } = await import('../client/kubeconfig.ts')
      const { directoryPkiStore, openCertificateAuthority } = await import('../pki/pki.ts')
      const dataDir = resolve(flags.dataDir)
      const authority = await openCertificateAuthority(directoryPkiStore(join(dataDir, 'pki')), systemClock)
      const server = flags.server ?? (await findEndpoint(dataDir))?.url ?? 'https://127.0.0.1:6443'
      const groups = [...flags.group, ...(flags.groups?.split(',') ?? [])].map((g) => g.trim()).filter((g) => g !== '')
      const { cert, key } = authority.mintClientCertificate({ user: flags.user, groups, durationMs: flags.duration })
      process.stdout.write(
        kubeconfigYaml({
          server,
          caCert: authority.caCert,
          credential: { cert, key },
          userName: flags.user,
          ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
        }),
      )
    })
}
