/** `borough console`: a page for people, on this machine. */
import { type Command, Option } from 'commander'
import { parseListenAddress } from './listen-address.ts'
import { outputOption } from './output.ts'
import { withRemoteFlags } from './remote-flags.ts'
import type { ConsoleFlags } from './run-console.ts'

export function addConsoleCommand(program: Command): void {
  const command = program
    .command('console')
    .description('serve a page for this cluster on this machine, as the user of the kubeconfig, until a signal ends it')
  withRemoteFlags(command)
    .addOption(
      new Option('--listen <host:port>', 'a loopback address; port 0 = a free one')
        .argParser(parseListenAddress)
        .default({ host: '127.0.0.1', port: 0 }, '127.0.0.1:0'),
    )
    .option('--no-open', 'print the address, and open no browser')
    .addOption(outputOption('the ready line'))
    .addHelpText(
      'after',
      `
It works with Borough and with any other cluster; borough populate brings templates there. The address holds a secret,
which opens the page once, in one browser.

Examples:
  borough console
  borough console --kubeconfig dev1.kubeconfig --no-open`,
    )
    .action(async (flags: ConsoleFlags) => {
      const { runConsole } = await import('./run-console.ts')
      return runConsole(flags, command)
    })
}
