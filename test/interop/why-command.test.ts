/** `borough why` and `borough finalize` as somebody at a terminal uses them, over a socket, by a kubeconfig. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { borough } from './borough-process.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
let folder: string
let log: string
let kubeconfig: string
let plane: TestControlPlane

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-why-'))
  log = join(folder, 'audit.log')
  plane = await startControlPlane({ port: 0, population: false, audit: { path: log, maxBytes: 1 << 20, keep: 1 } })
  kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, plane.kubeconfig)
  const metadata = { namespace: 'stuck', name: 'held', finalizers: ['ex.io/wait'] }
  await plane.client.create(namespaces, { metadata: { name: 'stuck' } })
  await plane.client.create({ ...namespaces, resource: 'configmaps' }, { metadata })
  await plane.client.delete(namespaces, { name: 'stuck' })
  await waitFor(plane.client, namespaces, { name: 'stuck' }, (n) =>
    JSON.stringify(n?.['status']).includes('ex.io/wait'),
  )
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const run = (...args: string[]) => borough([...args, '--kubeconfig', kubeconfig])

test('why tells what is left and the way out, finalize takes it, and the audit log has it', async () => {
  const told = await run('why', 'stuck')
  expect({ code: told.code, stderr: told.stderr }).toEqual({ code: 2, stderr: '' })
  expect(told.stdout).toMatch(/^Namespace stuck is Terminating, for \d+s \(since .*Z\)\.$/m)
  expect(told.stdout).toMatch(/^ {2}configmaps\/held {2}\(finalizers: ex\.io\/wait\)$/m)
  expect(told.stdout).toMatch(/^ {4}borough finalize stuck --remove ex\.io\/wait$/m)

  const kept = await run('finalize', 'stuck', '--remove', 'kubernetes')
  expect({ code: kept.code, stdout: kept.stdout }).toEqual({ code: 1, stdout: '' })
  expect(kept.stderr).toMatch(/^borough: .*1 object is left in it.*: configmaps\/held; 'borough why stuck' says.*\n$/)

  const freed = await run('finalize', 'stuck', '--remove', 'ex.io/wait')
  expect(freed).toEqual({ code: 0, stderr: '', stdout: 'ex.io/wait removed from configmaps/held\n' })
  await waitFor(plane.client, namespaces, { name: 'stuck' }, (n) => n === undefined)
  await expect
    .poll(() => readFile(log, 'utf8'))
    .toMatch(/"verb":"patch","user":\{"username":"kubernetes-admin".*"userAgent":"borough\/finalize".*"name":"held"/)

  const json = await run('why', 'stuck', '-o', 'json')
  expect({ code: json.code, told: JSON.parse(json.stdout) as unknown }).toEqual({
    code: 3,
    told: { namespace: 'stuck', state: 'NotFound' },
  })
  expect((await run('why', 'default')).code).toBe(0)
})

test.each([
  {
    name: 'a kubeconfig that is not there',
    args: ['--kubeconfig', '/nowhere/config'],
    says: /--kubeconfig: there is no file \/nowhere\/config/,
  },
  { name: 'a context that is not in it', args: ['--context', 'nope'], says: /has no context "nope"/ },
])('$name is one line and exit code 1', async ({ args, says }) => {
  const { code, stdout, stderr } = await borough(['why', 'default', '--kubeconfig', kubeconfig, ...args])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(says)
  expect(stderr.split('\n')).toHaveLength(2)
})

test('a server that is not there is one line that names it', async () => {
  const dead = join(folder, 'dead')
  await writeFile(dead, plane.kubeconfig.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'))
  const { code, stderr } = await borough(['why', 'default', '--kubeconfig', dead])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "borough: https://127.0.0.1:1 can't be reached: connect ECONNREFUSED 127.0.0.1:1\n",
  })
})

test('--wait waits for the end of a namespace, and says when the time was up', async () => {
  const name = 'parting'
  const metadata = { namespace: name, name: 'held', finalizers: ['ex.io/wait'] }
  await plane.client.create(namespaces, { metadata: { name } })
  await plane.client.create({ ...namespaces, resource: 'configmaps' }, { metadata })
  await plane.client.delete(namespaces, { name })

  const late = await run('why', name, '--wait', '--timeout', '500ms')
  expect({ code: late.code, stderr: late.stderr }).toEqual({ code: 2, stderr: 'namespace parting: the time is up\n' })
  const other = run('why', name, '--wait')
  const done = await run('finalize', name, '--remove', 'ex.io/wait', '--wait', '--timeout', '1m')
  expect(done).toEqual({
    code: 0,
    stderr: 'namespace parting is gone\n',
    stdout: 'ex.io/wait removed from configmaps/held\n',
  })
  await expect(plane.client.get(namespaces, { name })).rejects.toMatchObject({ reason: 'NotFound' })
  expect(await other).toEqual({ code: 3, stderr: '', stdout: 'There is no namespace parting.\n' })
  expect((await run('why', 'default', '--wait')).code).toBe(0)
})

test('finalize --wait ends with 2 where something else still holds the namespace', async () => {
  const name = 'twice-held'
  const metadata = { namespace: name, name: 'held', finalizers: ['ex.io/one', 'ex.io/two'] }
  await plane.client.create(namespaces, { metadata: { name } })
  await plane.client.create({ ...namespaces, resource: 'configmaps' }, { metadata })
  await plane.client.delete(namespaces, { name })
  expect(await run('finalize', name, '--remove', 'ex.io/one', '--wait', '--timeout', '500ms')).toEqual({
    code: 2,
    stderr: 'namespace twice-held: the time is up\n',
    stdout: 'ex.io/one removed from configmaps/held\n',
  })
})
