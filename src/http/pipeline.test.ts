/** Which stages a request passes, and in which order. */
import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import type { ApiRequest, ApiResponse, Stage } from './api.ts'
import { createPipeline, type StageName, stageOrder } from './pipeline.ts'

const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }
const request = { method: 'GET', path: '/api/v1/pods', query: '', headers: {} } as unknown as ApiRequest

/** The stages that `asked` passes, where all there are are configured but `absent`. */
async function passed(asked: ApiRequest, absent?: StageName): Promise<string[]> {
  const names: string[] = []
  const stageOf =
    (name: string): Stage =>
    (next) =>
    (request, context) => {
      names.push(name)
      return next(request, context)
    }
  const stages = Object.fromEntries(stageOrder.map((name) => [name, name === absent ? undefined : stageOf(name)]))
  const serve = createPipeline({
    clock: new FakeClock(),
    ids: { uid: () => 'id', nameSuffix: () => 'abcde' },
    stages,
    dispatch: () => answer,
  })
  expect(await serve(asked)).toBe(answer)
  return names
}

test('a request of a socket passes all stages that are configured, in their order', async () => {
  expect(await passed(request)).toEqual(stageOrder)
  expect(await passed(request, 'catchUp')).toEqual(stageOrder.filter((name) => name !== 'catchUp'))
})

test('a request of our own code passes all but the limits of sockets, compression and impersonation', async () => {
  const ours = { ...request, localUser: { username: 'system:admin', groups: [] } }
  const socketsOnly: readonly string[] = ['compressAnswers', 'limitTime', 'impersonate', 'priorityAndFairness']
  expect(await passed(ours)).toEqual(stageOrder.filter((name) => !socketsOnly.includes(name)))
})
