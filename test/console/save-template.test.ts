import { expect, test } from 'vitest'
import { namespaceResource } from '../../src/apis/namespaces/types.ts'
import { templateResource } from '../../src/apis/templates/types.ts'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { NotStored } from '../../src/console/page/lost-answer.ts'
import { Creations } from '../../src/console/page/namespaces/creations.ts'
import { emptyDraft } from '../../src/console/page/namespaces/draft.ts'
import { saveTemplate } from '../../src/console/page/templates/save-template.ts'
import { ConsoleUnreached } from '../../src/console/page/unreached.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { failure, refusal } from '../support/refusal.ts'

/** Waits are over at once. */
const clock: Clock = {
  ...systemClock,
  after(_ms, run) {
    const handle = setImmediate(run)
    return { cancel: () => clearImmediate(handle) }
  },
}

const edit = (text: string) => ({
  metadata: { name: 'team' },
  spec: {
    namespaces: { nameSelector: { include: ['none'] } },
    templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text } }],
  },
})

test('a status that was written meanwhile holds no edit up; another edit does', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  const present = await saveTemplate(client, undefined, edit('one'), { clock })
  const status = { matched: 1 }
  await client.update(templateResource, { ...present, status }, { subresource: 'status' })
  const saved = await saveTemplate(client, present, edit('two'), { clock })
  expect(saved.metadata.generation).toBe(2)
  await expect(saveTemplate(client, present, edit('three'), { clock })).rejects.toThrow(
    'Operation cannot be fulfilled on namespacetemplates.policy.borough.dev "team": the object has been modified',
  )
  expect((await client.get(templateResource, { name: 'team' })).spec).toEqual(saved.spec)
})

test('what kubectl apply keeps of a template stays with it, though it is not edited', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"kind":"NamespaceTemplate"}' }
  const { metadata, ...rest } = edit('one')
  const present = await client.create(templateResource, { metadata: { ...metadata, annotations: applied }, ...rest })
  const edited = edit('two')
  const metadataNow = { ...edited.metadata, annotations: { 'example.com/team': 'a' } }
  const saved = await saveTemplate(client, present, { ...edited, metadata: metadataNow }, { clock })
  expect(saved.metadata.annotations).toEqual({ ...applied, 'example.com/team': 'a' })
  const without = await saveTemplate(client, saved, edit('three'), { clock })
  expect(without.metadata.annotations).toEqual(applied)
})

/** A connection that goes with the next write, before the server has it or after, and stays away for some reads. */
function losing(client: Client, when: 'before' | 'after', meanwhile?: () => Promise<unknown>): Client {
  let reads = 0
  let isLost = false
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>
      if (key === 'get') {
        return async (...args: unknown[]) => {
          if (isLost && reads++ < 3) throw new ConsoleUnreached('it is down')
          return call(...args)
        }
      }
      if (key !== 'update' && key !== 'create') return call
      return async (...args: unknown[]) => {
        if (when === 'after') await call(...args)
        await meanwhile?.()
        isLost = true
        throw new ConsoleUnreached('cut')
      }
    },
  })
}

test('where the answer is lost, what is stored says whether it was saved', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  const lost: string[] = []
  const options = { clock, onLost: () => lost.push('told') }
  const made = await saveTemplate(losing(client, 'after'), undefined, edit('one'), options)
  expect(made.metadata.generation).toBe(1)
  const saved = await saveTemplate(losing(client, 'after'), made, edit('two'), options)
  expect(saved.metadata.generation).toBe(2)
  const refused = saveTemplate(losing(client, 'before'), saved, edit('three'), options)
  await expect(refused).rejects.toThrow(NotStored)
  await expect(refused).rejects.toThrow('it was not stored, and can be sent again: the connection was lost (cut)')
  const theirs = () => client.patch(templateResource, { name: 'team' }, { spec: edit('theirs').spec })
  expect(await refusal(saveTemplate(losing(client, 'before', theirs), saved, edit('three'), options))).toEqual(
    failure({ message: 'another author wrote it while the connection was lost', reason: 'Conflict', code: 409 }),
  )
  expect(lost).toEqual(['told', 'told', 'told', 'told'])
})

test('of a namespace too: made, not made, or made by another client', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  const draft = (name: string) => ({ ...emptyDraft, name, labels: 'team=a' })
  const made = await new Creations(losing(client, 'after'), clock).begin(draft('made'))
  expect(made.metadata.uid).toBeDefined()
  await expect(new Creations(losing(client, 'before'), clock).begin(draft('not-made'))).rejects.toThrow(NotStored)
  const other = () => client.create(namespaceResource, { metadata: { name: 'theirs' } })
  await expect(new Creations(losing(client, 'before', other), clock).begin(draft('theirs'))).rejects.toThrow(
    'a namespace theirs is there, and is not the one that was asked for: another client made it',
  )
})

test('a namespace that was there before is not told to be the one that was asked for', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  await client.create(namespaceResource, { metadata: { name: 'taken', labels: { team: 'a' } } })
  const draft = { ...emptyDraft, name: 'taken', labels: 'team=a' }
  await expect(new Creations(losing(client, 'before'), clock).begin(draft)).rejects.toThrow(
    'a namespace taken is there, and is not the one that was asked for: another client made it',
  )
  await expect(new Creations(client, clock).begin(draft)).rejects.toThrow('already exists')
})

test('nothing is sent where the server can’t be asked before, and the user is told so', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  let isDown = true
  const reached = new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (key === 'get' && isDown) return Promise.reject(new ConsoleUnreached('it is down'))
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  const creations = new Creations(reached, clock)
  await expect(creations.begin({ ...emptyDraft, name: 'later' })).rejects.toThrow(NotStored)
  await expect(client.get(namespaceResource, { name: 'later' })).rejects.toThrow('not found')
  isDown = false
  expect((await creations.begin({ ...emptyDraft, name: 'later' })).metadata.uid).toBeDefined()
})
