/** Server-side apply and field ownership through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import { ownedBy, ownersByPath } from '../../src/kube/apply/ownership.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { failure } from '../support/refusal.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

let plane: ControlPlane
let client: Client

beforeAll(async () => {
  plane = await createControlPlane({ ...defaultConfig, controllers: () => false, population: false })
  client = plane.client()
})

afterAll(async () => {
  await plane[Symbol.asyncDispose]()
})

const configMap = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

const apply = (manager: string, object: KubeObject, force = false): Promise<KubeObject> =>
  client.apply(configMaps, object, { fieldManager: manager, force })

async function refusal(write: Promise<unknown>): Promise<Status> {
  try {
    await write
  } catch (error) {
    const refused = findStatusError(error)
    if (refused) return refused.toStatus()
    throw error
  }
  throw new Error('was not refused')
}

const owners = (object: KubeObject): Record<string, unknown> =>
  Object.fromEntries(ownedBy(object).map((m) => [`${m.manager} ${m.operation}`, m.fields]))

describe('apply', () => {
  it('creates, and writes nothing when repeated', async () => {
    const created = await apply('m1', configMap('a', { x: '1' }))
    expect(owners(created)).toEqual({ 'm1 Apply': { 'f:data': { 'f:x': {} } } })
    const again = await apply('m1', configMap('a', { x: '1' }))
    expect(again).toEqual(created)
  })

  it('answers a conflict with its causes, and takes over by force', async () => {
    await apply('m1', configMap('b', { x: '1' }))
    await client.patch(configMaps, { namespace: 'default', name: 'b' }, { data: { y: '1' } }, { fieldManager: 'u1' })
    const status = await refusal(apply('m2', configMap('b', { x: '2', y: '2' })))
    expect(status).toEqual(
      failure({
        message:
          'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.x\nconflicts with "u1" using v1:\n- .data.y',
        reason: 'Conflict',
        details: {
          causes: [
            { reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.x' },
            { reason: 'FieldManagerConflict', message: 'conflict with "u1" using v1', field: '.data.y' },
          ],
        },
        code: 409,
      }),
    )
    expect(status.details?.causes).toHaveLength(2)
    const forced = await apply('m2', configMap('b', { x: '2', y: '2' }), true)
    expect(owners(forced)).toEqual({ 'm2 Apply': { 'f:data': { 'f:x': {}, 'f:y': {} } } })
  })

  it('takes away what is no longer said, unless somebody else says it', async () => {
    await apply('m1', configMap('c', { x: '1', y: '1', z: '1' }))
    await apply('m2', configMap('c', { y: '1' }))
    const result = await apply('m1', configMap('c', { z: '1' }))
    expect(result['data']).toEqual({ y: '1', z: '1' })
  })

  it('leaves defaults to nobody, and repeating it after defaulting is still no write', async () => {
    const config: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'default' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'c', ports: [{ containerPort: 80 }] }] },
        },
      },
    }
    const created = await client.apply(deployments, config, { fieldManager: 'm' })
    expect((created['spec'] as JsonObject)['replicas']).toBe(1)
    expect(ownersByPath(created).has('.spec.replicas')).toBe(false)
    const paths = [...ownersByPath(created).keys()]
    expect(paths).toContain(
      '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].containerPort',
    )
    const again = await client.apply(deployments, config, { fieldManager: 'm' })
    expect(again.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
  })

  it('changes nothing in a dry run', async () => {
    await apply('m1', configMap('e', { x: '1' }))
    const dry = await client.apply(configMaps, configMap('e', { x: '2' }), { fieldManager: 'm1', dryRun: true })
    expect(dry['data']).toEqual({ x: '2' })
    expect((await client.get(configMaps, { namespace: 'default', name: 'e' }))['data']).toEqual({ x: '1' })
  })

  it('refuses what does not fit the schema', async () => {
    const status = await refusal(apply('m1', { ...configMap('f', {}), bogus: 1 }))
    expect(status).toEqual(
      failure({
        message:
          'failed to create typed patch object (default/f; /v1, Kind=ConfigMap): .bogus: field not declared in schema',
        code: 500,
      }),
    )
  })
})

describe('plain writes', () => {
  it('of a namespace own metadata only; what admission added belongs to nobody', async () => {
    const created = await client.create(namespaces, { metadata: { name: 'owned' } }, { fieldManager: 'curl' })
    expect(ownedBy(created).map((m) => [m.manager, Object.keys(m.fields)])).toEqual([['curl', ['f:metadata']]])
    expect(ownersByPath(created).has('.metadata.labels.kubernetes.io/metadata.name')).toBe(true)
    expect(created.metadata.annotations).toHaveProperty(['authorization.k8s.io/creator'])
    expect(ownersByPath(created).has('.metadata.annotations.authorization.k8s.io/creator')).toBe(false)
  })

  it('that change nothing write nothing', async () => {
    const created = await client.create(configMaps, configMap('g', { x: '1' }), { fieldManager: 'curl' })
    const same = await client.update(configMaps, created, { fieldManager: 'other' })
    expect(same).toEqual(created)
    const patched = await client.patch(configMaps, { namespace: 'default', name: 'g' }, { data: { x: '1' } })
    expect(patched).toEqual(created)
  })

  it('move ownership with the value', async () => {
    await apply('m1', configMap('h', { x: '1', y: '1' }))
    const ref = { namespace: 'default', name: 'h' }
    const patched = await client.patch(configMaps, ref, { data: { x: '2' } }, { fieldManager: 'u1' })
    expect(owners(patched)).toEqual({
      'm1 Apply': { 'f:data': { 'f:y': {} } },
      'u1 Update': { 'f:data': { 'f:x': {} } },
    })
    const status = await refusal(apply('m1', configMap('h', { x: '1', y: '1' })))
    expect(status.details?.causes?.[0]?.message).toBe('conflict with "u1" using v1')
  })

  it('forget all ownership when the body says so', async () => {
    await apply('m1', configMap('i', { x: '1' }))
    const ref = { namespace: 'default', name: 'i' }
    const cleared = await client.patch(configMaps, ref, { metadata: { managedFields: [] } })
    expect(cleared.metadata).not.toHaveProperty('managedFields')
    const next = await client.patch(configMaps, ref, { data: { x: '2' } }, { fieldManager: 'u1' })
    expect(next.metadata).not.toHaveProperty('managedFields')
    const status = await refusal(apply('m1', configMap('i', { x: '3' })))
    expect(status.message).toContain('"before-first-apply" using v1')
  })
})

describe('an object that would be too large with its owners', () => {
  const longKeys = (): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`${'k'.repeat(85)}${i}`, '']))

  it('is created and updated without them', async () => {
    const created = await client.create(configMaps, configMap('j', longKeys()), { fieldManager: 'curl' })
    expect(created.metadata).not.toHaveProperty('managedFields')
    const small = await client.create(configMaps, configMap('k', { x: '1' }), { fieldManager: 'curl' })
    expect(small.metadata.managedFields).toHaveLength(1)
    const grown = await client.update(configMaps, { ...small, data: longKeys() }, { fieldManager: 'curl' })
    expect(grown.metadata).not.toHaveProperty('managedFields')
  })

  it('is not applied: an apply rests on them', async () => {
    expect((await refusal(apply('m1', configMap('l', longKeys())))).reason).toBe('RequestEntityTooLarge')
    expect((await refusal(apply('m1', configMap('k', { x: '2' }), true))).reason).toBe('RequestEntityTooLarge')
  })
})
