/** For how long one request holds the event loop: the largest bodies there are, in every way of sending them. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Piece } from '../loop-pieces.ts'
import { type Row, spread } from '../report.ts'
import type { Bench } from './rows.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../loop-pieces.ts', import.meta.url))
const goalMs = 50
const maxOutputBytes = 64 * 1024 * 1024

/** One row for each body: the request that held the loop for longest, over all rounds. */
export async function* loopRows(bench: Bench): AsyncGenerator<Row> {
  // A process of its own: what is measured is its main thread.
  const { stdout } = await run(process.execPath, [script, String(bench.quick ? 1 : bench.rounds)], {
    maxBuffer: maxOutputBytes,
  })
  const byRequest = new Map<string, number[]>()
  for (const line of stdout.trim().split('\n')) {
    const { what, longestMs } = JSON.parse(line) as Piece
    byRequest.set(what, [...(byRequest.get(what) ?? []), longestMs])
  }
  const worst = new Map<string, Row>()
  for (const [request, values] of byRequest) {
    const [body = ''] = request.split(': ')
    const ours = spread(values)
    const known = worst.get(body)
    if (known !== undefined && known.ours.median >= ours.median) continue
    const what = `longest piece of the event loop: ${request}`
    worst.set(body, { what, unit: 'ms', ours, goal: `< ${goalMs} ms`, met: ours.median < goalMs })
  }
  yield* [...worst.values()].sort((a, b) => b.ours.median - a.ours.median)
}
