/**
 * The fuzzer, for as many requests as the budget of the whole check allows; `run.ts` goes on for longer, and sends a
 * finding again. `BOROUGH_FUZZ=<requests>` sets the budget, BOROUGH_PROPERTY_SEED repeats a run.
 */
import { describe, expect, it } from 'vitest'
import { seed } from '../generated/sampling.ts'
import { subjects } from '../generated/subjects.ts'
import { fuzz, replay, type Step } from './fuzzer.ts'
import { type Outcome, problemOf, stackIn } from './judge.ts'
import { Requests } from './requests.ts'
import { bytesOf, chunkBytes } from './sockets.ts'

const requests = Number(process.env['BOROUGH_FUZZ'] ?? 20_000)
/** A part each, so that one that hangs is named. */
const parts = 4
const size = Math.ceil(requests / parts)

describe(`requests of seed ${seed}`, () => {
  it.each(Array.from({ length: parts }, (_, i) => i * size))(
    'from number %i on are answered as they should be',
    async (from) => {
      const { tried, findings } = await fuzz({ seed, from, requests: size })
      expect(
        findings.map(({ problem, number, steps }) => ({ problem, number, replay: JSON.stringify(steps) })),
      ).toEqual([])
      expect(tried).toBe(size)
    },
  )
})

describe('the fuzzer', () => {
  it('makes the same request of the same seed and number', () => {
    const [one, other] = [new Requests(7, subjects()), new Requests(7, subjects())]
    for (const i of [0, 1, 500, 123_456]) expect(one.at(i)).toEqual(other.at(i))
    expect(new Requests(8, subjects()).at(0)).not.toEqual(one.at(0))
  })

  it('sends bodies whole and in chunks of every size', () => {
    const requests = new Requests(7, subjects())
    const sent = Array.from({ length: 2000 }, (_, i) => bytesOf(7, i, requests.at(i)))
    const texts = sent.map(({ bytes }) => Buffer.from(bytes, 'base64').toString('latin1'))
    for (const size of chunkBytes) expect(texts.some((t) => t.includes(`\r\n\r\n${size.toString(16)}\r\n`))).toBe(true)
    expect(texts.some((text) => text.includes('content-length'))).toBe(true)
  })

  const failure = (code: number, message: string, said = code): Outcome => ({
    code,
    contentType: 'application/json',
    text: JSON.stringify({ kind: 'Status', status: 'Failure', code: said, message }),
  })
  const outcomes: readonly { name: string; outcome: Outcome; want: string | undefined }[] = [
    { name: 'a refusal', outcome: failure(404, 'pods "x" not found'), want: undefined },
    {
      name: 'an error of the server',
      outcome: failure(500, 'request 7 of "x" failed'),
      want: '500 request N of "…" failed',
    },
    { name: 'one that upstream has', outcome: failure(504, 'Timeout: Too large resource version: 9'), want: undefined },
    { name: 'its words with another code', outcome: failure(500, 'Too large'), want: '500 Too large' },
    { name: 'a Status of another code', outcome: failure(404, 'x', 400), want: '404 with a Status of another code' },
    { name: 'a refusal that is no JSON', outcome: { ...failure(400, ''), text: '{' }, want: '400 without a Status' },
    { name: 'no answer on a connection', outcome: { code: 0, contentType: '', text: '' }, want: undefined },
  ]
  it.each(outcomes)('judges $name', ({ outcome, want }) => {
    expect(problemOf(outcome)).toBe(want)
  })

  it('sends again what it is given, to a fresh server', async () => {
    const step: Step = { user: 'admin', method: 'GET', path: '/api/v1/pods', query: 'limit=x', headers: [], body: '' }
    const bytes: Step = { protocol: 'http/1.1', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n').toString('base64') }
    expect(await replay([step, bytes])).toBeUndefined()
  })

  it('sees a stack in a line of the log', () => {
    expect(stackIn({ error: new Error('why') })).toContain('Error: why')
    expect(stackIn({ text: 'why\n    at place' })).toContain('why')
    expect(stackIn({ text: 'why' })).toBeUndefined()
  })
})
