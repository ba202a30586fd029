/**
 * The command line when something is wrong: one line that says what it is and what to do, exit code 1, and every file
 * as it was.
 */
import { spawn, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmod,
  cp,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BoroughProcess, borough } from './borough-process.ts'
import { main } from './serving-process.ts'

let folder: string
/** A data directory that was in use, and is not now. */
let used: string
/** One whose server runs. */
let busy: BoroughProcess
let taken: Server
let takenPort: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-cli-'))
  busy = await BoroughProcess.start()
  const past = await BoroughProcess.start()
  // At once after it said that it serves.
  expect(await past.end('SIGTERM')).toEqual({ code: 0, signal: null })
  used = join(folder, 'used')
  await cp(past.dataDir, used, { recursive: true })
  await past[Symbol.asyncDispose]()
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const address = taken.address()
  takenPort = typeof address === 'object' && address !== null ? address.port : 0
  await writeFile(join(folder, 'file'), '')
}, 120_000)

afterAll(async () => {
  await new Promise((resolve) => taken.close(resolve))
  await busy[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

interface Row {
  readonly name: string
  /** The arguments; it may prepare the directory `dir`, a copy of one that was in use. */
  readonly given: (dir: string) => Promise<string[]> | string[]
  readonly want: RegExp
  /** The store was opened, and may have been tidied; keys are as they were in any case. */
  readonly opened?: true
  /** Some refusals can't be had as root. */
  readonly notAsRoot?: true
}

const up = (dir: string, ...more: string[]): string[] => ['up', '--data-dir', dir, '--listen', '127.0.0.1:0', ...more]

/** Writes over the middle of a file. */
async function damage(path: string): Promise<void> {
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(Math.max(1, size >> 1), 0xa5), 0, undefined, size >> 2)
  await file.close()
}

const openSecret = /^borough: (?:\S+ )?\S+ holds a secret and is open to every user \(mode 644\): run: chmod o= \/.*\n$/

async function openToAll(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  // Whatever the umask is.
  await chmod(path, 0o644)
  return path
}

const authenticationConfiguration = `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: https://id.example, audiences: [borough] }
  claimMappings: { username: { expression: sub } }
`

const admissionConfiguration = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: { enforce: strict }
`

const webhookKubeconfig = JSON.stringify({
  clusters: [{ name: 'hook', cluster: { server: 'https://127.0.0.1:1/authorize' } }],
  users: [{ name: 'borough', user: { token: 'secret' } }],
  contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'borough' } }],
  'current-context': 'hook',
})

const rows: readonly Row[] = [
  { name: 'an unknown flag', given: () => ['up', '--bogus'], want: /unknown option '--bogus'.*--help/ },
  { name: 'an unknown command', given: () => ['down'], want: /unknown command 'down'.*--help/ },
  { name: 'an argument too many', given: () => ['up', 'now'], want: /too many arguments for 'up'.*now.*--help/ },
  { name: 'an address that is none', given: () => ['up', '--listen', 'here'], want: /'here' is invalid.*host:port/ },
  { name: 'a port that is none', given: () => ['up', '--listen', ':99999'], want: /':99999' is invalid.*host:port/ },
  {
    name: 'an engine nobody has',
    given: () => ['up', '--storage', 'stone'],
    want: /'stone' is invalid.*sqlite, memory/,
  },
  {
    name: 'a controller nobody has',
    given: () => ['up', '--controllers=none'],
    want: /'--controllers <list>' argument 'none' is invalid\. unknown controller "none"; known: /,
  },
  {
    name: 'a port that is taken',
    given: (dir) => ['up', '--data-dir', dir, '--listen', `127.0.0.1:${takenPort}`],
    want: /the port is taken, choose another with --listen/,
    opened: true,
  },
  {
    name: 'a port for administrators that is taken',
    given: (dir) => up(dir, '--admin-listen', `127.0.0.1:${takenPort}`),
    want: /the port is taken, choose another with --admin-listen/,
    opened: true,
  },
  {
    name: 'an address of another machine',
    given: (dir) => ['up', '--data-dir', dir, '--listen', '192.0.2.1:0'],
    want: /this machine has no such address, choose another with --listen/,
    opened: true,
  },
  {
    name: 'a file of settings that says what no flag would take',
    given: async (dir) => {
      const file = join(folder, 'config.yaml')
      await writeFile(file, 'request-timeout: soon\n')
      return up(dir, '--config', file)
    },
    want: /config\.yaml: request-timeout: It must be a duration like 90s, 1h30m or 7d\.$/m,
  },
  {
    name: 'a certificate without its key',
    given: (dir) => up(dir, '--tls-cert-file', 'tls.crt'),
    want: /--tls-cert-file and --tls-private-key-file need each other/,
  },
  {
    name: 'a data directory in use',
    given: () => up(busy.dataDir),
    want: /is in use by another borough \(process \d+, https:\/\/127\.0\.0\.1:\d+\): stop it, or choose another --data-dir/,
  },
  {
    name: 'a data directory that is a file',
    given: () => up(join(folder, 'file')),
    want: /^borough: --data-dir: \S+file is no folder: choose another place/,
  },
  {
    name: 'a data directory below a file',
    given: () => up(join(folder, 'file', 'data')),
    want: /^borough: --data-dir: what is above \S+data is no folder/,
  },
  {
    name: 'a data directory where the system makes none',
    given: () => up('/proc/borough/data'),
    want: /can't make the directory \/proc\/borough\/data/,
  },
  {
    name: 'a data directory where nothing may be written',
    given: async (dir) => {
      await chmod(dir, 0o500)
      return up(dir)
    },
    want: /EACCES/,
    notAsRoot: true,
  },
  {
    name: 'a data directory open to others',
    given: async (dir) => {
      await chmod(dir, 0o755)
      return up(dir)
    },
    want: /is open to other users \(mode 755\): run: chmod 700 /,
  },
  {
    name: 'a damaged store',
    given: async (dir) => {
      await damage(join(dir, 'store', 'state.db'))
      return up(dir)
    },
    want: /state\.db is damaged.*restore it from a backup/,
  },
  {
    name: 'a store that was cut off',
    given: async (dir) => {
      await truncate(join(dir, 'store', 'state.db'), 5000)
      return up(dir)
    },
    want: /state\.db is damaged.*restore it from a backup/,
  },
  {
    name: 'a damaged key',
    given: async (dir) => {
      await writeFile(join(dir, 'pki', 'ca.key'), 'not a key\n')
      return up(dir)
    },
    want: /ca\.key is not a private key in PEM: restore it/,
    opened: true,
  },
  {
    name: 'a key that is gone',
    given: async (dir) => {
      await rm(join(dir, 'pki', 'ca.key'))
      return up(dir)
    },
    want: /has ca\.crt but not ca\.key: restore it/,
    opened: true,
  },
  {
    name: 'a token file that is not there',
    given: (dir) => up(dir, '--token-file', join(folder, 'no.csv')),
    want: /^borough: --token-file: there is no file \S+no\.csv/,
  },
  {
    name: 'a token file that every user can read',
    given: async (dir) => up(dir, '--token-file', await openToAll('tokens.csv', 'secret,root,1,system:masters\n')),
    want: openSecret,
    opened: true,
  },
  {
    name: 'a key for etcd that every user can read',
    given: async (dir) => {
      const pem = join(folder, 'file')
      const flags = ['--etcd-cafile', pem, '--etcd-certfile', pem, '--etcd-keyfile', await openToAll('etcd.key', 'x')]
      return up(dir, '--storage', 'etcd://127.0.0.1:1', ...flags)
    },
    want: openSecret,
  },
  {
    name: 'an authorization webhook whose token every user can read',
    given: async (dir) => {
      const file = await openToAll('hook.kubeconfig', webhookKubeconfig)
      return up(dir, '--authorization-webhook-config-file', file)
    },
    want: openSecret,
    opened: true,
  },
  {
    name: 'a kubeconfig that would replace a file',
    given: (dir) => ['kubeconfig', '--user', 'anna', '--data-dir', dir, '--out', join(dir, 'pki', 'ca.key')],
    want: /ca\.key is there already: choose another name, or --force to replace it/,
  },
  {
    name: 'a kubeconfig that is to be replaced, of no name',
    given: (dir) => ['kubeconfig', '--user', 'anna', '--data-dir', dir, '--force'],
    want: /^borough: --force needs --out/,
  },
  {
    name: 'a kubeconfig that can not be written',
    given: (dir) => up(dir, '--kubeconfig', join(folder, 'file', 'kubeconfig')),
    want: /^borough: --kubeconfig: what is above \S+kubeconfig is no folder/,
  },
  {
    name: 'an etcd that is not there',
    given: (dir) => up(dir, '--storage', 'etcd://127.0.0.1:1'),
    want: /no etcd endpoint can be reached \(http:\/\/127\.0\.0\.1:1/,
  },
  {
    name: 'an issuer without a client',
    given: (dir) => up(dir, '--oidc-issuer-url', 'https://id.example.com'),
    want: /^borough: --oidc-issuer-url and --oidc-client-id need each other/,
  },
  {
    name: 'groups of an issuer that would be the cluster’s own',
    given: (dir) => up(dir, '--oidc-groups-prefix', 'system:'),
    want: /^borough: option '--oidc-groups-prefix <text>' argument 'system:' is invalid\. It may not begin with "system:", as what belongs to the cluster does\./,
  },
  {
    name: 'issuers by a file and by flags',
    given: (dir) => up(dir, '--authentication-config', 'x', '--oidc-groups-claim', 'groups'),
    want: /^borough: --authentication-config and the --oidc-… flags can not be used together/,
  },
  {
    name: 'an authentication configuration with an expression that does not compile',
    given: async (dir) => {
      const file = join(folder, 'authentication.yaml')
      await writeFile(file, authenticationConfiguration)
      return up(dir, '--authentication-config', file)
    },
    want: /authentication\.yaml can't be used: jwt\[0\]\.claimMappings\.username\.expression: Invalid value: "sub": compil/,
    opened: true,
  },
  {
    name: 'an admission configuration with a level that PodSecurity does not know',
    given: async (dir) => {
      const file = join(folder, 'admission.yaml')
      await writeFile(file, admissionConfiguration)
      return up(dir, '--admission-control-config-file', file)
    },
    want: /admission\.yaml can't be used: plugins\[0\]\.configuration\.defaults\.enforce: Invalid value: "strict": must be/,
    opened: true,
  },
  {
    name: 'the same to several workers',
    given: async (dir) => {
      const file = join(folder, 'admission-of-workers.yaml')
      await writeFile(file, admissionConfiguration)
      return up(dir, '--workers', '2', '--admission-control-config-file', file)
    },
    want: /admission-of-workers\.yaml can't be used: plugins\[0\]\.configuration\.defaults\.enforce: Invalid value: "stri/,
    opened: true,
  },
  {
    name: 'an authority of proxies that is not there',
    given: (dir) => up(dir, '--requestheader-client-ca-file', join(folder, 'no.pem')),
    want: /^borough: --requestheader-client-ca-file: there is no file \S+no\.pem/,
  },
  {
    name: 'own namespaces beside a webhook that nobody can ask beforehand',
    given: (dir) => up(dir, '--list-own-namespaces', '--authorization-webhook-config-file', 'x'),
    want: /^borough: --list-own-namespaces can not be used with --authorization-webhook-config-file/,
  },
  {
    name: 'an authorization webhook whose kubeconfig is not there',
    given: (dir) => up(dir, '--authorization-webhook-config-file', join(folder, 'no.kubeconfig')),
    want: /^borough: --authorization-webhook-config-file: there is no file \S+no\.kubeconfig/,
  },
  { name: 'a kubeconfig for nobody', given: () => ['kubeconfig'], want: /required option '--user <name>'.*--help/ },
  {
    name: 'a kubeconfig of a server that never was',
    given: () => ['kubeconfig', '--user', 'anna', '--data-dir', join(folder, 'never')],
    want: /no certificate authority in .*: name a server's data directory with --data-dir, or start 'borough up' first/,
  },
  {
    name: 'a kubeconfig for a time that is none',
    given: () => ['kubeconfig', '--user', 'anna', '--duration', 'long'],
    want: /'long' is invalid. It must be a duration like 90s, 1h30m or 7d\./,
  },
]

const root = process.getuid?.() === 0

test.each(rows.filter(({ notAsRoot }) => !(notAsRoot && root)))(
  '$name is told in one line',
  async ({ given, want, opened = false }) => {
    const dir = await mkdtemp(join(folder, 'data-'))
    await cp(used, dir, { recursive: true })
    const args = await given(dir)
    const before = await contentsOf(dir, opened)
    const { code, stdout, stderr } = await borough(args)
    expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^borough: (?!borough)[^\n]+\n$/)
    expect(stderr).toMatch(want)
    expect(await contentsOf(dir, opened)).toEqual(before)
    await chmod(dir, 0o700)
  },
  120_000,
)

test('help is no mistake', async () => {
  const { code, stdout, stderr } = await borough(['up', '--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('--data-dir')
}, 120_000)

describe('borough kubeconfig --out', () => {
  const make = (...args: string[]) => borough(['kubeconfig', '--data-dir', busy.dataDir, ...args])

  test('makes a file that only its owner can read, and that works', async () => {
    const path = join(folder, 'dev1.kubeconfig')
    expect(await make('--user', 'dev1', '--out', path)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const why = await borough(['why', 'default', '--kubeconfig', path])
    expect(why).toMatchObject({ code: 1, stderr: expect.stringContaining('User "dev1" cannot get resource') as string })
    // Nothing of what was written first is left beside it.
    expect((await readdir(folder)).filter((name) => name.startsWith('dev1'))).toEqual(['dev1.kubeconfig'])
  }, 120_000)

  test('attack: a link of that name, there or dangling, is neither followed nor replaced', async () => {
    const target = join(folder, 'theirs')
    const path = join(folder, 'link.kubeconfig')
    await symlink(target, path)
    for (const there of [false, true]) {
      if (there) await writeFile(target, 'precious')
      expect(await make('--user', 'dev1', '--out', path)).toMatchObject({ code: 1, stdout: '' })
      expect((await lstat(path)).isSymbolicLink()).toBe(true)
    }
    expect(await readFile(target, 'utf8')).toBe('precious')

    // With --force the link goes; what it named stays as it was.
    expect(await make('--user', 'dev1', '--out', path, '--force')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await lstat(path)).mode).toBe(0o100600)
    expect(await readFile(target, 'utf8')).toBe('precious')
  }, 120_000)

  test('without it, a redirection into a file that every user can read is warned of', async () => {
    const path = join(folder, 'redirected.kubeconfig')
    const command = `umask 022 && exec "$0" "$@" > ${path}`
    const args = [process.execPath, main, 'kubeconfig', '--user', 'dev1', '--data-dir', busy.dataDir]
    const { stderr, status } = spawnSync('/bin/sh', ['-c', command, ...args], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: 'borough: every user can read the file that the key went to: --out makes one that is yours\n',
    })
    expect(await readFile(path, 'utf8')).toContain('client-key-data')
  }, 120_000)
})

test.each([
  { args: ['--help'] },
  { args: ['up', '--help'] },
  { args: ['kubeconfig', '--user', 'dev1'] },
  { args: ['populate', '--print-manifests'] },
])(
  'borough $args whose reader has gone says nothing more',
  async ({ args }) => {
    const child = spawn(
      process.execPath,
      [main, ...args, ...(args[1] === '--user' ? ['--data-dir', busy.dataDir] : [])],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdout.destroy()
    const [code] = (await once(child, 'close')) as [number | null]
    expect(stderr).not.toMatch(/EPIPE|\n\s+at /)
    expect(code).toBe(0)
  },
  120_000,
)

/** Names and hashes of all that somebody would miss. */
async function contentsOf(dir: string, keysOnly: boolean): Promise<Record<string, string>> {
  const kept = keysOnly ? /(ca|sa-[^/]*)\.(key|crt)$/ : /\.(db|key|crt)$/
  const names = (await readdir(dir, { recursive: true })).filter((name) => kept.test(name)).sort()
  const hashes = names.map(async (name) => [name, hash('sha256', await readFile(join(dir, name)))] as const)
  return Object.fromEntries(await Promise.all(hashes))
}
