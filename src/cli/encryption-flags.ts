/** Encryption at rest on the command line, by kube-apiserver's names. */
import type { Command } from 'commander'
import type { Config } from '../app/config.ts'
import { readableFile } from './path-flags.ts'

export interface EncryptionFlags {
  readonly encryptionProviderConfig?: string
}

export interface ServedEncryptionFlags extends EncryptionFlags {
  readonly encryptionProviderConfigAutomaticReload?: true
}

export const addEncryptionOption = (command: Command): Command =>
  command.option(
    '--encryption-provider-config <file>',
    'an EncryptionConfiguration: which resources are encrypted in the store, and with which keys',
  )

/** For a server. */
export const addEncryptionOptions = (command: Command): Command =>
  addEncryptionOption(command).option(
    '--encryption-provider-config-automatic-reload',
    'take another version of that file without a restart; it is looked at once a minute',
  )

/** @throws CommanderError */
export function encryptionOf(flags: ServedEncryptionFlags, command: Command): Pick<Config, 'encryption'> {
  const { encryptionProviderConfig: path, encryptionProviderConfigAutomaticReload: automaticReload = false } = flags
  if (path === undefined) {
    if (automaticReload) {
      command.error('--encryption-provider-config-automatic-reload needs --encryption-provider-config')
    }
    return {}
  }
  return { encryption: { path: readableFile(command, 'encryption-provider-config', path), automaticReload } }
}
