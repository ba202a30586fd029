/** What the server warns of when `borough template` and other commands write, or plan a write. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { borough, type CliResult } from './borough-process.ts'

const core = { group: '', version: 'v1' }
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
