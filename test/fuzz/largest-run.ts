/**
 * For how long the largest bodies hold the event loop, in one piece:
 *
 *   node test/fuzz/largest-run.ts --seed 1 --from 0 --count 200 --minutes 10 [--only 'regular expression']
 *
 * One line of JSON for each request. What took more than the bound is sent again, and the least of three counts: the
 * first time code is compiled that was never run.
 */
import { Pieces, send } from '../../bench/loop-pieces.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { subjects } from '../generated/subjects.ts'
import { onlyOf, readRunnerFlags } from '../support/runner-flags.ts'
import { LargestRequests } from './largest.ts'

const help = `Usage: node test/fuzz/largest-run.ts [options]

Fills each list and map of each kind up to what a body may have, and prints for how long a request holds the event loop
in one piece, as one line of JSON each.

Options:
  --from N       the first request (default 0)
  --count N      so many (default 200)
  --minutes N    for so long (default 10)
  --seed N       which requests (default 1)
  --only REGEX   only those whose title it finds
  --help

Examples:
  node test/fuzz/largest-run.ts --count 50 --minutes 2
  node test/fuzz/largest-run.ts --from 200 --only Deployment
`

const values = readRunnerFlags(
  help,
  {
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    count: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
  },
  ['from', 'count', 'minutes', 'seed'],
)

/** Each has so many places that a server is asked for. */
const perServer = 40
const endMs = performance.now() + Number(values.minutes) * 60_000
const source = new LargestRequests(Number(values.seed), subjects())
const only = onlyOf(values.only)
const pieces = new Pieces()

const first = Number(values.from)
const end = first + Number(values.count)
let i = first
while (i < end && performance.now() < endMs) {
  await using plane = await startControlPlane({ population: true })
  for (const last = Math.min(end, i + perServer); i < last && performance.now() < endMs; i++) {
    for (const request of source.at(i)) {
      if (!only.test(request.what)) continue
      let status = 0
      const { workedMs } = await pieces.of(async () => {
        status = await send(plane, request)
      })
      console.log(JSON.stringify({ i, what: request.what, status, longestMs: Math.round(workedMs * 10) / 10 }))
    }
  }
}
console.log(JSON.stringify({ what: `${i - first} of ${source.size} places`, status: 0, longestMs: 0 }))
process.exit()
