/** What a server tells of an object is enough to know that applying it again would change nothing, and only then. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { configDigest, heldDigest } from '../../src/apis/templates/held-config.ts'
import { templateFieldManager } from '../../src/apis/templates/types.ts'
import type { ServedKind } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
})
afterAll(() => plane[Symbol.asyncDispose]())

const kindOf = async ({ apiVersion = '', kind = '' }: KubeObject): Promise<ServedKind> => {
  const served = await plane.client.discovery.findKind(apiVersion, kind)
  if (served === undefined) throw new Error(`no ${kind}`)
  return served
}
const applied = async (config: KubeObject): Promise<KubeObject> =>
  plane.client.apply(await kindOf(config), config, { fieldManager: templateFieldManager })
const held = async (object: KubeObject): Promise<string | undefined> => heldDigest(object, await kindOf(object))
const inDefault = ({ metadata, ...rest }: KubeObject): KubeObject => ({
  ...rest,
  metadata: { ...metadata, namespace: 'default' },
})

const example = new URL('../../examples/security-defaults/20-default-template.yaml', import.meta.url)

test('every object of the example is known again as it was applied', async () => {
  const { spec } = parse(await readFile(example, 'utf8')) as { spec: { templates: KubeObject[] } }
  for (const object of spec.templates.map(inDefault)) {
    const { apiVersion, kind, metadata } = object
    expect([kind, metadata.name, await held(await applied(object))]).toEqual([
      kind,
      metadata.name,
      configDigest(object),
    ])
    expect(await held(await applied(object)), `${apiVersion} ${kind}`).toBe(configDigest(object))
  }
})

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'web' }, finalizers: ['example.com/kept'] },
  spec: {
    selector: { app: 'web' },
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ],
  },
}
const ports = (...list: object[]): KubeObject =>
  ({ ...service, spec: { selector: { app: 'web' }, ports: list } }) as KubeObject

describe('differs', () => {
  const cases: { name: string; next: KubeObject }[] = [
    { name: 'where a value does', next: { ...service, metadata: { ...service.metadata, labels: { app: 'other' } } } },
    { name: 'where a field is dropped', next: { ...service, metadata: { name: 'web', namespace: 'default' } } },
    { name: 'where an item is dropped', next: ports({ name: 'http', port: 80 }) },
    {
      name: 'where a field of an item is new',
      next: ports({ name: 'http', port: 80, protocol: 'TCP' }, { name: 'https', port: 443 }),
    },
  ]
  test.each(cases)('$name', async ({ next }) => {
    const live = await applied(service)
    expect(await held(live)).toBe(configDigest(service))
    expect(await held(live)).not.toBe(configDigest(next))
  })

  test('where somebody else changed a value, but not where they added one', async () => {
    const kind = await kindOf(service)
    const ref = { namespace: 'default', name: 'web' }
    await applied(service)
    const added = await plane.client.patch(kind, ref, { metadata: { labels: { more: 'yes' } } })
    expect(await held(added)).toBe(configDigest(service))
    const changed = await plane.client.patch(kind, ref, { metadata: { labels: { app: 'theirs' } } })
    expect(await held(changed)).not.toBe(configDigest(service))
  })

  test('where no apply of ours is recorded', async () => {
    expect(await held(service)).toBeUndefined()
  })
})
