/**
 * What namespaces cost that wait for their end: fills a schedule, rests, and prints processor time and memory.
 *
 *   node bench/pending-ends.ts [namespaces] [seconds]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpirySchedule, type NamespaceFeed } from '../src/apis/expiry/expiry-schedule.ts'
import type { Namespace } from '../src/apis/namespaces/types.ts'
import { systemClock } from '../src/base/clock.ts'
import { formatTime } from '../src/kube/time.ts'

const count = Number(process.argv[2] ?? 100_000)
const seconds = Number(process.argv[3] ?? 30)
const dayMs = 86_400_000

/** Spread over a month from now on, so that some are due at any time. */
function namespaceOf(i: number): Namespace {
  const now = Date.now()
  const annotations = { 'borough.dev/expires-at': formatTime(now + ((i + 1) * 30 * dayMs) / count) }
  return { metadata: { name: `preview-${i}`, creationTimestamp: formatTime(now - dayMs), annotations } }
}

function* all(): Iterable<Namespace> {
  for (let i = 0; i < count; i++) yield namespaceOf(i)
}

const feed: NamespaceFeed = { existing: all, subscribe: () => () => {}, find: () => undefined }
const used = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const stop = new AbortController()
const schedule = new ExpirySchedule(feed, systemClock)
global.gc?.()
const heapBefore = process.memoryUsage().heapUsed
const fillBegan = used()
let taken = 0
const running = schedule.run(() => taken++, stop.signal)
while (schedule.pending < count - taken) await sleep(10)
const fillMs = used() - fillBegan
global.gc?.()
const bytes = (process.memoryUsage().heapUsed - heapBefore) / count
const began = used()
await sleep(seconds * 1000)
const share = (used() - began) / (seconds * 1000)
stop.abort()
await running
console.log(
  `${count} namespaces: filled in ${fillMs.toFixed(0)} ms of processor time, ${bytes.toFixed(0)} bytes each; ` +
    `at rest ${(share * 100).toFixed(3)} % of a core over ${seconds} s, ${taken} looked at`,
)
