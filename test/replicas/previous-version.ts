/**
 * The version before this one as a program: the sources of an earlier commit of this repository, which Node runs as
 * they are. They are taken out of the history, so nothing is fetched or built, and lie in `.cache/` from then on.
 * BOROUGH_PREVIOUS_MAIN names another program: of a checkout with packages of its own.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What was on main before. A release takes its place; it must run with the packages of today. */
const previousCommit = '666e34c5e26b7fad124b233efa8fcd12e5f80923'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `program` undefined: why there is none. */
export type PreviousVersion =
  | { readonly program: string; readonly name: string }
  | { readonly program: undefined; readonly why: string }

export function previousVersion(): PreviousVersion {
  const named = process.env['BOROUGH_PREVIOUS_MAIN']
  if (named !== undefined) return { program: named, name: named }
  const name = previousCommit.slice(0, 8)
  const folder = join(root, '.cache', `previous-${name}`)
  try {
    if (!existsSync(folder)) takeOut(folder)
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
    return { program: undefined, why: `commit ${name} can't be taken out of the history here: ${reason}` }
  }
  return { program: join(folder, 'src', 'cli', 'main.ts'), name }
}

/** Beside, and moved there: another worker may want it too. */
function takeOut(folder: string): void {
  const part = `${folder}.${process.pid}`
  mkdirSync(part, { recursive: true })
  try {
    const archive = execFileSync(
      'git',
      ['archive', previousCommit, 'src', 'tools', 'package.json', 'package-lock.json'],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        maxBuffer: 256 * 1024 * 1024,
      },
    )
    execFileSync('tar', ['-x', '-C', part], { input: archive, stdio: ['pipe', 'ignore', 'pipe'] })
    symlinkSync(join(root, 'node_modules'), join(part, 'node_modules'))
    execFileSync(process.execPath, [join(part, 'tools', 'generate-catalog.ts')], { cwd: part, stdio: 'pipe' })
    renameSync(part, folder)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}
