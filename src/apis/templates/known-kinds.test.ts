/** Of which kinds it is known what exists, and when the server is asked again. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { ServedKind } from '../../client/client.ts'
import { forbidden, StatusError } from '../../kube/status-error.ts'
import type { AppliedObject } from './applied-records.ts'
import { openKnownKinds } from './known-kinds.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import type { NamespaceTemplate } from './types.ts'

const kindOf = (kind: string, namespaced = true): ServedKind => ({
  ...{ group: '', version: 'v1', kind, resource: `${kind.toLowerCase()}s`, namespaced, verbs: [] },
})
const holding = (name: string, ...kinds: string[]): NamespaceTemplate => ({
  metadata: { name },
  spec: { templates: kinds.map((kind) => ({ apiVersion: 'v1', kind, metadata: { name: 'x' } })) },
})
const made: AppliedObject = {
  ...{
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'c',
    uid: 'u',
    template: 't',
    generation: 0,
    digest: '',
    content: '',
  },
}

class World {
  templates: NamespaceTemplate[] = []
  readonly served = new Map<string, ServedKind | Error>()
  /** Of which the server does not say what there is. */
  readonly hidden = new Set<string>()
  readonly told: string[] = []
  readonly #records = {
    isComplete: false,
    complete: async (): Promise<void> => {
      this.told.push('complete')
      this.#records.isComplete = true
    },
    settle: async ({ metadata }: { metadata: { name: string } }, { applied }: { applied: AppliedObject[] }) =>
      void this.told.push(`believed ${metadata.name}: ${applied.map(({ name }) => name).join(',')}`),
  }
  readonly stop = new AbortController()
  readonly clock = new FakeClock()
  readonly kinds = openKnownKinds(
    {
      client: {
        discovery: {
          findKind: async (_version: string, kind: string) => {
            this.told.push(`find ${kind}`)
            const found = this.served.get(kind)
            if (found instanceof Error) throw found
            return found
          },
        },
      } as never,
      clock: this.clock,
      onError: (error) => void this.told.push(String(error)),
      records: this.#records as never,
    },
    {
      watchKind: async ({ kind }) => !this.hidden.has(kind),
      async *marked(kinds) {
        if (kinds.has('v1/ConfigMap')) {
          yield { namespace: 'team', objects: [made] }
          yield { namespace: 'claimed', objects: [made] }
          yield { namespace: 'gone', objects: [made] }
        }
      },
      claimsIn: (namespace) => (namespace === 'claimed' ? [made] : []),
    } as Partial<PopulatedObjects> as PopulatedObjects,
    () => this.templates,
    (name) => (name === 'gone' ? undefined : { metadata: { name } }),
    (template) => void this.told.push(`look at ${template}`),
  )

  async know(): Promise<string[]> {
    this.told.length = 0
    await this.kinds.know(this.stop.signal)
    return [...this.told]
  }
}

let world: World
beforeEach(() => {
  world = new World()
  world.templates = [holding('t', 'ConfigMap', 'Secret'), holding('u', 'ConfigMap')]
  for (const kind of ['ConfigMap', 'Secret']) world.served.set(kind, kindOf(kind))
  world.served.set('Node', kindOf('Node', false))
})

describe('kinds of templates', () => {
  test('are read once each, and again after a change of templates', async () => {
    expect(await world.know()).toEqual(['find ConfigMap', 'find Secret', 'believed team: c', 'complete'])
    expect(['v1/ConfigMap', 'v1/Secret', 'v1/Pod'].map((kind) => world.kinds.isRead(kind))).toEqual([true, true, false])
    expect(await world.know()).toEqual([])
    world.kinds.changed()
    // What was believed once is not asked for again.
    expect(await world.know()).toEqual(['find ConfigMap', 'find Secret'])
  })

  test('are asked for by all who wait at one time', async () => {
    await Promise.all([world.kinds.know(world.stop.signal), world.kinds.know(world.stop.signal)])
    expect(world.told.filter((what) => what.startsWith('find'))).toHaveLength(2)
  })

  test('of a change meanwhile are asked for again', async () => {
    const first = world.kinds.know(world.stop.signal)
    world.kinds.changed()
    world.hidden.add('Secret')
    const second = world.kinds.know(world.stop.signal)
    await Promise.all([first, second])
    world.hidden.clear()
    expect(await world.know()).not.toEqual([])
  })

  test('that the server hides keep no other waiting, and are asked for again', async () => {
    world.hidden.add('Secret')
    expect(await world.know()).toEqual(['find ConfigMap', 'find Secret', 'believed team: c'])
    const known = (kind: string) => [world.kinds.isRead(kind), world.kinds.isUnread(kind)]
    expect([known('v1/ConfigMap'), known('v1/Secret')]).toEqual([
      [true, false],
      [false, true],
    ])
    world.hidden.clear()
    expect(await world.know()).toEqual(['find ConfigMap', 'find Secret', 'complete'])
    expect(known('v1/Secret')).toEqual([true, false])
  })

  test('whose API is down are told, and asked for again', async () => {
    const down = new StatusError('down', { code: 503 })
    world.served.set('Secret', down)
    expect(await world.know()).toContain(String(down))
    expect(world.kinds.isUnread('v1/Secret')).toBe(true)
    world.served.delete('Secret')
    await world.know()
    expect(world.kinds.isUnread('v1/Secret')).toBe(false)
  })

  test('whose reading is a fault end the pass, and are asked for again', async () => {
    world.served.set('Secret', new Error('a fault'))
    await expect(world.know()).rejects.toThrow('a fault')
    world.served.set('Secret', kindOf('Secret'))
    expect(await world.know()).toContain('complete')
  })

  test('that are not of namespaces are never known', async () => {
    world.templates = [holding('t', 'Node')]
    await world.know()
    expect([world.kinds.isRead('v1/Node'), world.kinds.isUnread('v1/Node')]).toEqual([false, false])
    expect(await world.know()).toEqual(['find Node'])
  })

  test('are not read by a controller that stops', async () => {
    world.stop.abort()
    await expect(world.know()).rejects.toThrow('aborted')
    expect(world.kinds.isRead('v1/ConfigMap')).toBe(false)
  })
})

test('a kind that is not served yet is awaited: its templates are looked at when it is', async () => {
  world.templates = [holding('t', 'Widget'), holding('u', 'ConfigMap'), holding('v', 'Widget')]
  await world.know()
  const running = world.kinds.awaited.run(world.stop.signal)
  await world.clock.advance(500)
  world.served.set('Widget', kindOf('Widget'))
  world.told.length = 0
  await world.clock.advance(500)
  expect(world.told).toEqual(['find Widget', 'look at t', 'look at v'])
  // One that no template names any more is not asked for.
  world.templates = []
  world.kinds.awaited.add('v1/Pod')
  world.told.length = 0
  await world.clock.advance(1000)
  expect(world.told).toEqual([])
  world.stop.abort()
  await running
})

test('a refusal to name a kind is no fault', async () => {
  world.served.set('ConfigMap', forbidden({ group: '', resource: 'configmaps' }, '', 'no'))
  await world.know()
  expect(world.kinds.isUnread('v1/ConfigMap')).toBe(true)
})
