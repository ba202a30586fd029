/** Flags that are given and empty, as `--data-dir "$UNSET"`. */
import type { Command } from 'commander'
import { emptyValue } from './paths.ts'
import { placeOf } from './settings.ts'

/** Where nothing is a value: the default, and what is put before names. */
const mayBeEmpty = new Set(['oidc-username-prefix', 'oidc-groups-prefix', 'etcd-prefix'])

/** Of all commands of the program, once their flags have their values from wherever they come. */
export function refuseEmptyValues(program: Command): void {
  for (const command of program.commands) {
    refuseEmptyValues(command)
    command.hook('preAction', () => {
      const empty = command.options.find((option) => {
        const value: unknown = command.getOptionValue(option.attributeName())
        return !mayBeEmpty.has(option.name()) && (value === '' || (Array.isArray(value) && value.includes('')))
      })
      if (empty !== undefined) command.error(`${placeOf(command, empty.name())}: ${emptyValue}`)
    })
  }
}
