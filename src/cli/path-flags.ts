/** Files and folders that flags name, looked at before anything is opened or made. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Problem, unreadable, unusableFolder, unwritable } from './paths.ts'
import { placeOf } from './settings.ts'

type Value = string | undefined

/** The absolute path that the flag gives. @throws CommanderError that names the flag, variable or setting */
export const readableFile = <T extends Value>(command: Command, flag: string, path: T): T =>
  checked(command, flag, path, unreadable)

/** As `readableFile`. */
export const writableFile = <T extends Value>(command: Command, flag: string, path: T): T =>
  checked(command, flag, path, unwritable)

/** As `readableFile`. */
export const usableFolder = <T extends Value>(command: Command, flag: string, path: T): T =>
  checked(command, flag, path, unusableFolder)

function checked<T extends Value>(command: Command, flag: string, path: T, problemOf: (path: string) => Problem): T {
  if (path === undefined) return path
  const problem = problemOf(path)
  if (problem !== undefined) command.error(`${placeOf(command, flag)}: ${problem}`)
  return resolve(path) as T
}
