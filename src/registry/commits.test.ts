import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { failure, refusal, statusOf } from '../../test/support/refusal.ts'
import {
  configMap,
  configMaps,
  type Fixture,
  namespaces,
  pods,
  quotas,
  startFixture,
} from '../../test/support/registry-fixture.ts'
import type { Accountant } from '../admission/admission.ts'
import { forbidden } from '../kube/status-error.ts'
import { encodeStored, parseStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts'
import type { PendingCommit, Storage, Transaction } from '../storage/storage.ts'

const limitsOf = (o: KubeObject): { hard: number; used: number } => ({
  hard: (o['spec'] as { hard: number }).hard,
  used: (o['status'] as { used?: number } | undefined)?.used ?? 0,
})

/** A quota in small: counts the ConfigMaps of a namespace, exactly. */
const counting: Accountant = {
  handles: () => true,
  account(change, view) {
    const delta = (change.after ? 1 : 0) - (change.before ? 1 : 0)
    if (change.type !== configMaps || delta === 0) return {}
    const { key, object, expect } = view.see(quotas, change.namespace, 'q')
    if (!object) return { guards: [{ key, expect }] }
    const { hard, used } = limitsOf(object)
    if (delta > 0 && used + delta > hard) throw forbidden(change.type, change.name, 'exceeded quota')
    const next = { ...object, status: { used: used + delta } }
    return { writes: [{ key, value: encodeStored(next), expect, object: next }] }
  },
}

async function startWithQuota(hard: number, storage?: Storage): Promise<Fixture> {
  const f = await startFixture({ accountant: counting, ...(storage ? { storage } : {}) })
  await f.registry.create(f.scope(quotas, ''), { metadata: { name: 'q' }, spec: { hard } })
  return f
}

const usedOf = async (f: Fixture): Promise<number> => limitsOf((await f.registry.get(quotas, 'ns', 'q')).object).used
const count = (f: Fixture): number => [...f.lister.list(configMaps, 'ns')].length

/** A storage that counts what is asked of it. */
function counted(storage: Storage): { storage: Storage; commits: () => number } {
  let commits = 0
  const proxy = new Proxy(storage, {
    get(target, property) {
      const value = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (property === 'commit') commits++
        return Reflect.apply(value, target, args)
      }
    },
  })
  return { storage: proxy, commits: () => commits }
}

test('many creators charge one quota without losing to each other, and not one too many gets in', async () => {
  const { storage, commits } = counted(new MemoryStorage())
  await using f = await startWithQuota(50, storage)
  const before = commits()
  const results = await Promise.allSettled(
    Array.from({ length: 64 }, (_, i) => f.registry.create(f.scope(configMaps, ''), configMap(`c${i}`))),
  )
  expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(50)
  for (const r of results) if (r.status === 'rejected') expect(r.reason).toMatchObject({ reason: 'Forbidden' })
  expect(await usedOf(f)).toBe(50)
  expect(count(f)).toBe(50)
  expect(commits() - before).toBe(50)
})

test('when one in the lane fails, those behind it decide again and lose nothing', async () => {
  await using f = await startWithQuota(100)
  await f.registry.create(f.scope(configMaps, ''), configMap('taken'))
  const names = ['a', 'b', 'taken', 'c', 'taken', 'd']
  const results = await Promise.allSettled(
    names.map((name) => f.registry.create(f.scope(configMaps, ''), configMap(name))),
  )
  expect(results.map((r) => (r.status === 'fulfilled' ? 'ok' : r.reason.reason))).toEqual([
    'ok',
    'ok',
    'AlreadyExists',
    'ok',
    'AlreadyExists',
    'ok',
  ])
  expect(await usedOf(f)).toBe(5)
})

