/** `borough token create` and the audit flags, as somebody at a terminal uses them. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pageOf } from '../replicas/kubeconfig-client.ts'
import { BoroughProcess, borough } from './borough-process.ts'

let folder: string
let log: string
let server: BoroughProcess

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-identity-'))
  log = join(folder, 'audit.log')
  server = await BoroughProcess.start(['--audit-log', log])
}, 120_000)

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const create = (...args: string[]) => borough(['token', 'create', '--data-dir', server.dataDir, ...args])

/** Whom the server takes the bearer for; its certificate is not what is tested here. */
async function whoami(token: string): Promise<{ status: number | undefined; username: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request(`https://${server.listen}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      rejectUnauthorized: false,
      agent: false,
    })
    sent.once('error', reject)
    const read = async (answer: IncomingMessage): Promise<void> => {
      const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as {
        status?: { userInfo?: { username?: string } }
      }
      resolve({ status: answer.statusCode, username: body.status?.userInfo?.username })
    }
    sent.once('response', (answer) => {
      read(answer).catch(reject)
    })
    sent.end('{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}')
  })
}

test('a created token is good for its account, and the audit log says who asked for it, without it', async () => {
  const { code, stdout, stderr } = await create('--serviceaccount', 'default/default', '--duration', '10m')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const token = stdout.trim()
  expect(await whoami(token)).toEqual({ status: 201, username: 'system:serviceaccount:default:default' })

  await expect
    .poll(() => readFile(log, 'utf8'))
    .toMatch(/"verb":"create","user":\{"username":"kubernetes-admin".*"subresource":"token"/)
  expect(await readFile(log, 'utf8')).not.toContain(token)
  expect((await stat(log)).mode & 0o777).toBe(0o600)
}, 120_000)

test('a token for others is not good here', async () => {
  const { code, stdout } = await create('--serviceaccount', 'default/default', '--audience', 'vault')
  expect(code).toBe(0)
  expect(await whoami(stdout.trim())).toMatchObject({ status: 401 })
}, 120_000)

test.each([
  { name: 'no such account', args: ['--serviceaccount', 'default/none'], want: /serviceaccounts "none" not found/ },
  { name: 'too short', args: ['--serviceaccount', 'default/default', '--duration', '9m'], want: /10 minutes/ },
  { name: 'not namespace/name', args: ['--serviceaccount', 'default'], want: /namespace\/name/ },
  {
    name: 'no server on the directory',
    args: ['--serviceaccount', 'default/default', '--data-dir', join(tmpdir(), 'borough-nowhere')],
    want: /no server runs on .*: name a server's data directory with --data-dir, start one with 'borough up', or name one with --server/,
  },
])(
  'what can not be done is said in one line: $name',
  async ({ args, want }) => {
    const { code, stdout, stderr } = await create(...args)
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(want)
    expect(stderr).not.toMatch(/\n\s+at /)
  },
  120_000,
)

test('an audit policy without a log, and one that is wrong, end the start', async () => {
  const dataDir = join(folder, 'data')
  const up = (...args: string[]) => borough(['up', '--listen', '127.0.0.1:0', '--data-dir', dataDir, ...args])
  const alone = await up('--audit-policy', 'p.yaml')
  expect(alone.code).not.toBe(0)
  expect(alone.stderr).toMatch(/--audit-policy needs --audit-log/)
  const missing = await up('--audit-log', join(folder, 'other.log'), '--audit-policy', join(folder, 'p.yaml'))
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^borough: --audit-policy: there is no file /) as string,
  })
}, 120_000)

test('after borough rotate-key a running server signs with the new key, and older tokens are still good', async () => {
  const tokenOf = async (): Promise<string> => (await create('--serviceaccount', 'default/default')).stdout.trim()
  const kidOf = (token: string): unknown =>
    (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: unknown }).kid
  const before = await tokenOf()
  const { code, stdout } = await borough(['rotate-key', '--data-dir', server.dataDir])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^sa-.* in .* signs within 15 s; tokens of the older keys stay good\n$/),
  })
  const added = /^sa-(\S+)/.exec(stdout)?.[1]
  const kubeconfig = await server.adminKubeconfig()
  await expect.poll(() => pageOf(kubeconfig, server, '/openid/v1/jwks'), { timeout: 30_000 }).toContain(added)

  // At a start the newest signs at once: nobody else has to learn of it.
  await server.end('SIGTERM')
  await server.start()
  const after = await tokenOf()
  expect(kidOf(after)).toBe(added)
  const account = { status: 201, username: 'system:serviceaccount:default:default' }
  expect([await whoami(before), await whoami(after)]).toEqual([account, account])
}, 120_000)

test('there is no key to rotate where there never was a server', async () => {
  const { code, stderr } = await borough(['rotate-key', '--data-dir', join(folder, 'never')])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      / authority in .*: name a server's data directory with --data-dir, or start 'borough up' first\n$/,
    ),
  })
})
