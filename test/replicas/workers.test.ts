/**
 * `borough up --workers 2`: two processes on one port and one SQLite file keep every promise of one, also when one of
 * them dies.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import type { Change } from '../../src/storage/storage.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'
import { RecordedLoad, randomFrom, recordedSpans } from './recorded-load.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const serviceAccounts = { group: '', version: 'v1', resource: 'serviceaccounts' }
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const admissionConfiguration = JSON.stringify({
  ...{ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration' },
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        ...{ apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' },
        defaults: { enforce: 'baseline' },
      },
    },
  ],
})

describe('two workers', () => {
  let server: BoroughProcess

  let folder: string
  let auditLog: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'borough-workers-'))
    auditLog = join(folder, 'audit.log')
    const admission = join(folder, 'admission.yaml')
    await writeFile(admission, admissionConfiguration)
    // Small files: rotated under load.
    server = await BoroughProcess.start([
      '--workers=2',
      `--admission-control-config-file=${admission}`,
      `--audit-log=${auditLog}`,
      '--audit-log-max-mib=0.25',
      '--audit-log-keep=200',
    ])
  }, 120_000)

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  const workers = (): number[] =>
    readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ').map(Number)

  it('both serve, and one of them runs the controllers', async () => {
    const kubeconfig = await server.adminKubeconfig()
    const leading = async (): Promise<number> =>
      metricIn(await pageOf(kubeconfig, server, '/metrics'), 'borough_controllers_leading')
    await expect.poll(leading, { timeout: 60_000 }).toBe(1)
    expect(workers()).toHaveLength(2)
    const lease = await clientOf(kubeconfig, server).get(leases, {
      namespace: 'kube-system',
      name: 'borough-controllers',
    })
    expect((lease['spec'] as { holderIdentity?: string }).holderIdentity).toBeTruthy()
  })

  it('go both by the admission configuration', async () => {
    const kubeconfig = await server.adminKubeconfig()
    const pods = { group: '', version: 'v1', resource: 'pods' }
    for (let i = 0; i < 6; i++) {
      const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] }
      // A connection of its own: the workers take turns.
      const made = clientOf(kubeconfig, server).create(pods, {
        metadata: { namespace: 'default', name: `open-${i}` },
        spec,
      } as KubeObject)
      await expect(made).rejects.toThrow(
        `pods "open-${i}" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`,
      )
    }
  })

  it('are one to whoever scrapes: each request counts once, whichever of them is asked', async () => {
    const kubeconfig = await server.adminKubeconfig()
    const count = async (): Promise<number> =>
      requestsIn(await pageOf(kubeconfig, server, '/metrics'), {
        verb: 'GET',
        resource: 'serviceaccounts',
        code: '200',
      })
    const before = await count()
    for (let i = 1; i <= 12; i++) {
      // A connection of its own: the workers take turns.
      await clientOf(kubeconfig, server).get(serviceAccounts, { namespace: 'kube-system', name: 'default' })
      expect(await count()).toBe(before + i)
    }
  })

  it('tell of the store as one that holds it: its room, and the scrub', async () => {
    const kubeconfig = await server.adminKubeconfig()
    for (let i = 0; i < 2; i++) {
      const page = await pageOf(kubeconfig, server, '/metrics')
      expect(metricIn(page, 'borough_storage_used_bytes')).toBeGreaterThan(4096)
      expect(metricIn(page, 'borough_storage_free_bytes')).toBeGreaterThan(4096)
      expect(metricIn(page, 'borough_storage_writes_limited')).toBe(0)
      expect(metricIn(page, 'borough_storage_scrub_findings')).toBe(0)
      expect(page.match(/^borough_storage_used_bytes /gm)).toHaveLength(1)
      const ready = await pageOf(kubeconfig, server, '/readyz?verbose')
      expect(ready).toContain('[+]storage ok\n[+]storage-room ok\n[+]storage-scrub ok\n')
    }
  })

  it('under load, and while one is killed: linearizable keys, complete watches, exact quota', {
    timeout: 120_000,
  }, async () => {
    const kubeconfig = await server.adminKubeconfig()
    // Connections go to the workers in turn.
    const clients = Array.from({ length: 4 }, () => clientOf(kubeconfig, server))
    const changes = (): Change[] => changesIn(join(server.dataDir, 'store/state.db'))
    const load = new RecordedLoad({ clients, changes, keys: 5, contenders: 8, random: randomFrom(7) })
    await load.start()
    await load.acknowledges(20)
    await pause(1000)
    const [victim] = workers()
    if (victim === undefined) throw new Error('no worker')
    const scraped = requestsIn(await pageOf(kubeconfig, server, '/metrics'), {})
    const killed = performance.now()
    process.kill(victim, 'SIGKILL')
    await load.acknowledges(20)
    await pause(2000)
    const silentMs = load.longestSilence(killed)
    const { problems, ...counts } = await load.finish(() => Promise.resolve())
    console.log(`two workers, one killed: ${JSON.stringify(counts)}; no write for at most ${Math.round(silentMs)} ms`)
    expect(problems.slice(0, 20)).toEqual([])
    expect(counts.acknowledged).toBeGreaterThanOrEqual(40)
    // A guard: the time itself is printed.
    expect(silentMs).toBeLessThan(30_000)
    for (let tries = 0; workers().length < 2; tries++) {
      expect(tries).toBeLessThan(1200)
      await pause(50)
    }
    expect(workers()).not.toContain(victim)
    // What it had counted is not forgotten.
    expect(requestsIn(await pageOf(kubeconfig, server, '/metrics'), {})).toBeGreaterThan(scraped)
  })

  it('end together, and nothing is lost, of the audit log neither: whole lines of both, each event once', {
    timeout: 120_000,
  }, async () => {
    const kubeconfig = await server.adminKubeconfig()
    const names = Array.from({ length: 40 }, (_, i) => (i === 39 ? 'last' : `audited-${i}`))
    await Promise.all(
      names.map((name) =>
        clientOf(kubeconfig, server).create(configMaps, { metadata: { name, namespace: 'default' } }),
      ),
    )
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
    const files = (await readdir(folder)).filter((name) => name.startsWith('audit.log'))
    expect(files.length).toBeGreaterThan(1)
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
    for (const text of texts) expect(text.endsWith('\n')).toBe(true)
    const events = texts.flatMap((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditLine),
    )
    const ids = events.map(({ auditID, stage }) => `${auditID} ${stage}`)
    expect(new Set(ids).size).toBe(ids.length)
    const created = events.flatMap(({ verb, objectRef, stage }) =>
      verb === 'create' && objectRef?.namespace === 'default' && stage === 'ResponseComplete'
        ? [objectRef.name ?? '']
        : [],
    )
    for (const name of names) expect(created.filter((found) => found === name)).toHaveLength(1)
    await server.start()
    const found = await clientOf(kubeconfig, server).get(configMaps, { namespace: 'default', name: 'last' })
    expect(found.metadata.name).toBe('last')
  })
})

interface AuditLine {
  readonly auditID: string
  readonly stage: string
  readonly verb: string
  readonly objectRef?: { readonly namespace?: string; readonly name?: string }
}

const metricIn = (page: string, name: string): number => Number(new RegExp(`\\n${name} (\\S+)`).exec(page)?.[1])

/** Of all series that have these labels. */
function requestsIn(page: string, labels: Readonly<Record<string, string>>): number {
  let total = 0
  for (const line of page.split('\n')) {
    if (!line.startsWith('apiserver_request_duration_seconds_count{')) continue
    if (Object.entries(labels).every(([name, value]) => line.includes(`${name}="${value}"`)))
      total += Number(line.slice(line.lastIndexOf(' ')))
  }
  return total
}

/** The log of the store, read beside it. */
function changesIn(path: string): Change[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = database
      .prepare(
        'SELECT l.revision, l.key, l.value, l.previous, p.value AS before FROM log l LEFT JOIN log p ON ' +
          'p.revision = l.previous ORDER BY l.revision',
      )
      .all()
    return rows.flatMap(({ revision, key, value, previous, before }): Change[] => {
      if (typeof key !== 'string' || !recordedSpans.some((span) => key.startsWith(span))) return []
      const old = typeof previous === 'number' ? { key, revision: previous, value: before as Uint8Array } : undefined
      return [{ key, revision: Number(revision), value: (value as Uint8Array | null) ?? undefined, previous: old }]
    })
  } finally {
    database.close()
  }
}
