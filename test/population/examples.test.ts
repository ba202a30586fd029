/** The files in examples/ are applied as they stand, in the order of their names. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { isThere, waitFor } from '../support/wait-for.ts'

const root = new URL('../../examples/', import.meta.url)
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
const networkPolicies = { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' }
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

function objectsOf(folder: string): KubeObject[] {
  const files = readdirSync(new URL(`${folder}/`, root))
    .filter((f) => f.endsWith('.yaml'))
    .sort()
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(new URL(`${folder}/${file}`, root), 'utf8')).map((d) => d.toJS() as KubeObject),
  )
}

async function applyAll(client: Client, folder: string): Promise<number> {
  const objects = objectsOf(folder)
  for (const object of objects) {
    const kind = await client.discovery.findKind(object.apiVersion ?? '', object.kind ?? '')
    if (kind === undefined) throw new Error(`${folder}: ${object.kind} is not served`)
    await client.apply(kind, object, { fieldManager: 'kubectl' })
  }
  return objects.length
}

describe('examples', () => {
  test('security-defaults: a developer is at home in a new namespace', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'security-defaults')).toBe(2)
    const dev = plane.clientAs('dev1', ['devs'])
    await dev.create(namespaces, { metadata: { name: 'mine' } })
    await dev.create(
      { group: '', version: 'v1', resource: 'configmaps' },
      { metadata: { namespace: 'mine', name: 'x' } },
    )
    expect((await dev.list(networkPolicies, { namespace: 'mine' })).items).toHaveLength(1)
    await dev.delete(namespaces, { name: 'mine' })
  })

  test('namespace-population: the YAML of the design document', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'namespace-population')).toBe(8)
    await plane.client.create(namespaces, { metadata: { name: 'team' } })
    const bindings = (await plane.client.list(roleBindings, { namespace: 'team' })).items
    expect(bindings.map((b) => b.metadata.name)).toEqual(['creator', 'use-podsecuritypolicy'])
    expect(bindings[0]).toMatchObject({ subjects: [{ kind: 'User', name: 'kubernetes-admin' }] })
  })

  test('namespace-initializers: the YAML of the design document', async () => {
    await using plane = await startControlPlane()
    const { client } = plane
    const applying = applyAll(client, 'namespace-initializers')
    await waitFor(client, configurations, { name: 'log-index' }, isThere)
    await waitFor(client, namespaces, { name: 'ns1' }, isThere)
    await client.patch(namespaces, { name: 'ns1' }, { spec: { initializers: { pending: [] } } })
    expect(await applying).toBe(7)
    expect(await client.get(roleBindings, { namespace: 'ns1', name: 'namespace-editors' })).toBeDefined()
  })
})
