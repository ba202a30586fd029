/** The life of `borough up`: take the directory, serve, say so, wait for a signal, finish. */
import { relative } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import { type Config } from '../app/config.ts'
import type { Log } from '../base/log.ts'
import { isUnwritable, writePrivateFile } from '../base/private-files.ts'
import { adminKubeconfigPath, openDataDir } from '../datadir/data-dir.ts'
import { beginServerStorage } from '../encryption/server-storage.ts'
import { closeOpened } from '../storage/served-storage.ts'
import { listenForEnding } from './ending.ts'
import { loadOfWorker } from './load-flags.ts'
import { isForReaders, printReady } from './output.ts'
import { processLog } from './process-log.ts'
import { tellSystemd } from './tell-systemd.ts'

/** What is said of the process that serves. */
interface Served extends AsyncDisposable {
  readonly url: string
  readonly adminUrl?: string
  readonly adminKubeconfig: string
}

/** Serves until a signal; a second one ends the process at once. */
export async function runUp(
  config: Config,
  workers: number,
  logLevel: string,
  command: Command,
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
  const mayShare = config.storage.engine === 'sqlite'
  await using dataDir = await openDataDir(dataDirPath, { clock: config.clock, mayShare })
  const kubeconfigs = [adminKubeconfigPath(dataDir.path), ...(config.kubeconfigPath ? [config.kubeconfigPath] : [])]
  const keep = (kubeconfig: string): Promise<void>[] =>
    kubeconfigs.map((path) => unlessUnwritable(log, writePrivateFile(path, kubeconfig)))
  // One after the other: each of several workers tells of the same change.
  let kept: Promise<unknown> = Promise.resolve()
  const ledger = await ledgerOf(config)
  await using server = await serveWith({ ...config, ...ledger, log }, workers, (kubeconfig) => {
    kept = kept
      .then(() => Promise.all(keep(kubeconfig)))
      .catch((error: unknown) =>
        log.error({ error }, "the administrator's kubeconfig trusts a certificate that is served no more"),
      )
  })
  await Promise.all([
    ...keep(server.adminKubeconfig),
    unlessUnwritable(log, dataDir.announce({ url: server.url, pid: process.pid })),
  ])
  await using _ = await startBackups({ ...config, ...ledger, log })
  // Before the ready line: a process that waits for it may send a signal at once.
  using ending = listenForEnding()
  await sayReady(server, kubeconfigs, command)
  await tellSystemd('READY=1', log)
  // Of several processes this one runs only a part of the code.
  if (workers === 1) onReady()
  keepHeapSmall()
  const signal = await Promise.race([ending.asked, dataDir.lost])
  // What follows puts in order what can be: another server has the directory, and this one's clients must turn to it.
  if (signal instanceof Error) throw signal
  const telling = tellSystemd('STOPPING=1', log)
  if (isForReaders(command)) {
    process.stderr.write(`\n${signal}: finishing what is under way; a second signal ends it at once\n`)
  }
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

async function ledgerOf({ backup: plan, clock }: Config): Promise<Pick<Config, 'backupLedger'>> {
  if (plan === undefined) return {}
  const { BackupLedger } = await import('../backup/backup.ts')
  return { backupLedger: new BackupLedger(clock, plan.folder, plan.everyMs) }
}

/** They stop before the server does. */
async function startBackups({
  backup: plan,
  backupLedger: ledger,
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
    ...(ledger === undefined ? {} : { ledger }),
    options: async () =>
      encryption === undefined
        ? options
        : { ...options, encryption: await openCopyEncryption({ ...encryption, automaticReload: false }, options) },
  })
  schedule.start()
  return schedule
}

/** Where these files can't be written the store is served all the same; those of the start before are as good. */
async function unlessUnwritable(log: Log, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isUnwritable(error)) throw error
    log.warn({ reason: (error as Error).message }, 'a file in the data directory was left as it is')
  }
}

/** Signals are meant for the primary, though a terminal sends them to all. */
async function runWorker(work: () => Promise<void>): Promise<void> {
  const ignore = (): void => {}
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, ignore)
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

async function sayReady(
  { url, adminUrl }: Pick<Served, 'url' | 'adminUrl'>,
  kubeconfigs: readonly string[],
  command: Command,
): Promise<void> {
  const kubeconfig = kubeconfigs.at(-1) ?? ''
  const admin = adminUrl === undefined ? {} : { adminUrl }
  await printReady(command, {
    value: { url, ...admin, kubeconfig, pid: process.pid },
    text: () =>
      (adminUrl === undefined ? '' : `Administrators are served apart on ${adminUrl}.\n`) +
      `Borough serves ${url}. To use it: export KUBECONFIG=${fromHere(kubeconfig)}\n`,
    names: [url],
  })
}

function fromHere(path: string): string {
  const here = process.cwd()
  const shown = relative(here, path)
  // A service begins in /, where no operator is who reads the line.
  return here !== '/' && !shown.startsWith('..') ? `$PWD/${shown}` : path
}
