/**
 * A real systemd, as process 1 of namespaces of its own: of processes, mounts, network, cgroups. Its files are those of
 * this machine, and what it writes goes to memory and away with it. Takes root, and a kernel that gives such ones.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'

const program = '/lib/systemd/systemd'
const namespaces = ['--pid', '--mount', '--cgroup', '--ipc', '--uts', '--net', '--fork', '--kill-child']

/** $1 is an empty folder. Prints `there`, or fails, before anything of systemd runs. */
const layers = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
R="$1/root"
mount -t proc proc "$R/proc"
mount -t sysfs -o ro sysfs "$R/sys"
mount -t cgroup2 cgroup2 "$R/sys/fs/cgroup"
mount --bind /dev "$R/dev"
for place in run tmp dev/shm; do mount -t tmpfs -o mode=755 tmpfs "$R/$place"; done
`

/**
 * Of the machine's own units hardly any is started: what targets want is taken away. $2 is our source and $3 Node: both
 * may lie below /home, which the unit does not see. The machine's mounts go: each unit would get a copy of them.
 */
const boot = `
rm -rf "$R/etc/systemd/system" "$R/etc/machine-id" "$R"/lib/systemd/system/*.wants
mkdir -p "$R/etc/systemd/system" "$R/opt/borough" "$R/opt/node"
touch "$R/opt/node/node"
mount --bind "$2" "$R/opt/borough"
mount --bind "$3" "$R/opt/node/node"
echo 0123456789abcdef0123456789abcdef > "$R/etc/machine-id"
printf '[Unit]\\nRequires=basic.target systemd-journald.service\\nAfter=basic.target\\n' \\
  > "$R/etc/systemd/system/idle.target"
cd "$R"
pivot_root . mnt
umount -l /mnt
exec env -i container=unshare PATH="$PATH" ${program} --system --unit=idle.target --show-status=no
`

/** A folder of cgroups below the one of this process, where there is one. */
function ownCgroup(name: string): string | undefined {
  try {
    const mount = /^\S+ (\S+) cgroup2 \S*\brw\b/m.exec(readFileSync('/proc/self/mounts', 'utf8'))?.[1]
    const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
    if (mount === undefined || own === undefined) return undefined
    const place = join(mount, own, name)
    mkdirSync(place)
    return place
  } catch {
    return undefined
  }
}

function removeCgroup(place: string): void {
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    if (entry.isDirectory()) removeCgroup(join(place, entry.name))
  }
  rmdirSync(place)
}

/** Why there can't be one here; undefined where there can. */
export function whyNoSystemd(): string | undefined {
  if (process.getuid?.() !== 0) return 'it takes root'
  if (spawnSync(program, ['--version']).status !== 0) return `there is no ${program}`
  const cgroup = ownCgroup(`borough-probe-${process.pid}`)
  if (cgroup === undefined) return 'no cgroup can be made'
  rmdirSync(cgroup)
  const folder = mkdtempSync(join(tmpdir(), 'borough-systemd-probe-'))
  const { status, stderr } = spawnSync('unshare', [...namespaces, 'sh', '-c', layers, 'sh', folder], {
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  return status === 0 ? undefined : `no namespaces of its own: ${stderr?.trim() ?? ''}`
}

export interface CommandResult {
  readonly code: number
  readonly output: string
}

export class RealSystemd implements AsyncDisposable {
  readonly #outside: ChildProcess
  readonly #folder: string
  readonly #cgroup: string
  #first = ''

  private constructor(outside: ChildProcess, folder: string, cgroup: string) {
    this.#outside = outside
    this.#folder = folder
    this.#cgroup = cgroup
  }

  /** Ready for units. `root` is what lies at /opt/borough, and Node at /opt/node/node. */
  static async start(root: string): Promise<RealSystemd> {
    const folder = mkdtempSync(join(tmpdir(), 'borough-systemd-'))
    const cgroup = ownCgroup(`borough-systemd-${process.pid}`)
    if (cgroup === undefined) throw new Error('no cgroup can be made')
    const script = `echo $$ > ${cgroup}/cgroup.procs; exec unshare ${namespaces.join(' ')} sh -c "$0" sh "$@"`
    const outside = spawn('sh', ['-c', script, layers + boot, folder, root, process.execPath], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const systemd = new RealSystemd(outside, folder, cgroup)
    try {
      await vi.waitUntil(() => systemd.#isUp(), { timeout: 60_000, interval: 50 })
    } catch (error) {
      await systemd[Symbol.asyncDispose]()
      throw new Error('systemd did not come up', { cause: error })
    }
    return systemd
  }

  async #isUp(): Promise<boolean> {
    const { exitCode, pid } = this.#outside
    if (exitCode !== null) throw new Error(`ended with ${exitCode}`)
    this.#first = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return this.#first !== '' && (await this.run('systemctl', 'is-active', 'idle.target')).code === 0
  }

  /** In its namespaces, as root. */
  run(...command: readonly string[]): Promise<CommandResult> {
    const options = { env: { PATH: '/usr/local/bin:/usr/bin:/bin', SYSTEMD_PAGER: '' }, timeout: 90_000 }
    return new Promise((resolve, reject) => {
      execFile('nsenter', ['-t', this.#first, '-a', '-r', '-w', ...command], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code
        if (typeof code === 'number') resolve({ code, output: stdout + stderr })
        else reject(new Error(`${command.join(' ')}: ${stderr}`, { cause: error }))
      })
    })
  }

  /** A file in there; its folder is made. */
  async write(path: string, content: string, mode = 0o644): Promise<void> {
    const from = join('/proc', this.#first, 'root')
    mkdirSync(join(from, path, '..'), { recursive: true })
    writeFileSync(join(from, path), content, { mode })
  }

  async show(unit: string, property: string): Promise<string> {
    return (await this.run('systemctl', 'show', unit, '-p', property, '--value')).output.trim()
  }

  /** Every process in there ends with the first one. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#outside.exitCode === null && this.#outside.signalCode === null) {
      const ended = once(this.#outside, 'exit')
      this.#outside.kill('SIGKILL')
      await ended
    }
    await vi.waitUntil(() => !readFileSync(join(this.#cgroup, 'cgroup.events'), 'utf8').includes('populated 1'), {
      timeout: 30_000,
      interval: 20,
    })
    removeCgroup(this.#cgroup)
    rmSync(this.#folder, { recursive: true })
  }
}
