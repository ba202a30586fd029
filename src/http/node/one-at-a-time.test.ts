/** When a request of a connection over HTTP/1.1 begins, by what has become of the answer before it. */
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { IncomingBody } from './incoming-body.ts'
import { OneAtATime } from './one-at-a-time.ts'

/** As Node shows them: `ended` by the server, `finished` once this process has heard that the system took all of it. */
function responseOf(answer: { ended?: boolean; finished?: boolean; unheardBytes?: number }): ServerResponse {
  const socket = { writable: true, writableLength: answer.unheardBytes ?? 0 }
  const request = Object.assign(new EventEmitter(), { url: '/', rawHeaders: [], socket })
  const { ended = false, finished = false } = answer
  const response = Object.assign(new EventEmitter(), { req: request, writableEnded: ended, writableFinished: finished })
  return response as unknown as ServerResponse
}

describe('a request of a client that has read the answer before', () => {
  test.each([
    { answer: { ended: true, finished: true }, begins: true, given: 'was sent' },
    { answer: { ended: true, unheardBytes: 60_000 }, begins: true, given: 'was sent, which is not heard yet' },
    { answer: { ended: true, unheardBytes: 70_000 }, begins: false, given: 'waits in the socket' },
    { answer: {}, begins: false, given: 'is still made' },
  ])('begins ($begins) where that $given', ({ answer, begins }) => {
    const excess: string[] = []
    const inOrder = new OneAtATime((bound) => excess.push(bound))
    const begun: string[] = []
    const first = responseOf(answer)
    inOrder.add(first, undefined, () => begun.push('first'))
    const second = responseOf({})
    const body = new IncomingBody(second.req, {
      received: () => inOrder.limit(),
      breakOff: (bound) => excess.push(bound),
    })
    inOrder.add(second, body, () => begun.push('second'))
    expect(begun).toEqual(begins ? ['first', 'second'] : ['first'])
    // Its body is no flood: it is the handler's from the beginning.
    second.req.push(Buffer.alloc(65_537))
    expect(excess).toEqual(begins ? [] : ['pipelined_flood'])
    first.emit('finish')
    expect(begun).toEqual(['first', 'second'])
  })
})
