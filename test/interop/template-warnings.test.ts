/** What the server warns of when `borough template` and other commands write, or plan a write. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { borough, type CliResult } from './borough-process.ts'

const core = { group: '', version: 'v1' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
let folder: string
let plane: TestControlPlane

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-warnings-'))
  plane = await startControlPlane({ port: 0 })
  await writeFile(join(folder, 'kubeconfig'), plane.kubeconfig)
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const run = (...args: string[]): Promise<CliResult> => borough([...args, '--kubeconfig', join(folder, 'kubeconfig')])

test('plan tells of the source of a clone that is not there, beside the names if those are asked for', async () => {
  const file = join(folder, 'clones.yaml')
  await writeFile(
    file,
    'apiVersion: policy.borough.dev/v1alpha1\nkind: NamespaceTemplate\nmetadata: {name: clones}\nspec: {objects: ' +
      '[{cloneFrom: {namespace: platform, apiVersion: v1, kind: Secret, name: pull}}]}\n',
  )
  const [text, json, names] = await Promise.all(
    ['text', 'json', 'name'].map((form) => run('template', 'plan', '--quiet', '-f', file, '-o', form)),
  )
  const warning =
    'spec.objects[0].cloneFrom: Secret pull in namespace "platform", its source, is not there: restore it, with its ' +
    'annotation policy.borough.dev/clone-to, or take it out of the template; new namespaces wait until then; ' +
    'spec.failurePolicy: Ignore would let them go'
  expect(text?.stdout.split('\n')[1]).toBe(`Warning: ${warning}`)
  expect(text?.stderr).toBe('')
  expect(JSON.parse(json?.stdout ?? '')).toMatchObject([{ template: 'clones', warnings: [warning] }])
  expect(names?.stderr).toBe(`Warning: ${warning}\n`)
})

test('a step back that maxPrune stops is told as one, by whichever form, and so is what confirms it', async () => {
  const { client } = plane
  const spec = (...names: string[]) => ({
    ...{ namespaces: { nameSelector: { include: ['stop-*'] } }, rollout: { maxPrune: 0 } },
    templates: names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
  })
  const reached = (generation: number, synced: number) =>
    waitFor(client, templates, { name: 't' }, (t) => {
      const status = t?.['status'] as { observedGeneration?: number; synced?: number } | undefined
      return status?.observedGeneration === generation && status.synced === synced
    })
  for (const name of ['stop-a', 'stop-b'])
    await client.create({ ...core, resource: 'namespaces' }, { metadata: { name } })
  await client.create(templates, { metadata: { name: 't' }, spec: spec('one') })
  await reached(1, 2)
  await client.patch(templates, { name: 't' }, { spec: spec('one', 'two') })
  await reached(2, 2)
  const confirm = 'kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=3'
  const warning = (is: string): string =>
    `Warning: NamespaceTemplate "t" ${is} stopped: generation 3 would delete objects in 2 of 2 namespaces, ` +
    `spec.rollout.maxPrune allows 0: stop-a, stop-b; nothing is changed. If it is meant, confirm it with: ${confirm}` +
    '; if not, go back to generation 2, the one before, with: borough template rollback t --to-generation 2\n'
  expect(await run('template', 'rollback', 't', '--dry-run')).toEqual({
    code: 2,
    stdout:
      't would say again what generation 1 said, as generation 3, but maxPrune would stop it before it changes any ' +
      `namespace. If it is meant, confirm it then with:\n  ${confirm}\n`,
    stderr: warning('would be'),
  })
  expect(await run('template', 'rollback', 't')).toEqual({
    code: 2,
    stdout:
      't says again what generation 1 said, as generation 3, but maxPrune stops it before it changes any namespace. ' +
      `If it is meant, confirm it with:\n  ${confirm}\n`,
    stderr: warning('is'),
  })
  const again = await run('template', 'rollback', 't')
  expect(again).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'borough: an earlier generation of t (now 3, which says what 1 said) is not in kube-system: kept are 2, 1\n',
  })
  const waited = await run('template', 'rollback', 't', '--to-generation', '1', '--wait', '-o', 'json')
  expect(waited.code).toBe(2)
  expect(JSON.parse(waited.stdout)).toMatchObject({
    ...{ name: 't', to: 1, generation: 3, outcome: 'stopped', reason: 'TooManyPrunes', confirm },
    message: expect.stringMatching(/^generation 3 would delete/),
  })
  expect(waited.stderr).toMatch(/^t: written as generation 3\n/m)
  await client.patch(
    templates,
    { name: 't' },
    { metadata: { annotations: { 'policy.borough.dev/confirm-prune': '3' } } },
  )
  expect(await run('template', 'wait', 't', '--timeout', '1m')).toMatchObject({ code: 0 })
})

test('finalize tells of what a policy says to its writes', async () => {
  const { client } = plane
  const policies = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }
  await client.create(policies, {
    metadata: { name: 'warns' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', message: 'somebody held it' }],
    },
  })
  await client.create(
    { ...policies, resource: 'validatingadmissionpolicybindings' },
    { metadata: { name: 'warns' }, spec: { policyName: 'warns', validationActions: ['Warn'] } },
  )
  await client.create({ ...core, resource: 'namespaces' }, { metadata: { name: 'stuck' } })
  const at = { namespace: 'stuck', name: 'held' }
  const configMaps = { ...core, resource: 'configmaps' }
  await client.create(configMaps, { metadata: { ...at, finalizers: ['ex.io/wait'] } })
  await client.delete({ ...core, resource: 'namespaces' }, { name: 'stuck' })
  await waitFor(client, configMaps, at, (o) => o?.metadata.deletionTimestamp !== undefined)
  expect(await run('finalize', 'stuck', '--remove', 'ex.io/wait', '--dry-run')).toEqual({
    code: 0,
    stdout: 'ex.io/wait would be removed from configmaps/held\n',
    stderr: "Warning: Validation failed for ValidatingAdmissionPolicy 'warns' with binding 'warns': somebody held it\n",
  })
})
