import { expect, test } from 'vitest'
import { failure } from '../../../test/support/refusal.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import type { Target } from '../resolution.ts'
import { type WatchDeps, watchVerb } from './watch.ts'

function watching(registry: object, query = ''): ReturnType<ReturnType<typeof watchVerb>> {
  const watch = watchVerb({
    registry,
    renderer: { offer: () => ({ protobuf: false, views: [] }) },
    visibility: () => ({}),
    permitOf: () => undefined,
    random: () => 0,
  } as unknown as WatchDeps)
  const user = { username: 'ann', groups: [] }
  const context = { info: { query: new URLSearchParams(query) }, user, places: [] } as unknown as RequestContext
  const target = { type: {} as ResourceType, namespace: '', name: '', subresource: '' } as Target
  return watch({ headers: {} } as ApiRequest, context, target)
}

test('a watch that breaks for a reason that is ours says so in its last frame', async () => {
  const broken = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('a bug')) }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const { body } = await watching({ watch: () => Promise.resolve(broken) })
  const frames: unknown[] = []
  for await (const frame of body as AsyncIterable<Uint8Array>) frames.push(JSON.parse(Buffer.from(frame).toString()))
  expect(frames).toEqual([
    {
      type: 'ERROR',
      object: failure({
        message: 'Internal error occurred: the watch broke',
        reason: 'InternalError',
        details: { causes: [{ message: 'the watch broke' }] },
        code: 500,
      }),
    },
  ])
})

test.each([
  ['', 1_800_000],
  ['timeoutSeconds=0', 1_800_000],
  ['timeoutSeconds=2', 2_000],
  ['timeoutSeconds=-1', 0],
])('a watch with %j lasts %d ms', async (query, ms) => {
  const asked: unknown[] = []
  const registry = {
    watch: (_type: unknown, { timeoutMs }: { timeoutMs: number }) => {
      asked.push(timeoutMs)
      return Promise.reject(new Error('enough'))
    },
  }
  await expect(watching(registry, query)).rejects.toThrow('enough')
  expect(asked).toEqual([ms])
})
