/** What a server warns of beside its answer, and who is told of it. */
import { expect, test } from 'vitest'
import { RestClient } from './rest-client.ts'
import type { Transport } from './transport.ts'
import { warningsIn } from './warnings.ts'

test.each<{ name: string; header: string; texts: string[] }>([
  { name: 'none', header: '', texts: [] },
  { name: 'two, with quotes and commas', header: '299 - "a, \\"b\\" \\\\c", 299 - ""', texts: ['a, "b" \\c', ''] },
  { name: 'of a proxy', header: '110 - "Response is stale", 299 - "a"', texts: ['a'] },
  { name: 'in the bytes of UTF-8', header: `299 - "${Buffer.from('ü→').toString('latin1')}"`, texts: ['ü→'] },
  { name: 'in characters', header: '299 - "ü→ ü"', texts: ['ü→ ü'] },
  { name: 'in other bytes', header: '299 - "ü"', texts: ['ü'] },
])('warnings are read: $name', ({ header, texts }) => expect(warningsIn(header)).toEqual(texts))

const resource = { group: '', version: 'v1', resource: 'configmaps' } as const
const ref = { namespace: 'n', name: 'c' }
const object = { metadata: ref }

function warned(status = 200) {
  const told: string[] = []
  const here: string[] = []
  const transport: Transport = {
    send: async ({ method }) => ({
      status,
      header: (name) => (name === 'warning' ? `299 - "${method}"` : undefined),
      body: new TextEncoder().encode('{}'),
    }),
  }
  const client = new RestClient({ transport, userAgent: 'test', onWarning: (text) => told.push(text) })
  return { client, told, here, onWarning: (text: string) => here.push(text) }
}

test('a client tells of each warning, that of a refusal too', async () => {
  const { client, told } = warned()
  await client.get(resource, ref)
  await client.patch(resource, ref, {})
  await client.deleteCollection(resource, {}, { isAnswerUnread: true })
  expect(told).toEqual(['GET', 'PATCH', 'DELETE'])
  const refused = warned(403)
  await expect(refused.client.create(resource, object)).rejects.toThrow()
  expect(refused.told).toEqual(['POST'])
})

test('of a write that one is told who asks for it there, and nobody else', async () => {
  const { client, told, here, onWarning } = warned()
  const { signal } = new AbortController()
  await client.create(resource, object, { onWarning })
  await client.update(resource, object, { onWarning, signal })
  await client.apply(resource, object, { onWarning, fieldManager: 'f' })
  await client.delete(resource, ref, { onWarning })
  await client.deleteCollection(resource, {}, { onWarning })
  expect({ told, here }).toEqual({ told: [], here: ['POST', 'PUT', 'PATCH', 'DELETE', 'DELETE'] })
})
