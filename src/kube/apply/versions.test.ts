/** Ownership across versions whose fields differ: v1 has `size` and `tags`, v2 calls them `volume` and `labels`. */
import { describe, expect, it } from 'vitest'
import { type Schema } from '../schema/schema.ts'
import { findStatusError, StatusError } from '../status-error.ts'
import type { JsonObject, KubeObject } from '../types.ts'
import { applyConfiguration } from './apply-configuration.ts'
import { readStored, showManager } from './managed-fields.ts'
import { trackUpdate } from './track-update.ts'
import type { Versions } from './versions.ts'

const string: Schema = { type: 'string' }
const strings: Schema = { type: 'object', additionalProperties: string }
const boxSchema = (fields: Record<string, Schema>): Schema => ({
  type: 'object',
  properties: new Map(Object.entries({ color: string, ...fields })),
})
const schemas: Record<string, Schema> = {
  'ex.io/v1': boxSchema({ size: string, tags: strings }),
  'ex.io/v2': boxSchema({ volume: string, labels: strings }),
  'ex.io/v3': boxSchema({ volume: string, labels: strings }),
}

function converted(object: KubeObject, to: string): KubeObject {
  const { size, volume = size, tags, labels = tags, ...rest } = object as KubeObject & JsonObject
  const own = to === 'ex.io/v1' ? { size: volume, tags: labels } : { volume, labels }
  const given = Object.entries(own).filter(([, value]) => value !== undefined)
  return { ...rest, ...Object.fromEntries(given), apiVersion: to } as KubeObject
}

type Ask = Versions['convert']

/** A store that keeps what the last writer saw; every version reads it converted. */
class Server {
  live: KubeObject | undefined
  conversions = 0
  #writes = 0
  readonly #gone = new Set<string>()
  readonly #answer: (made: () => KubeObject) => KubeObject | Promise<KubeObject>
  readonly #versions: Versions = {
    find: (v) => (schemas[v] === undefined || this.#gone.has(v) ? undefined : { schema: schemas[v] }),
    isAlike: (a, b) => a === b || (a !== 'ex.io/v1' && b !== 'ex.io/v1'),
    convert: (...asked: Parameters<Ask>) => {
      this.conversions++
      expect(asked[0].apiVersion).toBe(asked[1])
      return this.#answer(() => converted(asked[0], asked[2]))
    },
  }

  constructor(answer: (made: () => KubeObject) => KubeObject | Promise<KubeObject> = (made) => made()) {
    this.#answer = answer
  }

  drop(version: string): void {
    this.#gone.add(version)
  }

