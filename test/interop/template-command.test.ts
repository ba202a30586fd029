/** `borough template` as somebody at a terminal uses it, over a socket, by a kubeconfig. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { borough } from './borough-process.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const templates = { group: 'policy', version: 'v1alpha1', resource: 'namespacetemplates' }
const manifest = (value: string): string => `
apiVersion: policy/v1alpha1
kind: NamespaceTemplate
metadata: {name: t}
spec:
  namespaces: {nameSelector: {include: [team-*]}}
  templates: [{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: ${JSON.stringify(value)}}}]
`
let folder: string
let plane: TestControlPlane

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-template-'))
  plane = await startControlPlane({ port: 0 })
  await writeFile(join(folder, 'kubeconfig'), plane.kubeconfig)
  for (const value of ['1', '2']) await writeFile(join(folder, `${value}.yaml`), manifest(value))
  await plane.client.create(templates, {
    metadata: { name: 't' },
    spec: {
      namespaces: { nameSelector: { include: ['team-*'] } },
      templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } }],
    },
  })
  for (const name of ['team-a', 'team-b']) await plane.client.create(namespaces, { metadata: { name } })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const run = (...args: string[]) => borough(['template', ...args, '--kubeconfig', join(folder, 'kubeconfig')])

test('plan exits 0 where nothing would change, 2 where something would, 1 where there is no plan', async () => {
  const [same, changed, json, none] = await Promise.all([
    run('plan', '--quiet', '-f', join(folder, '1.yaml')),
    run('plan', '--quiet', '-f', join(folder, '2.yaml')),
    run('plan', '--quiet', '-f', join(folder, '2.yaml'), '-o', 'json'),
    run('plan', '--quiet', '-f', join(folder, 'kubeconfig')),
  ])
  expect(same).toEqual({
    code: 0,
    stderr: '',
    stdout: 'template t selects 2 namespaces\n\nNothing would change.\n',
  })
  expect(changed).toEqual({
    code: 2,
    stderr: '',
    stdout:
      'template t selects 2 namespaces\n\nin 2 namespaces: team-a, team-b\n  ~ ConfigMap/one\n      data.a: ' +
      '"1" → "2"\n\n' +
      '2 namespaces would change. Objects: change 2.\n',
  })
  expect(json.code).toBe(2)
  expect(JSON.parse(json.stdout)).toMatchObject([
    { template: 't', isNew: false, matched: 2, namespaces: [{ namespace: 'team-a' }, { namespace: 'team-b' }] },
  ])
  expect(none).toMatchObject({ code: 1, stdout: '' })
  expect(none.stderr).toMatch(
    /^borough: .*only NamespaceTemplates of policy.borough.dev\/v1alpha1 can be planned, this is a Config of v1\n$/,
  )
})

test('plan of a file with other objects too leaves those out, and says so; not one of a mistyped group', async () => {
  const mixed = join(folder, 'mixed.yaml')
  const quota = 'apiVersion: policy.borough.dev/v1alpha1\nkind: ClusterResourceQuota\nmetadata: {name: q}\n'
  const other = 'apiVersion: policy.borouh.dev/v1\nkind: NamespaceTemplate\nmetadata: {name: o}\n'
  await writeFile(mixed, `${quota}---${manifest('2')}`)
  await writeFile(join(folder, 'other.yaml'), `${other}---${manifest('2')}`)
  const [planned, refused] = await Promise.all([
    run('plan', '--quiet', '-f', mixed, '-o', 'name'),
    run('plan', '--quiet', '-f', join(folder, 'other.yaml')),
  ])
  expect(planned).toEqual({
    code: 2,
    stderr: `${mixed}: only NamespaceTemplates are planned, left out: ClusterResourceQuota q\n`,
    stdout: 'namespace/team-a\nnamespace/team-b\n',
  })
  expect(refused).toEqual({
    code: 1,
    stderr:
      `borough: ${join(folder, 'other.yaml')}: only NamespaceTemplates of policy.borough.dev/v1alpha1 can be ` +
      'planned, this is a NamespaceTemplate of policy.borouh.dev/v1\n',
    stdout: '',
  })
})

test.each([
  [
    'a version that is not served',
    'apiVersion: policy/v1alpha1',
    'apiVersion: policy/v1',
    'NamespaceTemplate of policy/v1',
  ],
  ['no version', 'apiVersion: policy/v1alpha1\n', '', 'NamespaceTemplate of no apiVersion'],
  ['no kind', 'kind: NamespaceTemplate\n', '', 'object without a kind of policy/v1alpha1'],
])('there is no plan of a template with %s', async (name, from, to, told) => {
  const file = join(folder, `${name.replaceAll(' ', '-')}.yaml`)
  await writeFile(file, manifest('2').replace(from, to))
  const why = `only NamespaceTemplates of policy.borough.dev/v1alpha1 can be planned, this is a ${told}`
  expect(await run('plan', '-f', file)).toEqual({ code: 1, stdout: '', stderr: `borough: ${file}: ${why}\n` })
})

test('there is no plan of a template with a mistyped field, which kubectl would have refused', async () => {
  const file = join(folder, 'mistyped.yaml')
  await writeFile(file, manifest('2').replace('  templates:', '  driftpolicy: Report\n  templates:'))
  const refused = await run('plan', '-f', file)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/unknown field "spec\.driftpolicy"\n$/)
})

test('describe says what the author of a namespace has to give', async () => {
  await plane.client.create(templates, {
    metadata: { name: 'asks', annotations: { 'policy/namespace-template-require-permission': 'true' } },
    spec: {
      namespaces: { labelSelector: { matchLabels: { kind: 'team' } }, nameSelector: { exclude: ['x-*'] } },
      parameters: [
        { name: 'size', fromLabel: 'ex.com/size', enum: ['s', 'l'], default: 's' },
        { name: 'cost', fromAnnotation: 'ex.com/cost', pattern: '[0-9]{4}', required: true },
        { name: 'note', fromAnnotation: 'ex.com/note' },
      ],
      namespaceMetadata: { labels: { 'ex.com/tier': 't-$(size)' } },
      expiry: { default: '24h', max: '720h' },
      templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '$(cost)' } }],
    },
  })
  const selector = { labels: { matchLabels: { kind: 'team' } } }
  await plane.client.create(clusterQuotaResource, {
    metadata: { name: 'asked' },
    spec: { selector, quota: { hard: { pods: '9' } } },
  })
  const [text, json, none] = await Promise.all([
    run('describe', 'asks'),
    run('describe', 'asks', '-o', 'json'),
    run('describe', 'nothing'),
  ])
  expect(text).toEqual({
    code: 0,
    stderr: '',
    stdout:
      'template asks\n\nSelects namespaces with:\n  labels kind=team\n  name not x-*\n\n' +
      'To create one takes:\n  use on namespacetemplates asks\n\nA namespace gives:\n' +
      '  label ex.com/size: one of "s", "l", "s" if it is not there   $(size)\n' +
      '  annotation ex.com/cost: text that matches [0-9]{4}, required   $(cost)\n' +
      '  annotation ex.com/note: any text in one line   $(note)\n\n' +
      'It ends by itself:\n  24h after its creation, if it says nothing itself\n' +
      '  720h after its creation at the latest\n\n' +
      'It is given:\n  label ex.com/tier: t-$(size)\n  ConfigMap/one\n\n' +
      'It is limited by:\n  ClusterResourceQuota/asked: pods 9; together with all other namespaces that it counts\n\n' +
      "An example:\nkubectl create -f - <<'EOF'\n" +
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: <name>\n  labels:\n' +
      '    kind: team\n  annotations:\n    ex.com/cost: <text that matches [0-9]{4}>\nEOF\n\n' +
      'One that exists is given what is required by:\n' +
      "  kubectl annotate --overwrite namespace NAME 'ex.com/cost=<text that matches [0-9]{4}>'\n",
  })
  expect(JSON.parse(json.stdout)).toMatchObject({
    template: 'asks',
    expiry: { default: '24h', max: '720h' },
    parameters: [{ name: 'size', allowed: 'one of "s", "l"', default: 's', required: false }, {}, {}],
  })
  expect(none).toMatchObject({ code: 1, stdout: '' })
  expect(none.stderr).toContain('"nothing" not found')
})

test('rollback makes the template say again what it said before', async () => {
  const at = { namespace: 'team-a', name: 'one' }
  const says = (value: string) =>
    waitFor(plane.client, configMaps, at, (o) => JSON.stringify(o?.['data']) === `{"a":"${value}"}`)
  await plane.client.patch(
    templates,
    { name: 't' },
    { spec: { templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '2' } }] } },
  )
  await says('2')
  const done = await run('rollback', 't')
  expect(done).toEqual({ code: 0, stderr: '', stdout: 't is back at generation 1, as generation 3\n' })
  await says('1')
})

test('rollback --wait and wait name the first failure, in text and to scripts', async () => {
  const namespace = 'kept-a'
  const first = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ours' } }
  await plane.client.create(namespaces, { metadata: { name: namespace } })
  await plane.client.create(configMaps, { metadata: { namespace, name: 'theirs' } })
  await plane.client.create(templates, {
    metadata: { name: 'kept' },
    spec: { namespaces: { nameSelector: { include: ['kept-*'] } }, templates: [first] },
  })
  const theirs = { ...first, metadata: { name: 'theirs' } }
  await plane.client.patch(templates, { name: 'kept' }, { spec: { templates: [first, theirs] } })
  await plane.client.patch(templates, { name: 'kept' }, { spec: { templates: [{ ...first, data: { a: '1' } }] } })
  const back = await run('rollback', 'kept', '--wait')
  const failed =
    /^kept: 0 of 1 namespaces have generation 4, 1 failed, first kept-a: ConfigMap\/theirs: AlreadyExists: /
  expect(back).toMatchObject({ code: 2, stdout: 'kept is back at generation 2, as generation 4\n' })
  expect(back.stderr.trim().split('\n').at(-1)).toMatch(failed)
  const waited = await run('wait', 'kept', '-o', 'json')
  expect(waited.code).toBe(2)
  expect(JSON.parse(waited.stdout)).toEqual({
    ...{ name: 'kept', generation: 4, matched: 1, synced: 0, failed: 1, outcome: 'failed' },
    failure: { namespace, object: 'ConfigMap/theirs', reason: 'AlreadyExists', message: expect.any(String) },
  })
})

test('rollback --wait tells how far it is, and ends when all namespaces have it or it stops', async () => {
  const one = (value: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one' },
    data: { a: value },
  })
  const { metadata } = await plane.client.patch(templates, { name: 't' }, { spec: { templates: [one('3')] } })
  const next = (metadata.generation ?? 0) + 1
  const done = await run('rollback', 't', '--wait', '--timeout', '1m')
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining(`as generation ${next}`) })
  expect(done.stderr.trim().split('\n').at(-1)).toBe(`t: 2 of 2 namespaces have generation ${next}`)
  const waited = await run('wait', 't', '--timeout', '1m')
  const said = {
    stdout: `t: all namespaces have generation ${next}\n`,
    stderr: `${done.stderr.trim().split('\n').at(-1)}\n`,
  }
  expect(waited).toEqual({ code: 0, ...said })
  const inJson = await run('wait', 't', '-o', 'json')
  const end = { name: 't', generation: next, matched: 2, synced: 2, failed: 0, outcome: 'complete' }
  expect({ code: inJson.code, end: JSON.parse(inJson.stdout) as object }).toEqual({ code: 0, end })
  await plane.client.create(configMaps, {
    metadata: { namespace: 'kube-system', name: 'borough-population' },
    data: { paused: 'true' },
  })
  await waitFor(plane.client, templates, { name: 't' }, (t) => JSON.stringify(t).includes('PopulationPaused'))
  const paused = await run('rollback', 't', '--to-generation', String(next - 1), '--wait', '--timeout', '1m')
  const as = `as generation ${next + 1}, but PopulationPaused stops it: borough template wait t\n`
  expect(paused).toMatchObject({ code: 2, stdout: `t says again what generation ${next - 1} said, ${as}` })
  const stopped = 't: it stopped: all templates are paused by key paused of ConfigMap'
  expect(paused.stderr).toContain(stopped)
  const waiting = await run('wait', 't')
  expect({ code: waiting.code, stdout: waiting.stdout }).toEqual({ code: 2, stdout: '' })
  expect(waiting.stderr).toContain(stopped)
  const { stdout } = await run('wait', 't', '-o', 'yaml')
  const message = expect.stringMatching(/^all templates are paused by key paused of ConfigMap/)
  expect(parse(stdout)).toMatchObject({ name: 't', failed: 0, outcome: 'stopped', reason: 'PopulationPaused', message })
})
