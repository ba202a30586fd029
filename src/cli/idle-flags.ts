/** Flags that are given and would do nothing: who gives them believes otherwise, so they are refused. */
import type { Command } from 'commander'

/** What says more about what another flag asks for, by that flag. */
const details: Readonly<Record<string, readonly string[]>> = {
  'audit-log': ['audit-policy', 'audit-log-max-mib', 'audit-log-keep'],
  'authorization-webhook-config-file': [
    'authorization-webhook-cache-authorized-ttl',
    'authorization-webhook-cache-unauthorized-ttl',
  ],
  'backup-dir': ['backup-every', 'backup-full-every', 'backup-keep'],
  'oidc-issuer-url': [
    'oidc-username-claim',
    'oidc-username-prefix',
    'oidc-groups-claim',
    'oidc-groups-prefix',
    'oidc-required-claim',
    'oidc-ca-file',
    'oidc-signing-algs',
  ],
  'requestheader-client-ca-file': [
    'requestheader-allowed-names',
    'requestheader-username-headers',
    'requestheader-uid-headers',
    'requestheader-group-headers',
    'requestheader-extra-headers-prefix',
  ],
}

/** By the command line, the environment or a file. */
const isGiven = (command: Command, flag: string): boolean => {
  const option = command.options.find((option) => option.name() === flag)
  return option !== undefined && (command.getOptionValueSource(option.attributeName()) ?? 'default') !== 'default'
}

/** @throws CommanderError for the first that is given without the flag that it is about */
export function refuseIdleFlags(command: Command): void {
  for (const [flag, more] of Object.entries(details)) {
    const idle = isGiven(command, flag) ? undefined : more.find((name) => isGiven(command, name))
    if (idle !== undefined) command.error(`--${idle} needs --${flag}`)
  }
}

/** Of a command whose store is no etcd. @throws CommanderError for the first flag that is about one */
export function refuseEtcdFlags(command: Command): void {
  const idle = command.options.find((option) => option.name().startsWith('etcd-') && isGiven(command, option.name()))
  if (idle !== undefined) command.error(`--${idle.name()} is about an etcd: name it with --storage etcd://host:port`)
}
