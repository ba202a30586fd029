/** `borough doctor`, as an operator runs it: what it finds, what it says to do, and that it changes nothing. */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, open, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { generateKeyPair, issueCertificate, privateKeyPem } from '../../src/base/x509-certificate.ts'
import { openRemote } from '../../src/client/remote.ts'
import type { Finding } from '../../src/doctor/doctor.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { freePort } from '../support/free-port.ts'
import { BoroughProcess, borough } from './borough-process.ts'
import { PopulateProcess } from './populate-process.ts'

let server: BoroughProcess
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-doctor-'))
  server = await BoroughProcess.start(['--no-population'])
}, 120_000)
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

interface Examination {
  readonly code: number | null
  readonly findings: readonly Finding[]
}

async function doctor(...flags: string[]): Promise<Examination> {
  const { code, stdout, stderr } = await borough(['doctor', '-o', 'json', ...flags])
  expect(stderr).toBe('')
  expect(stdout).not.toMatch(/PRIVATE KEY|eyJ|-key-data/)
  return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings }
}

/** Of the findings whose check begins so. */
const statuses = ({ findings }: Examination, begin: string): string[] =>
  findings.filter(({ check }) => check.startsWith(begin)).map(({ status, message }) => `${status} ${message}`)

const kubeconfig = (): string => join(server.dataDir, 'admin.kubeconfig')

