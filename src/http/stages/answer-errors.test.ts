/** What a client is told of a fault, and the headers that every answer has. */
import { describe, expect, test } from 'vitest'
import { badRequest } from '../../kube/status-error.ts'
import type { Status } from '../../kube/types.ts'
import type { ApiRequest, ApiResponse, Handler, RequestContext } from '../api.ts'
import { answerErrors } from './answer-errors.ts'

const answer: ApiResponse = { status: 200, headers: { 'content-type': 'x' }, body: new Uint8Array() }

async function pass(next: Handler, more: Partial<RequestContext> = {}) {
  const reported: unknown[] = []
  const info = { query: new URLSearchParams() }
  const context = { requestId: 'r1', warnings: [], info, ...more } as unknown as RequestContext
  const render = (status: Status): ApiResponse => ({ status: status.code ?? 0, headers: {}, body: status as never })
  const stage = answerErrors((error) => reported.push(error), render)
  const response = await stage(next)({ headers: {} } as ApiRequest, context)
  return { response, reported, said: response.body as unknown as Status }
}

describe.each([
  {
    how: 'at once',
    fail: (error: unknown) => () => {
      throw error
    },
  },
  { how: 'later', fail: (error: unknown) => () => Promise.reject(error) },
])('what is thrown $how', ({ fail }) => {
  test('is answered with what it says, where it is a refusal', async () => {
    const { response, reported, said } = await pass(fail(badRequest('no')))
    expect([response.status, said.message, reported]).toEqual([400, 'no', []])
    expect(response.headers['audit-id']).toBe('r1')
    const caused = await pass(fail(new Error('within', { cause: badRequest('no') })))
    expect(caused.response.status).toBe(400)
  })

  test('is a fault of the server otherwise: the log gets it, and the client its number', async () => {
    const fault = new Error('a secret')
    const { response, reported, said } = await pass(fail(fault))
    expect([response.status, reported]).toEqual([500, [fault]])
    expect(said.message).toBe("Internal error occurred: request r1 failed; the server's log says why")
    expect(JSON.stringify(said)).not.toContain('a secret')
  })
})

describe('an answer', () => {
  test.each([{ next: () => answer }, { next: () => Promise.resolve(answer) }])(
    'has headers of its own',
    async ({ next }) => {
      const { response } = await pass(next)
      const common = { 'audit-id': 'r1', 'cache-control': 'no-cache, private' }
      expect(response).toEqual({ ...answer, headers: { 'content-type': 'x', ...common } })
      const kept = await pass(() => ({ ...answer, headers: { 'cache-control': 'public' } }))
      expect(kept.response.headers['cache-control']).toBe('public')
    },
  )

  test('says by which flow it came', async () => {
    const headers = {
      'x-kubernetes-pf-flowschema-uid': 'f',
      'x-kubernetes-pf-prioritylevel-uid': 'p',
    }
    const { response } = await pass(() => answer, { flow: { headers } as never })
    expect(response.headers).toMatchObject(headers)
  })
})

describe('warnings', () => {
  const warned = async (warnings: string[]) => (await pass(() => answer, { warnings })).response.headers['warning']

  test('are there where there are some, quoted', async () => {
    expect(await warned([])).toBeUndefined()
    expect(await warned(['a "b" \\c'])).toEqual(['299 - "a \\"b\\" \\\\c"'])
  })

  test('are whole as long as they are short together', async () => {
    const long = ['ü'.repeat(4000), 'x'.repeat(96)]
    expect(await warned(long)).toEqual(long.map((text) => `299 - "${text}"`))
  })

  test('are cut each where they are long together, and what is too much even so is left out', async () => {
    const many = Array.from({ length: 20 }, (_, i) => `${i} ${'😀'.repeat(298)}`)
    const told = (await warned(many)) as string[]
    expect(told).toHaveLength(16)
    expect(told.map((text) => [...text].length)).toEqual(Array(16).fill(256 + '299 - ""'.length))
    expect(told[0]?.startsWith('299 - "0 ')).toBe(true)
    const [one, short] = (await warned(['x'.repeat(5000), 'short'])) as string[]
    expect([one, short]).toEqual([`299 - "${'x'.repeat(256)}"`, '299 - "short"'])
  })
})