test('every way to disappear releases: DELETE, the last finalizer, a collection', async () => {
  await using f = await startWithQuota(10)
  for (const name of ['a', 'b', 'c', 'd']) {
    const finalizers = name === 'b' ? ['x.y/z'] : []
    await f.registry.create(f.scope(configMaps, ''), configMap(name, {}, { finalizers }))
  }
  expect(await usedOf(f)).toBe(4)
  await f.registry.delete(f.scope(configMaps, 'a'), {})
  await f.registry.delete(f.scope(configMaps, 'b'), {})
  expect(await usedOf(f)).toBe(3)
  const clear = (o: KubeObject | undefined): KubeObject => ({
    ...(o as KubeObject),
    metadata: { ...o?.metadata, finalizers: [] },
  })
  expect((await f.registry.update(f.scope(configMaps, 'b'), clear)).removed).toBe(true)
  expect(await usedOf(f)).toBe(2)
  await f.registry.deleteCollection(f.scope(configMaps, ''), { namespace: 'ns' }, {})
  expect(await usedOf(f)).toBe(0)
})

test('a dry run is refused by the same account and charges nothing', async () => {
  await using f = await startWithQuota(1)
  await f.registry.create(f.scope(configMaps, '', { dryRun: true }), configMap('a'))
  expect(await usedOf(f)).toBe(0)
  await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  expect(await refusal(f.registry.create(f.scope(configMaps, '', { dryRun: true }), configMap('b')))).toEqual(
    failure({
      message: 'configmaps "b" is forbidden: exceeded quota',
      reason: 'Forbidden',
      details: { name: 'b', kind: 'configmaps' },
      code: 403,
    }),
  )
})

test('an update of the quota itself gets its turn between creators that never stop', async () => {
  // An engine that writes on another thread: its queue is never empty.
  const directory = await mkdtemp(join(tmpdir(), 'lane-'))
  await using storage = await SqliteStorage.open({ directory })
  await using f = await startWithQuota(1_000_000, storage)
  let stop = false
  let n = 0
  const creator = async (): Promise<void> => {
    while (!stop) await f.registry.create(f.scope(configMaps, ''), configMap(`c${n++}`))
  }
  const creators = Array.from({ length: 16 }, creator)
  while (n < 100) await new Promise((resolve) => setImmediate(resolve))
  let tries = 0
  const raise = (o: KubeObject | undefined): KubeObject => {
    tries++
    return { ...(o as KubeObject), spec: { hard: 2_000_000 } }
  }
  await f.registry.update(f.scope(quotas, 'q'), raise)
  expect(tries).toBeLessThan(5)
  stop = true
  await Promise.all(creators)
  await rm(directory, { recursive: true })
  expect(await usedOf(f)).toBe(count(f))
  expect(limitsOf((await f.registry.get(quotas, 'ns', 'q')).object).hard).toBe(2_000_000)
})

test('waiting for a decision asks everybody again afterwards', async () => {
  let release: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  let asked = 0
  const waiting: Accountant = { handles: () => true, account: () => (asked++ === 0 ? { wait: gate } : {}) }
  await using f = await startFixture({ accountant: waiting })
  const created = f.registry.create(f.scope(configMaps, ''), configMap('a'))
  for (let i = 0; i < 20; i++) await Promise.resolve()
  expect(count(f)).toBe(0)
  release()
  await created
  expect(asked).toBe(2)
})

test('a decision that can never be made ends in ServerTimeout', async () => {
  await using f = await startFixture({
    accountant: { handles: () => true, account: () => ({ wait: new Promise(() => {}) }) },
  })
  const created = f.registry.create(f.scope(configMaps, ''), configMap('a')).catch((e) => e)
  for (let i = 0; i < 10; i++) await f.clock.advance(1000)
  expect(statusOf(await created)).toEqual(
    failure({
      message: 'The CREATE operation against configmaps could not be completed at this time, please try again.',
      reason: 'ServerTimeout',
      details: { kind: 'configmaps', retryAfterSeconds: 1 },
      code: 500,
    }),
  )
})

