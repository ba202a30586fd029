/**
 * A store on a file system that has room and no inodes: it is written and read as ever, says what is wrong, and comes
 * up again after a stop and after a crash, though a start needs files.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { endProcess, isRunning, startServing } from '../interop/serving-process.ts'
import { clientOf, pageOf } from '../replicas/kubeconfig-client.ts'
import { freePort } from '../support/free-port.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

const fileSystems: readonly { readonly name: string; mount(place: string, image: string): void }[] = [
  {
    name: 'tmpfs',
    mount: (place) => mount('-t', 'tmpfs', '-o', 'size=96m,nr_inodes=96', 'tmpfs', place),
  },
  {
    name: 'ext4',
    mount(place, image) {
      execFileSync('truncate', ['-s', '96M', image])
      execFileSync('mkfs.ext4', ['-q', '-N', '96', image], { stdio: 'ignore' })
      mount('-o', 'loop', image, place)
    },
  },
]

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'ignore' })
}

/** Where this machine lets us mount one. */
async function mounted(fileSystem: (typeof fileSystems)[0]): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-inodes-'))
  const place = join(folder, 'disk')
  await mkdir(place)
  try {
    fileSystem.mount(place, join(folder, 'image'))
  } catch {
    await rm(folder, { recursive: true })
    return undefined
  }
  onTestFinished(async () => {
    execFileSync('umount', [place])
    await rm(folder, { recursive: true })
  })
  return place
}

/** To the last one. */
function useUpInodes(place: string): void {
  for (let i = readdirSync(place).length; ; i++) {
    try {
      writeFileSync(join(place, `ballast-${i}`), '', { flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
      throw error
    }
  }
}

async function start(place: string) {
  const listen = `127.0.0.1:${await freePort()}`
  const flags = ['--listen', listen, '--output', 'json', '--log-level=error']
  const { child, ready } = await startServing<{ kubeconfig: string }>([
    'up',
    '--data-dir',
    join(place, 'data'),
    ...flags,
  ])
  onTestFinished(async () => {
    if (isRunning(child)) await endProcess(child, 'SIGKILL')
  })
  const kubeconfig = await readFile(ready.kubeconfig, 'utf8')
  const client = clientOf(kubeconfig, { listen })
  const create = (name: string) => client.create(configMaps, { metadata: { name, namespace: 'default' } })
  const names = async (): Promise<(string | undefined)[]> =>
    (await client.list(configMaps, { namespace: 'default' })).items.map(({ metadata }) => metadata.name)
  const health = (): Promise<string> => pageOf(kubeconfig, { listen }, '/readyz?verbose')
  return { child, create, names, health }
}

describe('a file system without inodes', { timeout: 120_000 }, () => {
  it.each(fileSystems)('$name: all is taken and served, and it starts again', async (fileSystem) => {
    const place = await mounted(fileSystem)
    if (place === undefined) return console.warn(`skipped: no ${fileSystem.name} may be mounted here`)
    await mkdir(join(place, 'data'), { mode: 0o700 })
    const first = await start(place)
    await first.create('a')
    // Held back a second after the start: a later start needs it.
    await expect.poll(() => existsSync(join(place, 'data/store/reserve')), { timeout: 20_000 }).toBe(true)
    useUpInodes(place)
    await first.create('b')
    await expect.poll(first.health).toMatch(/readyz check passed/)
    expect(await first.health()).toMatch(/warn: the file system of the store in \S+ has few inodes left: 0/)
    expect(await endProcess(first.child, 'SIGTERM')).toMatchObject({ code: 0 })

    useUpInodes(place)
    const second = await start(place)
    expect(await second.names()).toEqual(expect.arrayContaining(['a', 'b']))
    await second.create('c')
    await endProcess(second.child, 'SIGKILL')

    useUpInodes(place)
    const third = await start(place)
    expect(await third.names()).toEqual(expect.arrayContaining(['a', 'b', 'c']))
    expect(await third.health()).toMatch(/has few inodes left: 0/)
    for (const name of readdirSync(place)) if (name.startsWith('ballast-')) rmSync(join(place, name))
    await expect.poll(third.health, { timeout: 20_000 }).not.toMatch(/inodes/)
    await third.create('d')
  })
})
