/** What metrics and health checks tell of the store, beside whether it can be read. */

import type { FeatureParts, ReadFamily } from '../feature/feature.ts'
import type { HealthCheck } from '../http/health.ts'
import type { BackupReport, ScrubReport, Storage, StoreCondition } from '../storage/storage.ts'
import type { StoreReporter } from '../storage/store-report.ts'
import type { Encryption } from './encryption.ts'
import { encryptionOf } from './server-storage.ts'

/** Part of the server as features are. What another process holds is told by that one. */
export const storeParts = (storage: Storage, reporter: StoreReporter): FeatureParts => ({
  metrics({ families }) {
    if (!reporter.isOwn) return
    families(() => encryptionFamilies(encryptionOf(storage)))
    families(() => roomFamilies(reporter.now().condition))
    families(() => scrubFamilies(reporter.now().scrub))
    families(() => backupFamilies(reporter.now().backups))
  },
})

function roomFamilies(condition: StoreCondition | undefined): readonly ReadFamily[] {
  const gauge = (name: string, help: string, value: number | undefined): ReadFamily => {
    return { type: 'gauge', name, help, samples: value === undefined ? [] : [{ labels: {}, value }] }
  }
  const limited = condition && Number(condition.writes !== 'all')
  return [
    gauge('borough_storage_writes_limited', '1 where the store is full or can not be written.', limited),
    gauge('borough_storage_used_bytes', 'The store and its log.', condition?.usedBytes),
    gauge('borough_storage_free_bytes', 'Until the disk or the largest size is reached.', condition?.freeBytes),
  ]
}

function scrubFamilies(scrub: ScrubReport | undefined): readonly ReadFamily[] {
  const family = (type: 'counter' | 'gauge', name: string, help: string, value: number | undefined): ReadFamily => {
    return { type, name, help, samples: value === undefined ? [] : [{ labels: {}, value }] }
  }
  const completed = scrub?.completedMs === undefined ? undefined : scrub.completedMs / 1000
  return [
    family('counter', 'borough_storage_scrubbed_values_total', 'Stored values that the scrub has read.', scrub?.values),
    family('counter', 'borough_storage_scrubbed_bytes_total', 'Bytes of these values.', scrub?.bytes),
    family('counter', 'borough_storage_scrubs_total', 'How often the scrub came to the end.', scrub?.passes),
    family('gauge', 'borough_storage_scrub_findings', 'What is not as it was written.', scrub?.findings.length),
    family('gauge', 'borough_storage_scrub_last_timestamp_seconds', 'When the scrub last came to the end.', completed),
  ]
}

function backupFamilies(backups: BackupReport | undefined): readonly ReadFamily[] {
  const { sizeBytes, durationMs } = backups ?? {}
  const gauge = (name: string, help: string, value: number | undefined): ReadFamily => {
    return { type: 'gauge', name, help, samples: value === undefined ? [] : [{ labels: {}, value }] }
  }
  const last = backups && (backups.lastMs ?? 0) / 1000
  const every = backups && backups.everyMs / 1000
  return [
    {
      type: 'counter',
      name: 'borough_backup_runs_total',
      help: 'Backups that the server made by itself, or tried to make.',
      samples: backups
        ? [
            { labels: { result: 'success' }, value: backups.successes },
            { labels: { result: 'failure' }, value: backups.failures },
          ]
        : [],
    },
    gauge('borough_backup_last_success_timestamp_seconds', 'When one last succeeded; 0: none yet.', last),
    gauge('borough_backup_interval_seconds', 'How often one is made.', every),
    gauge('borough_backup_last_size_bytes', 'The newest file of the last one.', sizeBytes),
    gauge(
      'borough_backup_last_duration_seconds',
      'How long the last one took.',
      durationMs === undefined ? undefined : durationMs / 1000,
    ),
  ]
}

function encryptionFamilies(encryption: Encryption | undefined): readonly ReadFamily[] {
  const reloads = encryption?.reloads() ?? []
  const transformations = encryption?.transformations() ?? []
  return [
    {
      type: 'counter',
      name: 'apiserver_storage_transformation_operations_total',
      help: 'Values encrypted for the store and decrypted from it.',
      samples: transformations.map(({ resource, type, prefix, status, times }) => ({
        labels: { resource, transformation_type: type, transformer_prefix: prefix, status },
        value: times,
      })),
    },
    {
      type: 'counter',
      name: 'apiserver_encryption_config_controller_automatic_reloads_total',
      help: 'How often a changed encryption configuration was taken (success), or could not be (failure).',
      samples: reloads.map(({ status, times }) => ({ labels: { status }, value: times })),
    },
    {
      type: 'gauge',
      name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
      help: 'When that last happened.',
      samples: reloads.map(({ status, lastMs }) => ({ labels: { status }, value: lastMs / 1000 })),
    },
  ]
}

/** As upstream's check of KMS plugins; none where there is no plugin. */
export function kmsChecks(storage: Storage): readonly HealthCheck[] {
  const encryption = encryptionOf(storage)
  return encryption?.hasKms === true ? [{ name: 'kms-providers', check: () => checkKms(encryption) }] : []
}

function checkKms(encryption: Encryption): void {
  const [problem] = encryption.problems()
  if (problem !== undefined) throw new Error(problem)
}

/** Reads go on, so they never fail: what limits writes, or soon will, and what is damaged are warnings. */
export function storeChecks(reporter: StoreReporter): readonly HealthCheck[] {
  const { condition, scrub } = reporter.now()
  const isElsewhere = !reporter.isOwn
  const room = { name: 'storage-room', check() {}, warnings: () => reporter.now().condition?.warnings ?? [] }
  const scrubbed = {
    name: 'storage-scrub',
    check: () => reporter.refresh(),
    warnings: () => reporter.now().scrub?.findings ?? [],
  }
  const backedUp = {
    name: 'backups',
    check: () => reporter.refresh(),
    warnings: () => reporter.now().backups?.warnings ?? [],
  }
  return [
    ...(isElsewhere || condition !== undefined ? [room] : []),
    ...(isElsewhere || scrub !== undefined ? [scrubbed] : []),
    ...(reporter.makesBackups ? [backedUp] : []),
  ]
}