/** A server on this machine, with a certificate that holds for so many days. */
async function servedFor(days: number): Promise<{ url: string; ca: string; close(): Promise<void> }> {
  const nowMs = Date.now()
  const subject = { commonName: 'hooks' }
  const [authority, key] = [generateKeyPair(), generateKeyPair()]
  const dates = { notBeforeMs: nowMs - 86_400_000, notAfterMs: nowMs + days * 86_400_000 }
  const issuer = { subject, key: authority }
  const ca = issueCertificate({
    ...{ subject, publicKey: authority.publicKey, issuer, usage: 'authority' },
    ...{ ...dates, notAfterMs: nowMs + 400 * 86_400_000 },
  })
  const leaf = { subject: { commonName: 'hook' }, publicKey: key.publicKey, issuer, ...dates }
  const cert = issueCertificate({ ...leaf, usage: 'server', names: ['127.0.0.1'] })
  const listener = createServer({ cert, key: privateKeyPem(key.privateKey) }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const close = async (): Promise<void> => {
    listener.close()
    await once(listener, 'close')
  }
  return { url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`, ca, close }
}

/** Every file by its content, and every mode. */
async function contentsOf(dir: string): Promise<readonly string[]> {
  const names = (await readdir(dir, { recursive: true })).sort()
  return Promise.all(
    names.map(async (name) => {
      const { mode } = await stat(join(dir, name))
      const isFile = (await stat(join(dir, name))).isFile()
      return `${name} ${mode.toString(8)} ${isFile ? hash('sha256', await readFile(join(dir, name))) : ''}`
    }),
  )
}

describe('of a server that runs', () => {
  it('everything is in order, in all forms', async () => {
    const found = await doctor('--data-dir', server.dataDir)
    expect(found.findings.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(found.code).toBe(0)
    expect(statuses(found, 'data directory: lock')).toEqual([
      expect.stringMatching(/^ok served by process \d+, https:\/\/127\.0\.0\.1:\d+$/),
    ])
    expect(statuses(found, 'clock')).toEqual(["ok the server's clock agrees with this one"])
    expect(statuses(found, 'rights for population')).toEqual(['ok the user of the kubeconfig has all of them'])
    const yaml = await borough(['doctor', '-o', 'yaml', '--data-dir', server.dataDir])
    const checks = (parse(yaml.stdout) as { findings: Finding[] }).findings.map(({ check }) => check)
    expect(checks).toEqual(found.findings.map(({ check }) => check))
    const text = await borough(['doctor', '--data-dir', server.dataDir])
    expect(text.stdout).toMatch(new RegExp(`${found.findings.length} ok, 0 warnings, 0 failed\\n$`))
  })

  it('webhooks that do not answer are named, and what their silence means', async () => {
    const { client } = openRemote({ kubeconfigPath: kubeconfig(), userAgent: 'test' })
    const registrations = { group: 'admissionregistration.k8s.io', version: 'v1' }
    const resource = { ...registrations, resource: 'validatingwebhookconfigurations' }
    const hook = (name: string, more: object): object => ({
      ...{ name: `${name}.ex.io`, sideEffects: 'None', admissionReviewVersions: ['v1'], ...more },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    })
    const url = `https://127.0.0.1:${await freePort()}/x`
    await client.create(resource, {
      metadata: { name: 'silent' },
      webhooks: [
        hook('closed', { clientConfig: { url } }),
        hook('open', { clientConfig: { url }, failurePolicy: 'Ignore' }),
        hook('nowhere', { clientConfig: { service: { namespace: 'default', name: 'hooks' } } }),
      ],
    } as KubeObject)
    const found = await doctor('--kubeconfig', kubeconfig())
    expect(found.code).toBe(1)
    expect(statuses(found, 'validatingwebhookconfigurations/silent')).toEqual([
      expect.stringMatching(
        /^fail it does not answer \(.*ECONNREFUSED.*\): every write that it wants to see is refused$/,
      ),
      expect.stringMatching(/^warn it does not answer \(.*ECONNREFUSED.*\): it is passed over$/),
      'warn there is no Service default/hooks, unless the server was told its address',
    ])
    await client.delete(resource, { name: 'silent' })
  })

  it('a conversion webhook that does not answer is named, and one whose certificate ends soon', async () => {
    const { client } = openRemote({ kubeconfigPath: kubeconfig(), userAgent: 'test' })
    const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
    const soon = await servedFor(20)
    const conversion = (url: string, caBundle?: string): object => ({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url, ...(caBundle && { caBundle }) } },
    })
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const made = (plural: string, kind: string, how: object): Promise<KubeObject> =>
      client.create(definitions, {
        metadata: { name: `${plural}.ex.io` },
        spec: { group: 'ex.io', scope: 'Cluster', names: { plural, kind }, versions, conversion: how },
      } as KubeObject)
    await made('silents', 'Silent', conversion(`https://127.0.0.1:${await freePort()}/x`))
    await made('endings', 'Ending', conversion(`${soon.url}/x`, Buffer.from(soon.ca).toString('base64')))
    const found = await doctor('--kubeconfig', kubeconfig())
    await soon.close()
    expect(found.code).toBe(1)
    expect(statuses(found, 'customresourcedefinitions/silents.ex.io: conversion')).toEqual([
      expect.stringMatching(
        /^fail it does not answer \(.*REFUSED.*\): objects .* in another version can be neither read nor written$/,
      ),
    ])
    expect(statuses(found, 'customresourcedefinitions/endings.ex.io: conversion')).toEqual([
      expect.stringMatching(/^warn it answers at 127\.0\.0\.1:\d+, its certificate: it ends on \S+, in (19|20) days$/),
    ])
    for (const name of ['silents.ex.io', 'endings.ex.io']) await client.delete(definitions, { name })
  })

  it('population is examined: rights, what is installed, and who runs it', async () => {
    const weak = join(folder, 'weak.kubeconfig')
    await borough(['kubeconfig', '--user', 'weak', '--data-dir', server.dataDir, '--out', weak])
    const refused = await doctor('--kubeconfig', weak)
    expect(refused.code).toBe(1)
    expect(statuses(refused, 'rights for population')).toEqual([
      expect.stringMatching(/^fail the user of the kubeconfig may not \S+ namespaces and \d+ more$/),
    ])
    await using populate = await PopulateProcess.start(kubeconfig())
    const running = await doctor('--kubeconfig', kubeconfig())
    expect(running.findings.filter(({ status }) => status === 'fail')).toEqual([])
    expect(statuses(running, 'customresourcedefinition ')).toEqual(['ok served as v1alpha1'])
    await populate.end('SIGTERM')
    const stopped = await doctor('--kubeconfig', kubeconfig())
    expect(stopped.code).toBe(1)
    expect(statuses(stopped, 'lease borough-system/borough-population')).toEqual([
      'fail no process populates namespaces, and its webhooks are registered: creates of namespaces are refused',
    ])
    // It waits for a clock on its way, and for nothing else.
    const uninstalled = await borough(['populate', '--uninstall', '--kubeconfig', kubeconfig()])
    expect(uninstalled).toMatchObject({ code: 0, stderr: '' })
    expect(uninstalled.stdout.split('\n').filter((line) => line.endsWith(' deleted'))).toHaveLength(14)
  }, 120_000)
})

