/** A data directory, as it lies there: nothing in it is changed, and a server may run on it. */
import { existsSync, type Stats, statfsSync, statSync } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hadStore, requireWhole, verifyStoreAt } from '../backup/backup.ts'
import type { Clock } from '../base/clock.ts'
import { silentLog } from '../base/log.ts'
import { shellWord } from '../base/shell-text.ts'
import { dataDirLock } from '../datadir/data-dir.ts'
import { directoryPkiStore } from '../pki/pki.ts'
import { examineCertificates } from './certificates.ts'
import { type Finding, fail, ok, problemOf, warn } from './finding.ts'

/** A store up to this size is verified as a whole; it takes some seconds. */
const quickBytes = 256 * 1024 ** 2
/** Less than that is free: the store will be full soon. */
const littleRoomBytes = 512 * 1024 ** 2
/** The reserve of a full store is written anew when there is twice its size. */
const noRoomBytes = 17 * 1024 ** 2

export async function examineDataDirectory(path: string, clock: Clock): Promise<readonly Finding[]> {
  const check = `data directory ${path}`
  let folder: Stats
  try {
    folder = await stat(path)
  } catch (error) {
    const { code = problemOf(error) } = error as NodeJS.ErrnoException
    return [fail(check, `it can't be read (${code})`, "name another with --data-dir, or start 'borough up' to make it")]
  }
  if (!folder.isDirectory()) return [fail(check, 'it is no directory', 'name another with --data-dir')]
  // A server takes a link to it too; what is advised must reach what is in it.
  const place = await realpath(path)
  if (!(await isDataDirectory(place))) {
    return [fail(check, 'it holds other files, and nothing of a server', 'name another with --data-dir')]
  }
  return [
    await examineModes(place),
    await examineLock(place),
    await examineStore(place, clock),
    examineRoom(place),
    ...(await examineKeys(place, clock.now())),
  ]
}

/** An empty one is: that is where a server begins. What is told of others, `chmod -R` say, must not be done to them. */
async function isDataDirectory(path: string): Promise<boolean> {
  const entries = await readdir(path)
  const [lock, store, ca] = ['lock', join('store', 'state.db'), join('pki', 'ca.crt')]
  return entries.length === 0 || [lock, store, ca].some((name) => sizeOf(join(path, name)) !== undefined)
}