test('a commit whose outcome is unknown leaves no trace in the lane', async () => {
  const inner = new MemoryStorage()
  let fail = false
  const storage = new Proxy<Storage>(inner, {
    get(target, property) {
      const value = Reflect.get(target, property, target)
      if (property !== 'commit') return typeof value === 'function' ? value.bind(target) : value
      return (transaction: Transaction): PendingCommit => {
        const pending = target.commit(transaction)
        if (!fail) return pending
        fail = false
        return { ticket: pending.ticket, done: pending.done.then(() => Promise.reject(new Error('the line is dead'))) }
      }
    },
  })
  await using f = await startWithQuota(10, storage)
  fail = true
  await expect(f.registry.create(f.scope(configMaps, ''), configMap('a'))).rejects.toThrow('the line is dead')
  await f.registry.create(f.scope(configMaps, ''), configMap('b'))
  expect(await usedOf(f)).toBe(2)
  expect(count(f)).toBe(2)
})

/** Follows the store, change by change: the account must be right after every commit, not only at the end. */
async function checkEveryRevision(storage: Storage): Promise<void> {
  const present = new Set<string>()
  let used = 0
  let commit = 0
  const stop = new AbortController()
  const end = await storage.currentRevision()
  const settle = (): void => expect(used).toBe(present.size)
  for await (const batch of storage.watch(
    { start: '/registry/', end: '/registry0' },
    await storage.compactedRevision(),
    stop.signal,
  )) {
    if (batch.type === 'progress') {
      if (batch.revision >= end) break
      continue
    }
    for (const { key, revision, value } of batch.changes) {
      if (Math.floor(revision / 1024) !== commit) settle()
      commit = Math.floor(revision / 1024)
      if (key.startsWith('/registry/configmaps/')) {
        if (value) present.add(key)
        else present.delete(key)
      } else if (key.startsWith('/registry/resourcequotas/') && value) {
        used = limitsOf(parseStored(value, quotas, revision)).used
      }
    }
  }
  settle()
}

test('the account equals a recount at every revision, with two processes at work', async () => {
  const op = fc.record({
    kind: fc.constantFrom('create', 'create', 'delete', 'patch'),
    name: fc.integer({ min: 0, max: 9 }),
    on: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(op, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      async (ops, hard) => {
        const storage = new MemoryStorage()
        await using a = await startWithQuota(hard, storage)
        await using b = await startFixture({ storage, accountant: counting, clock: a.clock })
        await Promise.allSettled(
          ops.map(async ({ kind, name, on }) => {
            const f = on ? a : b
            const scope = f.scope(configMaps, `c${name}`)
            if (kind === 'create') await f.registry.create({ ...scope, name: '' }, configMap(`c${name}`))
            else if (kind === 'delete') await f.registry.delete(scope, {})
            else await f.registry.update(scope, (o) => ({ ...(o as KubeObject), data: { by: String(on) } }))
          }),
        )
        await checkEveryRevision(storage)
        await a.cache.refresh()
        expect(await usedOf(a)).toBe(count(a))
        expect(count(a)).toBeLessThanOrEqual(hard)
      },
    ),
    { numRuns: 60 },
  )
})

test('the guard of the namespace and the account hold in one transaction', async () => {
  await using f = await startFixture({
    accountant: counting,
    admission: [
      {
        name: 'Active',
        handles: (operation, type) => operation === 'CREATE' && type === configMaps,
        decide(a, view) {
          const { key, object, expect } = view.see(namespaces, '', a.namespace)
          if (!object || object.metadata.deletionTimestamp) throw forbidden(a.type, a.name, 'not active')
          return { guards: [{ key, expect }] }
        },
      },
    ],
  })
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'ns' } })
  await f.registry.create(f.scope(quotas, ''), { metadata: { name: 'q' }, spec: { hard: 100 } })
  await f.registry.create(f.scope(pods, ''), { metadata: { name: 'p' } })
  const creations = Array.from({ length: 30 }, (_, i) => f.registry.create(f.scope(configMaps, ''), configMap(`c${i}`)))
  const relabel = f.registry.update(f.scope(namespaces, 'ns'), (o) => ({
    ...(o as KubeObject),
    metadata: { ...o?.metadata, labels: { touched: 'yes' } },
  }))
  expect((await Promise.allSettled([...creations, relabel])).every((r) => r.status === 'fulfilled')).toBe(true)
  expect(await usedOf(f)).toBe(30)
})
