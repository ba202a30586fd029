/** The files of a folder of backups: what their names say, and by which digest they are known. */
import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReportProgress } from '../base/progress.ts'
import { backupSource } from './backup-file.ts'
import { readChangeFile } from './change-file.ts'

export interface SetFile {
  readonly path: string
  readonly after: number | undefined
  readonly revision: number
}

const namePattern = /^(?:full|changes-(\d{16}))-(\d{16})$/
export const digits = (revision: number): string => String(revision).padStart(16, '0')

/** Of versions before, which named what they had not finished alike for every store. */
const partPattern = /^(?:unfinished-full(?:\.part)?|changes-\d{16}-\d{16}\.part)$/

/**
 * What a backup is written to until it is whole, without `.part`: one of each store, which makes one backup at a time.
 * What a killed one left there, or a version before, is removed.
 */
export async function freshPart(folder: string, storeId: string | undefined): Promise<string> {
  const tag = createHash('sha256')
    .update(storeId ?? '')
    .digest('hex')
    .slice(0, 16)
  const path = join(folder, `unfinished-${tag}`)
  const left = (await readdir(folder)).filter((name) => partPattern.test(name)).map((name) => join(folder, name))
  for (const each of [...left, `${path}.part`]) await rm(each, { force: true })
  return path
}

/** Ascending by revision; full ones after what ends at the same. */
export async function filesOf(folder: string): Promise<readonly SetFile[]> {
  const names = (await readdir(folder)).filter((name) => namePattern.test(name))
  return names
    .map((name) => {
      const [, after, revision] = namePattern.exec(name) ?? []
      return {
        path: join(folder, name),
        after: after === undefined ? undefined : Number(after),
        revision: Number(revision),
      }
    })
    .sort((a, b) => a.revision - b.revision || (a.after ?? Infinity) - (b.after ?? Infinity))
}

/** Of what a file holds, by its own last line; the whole of it is checked. */
export async function digestOfFile({ path, after }: SetFile, report?: ReportProgress): Promise<string> {
  const told = (done: number): void => report?.({ doing: 'checking', done, unit: 'changes' })
  if (after !== undefined) return (await readChangeFile(path, told)).sha256
  await using contents = await backupSource(path, report).read()
  return contents.sha256
}
