/**
 * `borough backup`, `restore` and `storage copy`, from and to a running server, SQLite and etcd: what arrives is what
 * was there.
 */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyStore, sourceAt, targetAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Progress } from '../../src/base/progress.ts'
import { BoroughProcess, borough } from '../interop/borough-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall } from './cluster.ts'
import { clientOf } from './kubeconfig-client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

const base64 = (text: string): string => Buffer.from(text).toString('base64')

interface Result {
  readonly entries: number
  readonly revision: number
  readonly sha256: string
}

describe.skipIf(etcdVersion === undefined)(`a whole store${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let folder: string
  let etcd: EtcdServer
  let server: BoroughProcess
  let backup: string
  let kept: Result

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'borough-copy-'))
    backup = join(folder, 'backup')
    ;[etcd, server] = await Promise.all([EtcdServer.start(), BoroughProcess.start()])
  }, 120_000)

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }, 120_000)

  const hosts = (): string => new URL(etcd.endpoint).host

  /** Must succeed. */
  async function run(...args: string[]): Promise<Result> {
    const { code, stdout, stderr } = await borough([...args, '-o', 'json'])
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
    return JSON.parse(stdout) as Result
  }

  async function refusal(...args: string[]): Promise<string> {
    const { code, stderr } = await borough(args)
    expect([code, stderr.trim().split('\n').length]).toEqual([1, 1])
    return stderr
  }

  /** The forms that the headers of all values say they have: 1 with a checksum. */
  async function formsBelow(prefix: string): Promise<ReadonlySet<number | undefined>> {
    const range = { key: base64(`${prefix}/`), range_end: base64(`${prefix}0`) }
    const { kvs = [] } = (await etcdCall(etcd.endpoint, 'kv/range', range)) as {
      kvs?: readonly { readonly value: string }[]
    }
    expect(kvs.length).toBeGreaterThan(kept.entries)
    return new Set(kvs.map(({ value }) => Buffer.from(value, 'base64')[3]))
  }

  it('is backed up at one revision while it is served and written to', async () => {
    const client = clientOf(await server.adminKubeconfig(), server)
    let writing = true
    let written = 0
    const load = (async (): Promise<void> => {
      for (; writing; written++) {
        const metadata = { name: `c-${written}`, namespace: 'default' }
        await client.create(configMaps, { metadata, data: { n: String(written), odd: '\u0000 "ü" \ud83d\ude00' } })
      }
    })()
    kept = await run('backup', `--data-dir=${server.dataDir}`, `--to=${backup}`)
    writing = false
    await load
    expect((await stat(backup)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(backup, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { key?: string })
    const found = lines.flatMap(({ key }) => /\/configmaps\/default\/c-(\d+)$/.exec(key ?? '')?.[1] ?? []).map(Number)
    // A prefix of what was written: one revision, nothing in between.
    expect(found.sort((a, b) => a - b)).toEqual(Array.from({ length: found.length }, (_, i) => i))
    expect(found.length).toBeGreaterThan(0)
    expect(lines).toHaveLength(kept.entries + 2)
  })

  it('is restored to an etcd, copied to a directory, and is the same: digest, objects, authority', async () => {
    const place = `etcd://${hosts()}/restored`
    const restored = await run('restore', `--from=${backup}`, `--storage=etcd://${hosts()}`, '--etcd-prefix=/restored')
    const dir = join(folder, 'copied')
    const copied = await run('storage', 'copy', `--from=${place}`, `--to=sqlite:${dir}`)
    expect([restored.sha256, copied.sha256, copied.entries]).toEqual([kept.sha256, kept.sha256, kept.entries])

    // Each value has its checksum, and what says so is of this etcd: it is no part of what is copied.
    expect(await formsBelow('/restored')).toEqual(new Set([1]))
    const onward = await run('storage', 'copy', `--from=${place}`, `--to=etcd://${hosts()}/onward`)
    expect([onward.sha256, onward.entries]).toEqual([kept.sha256, kept.entries])
    expect(await formsBelow('/onward')).toEqual(new Set([1]))

    // Served by two now, from etcd and from the directory; the old kubeconfig is good at both.
    const flags = [`--storage=etcd://${hosts()}`, '--etcd-prefix=/restored']
    await using fromEtcd = await BoroughProcess.start(flags)
    const client = clientOf(await server.adminKubeconfig(), fromEtcd)
    const found = await client.get(configMaps, { namespace: 'default', name: 'c-0' })
    expect(found['data']).toEqual({ n: '0', odd: '\u0000 "ü" \ud83d\ude00' })
    const original = await clientOf(await server.adminKubeconfig(), server).get(configMaps, {
      namespace: 'default',
      name: 'c-0',
    })
    expect(found.metadata.uid).toBe(original.metadata.uid)
  })

  it('tells how far it is and of how many, whichever way it goes', async () => {
    const options = { clock: systemClock, log: silentLog }
    const prefix = '/counted'
    const inEtcd = { etcd: { engine: 'etcd', endpoints: [hosts()], prefix } } as const
    const file = join(folder, 'counted')
    const told: Progress[] = []
    const report = (progress: Progress): void => void told.push(progress)
    const shares = (): readonly (readonly [string, number | undefined])[] =>
      told.splice(0).map(({ doing, total }) => [doing, total] as const)
    const of = (doing: string): readonly [string, number] => [doing, kept.entries]
    const turns = Math.floor(kept.entries / 64)
    const each = (doing: string): (readonly [string, number])[] => Array.from({ length: turns }, () => of(doing))
    {
      await using target = await targetAt(inEtcd, options)
      await copyStore(sourceAt({ file: backup }, { ...options, report }), target, report)
    }
    expect(shares()).toEqual([...each('checking'), ...each('copying'), ...each('verifying')])
    await using target = await targetAt({ file }, options)
    await copyStore(sourceAt(inEtcd, { ...options, report }), target, report)
    const back = shares()
    // The server counts its own keys of the layout too: hardly more.
    expect(back[0]?.[0]).toBe('copying')
    expect(back[0]?.[1]).toBeGreaterThanOrEqual(kept.entries)
    expect(back[0]?.[1]).toBeLessThan(kept.entries + 10)
    const checked: Progress[] = []
    await verifyStoreAt(inEtcd, { ...options, report: (progress) => void checked.push(progress) })
    expect(checked.map(({ total = 0 }) => total >= kept.entries)).not.toContain(false)
  })

  it('goes on in a new directory after the revision it was taken at: no resourceVersion comes twice', async () => {
    const dir = join(folder, 'fresh')
    expect((await run('restore', `--from=${backup}`, `--data-dir=${dir}`)).sha256).toBe(kept.sha256)
    const again = await run('backup', `--data-dir=${dir}`, `--to=${join(folder, 'again')}`)
    expect(again.sha256).toBe(kept.sha256)
    expect(again.revision).toBeGreaterThanOrEqual(kept.revision)
  })

  it('is never overwritten', async () => {
    const dir = join(folder, 'fresh')
    expect(await refusal('restore', `--from=${backup}`, `--data-dir=${dir}`)).toContain('is not empty')
    expect(
      await refusal('restore', `--from=${backup}`, `--storage=etcd://${hosts()}`, '--etcd-prefix=/restored'),
    ).toContain('is not empty')
    expect(await refusal('backup', `--data-dir=${dir}`, `--to=${backup}`)).toContain('is not empty')
    expect(await refusal('restore', `--from=${backup}`, `--data-dir=${server.dataDir}`)).toContain(
      'is in use by another borough',
    )
  })

  it('that was copied only in part is served by nobody, copied and backed up by nobody', {
    timeout: 90_000,
  }, async () => {
    const dir = join(folder, 'part')
    const options = { clock: systemClock, log: silentLog }
    const [host = ''] = [hosts()]
    const places = [{ dataDir: dir }, { etcd: { engine: 'etcd', endpoints: [host], prefix: '/part' } }] as const
    for (const place of places) {
      // What a command that is killed leaves behind.
      await using target = await targetAt(place, options)
      await target.begin(4096, 'the old one')
      for (let i = 0; i < 250; i++) {
        await target.write({ key: `/registry/configmaps/default/c-${100 + i}`, value: Buffer.from('{}') })
      }
      await target.finish()
    }
    const want =
      /holds only a part: a copy of the old one that began at \d{4}-\S+Z was not finished. Empty it and copy again/
    const up = ['up', '--listen=127.0.0.1:0']
    const served = await Promise.all([
      refusal(...up, `--data-dir=${dir}`),
      refusal(...up, `--data-dir=${join(folder, 'elsewhere')}`, `--storage=etcd://${host}`, '--etcd-prefix=/part'),
    ])
    for (const answer of served) expect(answer).toMatch(want)
    for (const place of places) {
      await expect(sourceAt(place, options).read()).rejects.toThrow(want)
      await using target = await targetAt(place, options)
      await expect(copyStore(sourceAt({ file: backup }, options), target, () => undefined)).rejects.toThrow(want)
    }
  })

  it('is not restored from a damaged backup: nothing is written', async () => {
    const text = await readFile(backup, 'utf8')
    const damages: Record<string, string> = {
      cut: text.slice(0, text.lastIndexOf('{"entries"')),
      changed: text.replace('\\"n\\":\\"0\\"', '\\"n\\":\\"7\\"'),
      short: text.replace(/\n\{"key":"[^\n]*c-0[^\n]*/, ''),
      other: '{"kind":"List"}\n',
    }
    const want: Record<string, string> = {
      cut: 'is cut off',
      changed: 'is damaged',
      short: 'is damaged',
      other: 'is not a backup',
    }
    for (const [name, damaged] of Object.entries(damages)) {
      const path = join(folder, name)
      await writeFile(path, damaged)
      expect(await refusal('restore', `--from=${path}`, `--data-dir=${join(folder, 'none')}`)).toContain(want[name])
    }
    const { code } = await borough(['backup', `--data-dir=${join(folder, 'none')}`, `--to=${join(folder, 'x')}`])
    expect(code).toBe(1)
  })
})