describe('of a directory without a server', () => {
  beforeAll(async () => {
    await server.end('SIGTERM')
  })

  it('what lies there is looked at, and nothing is changed', async () => {
    const before = await contentsOf(server.dataDir)
    const found = await doctor('--data-dir', server.dataDir)
    expect(found.findings.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(statuses(found, 'data directory: lock')).toEqual(['ok no server runs on it'])
    expect(await contentsOf(server.dataDir)).toEqual(before)
  })

  it('the one that is looked at where none is named is told', async () => {
    const { stdout } = await borough(['doctor'], 60_000, {}, folder)
    const usual = join(await realpath(folder), '.borough')
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      `Of ${usual}, for neither --data-dir nor --kubeconfig or --context names another:`,
      `fail  data directory ${usual}: it can't be read (ENOENT)`,
    ])
  })

  it('keys that others can read are named', async () => {
    const key = join(server.dataDir, 'pki', 'ca.key')
    await chmod(key, 0o644)
    const found = await doctor('--data-dir', server.dataDir)
    await chmod(key, 0o600)
    expect(found.code).toBe(1)
    expect(statuses(found, 'data directory: modes')).toEqual([
      `fail ${key} is open to other users; a server refuses keys that are`,
    ])
  })

  it('damage in the store is named', async () => {
    const file = await open(join(server.dataDir, 'store', 'state.db'), 'r+')
    const { size } = await file.stat()
    await file.write(Buffer.alloc(size >> 1, 0xa5), 0, undefined, size >> 2)
    await file.close()
    const found = await doctor('--data-dir', server.dataDir)
    expect(found.code).toBe(1)
    expect(statuses(found, 'data directory: store')).toEqual([expect.stringMatching(/^fail /)])
  })

  it('one that is not there, or a file, is said to be so', async () => {
    const never = await doctor('--data-dir', join(folder, 'never'))
    expect([never.code, statuses(never, 'data directory')]).toEqual([1, ["fail it can't be read (ENOENT)"]])
    const path = join(folder, 'weak.kubeconfig')
    expect(statuses(await doctor('--data-dir', path), 'data directory')).toEqual(['fail it is no directory'])
  })

  it('a folder of something else is not told to change its modes', async () => {
    const path = join(folder, 'else')
    await mkdir(path, { mode: 0o755 })
    await writeFile(join(path, 'passwd'), '')
    const found = await doctor('--data-dir', path)
    const message = 'it holds other files, and nothing of a server'
    expect(found.code).toBe(1)
    expect(found.findings.filter(({ check }) => check.startsWith('data directory'))).toEqual([
      { check: `data directory ${path}`, status: 'fail', message, remedy: 'name another with --data-dir' },
    ])
  })

  it('a server that can not be reached is told apart from a certificate that ended', async () => {
    const found = await doctor('--kubeconfig', kubeconfig())
    expect(found.code).toBe(1)
    expect(statuses(found, 'server ')).toEqual([expect.stringMatching(/^fail it can't be asked: .*ECONNREFUSED/)])
    expect(statuses(found, 'client certificate')).toEqual([expect.stringMatching(/^ok valid until /)])
  })
})
