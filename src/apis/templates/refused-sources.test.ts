/** Sources of clones that the server does not show: no template waits for them. */
import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client, ListOptions } from '../../client/client.ts'
import { parseFieldSelector } from '../../kube/field-selector.ts'
import { badRequest, internalError } from '../../kube/status-error.ts'
import { CloneSources } from './clone-sources.ts'
import type { CloneSource, NamespaceTemplate } from './types.ts'

const from = { namespace: 'n', apiVersion: 'v1', kind: 'Secret', name: 's' } as const
const cloning = (source: CloneSource): NamespaceTemplate => ({
  metadata: { name: 't' },
  spec: { objects: [{ cloneFrom: source }] },
})

async function said(source: CloneSource, refusal: Error): Promise<unknown> {
  const stop = new AbortController()
  const sources = new CloneSources({
    client: { list: () => Promise.reject(refusal) } as unknown as Client,
    clock: new FakeClock(),
    onError: () => {},
    onChange: () => {},
  })
  await sources.know([cloning(source)], stop.signal)
  stop.abort()
  return sources.find(source)
}

test.each([badRequest('no such selector'), internalError('secrets "s" is damaged')])(
  'a source that the server does not show (%s) keeps no template waiting',
  async (refusal) => {
    expect(await said(from, refusal)).toBe(refusal.message)
  },
)

test('whatever it is called, it alone is asked for', async () => {
  const asked: ListOptions[] = []
  const sources = new CloneSources({
    client: {
      list: (_: unknown, options: ListOptions) => {
        asked.push(options)
        return Promise.reject(badRequest('no'))
      },
    } as unknown as Client,
    ...{ clock: new FakeClock(), onError: () => {}, onChange: () => {} },
  })
  const stop = new AbortController()
  await sources.know([cloning({ ...from, name: 'a,metadata.namespace=\\b' })], stop.signal)
  stop.abort()
  expect(parseFieldSelector(asked[0]?.fieldSelector ?? '')).toEqual([
    { field: 'metadata.name', operator: '=', value: 'a,metadata.namespace=\\b' },
  ])
})