  #request(version: string) {
    const apiVersion = `ex.io/${version}`
    return {
      apiVersion,
      schema: schemas[apiVersion] as Schema,
      versions: this.#versions,
      live: this.live && converted(this.live, apiVersion),
      now: `2026-01-01T00:00:${String(this.#writes++).padStart(2, '0')}Z`,
    }
  }

  async apply(version: string, manager: string, fields: JsonObject, force = false): Promise<KubeObject> {
    const config = box(version, fields)
    this.live = await applyConfiguration({ ...this.#request(version), kind: 'Box', manager, config, force })
    return this.live
  }

  async update(version: string, manager: string, change: JsonObject): Promise<KubeObject> {
    const request = this.#request(version)
    const next = { ...(request.live ?? box(version, {})), ...change } as KubeObject
    this.live = await trackUpdate({ ...request, manager, next })
    return this.live
  }

  owners(): string[] {
    return readStored(this.live?.metadata.managedFields).map(
      (m) => `${showManager(m)} ${m.apiVersion} ${JSON.stringify(m.fields)}`,
    )
  }
}

const box = (version: string, fields: JsonObject): KubeObject =>
  ({ apiVersion: `ex.io/${version}`, kind: 'Box', metadata: { name: 'b' }, ...fields }) as KubeObject

async function refusal(write: Promise<unknown>): Promise<StatusError> {
  const error = findStatusError(
    await write.then(
      () => undefined,
      (e: unknown) => e,
    ),
  )
  if (error === undefined) throw new Error('was not refused')
  return error
}

const ways: { name: string; server: () => Server }[] = [
  { name: 'at once', server: () => new Server() },
  { name: 'by somebody who is asked', server: () => new Server(async (made) => made()) },
]

describe.each(ways)('versions that are converted $name', ({ server: start }) => {
  it('finds a conflict with a field that has another name where it is owned', async () => {
    const server = start()
    await server.apply('v1', 'm1', { size: '1', color: 'red' })
    const refused = await refusal(server.apply('v2', 'm2', { volume: '2' }))
    expect(refused.toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "m1": .size',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.size' }] },
    })
    await server.apply('v2', 'm2', { volume: '2' }, true)
    expect(server.owners()).toEqual(['"m1" ex.io/v1 {"f:color":{}}', '"m2" ex.io/v2 {"f:volume":{}}'])
  })

  it('says in which version an update owns what is in the way', async () => {
    const server = start()
    await server.update('v1', 'u', { size: '1' })
    const refused = await refusal(server.apply('v2', 'm', { volume: '2' }))
    expect(refused.message).toBe('Apply failed with 1 conflict: conflict with "u" using ex.io/v1: .size')
  })

  it('sees no conflict where the value is the same in both', async () => {
    const server = start()
    await server.apply('v1', 'm1', { size: '1' })
    await server.apply('v2', 'm2', { volume: '1' })
    expect(server.owners()).toEqual(['"m1" ex.io/v1 {"f:size":{}}', '"m2" ex.io/v2 {"f:volume":{}}'])
  })

  it('keeps what a manager applied when it goes on in another version', async () => {
    const server = start()
    await server.apply('v1', 'm', { size: '1', color: 'red' })
    const after = await server.apply('v2', 'm', { volume: '1', color: 'red' })
    expect(after).toMatchObject({ volume: '1', color: 'red' })
    expect(server.owners()).toEqual(['"m" ex.io/v2 {"f:color":{},"f:volume":{}}'])
  })

  it('takes away what was applied in the other version and is no longer said', async () => {
    const server = start()
    await server.apply('v1', 'm', { size: '1', color: 'red', tags: { a: '1', b: '1' } })
    const after = await server.apply('v2', 'm', { labels: { b: '1' } })
    expect(after).not.toHaveProperty('volume')
    expect(after).not.toHaveProperty('color')
    expect(after['labels']).toEqual({ b: '1' })
  })

  it('leaves what others own under another name', async () => {
    const server = start()
    await server.apply('v1', 'm', { size: '1', tags: { a: '1', b: '1' } })
    await server.apply('v2', 'other', { volume: '1', labels: { a: '1' } })
    const after = await server.apply('v1', 'm', { color: 'red' })
    expect(after).toMatchObject({ size: '1', tags: { a: '1' }, color: 'red' })
  })

  it('takes a changed field from its owner in another version', async () => {
    const server = start()
    await server.apply('v1', 'm', { size: '1', tags: { a: '1', b: '1' } })
    await server.update('v2', 'u', { volume: '2', labels: { a: '1' } })
    expect(server.owners()).toEqual([
      '"m" ex.io/v1 {"f:tags":{"f:a":{}}}',
      '"u" using ex.io/v2 ex.io/v2 {"f:volume":{}}',
    ])
  })

  it('drops the entry of a version that does not exist any more, and prunes nothing by it', async () => {
    const server = start()
    await server.apply('v1', 'm', { color: 'red' })
    await server.update('v1', 'u', { size: '1' })
    server.drop('ex.io/v1')
    server.live = converted(server.live as KubeObject, 'ex.io/v2')
    const after = await server.apply('v2', 'm', { volume: '2' })
    expect(after).toMatchObject({ volume: '2', color: 'red' })
    expect(server.owners()).toEqual(['"m" ex.io/v2 {"f:volume":{}}'])
  })

  it('asks nobody where versions differ by name only', async () => {
    const server = start()
    await server.apply('v2', 'm1', { volume: '1' })
    const refused = await refusal(server.apply('v3', 'm2', { volume: '2' }))
    expect(refused.message).toBe('Apply failed with 1 conflict: conflict with "m1": .volume')
    await server.update('v3', 'u', { volume: '3' })
    expect(server.owners()).toEqual(['"u" using ex.io/v3 ex.io/v3 {"f:volume":{}}'])
    expect(server.conversions).toBe(0)
  })

  it('asks nobody about a write that changes nothing', async () => {
    const server = start()
    await server.apply('v1', 'm1', { size: '1' })
    await server.update('v2', 'u', {})
    expect(server.conversions).toBe(0)
  })
})

it.each(ways.slice(0, 1))('throws what a conversion throws', async () => {
  const server = new Server(async () => {
    throw new StatusError('conversion webhook failed')
  })
  await server.apply('v1', 'm1', { size: '1' })
  await expect(server.apply('v2', 'm2', { volume: '2' })).rejects.toThrow('conversion webhook failed')
  await expect(server.update('v2', 'u', { volume: '2' })).rejects.toThrow('conversion webhook failed')
})
