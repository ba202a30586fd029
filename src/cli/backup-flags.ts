/** Backups that a server makes by itself. */
import type { Command } from 'commander'
import type { Config } from '../app/config.ts'
import { durationOption, hourMs } from './duration.ts'
import { parseCount } from './number.ts'
import { usableFolder } from './path-flags.ts'

export interface BackupFlags {
  readonly backupDir?: string
  readonly backupEvery: number
  readonly backupFullEvery: number
  readonly backupKeep: number
}

export const addBackupOptions = (command: Command): Command =>
  command
    .option('--backup-dir <dir>', 'back up the data directory into this folder, by itself')
    .addOption(
      durationOption('--backup-every <duration>', 'how often: 30m, 1h; what changed since the one before', hourMs),
    )
    .addOption(durationOption('--backup-full-every <duration>', 'how often everything: 24h, 7d', 24 * hourMs))
    .option('--backup-keep <n>', 'backups of everything that are kept, with what changed after each', parseCount, 7)

/** @throws CommanderError */
export function backupOf(flags: BackupFlags, engine: string, command: Command): Pick<Config, 'backup'> {
  if (flags.backupDir === undefined) return {}
  if (engine !== 'sqlite') command.error("--backup-dir is of a SQLite store: take etcd's own snapshots")
  const { backupEvery: everyMs, backupFullEvery: fullEveryMs, backupKeep: keep } = flags
  return { backup: { folder: usableFolder(command, 'backup-dir', flags.backupDir), everyMs, fullEveryMs, keep } }
}
