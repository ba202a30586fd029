/** What a template said before: a revision for each generation, the last ten of them. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { internalError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { heldVersion, PendingRevisions, revisionName, revisionResource, revisionsOf } from './revisions.ts'
import type { NamespaceTemplate } from './types.ts'

const { signal } = new AbortController()
const template = (generation: number, more: object = {}, spec: object = { adopt: true }): NamespaceTemplate => ({
  metadata: { name: 't', uid: 'u', generation, ...more },
  spec,
  status: { observedGeneration: generation },
})
let client: FakeClient
let pending: PendingRevisions
beforeEach(() => {
  client = new FakeClient()
  pending = new PendingRevisions()
})
const keep = (of: FakeClient = client): Promise<void> => pending.keep(of, 't', signal)
const kept = async (of: NamespaceTemplate = template(1)): Promise<number[]> =>
  (await revisionsOf(client, of)).map(({ generation }) => generation)

describe('a generation that was seen', () => {
  test('is kept with its spec, and goes with its template', async () => {
    pending.add(template(3))
    await keep()
    const object = await client.get(revisionResource, { namespace: 'kube-system', name: 'namespacetemplate-t-3' })
    expect(object).toMatchObject({
      ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: 3, data: { spec: { adopt: true } } },
      metadata: {
        labels: { 'policy.borough.dev/namespace-template': 't' },
        ownerReferences: [
          { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', name: 't', uid: 'u' },
        ],
      },
    })
    expect(await revisionsOf(client, template(3), signal)).toMatchObject([{ generation: 3, spec: { adopt: true } }])
  })

  test('is kept once, oldest first', async () => {
    for (const generation of [1, 1, 2, 3, 3]) pending.add(template(generation))
    await keep()
    expect(client.writes).toEqual([1, 2, 3].map((n) => `create controllerrevisions namespacetemplate-t-${n}`))
    await keep()
    expect(client.writes).toHaveLength(3)
  })

  test('is another of a later template of the name', async () => {
    pending.add(template(1))
    pending.add(template(1, { uid: 'later' }, { adopt: false }))
    await keep()
    expect(client.writes).toEqual([
      'create controllerrevisions namespacetemplate-t-1',
      'delete controllerrevisions namespacetemplate-t-1',
      'create controllerrevisions namespacetemplate-t-1',
    ])
    expect([await kept(), await kept(template(1, { uid: 'later' }))]).toEqual([[], [1]])
  })

  test('is not kept again where it is, by another process', async () => {
    pending.add(template(1))
    await keep()
    const other = new PendingRevisions()
    other.add(template(1))
    await other.keep(client, 't', signal)
    expect(client.writes).toHaveLength(1)
  })

  test('of a template that goes is not kept', async () => {
    pending.add(template(1, { deletionTimestamp: '2026-11-24T06:00:00Z' }))
    pending.add(template(2))
    await keep()
    expect(await kept()).toEqual([2])
  })

  test('is forgotten with its template', async () => {
    pending.add(template(1))
    pending.forget('t')
    await keep()
    expect(client.writes).toEqual([])
  })

  test('without a spec said nothing', async () => {
    pending.add({ metadata: { name: 't', uid: 'u', generation: 1 } })
    await keep()
    expect(await revisionsOf(client, template(1))).toMatchObject([{ generation: 1, spec: {} }])
  })
})

test('ten are kept, the newest first', async () => {
  for (let generation = 1; generation <= 12; generation++) pending.add(template(generation))
  await keep()
  expect(await kept()).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
})

test('and the one that is in force, however many came after it', async () => {
  pending.add(template(1))
  const status = { observedGeneration: 1 }
  for (let generation = 2; generation <= 13; generation++) pending.add({ ...template(generation), status })
  await keep()
  expect(await kept()).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 1])
})

describe('the version in force', () => {
  const revision = async (): Promise<KubeObject> => {
    pending.add(template(1))
    await keep()
    return client.get(revisionResource, { namespace: 'kube-system', name: revisionName('t', 1) })
  }
  test('is read from its revision', async () => {
    const held = heldVersion(template(2, {}, { adopt: false }), await revision())
    expect(held?.template).toMatchObject({ metadata: { name: 't', generation: 1 }, spec: { adopt: true } })
  })
  test('is not that of another template that had the name, nor of one that is not there', async () => {
    expect(heldVersion(template(2, { uid: 'later' }), await revision())).toBeUndefined()
    expect(heldVersion(template(2), undefined)).toBeUndefined()
  })
})

describe('what fails', () => {
  const failure = internalError('broken')
  class Failing extends FakeClient {
    fails = true
    override create(...given: Parameters<FakeClient['create']>): Promise<KubeObject> {
      if (this.fails) throw failure
      return super.create(...given)
    }
  }

  test('is pending still', async () => {
    const failing = new Failing()
    pending.add(template(1))
    pending.add(template(2))
    await expect(keep(failing)).rejects.toBe(failure)
    failing.fails = false
    await keep(failing)
    expect(failing.writes).toHaveLength(2)
  })

  test('is told to all that wait for it', async () => {
    const failing = new Failing()
    pending.add(template(1))
    const both = [keep(failing), keep(failing)]
    expect(both[0]).toBe(both[1])
    await expect(Promise.all(both)).rejects.toBe(failure)
  })

  test('of one that is gone when it is to go is none', async () => {
    class Racing extends FakeClient {
      override async delete(...given: Parameters<FakeClient['delete']>): ReturnType<FakeClient['delete']> {
        await super.delete(...given)
        return super.delete(...given)
      }
    }
    client = new Racing()
    for (let generation = 1; generation <= 11; generation++) pending.add(template(generation))
    await keep()
    expect(await kept()).toHaveLength(10)
  })
})
