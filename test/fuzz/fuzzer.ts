/**
 * Sends the requests of a seed to servers, a fresh one for each thousand, and minimises what it finds: first to the
 * requests without which the fault does not show, then what is in them.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { subjects } from '../generated/subjects.ts'
import { type FuzzRequest, Requests } from './requests.ts'
import { FuzzServer } from './server.ts'
import { type Bytes, bytesOf } from './sockets.ts'

export type Step = FuzzRequest | Bytes

export interface Finding {
  readonly problem: string
  readonly seed: number
  readonly number: number
  /** What `--replay` sends to a fresh server, the last of which shows the fault. */
  readonly steps: readonly Step[]
}

export interface FuzzOptions {
  readonly seed: number
  readonly from: number
  readonly requests: number
  isOver?(): boolean
  onFinding?(finding: Finding): void
}

export interface FuzzReport {
  readonly tried: number
  readonly findings: readonly Finding[]
}

/** Requests to one server: so few that those before a fault can be tried again, so many that they meet each other. */
export const requestsPerServer = 1000
/** One in so many goes through a socket. */
const socketEvery = 40
/**
 * More than this, of each server that was stopped, is a leak. The least that can be one is a whole server: 1 MiB. What
 * stays on purpose are the compiled code and a histogram of the library for metrics, which nothing can stop.
 */
const maxGrowthBytes = 48 * 1024 * 1024
const maxGrowthOfEachBytes = 640 * 1024
/** Servers after which everything that is loaded once has been loaded. */
const warmServers = 3

export async function fuzz({ seed, from, requests, isOver, onFinding }: FuzzOptions): Promise<FuzzReport> {
  const source = new Requests(seed, subjects())
  const findings = new Map<string, Finding>()
  const memory = new MemoryWatch()
  const end = from + requests
  let next = from
  while (next < end && isOver?.() !== true) {
    const first = next
    const last = Math.min(end, first - (first % requestsPerServer) + requestsPerServer)
    const steps: Step[] = []
    await withServer(async (server) => {
      for (; next < last && isOver?.() !== true; next++) {
        const step = stepOf(source, seed, next)
        steps.push(step)
        const problem = await take(server, step)
        if (problem === undefined || findings.has(problem)) continue
        const finding = { problem, seed, number: next, steps: await minimised([...steps], problem) }
        findings.set(problem, finding)
        onFinding?.(finding)
      }
    })
    const growth = memory.grownBy()
    if (growth > maxGrowthBytes + memory.servers * maxGrowthOfEachBytes) {
      const problem = `the heap grew by ${Math.round(growth / 2 ** 20)} MiB and did not shrink again`
      const finding = { problem, seed, number: next, steps: [] }
      findings.set('memory', finding)
      onFinding?.(finding)
      break
    }
  }
  return { tried: next - from, findings: [...findings.values()] }
}

function stepOf(source: Requests, seed: number, i: number): Step {
  const request = source.at(i)
  return i % socketEvery === socketEvery - 1 ? bytesOf(seed, i, request) : request
}

/** What the last of the steps shows on a fresh server. */
export async function replay(steps: readonly Step[]): Promise<string | undefined> {
  return withServer(async (server) => {
    let problem: string | undefined
    for (const step of steps) problem = await take(server, step)
    return problem
  })
}

const take = (server: FuzzServer, step: Step): Promise<string | undefined> =>
  'bytes' in step ? server.problemOfBytes(Buffer.from(step.bytes, 'base64'), step.protocol) : server.problemOf(step)

async function withServer<T>(use: (server: FuzzServer) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-fuzz-'))
  try {
    await using server = await FuzzServer.start(folder)
    return await use(server)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Fewer and smaller steps with the same problem; all of them if they do not show it again. */
async function minimised(steps: readonly Step[], problem: string): Promise<readonly Step[]> {
  const shows = async (tried: readonly Step[]): Promise<boolean> => (await replay(tried)) === problem
  const last = steps.at(-1) as Step
  if (await shows([last])) return [await smaller(last, (step) => shows([step]))]
  if (!(await shows(steps))) return steps
  let before = steps.slice(0, -1)
  for (let size = Math.ceil(before.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < before.length; ) {
      const without = [...before.slice(0, at), ...before.slice(at + size)]
      if (await shows([...without, last])) before = without
      else at += size
    }
  }
  return [...before, last]
}

/** Without the headers and parameters that do not matter. */
async function smaller(step: Step, shows: (step: Step) => Promise<boolean>): Promise<Step> {
  if ('bytes' in step) return step
  let least = step
  for (const header of step.headers) {
    const without = { ...least, headers: least.headers.filter((other) => other !== header) }
    if (await shows(without)) least = without
  }
  for (const parameter of step.query.split('&')) {
    const rest = least.query.split('&').filter((other) => other !== parameter)
    const without = { ...least, query: rest.join('&') }
    if (await shows(without)) least = without
  }
  return least
}

/** How much more is in use than when everything was loaded. */
class MemoryWatch {
  readonly #collect: () => void
  #servers = 0
  #base = 0

  constructor() {
    setFlagsFromString('--expose-gc')
    this.#collect = runInNewContext('gc') as () => void
  }

  /** That were stopped. */
  get servers(): number {
    return this.#servers
  }

  grownBy(): number {
    this.#servers++
    if (this.#servers < warmServers) return 0
    this.#collect()
    const used = process.memoryUsage().heapUsed
    if (this.#servers === warmServers) this.#base = used
    return used - this.#base
  }
}
