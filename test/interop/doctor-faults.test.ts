/** `borough doctor` where something is broken: clocks, dates of certificates, and a server that was killed. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKeyPair, issueCertificate, privateKeyPem } from '../../src/base/x509-certificate.ts'
import type { Finding } from '../../src/doctor/doctor.ts'
import { BoroughProcess, borough } from './borough-process.ts'

const dayMs = 86_400_000
const subject = { commonName: 'authority' }
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-doctor-faults-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Examination {
  readonly code: number | null
  readonly findings: readonly Finding[]
}

async function doctor(...flags: string[]): Promise<Examination> {
  const { code, stdout } = await borough(['doctor', '-o', 'json', ...flags])
  return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings }
}

/** The one finding whose check begins so. */
function finding({ findings }: Examination, begin: string): Finding {
  const found = findings.filter(({ check }) => check.startsWith(begin))
  expect(found).toHaveLength(1)
  return found[0] as Finding
}

interface Dates {
  readonly fromDays: number
  readonly toDays: number
}

/** An authority, and what it issued for this machine. */
function certificates({ fromDays, toDays }: Dates): { ca: string; cert: string; key: string } {
  const [authority, own] = [generateKeyPair(), generateKeyPair()]
  const nowMs = Date.now()
  const issuer = { subject, key: authority }
  const [notBeforeMs, notAfterMs] = [nowMs + fromDays * dayMs, nowMs + toDays * dayMs]
  const ca = issueCertificate({
    ...{ subject, publicKey: authority.publicKey, issuer, usage: 'authority' },
    ...{ notBeforeMs: nowMs - 400 * dayMs, notAfterMs: nowMs + 400 * dayMs },
  })
  const leaf = { subject: { commonName: 'server' }, publicKey: own.publicKey, issuer, notBeforeMs, notAfterMs }
  const cert = issueCertificate({ ...leaf, usage: 'server', names: ['127.0.0.1'] })
  return { ca, cert, key: privateKeyPem(own.privateKey) }
}

/** Examines a server that knows nothing but its version and the time, and has another clock. */
async function examineServer(aheadMs: number, dates: Dates): Promise<Examination> {
  const { ca, cert, key } = certificates(dates)
  const server = createServer({ cert, key, keepAlive: false }, (request, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
    response.setHeader('content-type', 'application/json')
    response.statusCode = request.url === '/version' ? 200 : 404
    response.end(JSON.stringify({ gitVersion: 'v1.33.0' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const path = join(folder, 'kubeconfig')
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    clusters: [
      {
        name: 'a',
        cluster: {
          server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'a', user: { token: 'x' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  }
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  const found = await doctor('--kubeconfig', path)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  return found
}

const valid: Dates = { fromDays: -1, toDays: 300 }

describe('a server', () => {
  // A date has whole seconds, so it is up to one behind.
  test.each([
    { aheadMs: 10_000, status: 'warn', message: /^the server's clock is (?:[89]\.\d|10\.0) s ahead of this one$/ },
    { aheadMs: 600_000, status: 'fail', message: /^the server's clock is (?:59\d\.\d|600\.0) s ahead of this one$/ },
    { aheadMs: -600_000, status: 'fail', message: /^the server's clock is (59|60)\d\.\d s behind this one$/ },
  ])('whose clock is $aheadMs ms off', async ({ aheadMs, status, message }) => {
    expect(finding(await examineServer(aheadMs, valid), 'clock')).toEqual({
      check: 'clock',
      status,
      message: expect.stringMatching(message) as string,
      remedy: 'let NTP set both clocks: tokens, certificates and leases go by them',
    })
  })

  test.each([
    { name: 'ended', dates: { fromDays: -20, toDays: -10 }, message: /^it ended on \d{4}-\d\d-\d\d: it is refused$/ },
    { name: 'is not valid yet', dates: { fromDays: 2, toDays: 10 }, message: /^it is not valid before \d{4}-\S+Z$/ },
  ])('whose certificate $name', async ({ dates, message }) => {
    const found = await examineServer(0, dates)
    expect(found.code).toBe(1)
    expect(finding(found, 'server ')).toMatchObject({ status: 'fail', message: expect.stringMatching(/^it can't be/) })
    const { status, message: text, remedy } = finding(found, 'serving certificate of ')
    expect({ status, text, isRemedy: remedy !== undefined }).toEqual({
      status: 'fail',
      text: expect.stringMatching(message) as string,
      isRemedy: true,
    })
  })
})

describe('a data directory', () => {
  test('of a server that was killed: what was acknowledged is there', async () => {
    await using server = await BoroughProcess.start([])
    const { pid } = server
    await server.end('SIGKILL')
    const found = await doctor('--data-dir', server.dataDir)
    expect(found.code).toBe(0)
    expect(finding(found, 'data directory: lock')).toEqual({
      check: 'data directory: lock',
      status: 'warn',
      message: `no server runs on it; the last one (process ${pid}) was killed or its machine stopped`,
      remedy: "start 'borough up' again: what was acknowledged is there",
    })
    for (const [name, dates, message] of [
      ['server.crt', { fromDays: -20, toDays: -10 }, /^it ended on .*: it is refused$/],
      ['server.crt', { fromDays: 3, toDays: 10 }, /^it is not valid before /],
      ['ca.crt', { fromDays: -20, toDays: -10 }, /^it ended on .*: it is refused$/],
    ] as const) {
      const path = join(server.dataDir, 'pki', name)
      await writeFile(path, certificates(dates).cert)
      const broken = await doctor('--data-dir', server.dataDir)
      expect(broken.code).toBe(1)
      expect(finding(broken, `certificate ${path}`)).toMatchObject({
        status: 'fail',
        message: expect.stringMatching(message) as string,
        remedy: expect.stringMatching(/./) as string,
      })
    }
  })
})
