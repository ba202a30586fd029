/** `borough populate`: population by templates for any cluster. */
import { type Command, Option } from 'commander'
import { systemClock } from '../base/clock.ts'
import { parseListenAddress } from './listen-address.ts'
import { parseNamespace } from './namespace-name.ts'
import { outputOption, printAnswer } from './output.ts'
import { readableFile } from './path-flags.ts'
import type { PopulateFlags } from './populate-flags.ts'
import { logLevelOption } from './process-log.ts'
import { openFlags, patienceMs, withRemoteFlags } from './remote-flags.ts'
import { parseServer } from './server-url.ts'
import { addSettings } from './settings.ts'
import { warningLines } from './warning-lines.ts'

export function addPopulateCommand(program: Command): void {
  const command = program
    .command('populate')
    .description(
      'populate the namespaces of any cluster from templates: controller and webhooks, until a signal ends it',
    )
  withRemoteFlags(command)
    .addOption(
      new Option('--listen <host:port>', 'address of the webhooks, of /healthz, /readyz and /metrics; all HTTPS')
        .argParser(parseListenAddress)
        .default({ host: '127.0.0.1', port: 9443 }, '127.0.0.1:9443'),
    )
    .option('--namespace <name>', 'where its Secret and its Lease are', parseNamespace, 'borough-system')
    .addOption(
      new Option(
        '--webhook-url <url>',
        'how API servers reach the webhooks; default: in a pod by the Service borough-population, else at --listen',
      ).argParser(parseServer),
    )
    .addOption(
      new Option(
        '--admission <by>',
        'who decides about namespaces: policies in the API server, so that creating one needs no process of this ' +
          'command; webhooks; or policies where the cluster has MutatingAdmissionPolicy (1.36)',
      )
        .choices(['auto', 'policies', 'webhooks'])
        .default('auto'),
    )
    .option(
      '--fail-open',
      'while no replica answers, create namespaces without asking its webhooks (they get no creator and are open ' +
        'until they are populated; permissions to use templates are not asked for) instead of refusing them',
      false,
    )
    .option('--print-manifests', 'print what an administrator applies to run it in a cluster, and end', false)
    .option(
      '-f, --filename <files...>',
      'with --print-manifests: files or folders with templates, whose kinds it is given rights for',
      [],
    )
    .option('--image <image>', 'with --print-manifests: the container image', 'borough:latest')
    .option(
      '--uninstall',
      'take webhooks, policies and the finalizers of templates off the cluster and end; templates and objects stay',
      false,
    )
    .addOption(logLevelOption())
    .addOption(outputOption('the ready line, or what is printed or deleted'))
  addSettings(command)
  command
    .addHelpText(
      'after',
      `
It acts as the user of the kubeconfig, who needs the rights that --print-manifests shows: close to those of an
administrator, since it makes whatever the templates hold. Once the cluster is told, it tries a namespace as a dry
run; if that does not come through, all is taken off again. While it is installed, creating a namespace takes it where
webhooks decide, and where a template sets labels or an end of namespaces: stop it for good with --uninstall.

Examples:
  borough populate --kubeconfig ~/.kube/config
  borough populate --print-manifests -f templates/ --image registry.example/borough:0.1 | kubectl apply -f -
  borough populate --uninstall`,
    )
    .action(async (flags: PopulateFlags) => {
      readableFile(command, 'kubeconfig', flags.kubeconfig)
      if (flags.filename.length > 0 && !flags.printManifests) command.error('--filename needs --print-manifests')
      if (flags.printManifests) {
        const { printManifests } = await import('./print-manifests.ts')
        return printManifests(flags, command)
      }
      if (flags.uninstall) return uninstall(flags, command)
      const { runPopulate } = await import('./run-populate.ts')
      return runPopulate(flags, command)
    })
}

async function uninstall(flags: PopulateFlags, command: Command): Promise<void> {
  const { uninstallPopulation } = await import('../populate/populate.ts')
  const { client, server } = await openFlags(flags, 'populate', { onWarning: warningLines(command) })
  const { namespace } = flags
  const signal = AbortSignal.timeout(patienceMs)
  const { removed, released, leader } = await uninstallPopulation({ client, clock: systemClock, namespace, signal })
  await printAnswer(command, {
    value: { cluster: server, removed, released, ...(leader === undefined ? {} : { leader }) },
    text: () =>
      (removed.length === 0
        ? `${server} has none of its webhooks and policies.\n`
        : removed.map((name) => `${name} deleted\n`).join('')) +
      released.map((name) => `namespacetemplates/${name} released\n`).join('') +
      (leader === undefined
        ? ''
        : `${leader} still runs, and tells the cluster again when it starts anew: stop it, and say this once more\n`),
    names: removed,
  })
}
