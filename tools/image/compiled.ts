/**
 * Lets the unpacked image run once, so that V8 compiles what a start needs, and takes what it kept: where the image is
 * read-only, a start could not keep it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { entrypoint, imageUser } from './contents.ts'

const kept = 'borough/.cache'

/**
 * @param layers folders, the lowest first
 * @param compiled is filled with the layer
 * @param trial an empty folder, where the image is put together
 * @throws Error if it does not serve
 */
export async function compileInside(layers: readonly string[], compiled: string, trial: string): Promise<void> {
  for (const layer of layers) cpSync(layer, trial, { recursive: true, verbatimSymlinks: true })
  for (const path of ['data', kept]) {
    mkdirSync(join(trial, path), { recursive: true })
    chmodSync(join(trial, path), 0o777)
    if (process.getuid?.() === 0) chownSync(join(trial, path), imageUser, imageUser)
  }
  await serveOnce(trial)
  if (!existsSync(join(trial, kept, 'compiled'))) throw new Error('nothing was compiled')
  cpSync(join(trial, kept), join(compiled, kept), { recursive: true })
}

/** As a container would be: the folder is `/`, the user is the image's. Without root: in a user namespace. */
export function enter(folder: string): readonly string[] {
  const isRoot = process.getuid?.() === 0
  return isRoot
    ? ['chroot', `--userspec=${imageUser}:${imageUser}`, folder]
    : ['unshare', '--map-root-user', 'chroot', folder]
}

async function serveOnce(folder: string): Promise<void> {
  const [program = '', ...args] = enter(folder)
  const child = spawn(program, [...args, ...entrypoint, 'up', '--data-dir', '/data/trial', '--listen', '127.0.0.1:0'], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_ENV: 'production', HOME: '/data', MALLOC_ARENA_MAX: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('borough up ended in the image'))),
  ])
  child.kill()
  await ended
}
