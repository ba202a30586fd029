/** What metrics and health checks tell of the store, beside whether it can be read. */

import type { FeatureParts, ReadFamily } from '../feature/feature.ts'
import type { HealthCheck } from '../http/health.ts'
import type { Storage, StoreCondition } from '../storage/storage.ts'
import type { Encryption } from './encryption.ts'
import { encryptionOf } from './server-storage.ts'

/** Part of the server as features are. */
export const storeParts = (storage: Storage): FeatureParts => ({
  metrics({ families }) {
    families(() => encryptionFamilies(encryptionOf(storage)))
    families(() => roomFamilies(storage.condition?.()))
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

/** Reads go on, so it never fails: what limits writes, or soon will, is a warning. */
export const roomChecks = (storage: Storage): readonly HealthCheck[] =>
  storage.condition === undefined
    ? []
    : [{ name: 'storage-room', check() {}, warnings: () => storage.condition?.()?.warnings ?? [] }]
