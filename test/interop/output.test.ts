/** `-o`, `--color` and `--quiet`, alike in every command. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { borough } from './borough-process.ts'
import { main } from './serving-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'borough-output-'))
const kubeconfig = join(folder, 'kubeconfig')
const store = join(folder, 'store')
let plane: TestControlPlane
const remote = ['--kubeconfig', kubeconfig]

beforeAll(async () => {
  plane = await startControlPlane({ port: 0 })
  await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'team-a' } })
  writeFileSync(kubeconfig, plane.kubeconfig, { mode: 0o600 })
  const file = join(folder, 'template.yaml')
  const spec = { templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' } }] }
  const metadata = { name: 'default' }
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata, spec }),
  )
  const made = ['up', '--data-dir', store, '--listen', '127.0.0.1:0']
  // A port that is no port of this machine: it makes the store, and ends.
  expect((await borough([...made.slice(0, 3), '--listen', '192.0.2.1:0'])).code).toBe(1)
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** `every-form.test.ts` has every command in every form. */
const commands = [
  'up',
  'console',
  'populate',
  'kubeconfig',
  'backup',
  'storage verify',
  'doctor',
  'why',
  'template plan',
]

test.each(commands)('borough %s refuses a form that there is not in one line', async (command) => {
  const { code, stdout, stderr } = await borough([...command.split(' '), '-o', 'xml'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toBe(
    `borough: option '-o, --output <format>' argument 'xml' is invalid. ` +
      `Allowed choices are text, wide, json, yaml, name. (borough ${command} --help shows what there is)\n`,
  )
})

describe('an answer is the same in every form', () => {
  const question = ['why-denied', 'get', 'secrets', '-n', 'team-a', '--user', 'dora', ...remote]

  test('as JSON and as YAML', async () => {
    const json = await borough([...question, '-o', 'json'])
    const yaml = await borough([...question, '-o', 'yaml'])
    expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout))
    expect(json.code).toBe(2)
  })

  test('as names that kubectl takes', async () => {
    const { stdout } = await borough([...question, '-o', 'name'])
    expect(stdout.split('\n')).toContain('clusterrole.rbac.authorization.k8s.io/admin')
    const plan = ['template', 'plan', '-f', join(folder, 'template.yaml'), ...remote, '-o', 'name']
    expect((await borough(plan)).stdout.split('\n')).toContain('namespace/team-a')
  })

  test('of a plan, wide names every namespace', async () => {
    for (let i = 0; i < 10; i++) {
      const metadata = { name: `other-${i}` }
      await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata })
    }
    const plan = ['template', 'plan', '-f', join(folder, 'template.yaml'), ...remote]
    expect((await borough(plan)).stdout).toMatch(/ and \d+ more$/m)
    const { stdout } = await borough([...plan, '-o', 'wide'])
    expect(stdout).not.toMatch(/ and \d+ more$/m)
    expect(stdout).toContain('other-9')
  })

  test('of a look into the health of things: wide is a table, names are what is not in order', async () => {
    const doctor = ['doctor', '--data-dir', join(folder, 'nowhere')]
    const text = await borough(doctor)
    const remedy = "name another with --data-dir, or start 'borough up' to make it"
    const check = `data directory ${join(folder, 'nowhere')}`
    expect(text).toMatchObject({
      code: 1,
      stdout: `fail  ${check}: it can't be read (ENOENT)\n      → ${remedy}\n0 ok, 0 warnings, 1 failed\n`,
    })
    const lines = (await borough([...doctor, '-o', 'wide'])).stdout.split('\n')
    const cells = lines.slice(0, 2).map((line) => line.split(/ {3,}/))
    expect(cells).toEqual([
      ['STATUS', 'CHECK', 'FINDING', 'WHAT TO DO'],
      ['fail', check, "it can't be read (ENOENT)", remedy],
    ])
    expect((await borough([...doctor, '-o', 'name'])).stdout).toBe(`${check}\n`)
  })

  test('as names, of what the command worked on', async () => {
    const ofStore = await borough(['storage', 'verify', '--data-dir', store, '-o', 'name'])
    expect(ofStore).toMatchObject({ code: 0, stdout: `${store}\n` })
  })

  test('of the manifests of populate', async () => {
    const { stdout } = await borough(['populate', '--print-manifests', '-o', 'json'])
    const { kind, items } = JSON.parse(stdout) as {
      kind: string
      items: { kind: string; metadata: { name: string } }[]
    }
    expect(kind).toBe('List')
    const names = await borough(['populate', '--print-manifests', '-o', 'name'])
    expect(names.stdout.trim().split('\n').length).toBe(items.length)
    expect(names.stdout).toContain('namespace/borough-system\n')
  })
})

