/**
 * Looks for requests whose cost grows faster than they do: each of many kinds is sent with a part of some size, and
 * with one that is eight times as large. What is linear takes eight times the processor time then, what is quadratic
 * 64 times. `--help` tells how to use it.
 */
import { startControlPlane, type TestControlPlane } from '../src/testing/index.ts'
import { onlyOf, readRunnerFlags } from '../test/support/runner-flags.ts'
import { growingKinds, type Sent } from './growth/kinds.ts'

const help = `Usage: node tools/growth.ts [options]

Sends requests with a part of some size, and with one that is eight times as large, and prints those that take more than
twenty times the processor time. Exits with 1 if there are any.

Options:
  --only REGEX  the kinds whose names match
  --all         prints all of them
  --help

Examples:
  node tools/growth.ts
  node tools/growth.ts --only yaml --all
`

const factor = 8
const mostGrowth = 20
/** Less is not told from none: the system counts in ticks. */
const leastMs = 2

const flags = readRunnerFlags(help, { only: { type: 'string' }, all: { type: 'boolean', default: false } }, [])
const only = flags.only === undefined ? undefined : onlyOf(flags.only)

await using plane = await startControlPlane()
const chosen = [...growingKinds()].filter(({ name }) => only === undefined || only.test(name))
let found = 0
for (const [i, { name, size, make }] of chosen.entries()) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${i + 1} of ${chosen.length}: ${name}`)
  const [small, large] = [make(size), make(size * factor)]
  await processorMs(plane, small)
  const [least, most] = [await processorMs(plane, small), await processorMs(plane, large)]
  const grows = most > mostGrowth * Math.max(least, leastMs)
  if (grows) found++
  if (grows || flags.all) {
    process.stdout.write(`${grows ? 'GROWS' : 'ok   '} ${name}: ${least.toFixed(1)} ms, ${most.toFixed(1)} ms\n`)
  }
}
process.stdout.write(`${chosen.length} kinds, ${found} grow faster than they are long\n`)
process.exitCode = found > 0 ? 1 : 0

/** Of this thread, which serves and asks. */
async function processorMs(
  asked: TestControlPlane,
  { path, method = 'GET', type, body, headers }: Sent,
): Promise<number> {
  const before = process.threadCpuUsage()
  const init = { method, headers: { ...(type === undefined ? {} : { 'content-type': type }), ...headers } }
  try {
    await (await asked.fetch(path, body === undefined ? init : { ...init, body })).text()
  } catch (error) {
    // What can't be put into a header is not sent.
    if (!(error instanceof TypeError)) throw error
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
