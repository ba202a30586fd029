/** The process itself: how fast it starts, what it holds, what a decision costs. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { measureAuthorize, measureOwnNamespaces } from '../authorize.ts'
import { type Row, spread } from '../report.ts'
import { startProcess } from '../target.ts'
import type { Bench } from './rows.ts'

const run = promisify(execFile)
const script = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url))
const goalRow = (what: string, unit: string, values: readonly number[], goal: number): Row => {
  const ours = spread(values)
  return { what, unit, ours, goal: `< ${goal} ${unit}`, met: ours.median < goal }
}

/** Long enough for what a start leaves to do in the background. */
const settleMs = 3000
const quickSettleMs = 1000

async function startRows(bench: Bench): Promise<Row[]> {
  const cli: number[] = []
  const again: number[] = []
  const inProcess: number[] = []
  const node: number[] = []
  const idleMiB: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const began = performance.now()
    await run(process.execPath, ['-e', '0'])
    node.push(performance.now() - began)
    const dataDir = await bench.tempDir()
    {
      await using first = await startProcess(dataDir)
      cli.push(first.readyAfterMs)
      await sleep(bench.quick ? quickSettleMs : settleMs)
      idleMiB.push(await residentMiB(first.pid))
    }
    await using second = await startProcess(dataDir)
    again.push(second.readyAfterMs)
    const { stdout } = await run(process.execPath, [script('start-in-process.mjs')])
    inProcess.push(Number(stdout))
  }
  return [
    goalRow('start in-process, empty (startControlPlane, without loading the code)', 'ms', inProcess, 150),
    goalRow(
      `start by CLI, first time (a Node that does nothing: ${Math.round(spread(node).median)} ms)`,
      'ms',
      cli,
      500,
    ),
    goalRow('start by CLI, again', 'ms', again, 500),
    goalRow('memory, idle (resident)', 'MiB', idleMiB, 120),
  ]
}

export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined)
  if (status !== undefined) return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) / 1024
}

async function memoryPerNamespace(bench: Bench): Promise<Row> {
  const count = bench.quick ? 300 : 2000
  const { stdout } = await run(process.execPath, ['--expose-gc', script('memory-per-namespace.mjs'), String(count)])
  const what = `memory per populated namespace of 8 objects (live bytes after collection, ${count} of them)`
  return goalRow(what, 'KiB', [Number(stdout)], 100)
}

const manyObjects = 100_000

async function bigStart(bench: Bench): Promise<Row> {
  const dataDir = await bench.tempDir()
  {
    await using _first = await startProcess(dataDir)
  }
  await run(process.execPath, [script('fill-store.ts'), dataDir, String(manyObjects)])
  const times: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    await using server = await startProcess(dataDir)
    times.push(server.readyAfterMs)
  }
  return goalRow(`start by CLI with ${manyObjects.toLocaleString('en-US')} objects`, 'ms', times, 3000)
}

function authorizeRow(): Row {
  const few = measureAuthorize(10)
  const many = measureAuthorize(10_000)
  const ratio = many.allowNs / few.allowNs
  return {
    what: 'authorization, 10,000 other bindings (limit: 10 others)',
    unit: 'ns',
    ours: spread([many.allowNs]),
    limit: { what: '10 bindings', value: spread([few.allowNs]) },
    ratio: spread([ratio]),
    goal: 'ratio < 2',
    met: ratio < 2,
  }
}

function ownNamespacesRow(): Row {
  const few = measureOwnNamespaces(10)
  const many = measureOwnNamespaces(10_000)
  const ratio = many.listNs / few.listNs
  return {
    what: 'namespaces of a user, 10,000 of others (limit: 10 of others)',
    unit: 'ns',
    ours: spread([many.listNs]),
    limit: { what: '10 of others', value: spread([few.listNs]) },
    ratio: spread([ratio]),
    goal: 'ratio < 2',
    met: ratio < 2,
  }
}

export async function* processRows(bench: Bench): AsyncGenerator<Row> {
  yield* await startRows(bench)
  yield memoryPerNamespace(bench)
  if (bench.full) yield bigStart(bench)
  yield authorizeRow()
  yield ownNamespacesRow()
}
