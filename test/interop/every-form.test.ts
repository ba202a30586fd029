/** Every command that prints for people, in every form of `-o`. A new command fails here until it has a row. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { createProgram, runProgram } from '../../src/cli/program.ts'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { identity, writeConfiguration } from '../encryption/configurations.ts'
import { waitFor } from '../support/wait-for.ts'
import { BoroughProcess } from './borough-process.ts'

const forms = ['text', 'wide', 'json', 'yaml', 'name'] as const
type Form = (typeof forms)[number]

const folder = mkdtempSync(join(tmpdir(), 'borough-forms-'))
const at = (name: string): string => join(folder, name)
let server: BoroughProcess
let elsewhere: TestControlPlane
let encryption: string
const remote = (): string[] => ['--kubeconfig', join(server.dataDir, 'admin.kubeconfig')]
const served = (): string[] => ['--data-dir', server.dataDir]
const rested = (): string[] => ['--data-dir', at('rested')]

interface Row {
  /** `form`: what a run leaves must not be in the way of the next. */
  readonly args: (form: Form) => readonly string[]
  /** Of the JSON. */
  readonly keys: readonly string[]
  /** Every line of the names. */
  readonly names: RegExp
  /** With `names` that may be none. */
  readonly mayNameNone?: true
  /** What is no fault. */
  readonly codes?: readonly number[]
}

const template = /^namespacetemplate\.policy\.borough\.dev\/t$/
const copied = ['bytes', 'entries', 'revision', 'seconds', 'sha256']

/** What ends by itself. */
const rows: Readonly<Record<string, Row>> = {
  kubeconfig: {
    args: (form) => ['--user', 'dev1', ...served(), ...(form === 'name' ? ['--out', at('dev1')] : [])],
    keys: ['apiVersion', 'clusters', 'contexts', 'current-context', 'kind', 'users'],
    names: /\/dev1$/,
  },
  'token create': {
    args: () => ['--serviceaccount', 'default/default', ...served()],
    keys: ['apiVersion', 'kind', 'metadata', 'spec', 'status'],
    names: /^serviceaccount\/default$/,
  },
  'rotate-key': { args: served, keys: ['key', 'place'], names: /^sa-/ },
  backup: { args: (form) => [...served(), '--to', at(`backup-${form}`)], keys: copied, names: /\/backup-name$/ },
  restore: {
    args: (form) => ['--from', at('whole'), '--data-dir', at(`restored-${form}`)],
    keys: copied,
    names: /\/restored-name$/,
  },
  'storage copy': {
    args: (form) => ['--from', `sqlite:${server.dataDir}`, '--to', `sqlite:${at(`copy-${form}`)}`],
    keys: copied,
    names: /\/copy-name$/,
  },
  'storage verify': {
    args: rested,
    keys: ['changes', 'entries', 'findings', 'revision', 'unsealed'],
    names: /\/rested$/,
  },
  'storage repair': { args: rested, keys: ['damaged'], names: /^$/, mayNameNone: true },
  'storage reencrypt': {
    args: () => [...rested(), '--encryption-provider-config', encryption],
    keys: ['encrypted', 'entries', 'rewritten', 'unreadable'],
    names: /\/rested$/,
  },
  doctor: { args: served, keys: ['dataDir', 'findings', 'server'], names: /^\S/, mayNameNone: true, codes: [0, 1] },
  why: {
    args: () => ['stuck', ...remote()],
    keys: ['held', 'namespace', 'state'],
    names: /^configmaps\/held$/,
    codes: [2],
  },
  'why-denied': {
    args: () => ['get', 'secrets', '-n', 'default', '--user', 'dora', ...remote()],
    keys: ['allowed'],
    names: /^(?:cluster)?role\.rbac\.authorization\.k8s\.io\/\S+$/,
    codes: [2],
  },
  finalize: {
    args: () => ['stuck', '--remove', 'example.com/held', '--dry-run', ...remote()],
    keys: ['dryRun', 'finalizer', 'namespace', 'released'],
    names: /^configmaps\/held$/,
  },
  'template describe': { args: () => ['t', ...remote()], keys: ['objects', 'template'], names: template },
  'template plan': {
    args: () => ['--delete', 't', ...remote()],
    keys: ['0'],
    names: /^namespace\/team-a$/,
    codes: [2],
  },
  'template rollback': {
    args: () => ['t', '--dry-run', ...remote()],
    keys: ['dryRun', 'generation', 'name', 'to'],
    names: template,
  },
  'template wait': {
    args: () => ['t', ...remote()],
    keys: ['generation', 'matched', 'name', 'outcome'],
    names: template,
  },
  populate: {
    args: () => ['--print-manifests'],
    keys: ['apiVersion', 'items', 'kind'],
    names: /^[a-z.0-9]+\/[a-z:.-]+$/,
  },
}

/** Until it is told to end. */
const servers: Readonly<Record<string, Pick<Row, 'keys' | 'names'> & { readonly args: () => readonly string[] }>> = {
  up: {
    args: () => ['--storage', 'memory', '--data-dir', at('memory'), '--listen', '127.0.0.1:0'],
    keys: ['kubeconfig', 'pid', 'url'],
    names: /^https:\/\/127\.0\.0\.1:\d+$/,
  },
  console: {
    args: () => ['--no-open', ...remote()],
    keys: ['address', 'cluster', 'pid'],
    names: /^http:\/\/127\.0\.0\.1:\d+\/#\S+$/,
  },
  populate: {
    args: () => ['--kubeconfig', at('elsewhere'), '--listen', '127.0.0.1:0'],
    keys: ['cluster', 'failOpen', 'pid', 'policies', 'registered', 'url'],
    names: /^[A-Z][A-Za-z]+\/borough-population\S*$/,
  },
}

