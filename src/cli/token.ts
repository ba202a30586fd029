/** `borough token create`: a token of a service account, from the server that runs on the data directory. */
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { KubeObject } from '../kube/types.ts'
import { durationOption, hourMs, validityBounds } from './duration.ts'
import { outputOption, printAnswer } from './output.ts'
import { usableFolder } from './path-flags.ts'
import { parseServer } from './server-url.ts'
import { nameDataDir } from './store-place.ts'
import { warningLines } from './warning-lines.ts'

interface TokenFlags {
  readonly serviceaccount: { readonly namespace: string; readonly name: string }
  readonly duration: number
  readonly audience: readonly string[]
  readonly dataDir: string
  readonly server?: string
}

/** Long enough to ask once. */
const certificateMs = 5 * 60_000

export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('tokens of service accounts')
    .command('create')
    .description('print a fresh token of a service account')
    .requiredOption('--serviceaccount <ns/name>', 'whose token', parseAccount)
    .addOption(
      durationOption('--duration <duration>', 'how long it is good: 10m or more; 24h, 30d', hourMs, validityBounds),
    )
    .option('--audience <names...>', 'whom it is for; default: this server', [])
    .option('--server <url>', 'where the server is; default: where the one on the data directory listens', parseServer)
    .option('--data-dir <dir>', "the server's data directory", '.borough')
    .addOption(outputOption('the token: alone, or as the TokenRequest with its end'))
    .addHelpText(
      'after',
      `
The token ends with its service account, too. It is asked for as the administrator, with a certificate of the data
directory's own authority, so whoever can read that directory can run this.

Examples:
  borough token create --serviceaccount my-namespace/default
  kubectl --token "$(borough token create --serviceaccount ci/builder --duration 12h)" get pods -n ci`,
    )
    .action(async (flags: TokenFlags, command: Command) => {
      const { systemClock } = await import('../base/clock.ts')
      const { findEndpoint } = await import('../datadir/data-dir.ts')
      const { directoryPkiStore, openCertificateAuthority } = await import('../pki/pki.ts')
      const { httpsTransport } = await import('../client/https-transport.ts')
      const { RestClient } = await import('../client/rest-client.ts')
      const { mastersGroup } = await import('../kube/user.ts')
      const dataDir = usableFolder(command, 'data-dir', flags.dataDir)
      const server = flags.server ?? (await findEndpoint(dataDir))?.url
      if (server === undefined) {
        throw new Error(
          `no server runs on ${dataDir}: name a server's data directory with --data-dir, start one with 'borough up',` +
            ' or name one with --server',
        )
      }
      const authority = await openCertificateAuthority(
        directoryPkiStore(join(dataDir, 'pki')),
        systemClock,
        nameDataDir,
      )
      const credential = authority.mintClientCertificate({
        user: 'kubernetes-admin',
        groups: [mastersGroup],
        durationMs: certificateMs,
      })
      const client = new RestClient({
        transport: httpsTransport({ server, credentials: () => ({ ca: authority.caCert, ...credential }) }),
        userAgent: 'borough/token',
        onWarning: warningLines(command),
      })
      const answer = await client.create(
        { group: '', version: 'v1', resource: 'serviceaccounts' },
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: { ...flags.serviceaccount },
          spec: { audiences: flags.audience, expirationSeconds: Math.floor(flags.duration / 1000) },
        },
        { subresource: 'token' },
      )
      const token = tokenOf(answer)
      await printAnswer(command, {
        value: answer,
        text: () => `${token}\n`,
        names: [`serviceaccount/${flags.serviceaccount.name}`],
      })
    })
}

function tokenOf(answer: KubeObject): string {
  const token = (answer['status'] as { readonly token?: unknown } | undefined)?.token
  if (typeof token !== 'string') throw new Error('the server answered without a token')
  return token
}

function parseAccount(text: string): { namespace: string; name: string } {
  const match = /^([^/]+)\/([^/]+)$/.exec(text)
  if (match === null) throw new InvalidArgumentError('It must be namespace/name.')
  return { namespace: match[1] ?? '', name: match[2] ?? '' }
}
