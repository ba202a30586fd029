/** `borough console` as a process: what it prints, whom it tells the secret, and how it ends. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { ask, letIn } from '../support/console-client.ts'
import { borough } from './borough-process.ts'
import { endProcess, startServing } from './serving-process.ts'

interface Ready {
  readonly cluster: string
  readonly address: string
  readonly pid: number
}

let plane: TestControlPlane
let folder: string
let kubeconfig: string
const path = process.env['PATH']

beforeAll(async () => {
  plane = await startControlPlane({ port: 0 })
  folder = mkdtempSync(join(tmpdir(), 'console-command-'))
  kubeconfig = join(folder, 'alice.kubeconfig')
  writeFileSync(kubeconfig, plane.kubeconfigFor('alice', ['system:masters']), { mode: 0o600 })
})
afterAll(async () => {
  process.env['PATH'] = path
  await plane[Symbol.asyncDispose]()
})

test('it serves until it is told to end', async () => {
  const args = ['console', '--kubeconfig', kubeconfig, '--no-open', '-o', 'json']
  const { child, ready } = await startServing<Ready>(args)
  expect(ready).toEqual({
    cluster: plane.url,
    address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/),
    pid: child.pid,
  })
  const at = { origin: new URL(ready.address).origin, address: ready.address, [Symbol.asyncDispose]: async () => {} }
  const headers = await letIn(at)
  expect((await ask(at, { path: '/api/v1/namespaces/default', headers })).body).toMatchObject({ kind: 'Namespace' })
  expect(await endProcess(child, 'SIGTERM')).toEqual({ code: 0, signal: null })
})

test.each(['SIGINT', 'SIGHUP'] as const)(
  'the browser is given a file that other users can’t read, no secret in its arguments, and %s takes it away',
  async (signal) => {
    // Stands for the program that opens browsers: it keeps what it was given.
    const opener = join(folder, 'xdg-open')
    const told = join(folder, `told-${signal}`)
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$*" > ${told}.part && mv ${told}.part ${told}\n`)
    chmodSync(opener, 0o755)
    process.env['PATH'] = `${folder}${delimiter}${path}`
    const { child, ready } = await startServing<Ready>(['console', '--kubeconfig', kubeconfig, '-o', 'json'])
    await expect.poll(() => existsSync(told)).toBe(true)
    const url = readFileSync(told, 'utf8')
    expect(url).not.toContain(new URL(ready.address).hash.slice(1))
    const file = new URL(url)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(new URL('.', file)).mode & 0o777).toBe(0o700)
    expect(readFileSync(file, 'utf8')).toContain(`content="0;url=${ready.address}"`)
    expect(await endProcess(child, signal)).toEqual({ code: 0, signal: null })
    expect(existsSync(file)).toBe(false)
  },
)

test('an address that other machines reach is refused', async () => {
  const { code, stdout, stderr } = await borough(['console', '--kubeconfig', kubeconfig, '--listen', '0.0.0.0:0'])
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: 'borough: the console listens on a loopback address (127.0.0.1, [::1], localhost), 0.0.0.0 is none\n',
  })
})
