/** The life of `borough up`: take the directory, serve, say so, wait for a signal, finish. */
import { once } from 'node:events'
import { relative } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { type Config } from '../app/config.ts'
import type { Log } from '../base/log.ts'
import { writePrivateFile } from '../base/private-files.ts'
import { adminKubeconfigPath, openDataDir } from '../datadir/data-dir.ts'
import { beginServerStorage } from '../encryption/server-storage.ts'
import { closeOpened } from '../storage/served-storage.ts'
import { loadOfWorker } from './load-flags.ts'
import { processLog } from './process-log.ts'
import { tellSystemd } from './tell-systemd.ts'

/** What is said of the process that serves. */
interface Served extends AsyncDisposable {
  readonly url: string
  readonly adminUrl?: string
  readonly adminKubeconfig: string
}

/** Serves until SIGINT or SIGTERM; a second signal ends the process at once. */
export async function runUp(
  config: Config,
  workers: number,
  logLevel: string,
  json: boolean,
  onReady: () => void,
): Promise<void> {
  const log = processLog(logLevel)
  const dataDirPath = config.dataDir
  if (dataDirPath === undefined) throw new Error('a data directory is needed')
  if (workers > 1) {
    const { isWorker, serveAsWorker } = await import('../workers/workers.ts')
    if (isWorker()) {
      const load = loadOfWorker(config.load, workers)
      return runWorker(() => serveAsWorker({ ...config, load, log }))
    }
  }
  await using dataDir = await openDataDir(dataDirPath)
  const kubeconfigs = [adminKubeconfigPath(dataDir.path), ...(config.kubeconfigPath ? [config.kubeconfigPath] : [])]
  const keep = (kubeconfig: string): Promise<void>[] =>
    kubeconfigs.map((path) => unlessFull(log, writePrivateFile(path, kubeconfig)))
  // One after the other: each of several workers tells of the same change.
  let kept: Promise<unknown> = Promise.resolve()
  await using server = await serveWith({ ...config, log }, workers, (kubeconfig) => {
    kept = kept
      .then(() => Promise.all(keep(kubeconfig)))
      .catch((error: unknown) =>
        log.error({ error }, "the administrator's kubeconfig trusts a certificate that is served no more"),
      )
  })
  await Promise.all([
    ...keep(server.adminKubeconfig),
    unlessFull(log, dataDir.announce({ url: server.url, pid: process.pid })),
  ])
  await using _ = await startBackups({ ...config, log })
  const signalled = Promise.race([
    once(process, 'SIGINT').then(() => 'SIGINT'),
    once(process, 'SIGTERM').then(() => 'SIGTERM'),
  ])
  // After that: a process that waits for this line may send a signal at once.
  sayReady(server, kubeconfigs, json)
  await tellSystemd('READY=1', log)
  // Of several processes this one runs only a part of the code.
  if (workers === 1) onReady()
  keepHeapSmall()
  const signal = await signalled
  const telling = tellSystemd('STOPPING=1', log)
  if (!json) process.stderr.write(`\n${signal}: finishing what is under way; a second signal ends it at once\n`)
  const impatient = (): void => process.exit(130)
  process.once('SIGINT', impatient)
  process.once('SIGTERM', impatient)
  await telling
}

async function serveWith(
  config: Config,
  workers: number,
  onAdminKubeconfig: (kubeconfig: string) => void,
): Promise<Served> {
  if (workers > 1) {
    const { serveWithWorkers } = await import('../workers/workers.ts')
    return serveWithWorkers(config, workers, onAdminKubeconfig)
  }
  // The store's thread starts and reads while this one loads the code that serves.
  const { opened } = await beginServerStorage(config)
  await using opening = new AsyncDisposableStack()
  opening.defer(() => closeOpened(opened))
  const { serve } = await import('../app/serve.ts')
  const server = await serve(config, opened, onAdminKubeconfig)
  opening.move()
  return server
}

/** They stop before the server does. */
async function startBackups({
  backup: plan,
  dataDir,
  encryption,
  clock,
  log,
}: Config): Promise<AsyncDisposable | null> {
  if (plan === undefined || dataDir === undefined) return null
  const { BackupSchedule, openCopyEncryption } = await import('../backup/backup.ts')
  const options = { clock, log }
  const schedule = new BackupSchedule({
    ...options,
    plan,
    dataDir,
    options: async () =>
      encryption === undefined
        ? options
        : { ...options, encryption: await openCopyEncryption({ ...encryption, automaticReload: false }, options) },
  })
  schedule.start()
  return schedule
}

/** Without room for these files the store is served all the same; those of the start before are as good. */
async function unlessFull(log: Log, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isFull(error)) throw error
    log.error({ error }, 'a file in the data directory was left as it is: there is no room for it')
  }
}

function isFull(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ('code' in each && (each.code === 'ENOSPC' || each.code === 'EDQUOT')) return true
  }
  return false
}

/** Signals are meant for the primary, though a terminal sends them to all. */
async function runWorker(work: () => Promise<void>): Promise<void> {
  const ignore = (): void => {}
  process.on('SIGINT', ignore)
  process.on('SIGTERM', ignore)
  try {
    await work()
  } catch {
    // The primary was told, and says it.
    process.exitCode = 1
  }
}

/**
 * The old generation may grow by half of what is alive before it is collected, not to several times that: else a burst
 * leaves some 100 MB behind. Not from the beginning: a start leaves little behind, and would take a tenth longer.
 */
const keepHeapSmall = (): void => setFlagsFromString('--heap-growing-percent=50')

function sayReady(
  { url, adminUrl }: Pick<Served, 'url' | 'adminUrl'>,
  kubeconfigs: readonly string[],
  json: boolean,
): void {
  const kubeconfig = kubeconfigs.at(-1) ?? ''
  const admin = adminUrl === undefined ? {} : { adminUrl }
  if (json) {
    process.stdout.write(`${JSON.stringify({ url, ...admin, kubeconfig, pid: process.pid })}\n`)
    return
  }
  if (adminUrl !== undefined) process.stdout.write(`Administrators are served apart on ${adminUrl}.\n`)
  const here = process.cwd()
  const shown = relative(here, kubeconfig)
  // A service begins in /, where no operator is who reads the line.
  const isBelow = here !== '/' && !shown.startsWith('..')
  process.stdout.write(
    `Borough serves ${url}. To use it: export KUBECONFIG=${isBelow ? `$PWD/${shown}` : kubeconfig}\n`,
  )
}