async function examineModes(path: string): Promise<Finding> {
  const check = 'data directory: modes'
  const entries = await readdir(path, { recursive: true })
  const open: string[] = []
  for (const name of ['', ...entries].sort()) {
    const each = join(path, name)
    const found = await lstat(each).catch((error: NodeJS.ErrnoException) => {
      // A server runs here, and removes what it needs no more.
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (found !== undefined && !found.isSymbolicLink() && (found.mode & 0o077) !== 0) open.push(each)
  }
  const [first] = open
  if (first === undefined || process.platform === 'win32') return ok(check, `readable by their owner alone`)
  const others = open.length === 1 ? ' is' : ` and ${open.length - 1} more are`
  return fail(
    check,
    `${first}${others} open to other users; a server refuses keys that are`,
    `chmod -R go= ${shellWord(path)}`,
  )
}

async function examineLock(path: string): Promise<Finding> {
  const check = 'data directory: lock'
  const lock = await dataDirLock(path)
  if (lock.state === 'held') {
    const by = lock.endpoint === undefined ? 'a process' : `process ${lock.endpoint.pid}, ${lock.endpoint.url}`
    return ok(check, `served by ${by}`)
  }
  if (lock.readers.length > 0) {
    return warn(
      check,
      `only read, by process ${lock.readers.join(', ')}: it could not be written at the start`,
      "mend that ('A store that can only be read' in docs/operations.md), stop all that read it, and start again",
    )
  }
  if (lock.endpoint === undefined) return ok(check, 'no server runs on it')
  return warn(
    check,
    `no server runs on it; the last one (process ${lock.endpoint.pid}) was killed or its machine stopped`,
    "start 'borough up' again: what was acknowledged is there",
  )
}

async function examineStore(path: string, clock: Clock): Promise<Finding> {
  const check = 'data directory: store'
  try {
    await requireWhole(path)
  } catch (error) {
    return fail(check, problemOf(error), 'do what the line says: no server starts on it')
  }
  if (!hadStore(path)) return ok(check, 'there is no SQLite store: nothing was written, or the store is an etcd')
  const size = sizeOf(join(path, 'store', 'state.db')) ?? 0
  const mebibytes = Math.ceil(size / 1024 ** 2)
  if (size > quickBytes) {
    return ok(check, `${mebibytes} MiB; checksums were not looked at: 'borough storage verify --data-dir ${path}'`)
  }
  const remedy = `'borough storage verify --data-dir ${path}' names what is damaged, 'borough storage repair' mends it`
  try {
    const { findings, entries, revision, past } = await verifyStoreAt({ dataDir: path }, { clock, log: silentLog })
    const [first] = findings
    if (first !== undefined && findings.length === past) {
      return warn(check, `${findings.length} findings in history alone, the first: ${first}`, 'nothing is to be done')
    }
    if (first !== undefined) {
      return fail(check, `${findings.length} findings, the first: ${first}`, isLoss(first) ? lossRemedy : remedy)
    }
    return ok(check, `${mebibytes} MiB, ${entries} entries at revision ${revision}: all is as it was written`)
  } catch (error) {
    const problem = problemOf(error)
    return fail(check, problem, isLoss(problem) ? lossRemedy : remedy)
  }
}

const isLoss = (finding: string): boolean => finding.includes('--accept-loss')
const lossRemedy = "do what the line says: 'borough storage repair' does not bring it back"

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

function examineRoom(path: string): Finding {
  const { bavail, bsize, blocks } = statfsSync(path)
  const store = join(path, 'store')
  // A server that stands still holds it too, but for the first second of the first start.
  const hasReserve = existsSync(join(store, 'reserve')) || !existsSync(join(store, 'state.db'))
  return examineFree({ freeBytes: bavail * bsize, totalBytes: blocks * bsize, hasReserve })
}

export interface Room {
  readonly freeBytes: number
  readonly totalBytes: number
  /** What the store keeps for a full disk is there (ADR 0057), or there is no store. */
  readonly hasReserve: boolean
}

export function examineFree({ freeBytes, totalBytes, hasReserve }: Room): Finding {
  const check = 'data directory: room on the disk'
  const text = `${Math.floor(freeBytes / 1024 ** 2)} MiB free of ${Math.floor(totalBytes / 1024 ** 2)} MiB`
  if (freeBytes >= littleRoomBytes) return ok(check, text)
  const remedy = 'free some, move the directory to a larger disk, or bound the store with --max-store-size'
  if (freeBytes >= noRoomBytes) return warn(check, `${text}: on a full disk only deletes are taken`, remedy)
  return fail(
    check,
    `${text}: ${hasReserve ? 'soon only deletes are taken' : 'its reserve is used up, only deletes are taken'}`,
    `${remedy}; the server takes all writes again by itself`,
  )
}

async function examineKeys(path: string, nowMs: number): Promise<readonly Finding[]> {
  const check = 'data directory: keys'
  try {
    const files = await directoryPkiStore(join(path, 'pki')).read()
    if (files.size === 0) return [ok(check, 'none yet: the first start makes them, or they lie in etcd')]
    return [...files]
      .filter(([name]) => name === 'ca.crt' || name === 'server.crt')
      .map(([name, pem]) =>
        examineCertificates(
          `certificate ${join(path, 'pki', name)}`,
          pem,
          nowMs,
          name === 'ca.crt'
            ? `clients trust it: remove ${join(path, 'pki')}/ca.* and server.*, start again, hand out kubeconfigs anew`
            : "a running server renews it 60 days before its end; else start 'borough up' again",
        ),
      )
  } catch (error) {
    return [fail(check, problemOf(error), 'do what the line says: no server starts on such keys')]
  }
}
