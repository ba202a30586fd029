/** What operators are told of the backups that a server makes by itself: metrics, and a line of `/readyz?verbose`. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BackupLedger } from '../../src/backup/backup.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { type ServedStore, serveStore } from '../encryption/served-store.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { startTimeoutMs } from '../interop/serving-process.ts'
import { pageOf } from '../replicas/kubeconfig-client.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-backup-reports-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

it('a server tells how its backups went, and stays ready', async () => {
  const dataDir = join(root, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const clock = new FakeClock(1_700_000_000_000)
  const backupLedger = new BackupLedger(clock, '/backups', 3_600_000)
  const backup = { folder: '/backups', everyMs: 3_600_000, fullEveryMs: 86_400_000, keep: 2 }
  await using server: ServedStore = await serveStore(dataDir, undefined, { backup, backupLedger })
  const metrics = async (): Promise<string[]> =>
    (await server.metrics()).split('\n').filter((line) => line.startsWith('borough_backup_'))
  const ready = async (): Promise<string> => {
    const { status, text } = await server.send('GET', '/readyz?verbose')
    expect(status).toBe(200)
    return text
  }
  expect(await metrics()).toEqual([
    'borough_backup_runs_total{result="success"} 0',
    'borough_backup_runs_total{result="failure"} 0',
    'borough_backup_last_success_timestamp_seconds 0',
    'borough_backup_interval_seconds 3600',
  ])
  expect(await ready()).toContain('[+]backups ok\n')
  backupLedger.succeeded({ sizeBytes: 4711, durationMs: 1500 })
  await clock.advance(60_000)
  backupLedger.failed(new Error('the folder is gone'))
  expect(await metrics()).toEqual([
    'borough_backup_runs_total{result="success"} 1',
    'borough_backup_runs_total{result="failure"} 1',
    'borough_backup_last_success_timestamp_seconds 1700000000',
    'borough_backup_interval_seconds 3600',
    'borough_backup_last_size_bytes 4711',
    'borough_backup_last_duration_seconds 1.5',
  ])
  expect(await ready()).toContain(
    '[+]backups ok, with 1 warnings\nwarn: the backup into /backups at 2023-11-14T22:14:20Z failed ' +
      '(the last is of 2023-11-14T22:13:20Z): the folder is gone\n',
  )
  backupLedger.succeeded({ sizeBytes: 4711, durationMs: 1500 })
  expect(await ready()).toContain('[+]backups ok\n')
})

it.each([1, 2])('borough up tells it of its own, with %i workers', { timeout: 3 * startTimeoutMs }, async (workers) => {
  const set = join(root, 'set')
  await mkdir(set, { mode: 0o700 })
  const flags = ['--backup-dir', set, '--backup-every', '1s', '--workers', String(workers)]
  await using server = await BoroughProcess.start(flags)
  const kubeconfig = await server.adminKubeconfig()
  const told = (path: string): Promise<string> => pageOf(kubeconfig, server, path)
  const patience = { timeout: startTimeoutMs, interval: 200 }
  await expect
    .poll(() => told('/metrics'), patience)
    .toMatch(/^borough_backup_last_success_timestamp_seconds [1-9]\d+(\.\d+)?$/m)
  expect(await told('/readyz?verbose')).toContain('[+]backups ok\n')
  await chmod(set, 0o755)
  await expect
    .poll(() => told('/readyz?verbose'), patience)
    .toMatch(/^warn: the backup into \S+ at \S+ failed \(the last/m)
  expect(await told('/metrics')).toMatch(/^borough_backup_runs_total\{result="failure"\} [1-9]/m)
})