/** Nothing of these is for people: a shell reads it. */
const without = new Set(['completion', '__complete'])

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }

beforeAll(async () => {
  server = await BoroughProcess.start()
  elsewhere = await startControlPlane({ port: 0, population: false })
  writeFileSync(at('elsewhere'), elsewhere.kubeconfig, { mode: 0o600 })
  const { client } = openRemote({ kubeconfigPath: join(server.dataDir, 'admin.kubeconfig'), userAgent: 'test' })
  await client.create(core('namespaces'), { metadata: { name: 'team-a' } })
  await makeTwoGenerations(client)
  await client.create(core('namespaces'), { metadata: { name: 'stuck' } })
  const metadata = { namespace: 'stuck', name: 'held', finalizers: ['example.com/held'] }
  await client.create(core('configmaps'), { metadata })
  await client.delete(core('namespaces'), { name: 'stuck' })
  mkdirSync(at('config'))
  encryption = await writeConfiguration(at('config'), { resources: ['configmaps'], providers: [identity] })
  expect(await run(['backup', ...served(), '--to', at('whole')])).toMatchObject({ code: 0 })
  expect(await run(['restore', '--from', at('whole'), ...rested()])).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await elsewhere[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
  // `borough up` has turned it on in this process, which has other tests to run: 0 is V8's own choice.
  setFlagsFromString('--heap-growing-percent=0')
})
afterEach(() => void vi.restoreAllMocks())

async function makeTwoGenerations(client: Client): Promise<void> {
  const spec = (a: string) => ({
    namespaces: { nameSelector: { include: ['team-*'] } },
    templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a } }],
  })
  const told = (a: string): Promise<unknown> =>
    waitFor(client, core('configmaps'), { namespace: 'team-a', name: 'one' }, (found) => {
      return (found?.['data'] as { readonly a?: string } | undefined)?.a === a
    })
  await client.create(templates, { metadata: { name: 't' }, spec: spec('1') })
  await told('1')
  await client.patch(templates, { name: 't' }, { spec: spec('2') })
  await told('2')
}

interface Ended {
  readonly code: number
  readonly stdout: string
}

/** In this process: another would read the whole source for each form. `onLine` is called once. */
async function run(args: readonly string[], onLine: () => void = () => undefined): Promise<Ended> {
  let stdout = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    const before = stdout.includes('\n')
    stdout += String(text)
    if (!before && stdout.includes('\n')) setImmediate(onLine)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  const before = process.exitCode
  process.exitCode = 0
  await runProgram(
    createProgram(() => undefined),
    args,
  )
  const code = Number(process.exitCode)
  process.exitCode = before
  vi.restoreAllMocks()
  return { code, stdout }
}

/** What serves until a signal, told of one as soon as it has said that it serves. */
function serveOnce(args: readonly string[]): Promise<Ended> {
  const others = new Set(process.listeners('SIGTERM'))
  return run(args, () => {
    for (const listener of process.listeners('SIGTERM')) if (!others.has(listener)) listener('SIGTERM')
  })
}

const leaves = (command: Command, path: readonly string[]): readonly string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((each) => leaves(each, [...path, each.name()]))

test('every command has a row', () => {
  const all = leaves(
    createProgram(() => undefined),
    [],
  )
  expect(all.filter((path) => !(path in rows) && !(path in servers) && !without.has(path))).toEqual([])
  expect([...Object.keys(rows), ...Object.keys(servers), ...without].filter((path) => !all.includes(path))).toEqual([])
})

/** `keys` are among those of the object. */
function judge(
  form: Form,
  stdout: string,
  { keys, names, mayNameNone }: Pick<Row, 'keys' | 'names' | 'mayNameNone'>,
): void {
  expect(stdout).toMatch(mayNameNone && form === 'name' ? /^(?:|[^]*\n)$/ : /\S\n$/)
  if (form === 'json' || form === 'yaml') {
    if (form === 'yaml') expect(() => JSON.parse(stdout) as unknown).toThrow(SyntaxError)
    const value = (form === 'json' ? JSON.parse(stdout) : parse(stdout)) as object
    expect(Object.keys(value)).toEqual(expect.arrayContaining([...keys]))
  }
  if (form === 'name') for (const line of stdout.split('\n').slice(0, -1)) expect(line).toMatch(names)
}

describe.each(Object.entries(rows))('borough %s', (path, row) => {
  test.each(forms)('-o %s', async (form) => {
    const { code, stdout } = await run([...path.split(' '), ...row.args(form), '-o', form])
    expect(row.codes ?? [0]).toContain(code)
    judge(form, stdout, row)
  })
})

// The others are those of every test that starts one.
describe.each(Object.entries(servers))('borough %s, which serves', (path, row) => {
  test.each(['wide', 'yaml', 'name'] as const)('-o %s', async (form) => {
    const { code, stdout } = await serveOnce([path, ...row.args(), '-o', form])
    expect(code).toBe(0)
    judge(form, stdout, row)
    if (form === 'yaml') expect(stdout.trimEnd()).not.toContain('\n')
  })
})

test('a kubeconfig that goes to no file has no name', async () => {
  expect(await run(['kubeconfig', '--user', 'dev1', ...served(), '-o', 'name'])).toEqual({ code: 1, stdout: '' })
})
