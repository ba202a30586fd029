/**
 * `borough populate` with the rights that it is given and no more: what it may not touch stands in nobody's way but
 * that of who wants it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { installDefinition } from '../../src/populate/install.ts'
import { findKinds } from '../../src/populate/manifests.ts'
import { accountName } from '../../src/populate/names.ts'
import { startPopulate } from '../../src/populate/populate.ts'
import { rightsManifests } from '../../src/populate/rights.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, eventResource, namespaceResource, templateResource } from './population-world.ts'

const namespace = 'borough-system'
const secret = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })
const secrets = { group: '', version: 'v1', resource: 'secrets' }

let plane: OtherCluster
let populate: AsyncDisposable

async function applyRights(...kinds: string[]): Promise<void> {
  for (const object of rightsManifests(namespace, await findKinds(kinds, undefined))) {
    const kind = await plane.client.discovery.findKind(object.apiVersion ?? '', object.kind ?? '')
    if (kind === undefined) throw new Error(`${object.kind} is not served`)
    await plane.client.apply(kind, object, { fieldManager: 'kubectl', force: true })
  }
}

const template = (name: string, include: string, objects: JsonObject[]): Promise<KubeObject> =>
  plane.client.create(templateResource, {
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name },
    spec: { namespaces: { nameSelector: { include: [include] } }, templates: objects },
  })

beforeAll(async () => {
  plane = await startOtherCluster()
  await plane.client.create(namespaceResource, { metadata: { name: namespace } })
  await installDefinition(plane.client, systemClock, new AbortController().signal)
  await applyRights('v1/ConfigMap')
  populate = await startPopulate({
    client: plane.clientAs(`system:serviceaccount:${namespace}:${accountName}`, [
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
    ]),
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace,
    reachedAt: 'listen',
  })
})
afterAll(async () => {
  await populate?.[Symbol.asyncDispose]()
  await plane?.[Symbol.asyncDispose]()
})

test('who writes a template that holds what it has no rights for is warned', async () => {
  const answer = await plane.fetch('/apis/policy.borough.dev/v1alpha1/namespacetemplates?dryRun=All', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name: 'warned' },
      spec: { templates: [configMap('a'), secret('b'), secret('c')] },
    }),
  })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('warning')?.split('299 - ')).toEqual([
    '',
    expect.stringContaining(
      'spec.templates[1]: the population controller may not list, watch, create, patch, delete secrets',
    ),
  ])
})

test('a template that holds what it has no rights for keeps its own namespaces waiting, and says why, until it ' +
  'has them', async () => {
  await template('allowed', 'team-*', [configMap('motd')])
  await template('beyond', 'safe-*', [configMap('first'), secret('key')])
  await plane.client.create(namespaceResource, { metadata: { name: 'safe-a' } })
  // The other objects are there all the same.
  await waitFor(plane.client, configMapResource, { namespace: 'safe-a', name: 'first' }, isThere)
  const isTold = async (): Promise<boolean> => {
    const { items } = await plane.client.list(eventResource, { namespace: 'safe-a' })
    return items.some((e) => String(e['message']).includes('resource "secrets" in API group "" in the namespace'))
  }
  await waitFor(plane.client, namespaceResource, { name: 'safe-a' }, (o) =>
    JSON.stringify(o?.['status']).includes('"Populated","status":"False"'),
  )
  expect(await isTold()).toBe(true)

  await plane.client.create(namespaceResource, { metadata: { name: 'team-a' } })
  await waitFor(plane.client, configMapResource, { namespace: 'team-a', name: 'motd' }, isThere)
  await waitFor(
    plane.client,
    namespaceResource,
    { name: 'team-a' },
    (o) => o?.metadata.labels?.['policy/namespace-template-pending'] === undefined,
  )

  await applyRights('v1/ConfigMap', 'v1/Secret')
  await waitFor(plane.client, secrets, { namespace: 'safe-a', name: 'key' }, isThere)
}, 120_000)

test('a template is not let go while nobody may say what is left of it', async () => {
  await applyRights('v1/ConfigMap')
  await populate[Symbol.asyncDispose]()
  populate = await startPopulate({
    client: plane.clientAs(`system:serviceaccount:${namespace}:${accountName}`),
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace,
    reachedAt: 'listen',
  })
  await plane.client.delete(templateResource, { name: 'beyond' })
  await waitFor(plane.client, configMapResource, { namespace: 'safe-a', name: 'first' }, isGone)
  expect(await plane.client.get(templateResource, { name: 'beyond' })).toMatchObject({ kind: 'NamespaceTemplate' })
  const told = async (): Promise<unknown[]> =>
    (await plane.client.list(eventResource, { namespace: 'default' })).items
      .filter((e) => e['reason'] === 'PruneBlocked')
      .map((e) => e['message'])
  await expect.poll(told).toEqual(['it stays until somebody says what is left of it: v1/Secret can not be read'])
  await applyRights('v1/ConfigMap', 'v1/Secret')
  await waitFor(plane.client, templateResource, { name: 'beyond' }, isGone)
  expect((await plane.client.list(secrets, { namespace: 'safe-a' })).items).toEqual([])
}, 120_000)
