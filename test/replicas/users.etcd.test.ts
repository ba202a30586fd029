/** An etcd that wants a name and a password, and ends tokens: what operators do with it, on the real one. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { prefixSpan } from '../../src/storage/storage.ts'
import { put, text, WatchReader } from '../contract/storage-reader.ts'
import { borough } from '../interop/borough-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall } from './cluster.ts'

const password = 'not-for-others'

describe.skipIf(etcdVersion === undefined)(
  `an etcd with users${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`,
  () => {
    let etcd: EtcdServer
    let folder: string
    let passwordFile: string
    let given = password

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'borough-users-'))
      passwordFile = join(folder, 'password')
      await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
      etcd = await EtcdServer.start({ flags: ['--auth-token-ttl=1', '--bcrypt-cost=4'] })
      const call = (path: string, body: object): Promise<unknown> => etcdCall(etcd.endpoint, path, body)
      const base64 = (word: string): string => Buffer.from(word).toString('base64')
      await call('auth/user/add', { name: 'root', password: 'root' })
      await call('auth/role/add', { name: 'root' })
      await call('auth/user/grant', { user: 'root', role: 'root' })
      await call('auth/user/add', { name: 'borough', password })
      await call('auth/role/add', { name: 'borough' })
      const perm = { permType: 'READWRITE', key: base64('/ours/'), range_end: base64('/ours0') }
      await call('auth/role/grant', { name: 'borough', perm })
      await call('auth/user/grant', { user: 'borough', role: 'borough' })
    }, 60_000)

    afterAll(async () => {
      await etcd?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }, 60_000)

    const open = (): Promise<EtcdStorage> =>
      EtcdStorage.open({
        endpoints: [etcd.endpoint],
        prefix: '/ours',
        user: { name: 'borough', password: async () => given },
      })

    it('is spoken to before it asks for them, and goes on when it begins to, when tokens end and when it is ' +
      'started anew', {
      timeout: 90_000,
    }, async () => {
      await using storage = await open()
      const everything = prefixSpan('/')
      const write = async (key: string): Promise<void> => {
        expect((await storage.commit({ guards: [], writes: [put(key, 'x')] }).done).ok).toBe(true)
      }
      const start = await storage.currentRevision()
      const watch = new WatchReader(storage, everything, start)
      await write('/before')

      await etcdCall(etcd.endpoint, 'auth/enable', {})
      await write('/enabled')
      expect(text((await storage.get('/before')).entry?.value)).toBe('x')

      // Longer than a token lasts that nobody uses.
      await new Promise((resolve) => setTimeout(resolve, 2500))
      await write('/later')

      // Tokens lie in its memory.
      await etcd.stop('SIGTERM')
      await etcd.start()
      // Until there is a new connection; a write on the old one would be lost.
      await expect.poll(() => storage.get('/later').catch(() => undefined), { timeout: 30_000 }).toBeDefined()
      await write('/again')
      expect(await storage.compactedRevision()).toBeGreaterThanOrEqual(0)

      const seen = await watch.until(await storage.currentRevision())
      expect(seen.map(({ key }) => key)).toEqual(['/before', '/enabled', '/later', '/again'])
      await watch.stop()
    })

    it('refuses a wrong password, and takes the right one when the file holds it', async () => {
      given = 'wrong'
      await expect(open()).rejects.toThrow(/authentication failed/)
      given = password
      await using storage = await open()
      expect((await storage.range(prefixSpan('/'))).entries).toHaveLength(4)
    })

    it('is backed up by a user whose password is in a file, or in the environment, and nowhere else', {
      timeout: 90_000,
    }, async () => {
      const storage = `--storage=etcd://borough@${new URL(etcd.endpoint).host}`
      const backup = ['backup', '--etcd-prefix=/ours', `--to=${join(folder, 'backup')}`]
      const fine = await borough([...backup, storage, `--etcd-password-file=${passwordFile}`])
      expect([fine.code, fine.stdout]).toEqual([0, expect.stringContaining('4 entries')])
      const again = [...backup.slice(0, 2), `--to=${join(folder, 'never')}`]
      const without = await borough([...again, storage])
      expect([without.code, without.stderr]).toEqual([
        1,
        "borough: etcd's user borough needs a password: --etcd-password-file, or BOROUGH_ETCD_PASSWORD\n",
      ])
      await chmod(passwordFile, 0o644)
      const open = await borough([...again, storage, `--etcd-password-file=${passwordFile}`])
      expect([open.code, open.stderr]).toEqual([
        1,
        `borough: ${passwordFile} holds a secret and is open to every user (mode 644): run: chmod o= ` +
          `${passwordFile}\n`,
      ])
      const shown = await borough([...again, storage.replace('borough@', `borough:${password}@`)])
      expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining('does not belong on the command line')])
      expect(shown.stderr + fine.stdout + fine.stderr).not.toContain(password)
    })
  },
)
