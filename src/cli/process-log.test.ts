import { expect, test } from 'vitest'
import { processLog } from './process-log.ts'

function linesOf(level: string): { log: ReturnType<typeof processLog>; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  return { log: processLog(level, { write: (line) => lines.push(JSON.parse(line)) }), lines }
}

const refused = new Error('connect ECONNREFUSED 127.0.0.1:2379')
const error = new Error('the cluster can not be reached', { cause: new Error('no answer', { cause: refused }) })

test('what is below the level is not written', () => {
  const { log, lines } = linesOf('warn')
  log.debug({}, 'a')
  log.info({}, 'b')
  log.warn({ pods: 2 }, 'c')
  expect(lines).toMatchObject([{ level: 40, pods: 2, msg: 'c' }])
})

test('a warning says in one line what went wrong, and why', () => {
  const { log, lines } = linesOf('info')
  log.warn({ error }, 'tried again')
  expect(lines[0]?.['error']).toBe('the cluster can not be reached: no answer: connect ECONNREFUSED 127.0.0.1:2379')
})

test('a cause that its error repeats is said once', () => {
  const { log, lines } = linesOf('warn')
  log.warn({ error: new Error('etcd: no answer', { cause: new Error('no answer') }) }, 'tried again')
  expect(lines[0]?.['error']).toBe('etcd: no answer')
})

test('an error has its stack, and so has every warning where all is written', () => {
  const told = linesOf('warn')
  told.log.error({ error }, 'broken')
  expect(told.lines[0]?.['error']).toMatchObject({ stack: expect.stringContaining('process-log.test') })
  const all = linesOf('debug')
  all.log.warn({ error }, 'tried again')
  expect(all.lines[0]?.['error']).toMatchObject({ stack: expect.stringContaining('process-log.test') })
})
