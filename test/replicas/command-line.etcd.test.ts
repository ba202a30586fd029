/**
 * `borough up --storage etcd://…` as an operator runs it: two processes, TLS with client certificates, one authority.
 */
import { X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openPki, type Pki } from '../../src/pki/open-pki.ts'
import { directoryPkiStore, memoryPkiStore } from '../../src/pki/pki-store.ts'
import { BoroughProcess, borough } from '../interop/borough-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

describe.skipIf(etcdVersion === undefined)(
  `two servers on one etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`,
  () => {
    let folder: string
    let pki: Pki
    let etcd: EtcdServer
    let flags: string[]
    let servers: BoroughProcess[]

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'borough-replicas-'))
      pki = await openPki(memoryPkiStore(), { clock: systemClock, names: ['127.0.0.1'] })
      const { cert, key } = pki.mintClientCertificate({ user: 'borough', groups: [], durationMs: 3_600_000 })
      const files = {
        'ca.crt': pki.caCert,
        'etcd.crt': pki.serving.cert,
        'etcd.key': pki.serving.key,
        'borough.crt': cert,
        'borough.key': key,
      }
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 })
      etcd = await EtcdServer.start({
        scheme: 'https',
        flags: [
          `--cert-file=${folder}/etcd.crt`,
          `--key-file=${folder}/etcd.key`,
          `--trusted-ca-file=${folder}/ca.crt`,
          '--client-cert-auth',
        ],
      })
      flags = [
        // The first of them never answers.
        `--storage=etcd://127.0.0.1:1,${new URL(etcd.endpoint).host}`,
        `--etcd-cafile=${folder}/ca.crt`,
        `--etcd-certfile=${folder}/borough.crt`,
        `--etcd-keyfile=${folder}/borough.key`,
        '--etcd-prefix=/clusters/one',
        '--tls-san=api.example.com',
      ]
      // Both find an empty store.
      servers = await Promise.all([BoroughProcess.start(flags), BoroughProcess.start(flags)])
    }, 120_000)

    afterAll(async () => {
      for (const server of servers ?? []) await server[Symbol.asyncDispose]()
      await etcd?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }, 120_000)

    it('that start for the first time at once have one authority: a kubeconfig is good at either', async () => {
      const [a, b] = servers as [BoroughProcess, BoroughProcess]
      const authorities = await Promise.all(servers.map((s) => readFile(join(s.dataDir, 'pki/ca.crt'), 'utf8')))
      expect(authorities[0]).toBe(authorities[1])
      await clientOf(await a.adminKubeconfig(), b).create(configMaps, { metadata: { name: 'a', namespace: 'default' } })
      const serving = new X509Certificate(await readFile(join(a.dataDir, 'pki/server.crt')))
      expect(serving.checkHost('api.example.com')).toBe('api.example.com')
      const minted = await borough(['kubeconfig', '--user=ops', '--group=system:masters', `--data-dir=${b.dataDir}`])
      const found = await clientOf(minted.stdout, a).get(configMaps, { name: 'a', namespace: 'default' })
      expect(found.metadata.name).toBe('a')
    })

    it('a token from one is good at the other', async () => {
      const [a, b] = servers as [BoroughProcess, BoroughProcess]
      const { stdout } = await borough([
        ...['token', 'create', '--serviceaccount=default/default', `--data-dir=${a.dataDir}`],
      ])
      const who = await clientOf(await b.adminKubeconfig(), b).create(
        { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' },
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token: stdout.trim() } },
      )
      expect(who['status']).toMatchObject({
        authenticated: true,
        user: { username: 'system:serviceaccount:default:default' },
      })
    })

    it('a key that is added by command is known to both, while they run', { timeout: 90_000 }, async () => {
      const storage = flags.filter((flag) => /^--(?:storage|etcd-)/.test(flag))
      const { code, stdout, stderr } = await borough(['rotate-key', ...storage])
      expect([code, stderr]).toEqual([0, ''])
      const kid = /^sa-(\S+) in the store under \/borough\/pki\/ signs within 15 s/.exec(stdout)?.[1]
      for (const server of servers) {
        const kubeconfig = await server.adminKubeconfig()
        await expect.poll(() => pageOf(kubeconfig, server, '/openid/v1/jwks'), { timeout: 30_000 }).toContain(kid)
      }
    })

    it('a data directory with another authority is refused', async () => {
      const dir = join(folder, 'stranger')
      await openPki(directoryPkiStore(join(dir, 'pki')), { clock: systemClock, names: ['localhost'] })
      await chmod(dir, 0o700)
      const { code, stderr } = await borough(['up', '--listen=127.0.0.1:0', `--data-dir=${dir}`, ...flags])
      expect([code, stderr]).toEqual([1, expect.stringContaining('holds another certificate authority than the store')])
    })

    it.each([
      { name: 'a key without its certificate', given: ['--etcd-keyfile=k.pem'], want: /go together/ },
      {
        name: 'a prefix that ends in a slash',
        given: ['--etcd-prefix=/a/'],
        want: /It must begin with \/ and not end/,
      },
      {
        name: 'a file that is not there',
        given: ['--etcd-cafile=/nowhere.pem'],
        want: /--etcd-cafile: there is no file \/nowhere.pem/,
      },
    ])('$name is one line and exit code 1', async ({ given, want }) => {
      const dir = join(folder, 'unused')
      const result = await borough(['up', `--data-dir=${dir}`, '--storage=etcd://127.0.0.1:1', ...given])
      expect([result.code, result.stderr]).toEqual([1, expect.stringMatching(want)])
      expect(result.stderr.trim().split('\n')).toHaveLength(1)
    })
  },
)
