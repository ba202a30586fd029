/** Flags that would do nothing where they stand, and values that no client could use: refused in one line. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { borough } from './borough-process.ts'

/** Of the command that was asked for. */
const hintOf = (args: readonly string[]): string =>
  `(borough ${args
    .slice(
      0,
      args.findIndex((arg) => arg.startsWith('-')),
    )
    .join(' ')} --help shows what there is)`
const ofEtcd = 'is about an etcd: name it with --storage etcd://host:port'
const noName = 'is invalid. It must be a host name or an IP address, such as api.example.com or 10.0.0.7.'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-idle-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([
  { args: ['up', '--etcd-cafile', 'ca.pem'], says: `--etcd-cafile ${ofEtcd}` },
  { args: ['up', '--etcd-password-file', 'password'], says: `--etcd-password-file ${ofEtcd}` },
  { args: ['up', '--storage', 'memory', '--etcd-prefix', '/one'], says: `--etcd-prefix ${ofEtcd}` },
  { args: ['backup', '--to', '/nowhere/backup', '--etcd-cafile', 'ca.pem'], says: `--etcd-cafile ${ofEtcd}` },
  {
    args: ['up', '--storage', 'memory', '--max-store-size', '1Gi'],
    says: '--max-store-size is of a SQLite store: one in memory has no bound',
  },
  {
    args: ['up', '--storage', 'etcd://127.0.0.1:1', '--max-store-size', '1Gi'],
    says: '--max-store-size is of a SQLite store: etcd has --quota-backend-bytes',
  },
  { args: ['up', '--backup-keep', '3'], says: '--backup-keep needs --backup-dir' },
  { args: ['up', '--audit-log-keep', '3'], says: '--audit-log-keep needs --audit-log' },
  { args: ['up', '--oidc-ca-file', 'ca.pem'], says: '--oidc-ca-file needs --oidc-issuer-url' },
  {
    args: ['up', '--requestheader-allowed-names', 'front'],
    says: '--requestheader-allowed-names needs --requestheader-client-ca-file',
  },
  {
    args: ['up', '--authorization-webhook-cache-authorized-ttl', '1m'],
    says: '--authorization-webhook-cache-authorized-ttl needs --authorization-webhook-config-file',
  },
  { args: ['up', '--tls-san', 'no name'], says: `option '--tls-san <names...>' argument 'no name' ${noName}` },
  {
    args: ['up', '--tls-san', 'api.example.com', 'https://api.example.com'],
    says: `option '--tls-san <names...>' argument 'https://api.example.com' ${noName}`,
  },
  {
    args: ['up', '--service-cluster-ip-range', '10.0.0.0'],
    says:
      "option '--service-cluster-ip-range <cidr[,cidr]>' argument '10.0.0.0' is invalid. " +
      '"10.0.0.0" is no CIDR like 10.96.0.0/12, or has no addresses to give.',
  },
  {
    args: ['up', '--service-node-port-range', '5'],
    says:
      "option '--service-node-port-range <first-last>' argument '5' is invalid. " +
      'It must be two ports, like 30000-32767.',
  },
  { args: ['up', '--listn', 'x'], says: "unknown option '--listn' (Did you mean --listen?)" },
])(
  '$args is refused, and nothing is made',
  async ({ args, says }) => {
    const dataDir = join(folder, 'data')
    const place = args[1] === '--listn' ? [] : ['--data-dir', dataDir]
    expect(await borough([...args, ...place])).toEqual({
      code: 1,
      stdout: '',
      stderr: `borough: ${says} ${hintOf(args)}\n`,
    })
    expect(await readdir(folder)).toEqual([])
  },
  60_000,
)

test('a file of settings is held to the same', async () => {
  const file = join(folder, 'config.yaml')
  const started = ['up', '--config', file, '--data-dir', join(folder, 'data')]
  await writeFile(file, 'etcd-cafile: ca.pem\n')
  expect((await borough(started)).stderr).toBe(`borough: --etcd-cafile ${ofEtcd} ${hintOf(started)}\n`)
  await writeFile(file, 'tls-san: [api.example.com, "a b"]\n')
  expect((await borough(started)).stderr).toBe(
    `borough: ${file}: tls-san: It must be a host name or an IP address, such as api.example.com or 10.0.0.7.\n`,
  )
  await rm(file)
}, 60_000)
