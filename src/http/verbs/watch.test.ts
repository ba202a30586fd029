import { expect, test } from 'vitest'
import { failure } from '../../../test/support/refusal.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import type { Target } from '../resolution.ts'
import { type WatchDeps, watchVerb } from './watch.ts'

test('a watch that breaks for a reason that is ours says so in its last frame', async () => {
  const broken = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('a bug')) }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const watch = watchVerb({
    registry: { watch: () => Promise.resolve(broken) },
    renderer: { offer: () => ({ protobuf: false, views: [] }) },
    visibility: () => ({}),
    permitOf: () => undefined,
    random: () => 0,
  } as unknown as WatchDeps)
  const user = { username: 'ann', groups: [] }
  const context = { info: { query: new URLSearchParams() }, user, places: [] } as unknown as RequestContext
  const { body } = await watch({ headers: {} } as ApiRequest, context, {
    type: {} as ResourceType,
    namespace: '',
    name: '',
    subresource: '',
  } as Target)
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