describe('what others wrote is no command to a terminal', () => {
  const odd = 'a\u001b[2J\u202eb'
  const shown = 'a\\u001b[2J\\u202eb'
  const bare = (text: string): boolean => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''))

  test('in an explanation, a refusal and an error', async () => {
    const lacking = { type: 'Populated', status: 'False', reason: 'Odd', message: `${odd}\nNothing holds it.` }
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    const status = { status: { conditions: [lacking] } }
    await plane.client.patch(namespaces, { name: 'team-a' }, status, { subresource: 'status' })
    const why = await borough(['why', 'team-a', ...remote])
    expect(why.stdout).toContain(`  Populated (Odd): ${shown}\\u000aNothing holds it.\n`)
    const denied = await borough(['why-denied', 'get', 'secrets', '-n', 'team-a', '--user', odd, ...remote])
    expect(denied.stdout).toContain(`${shown} may not get secrets in namespace team-a.\n`)
    const failed = await borough(['template', 'describe', odd, ...remote])
    expect(failed.code).toBe(1)
    for (const text of [why.stdout, denied.stdout, failed.stderr]) expect(bare(text)).toBe(false)
    const json = JSON.parse((await borough(['why', 'team-a', ...remote, '-o', 'json'])).stdout) as object
    expect(json).toMatchObject({ reports: [{ message: `${odd}\nNothing holds it.` }] })
  })

  test('in a plan', async () => {
    const file = join(folder, 'odd.json')
    const templates = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' }, data: { a: odd } }]
    const metadata = { name: 'default' }
    const template = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata }
    writeFileSync(file, JSON.stringify({ ...template, spec: { templates } }))
    const plan = await borough(['template', 'plan', '-f', file, ...remote])
    expect(plan.code).toBe(2)
    expect(bare(plan.stdout)).toBe(false)
  })
})

describe('colours', () => {
  const escape = '\x1b['
  const why = ['why', 'team-a', ...remote]
  interface Row {
    readonly name: string
    readonly args: readonly string[]
    readonly environment?: Readonly<Record<string, string>>
    readonly coloured: boolean
  }
  const rows: readonly Row[] = [
    { name: 'are not written into a pipe', args: why, coloured: false },
    { name: 'are, where FORCE_COLOR says so', args: why, environment: { FORCE_COLOR: '1' }, coloured: true },
    { name: 'are, with --color always', args: [...why, '--color', 'always'], coloured: true },
    {
      name: 'are not, with --color never before all variables',
      args: ['--color', 'never', ...why],
      environment: { FORCE_COLOR: '1' },
      coloured: false,
    },
    { name: 'are never part of JSON', args: [...why, '-o', 'json', '--color', 'always'], coloured: false },
    { name: 'are never part of names', args: [...why, '-o', 'name', '--color', 'always'], coloured: false },
    { name: 'are part of help', args: ['why', '--help', '--color', 'always'], coloured: true },
    { name: 'are not part of help in a pipe', args: ['why', '--help'], coloured: false },
  ]
  test.each(rows)('$name', async ({ args, environment = {}, coloured }) => {
    const { stdout } = await borough(args, undefined, environment)
    expect(stdout.includes(escape)).toBe(coloured)
  })

  test('of a refusal, on standard error', async () => {
    const { stderr } = await borough(['why', '--color', 'always'])
    expect(stderr).toContain(`${escape}31mborough:${escape}39m missing required argument 'namespace'`)
  })

  const hasScript = spawnSync('script', ['--version']).status === 0
  test.skipIf(!hasScript)('are written to a terminal, where NO_COLOR is not set', () => {
    const onTerminal = (environment: Readonly<Record<string, string>>): string => {
      // Node takes CI for a terminal without colours.
      const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...ours } = process.env
      const command = `'${process.execPath}' '${main}' storage verify --data-dir '${store}'`
      const env = { ...ours, TERM: 'xterm-256color', ...environment }
      return spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', env }).stdout
    }
    expect(onTerminal({})).toContain(`${escape}32mall is sound${escape}39m`)
    expect(onTerminal({ NO_COLOR: '1' })).toContain(': all is sound')
  })
})
