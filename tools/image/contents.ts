/** What the image holds, folder by folder: a few libraries of Debian, Node, the package, what V8 compiled of it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** As in the example of every distroless image: no account of the machine has it. */
export const imageUser = 65_532

/** With the flags that `bin/borough.mjs` gives Node where a shell starts it. */
export const entrypoint: readonly string[] = [
  '/usr/bin/node',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
  '/borough/bin/borough.mjs',
]
/** What Node is linked against, and what says which Debian they are of. */
const debianPackages = ['base-files', 'gcc-12-base', 'libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'] as const

export interface DebianPackage {
  readonly name: string
  readonly version: string
}

/** Documentation, translations and converters of character sets, which nothing here reads; licences stay. */
const leftOut = [
  'usr/share/doc-base',
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/man',
  'usr/share/info',
  'usr/share/common-licenses/GFDL-1.2',
  'usr/share/common-licenses/GFDL-1.3',
  'usr/lib/x86_64-linux-gnu/gconv',
  'usr/lib/x86_64-linux-gnu/audit',
  'lib/x86_64-linux-gnu/libmvec.so.1',
  'etc/cron.daily',
  'etc/update-motd.d',
]

/**
 * Debian's libraries, and the few files that a process looks for.
 *
 * @param archives a folder for what apt downloads
 */
export function fillBase(folder: string, archives: string): readonly DebianPackage[] {
  mkdirSync(archives, { recursive: true })
  const options = ['-qq', '-o', 'APT::Sandbox::User=root']
  execFileSync('apt-get', [...options, 'download', ...debianPackages], { cwd: archives, stdio: ['ignore', 2, 2] })
  const packages = readdirSync(archives)
    .filter((file) => file.endsWith('.deb'))
    .sort()
    .map((file) => {
      const archive = join(archives, file)
      execFileSync('dpkg-deb', ['--extract', archive, folder])
      const field = (name: string): string =>
        execFileSync('dpkg-deb', ['--field', archive, name], { encoding: 'utf8' }).trim()
      return { name: field('Package'), version: field('Version') }
    })
  for (const path of leftOut) rmSync(join(folder, path), { recursive: true, force: true })
  for (const path of readdirSync(join(folder, 'usr/share/doc')))
    for (const file of readdirSync(join(folder, 'usr/share/doc', path)))
      if (file !== 'copyright') rmSync(join(folder, 'usr/share/doc', path, file), { recursive: true, force: true })
  mkdirSync(join(folder, 'etc'), { recursive: true })
  const accounts = [
    `root:x:0:0::/nonexistent:/sbin/nologin`,
    `borough:x:${imageUser}:${imageUser}::/data:/sbin/nologin`,
  ]
  writeFileSync(join(folder, 'etc/passwd'), `${accounts.join('\n')}\n`)
  writeFileSync(join(folder, 'etc/group'), `root:x:0:\nborough:x:${imageUser}:\n`)
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'passwd: files\nhosts: files dns\n')
  return packages
}

export function fillNode(folder: string): void {
  const target = join(folder, 'usr/bin/node')
  mkdirSync(join(folder, 'usr/bin'), { recursive: true })
  cpSync(join(root, 'node_modules/node/bin/node'), target)
  chmodSync(target, 0o755)
}

/** The package as npm packs it, and the packages that it depends on. */
export function fillPackage(folder: string, archives: string): void {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', archives]
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 2] })
  const archive = readdirSync(archives).find((file) => file.endsWith('.tgz'))
  if (archive === undefined) throw new Error('npm pack made no archive')
  const target = join(folder, 'borough')
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', join(archives, archive), '-C', target, '--strip-components=1', '--no-same-owner'])
  for (const path of ['docs', 'examples', 'src', 'deploy']) rmSync(join(target, path), { recursive: true, force: true })
  for (const path of runtimePackages()) cpSync(join(root, path), join(target, path), { recursive: true })
}

/** `node_modules/yaml` and the like: what an installation of the package holds. */
export function runtimePackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>
  }
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== '' && dev !== true && optional !== true)
    .map(([path]) => path)
}

export function fillData(folder: string): void {
  mkdirSync(join(folder, 'data'), { recursive: true })
}
