/**
 * Section by section, what Borough does against what bounds it, in one run on one machine: `npm run bench -- --help`.
 * Progress goes to stderr, the table to stdout; nothing is written outside the system's temporary folder.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startBareServer } from './bare-server.ts'
import { startLoad } from './load/load.ts'
import { type Row, table } from './report.ts'
import { deletionRows } from './rows/deletion.ts'
import { elsewhereRows } from './rows/elsewhere.ts'
import { fairnessRows } from './rows/fairness.ts'
import { heldRows } from './rows/held.ts'
import { loopRows } from './rows/loop.ts'
import { namespaceRows } from './rows/namespaces.ts'
import { processRows } from './rows/process.ts'
import { requestRows } from './rows/requests.ts'
import type { Bench } from './rows/rows.ts'
import { scaleRows } from './rows/scale.ts'
import { soakRows } from './rows/soak.ts'
import { templateRows } from './rows/templates.ts'
import { watchRows } from './rows/watch.ts'
import { workerRows } from './rows/workers.ts'
import { peerOf, startBorough } from './target.ts'

const usage = `npm run bench -- [flags]

  --quick             short rounds: a minute or so
  --full              also a start with 100,000 objects in the store, templates over 10,000 namespaces, and fairness
  --only NAME         one group of rows: requests, namespaces, templates, deletion, held, watch, loop, process,
                      workers, fairness, or three that are never run otherwise: scale (100,000 namespaces, with --full
                      also a million), soak (namespaces that come and go for an hour), elsewhere
                      (borough populate on the cluster of --kubeconfig, which keeps 2,000 namespaces, with --full
                      10,000)
  --attack TEXT       of the fairness rows, those whose name holds it (or one of A|B)
  --namespaces N      how many for scale or elsewhere
  --minutes N         how long the soak takes once it is warm (60)
  --rounds N          how often each side is measured, in turn (5; quick: 3)
  --kubeconfig FILE   run the same requests against this API server too
  -o json             rows as JSON
`

const groups = {
  requests: requestRows,
  namespaces: namespaceRows,
  templates: templateRows,
  deletion: deletionRows,
  held: heldRows,
  watch: watchRows,
  loop: loopRows,
  process: processRows,
  workers: workerRows,
  fairness: fairnessRows,
  scale: scaleRows,
  soak: soakRows,
  elsewhere: elsewhereRows,
}

/** Only when they are asked for: they take minutes, and gigabytes of a disk. */
const onRequest: ReadonlySet<string> = new Set(['scale', 'soak', 'elsewhere'])

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      only: { type: 'string' },
      attack: { type: 'string' },
      rounds: { type: 'string' },
      kubeconfig: { type: 'string' },
      namespaces: { type: 'string' },
      minutes: { type: 'string' },
      output: { type: 'string', short: 'o', default: 'text' },
      help: { type: 'boolean', default: false },
    },
  })
  if (flags.help) {
    process.stdout.write(usage)
    return
  }
  const isChosen = (name: string): boolean =>
    flags.only === undefined ? !onRequest.has(name) && (flags.full || name !== 'fairness') : name === flags.only
  const chosen = Object.entries(groups).filter(([name]) => isChosen(name))
  if (chosen.length === 0) throw new Error(`no rows are called ${flags.only}`)
  const say = (text: string): void => void process.stderr.write(`${text}\n`)
  const tempRoot = await mkdtemp(join(tmpdir(), 'borough-bench-'))
  try {
    const tempDir = (): Promise<string> => mkdtemp(join(tempRoot, 'd-'))
    await using borough = await startBorough(await tempDir())
    using bare = await startBareServer(borough.tls)
    using load = startLoad()
    const bench: Bench = {
      borough,
      peer: flags.kubeconfig === undefined ? undefined : await peerOf(flags.kubeconfig),
      peerKubeconfig: flags.kubeconfig,
      bare,
      load,
      rounds: Number(flags.rounds ?? (flags.quick ? 3 : 5)),
      roundMs: flags.quick ? 500 : 2500,
      quick: flags.quick,
      full: flags.full,
      attack: flags.attack,
      namespaces: flags.namespaces === undefined ? undefined : [Number(flags.namespaces)],
      minutes: flags.minutes === undefined ? undefined : Number(flags.minutes),
      tempDir,
      say,
    }
    const rows: Row[] = []
    for (const [, rowsOf] of chosen) {
      for await (const row of rowsOf(bench)) {
        rows.push(row)
        say(progress(row))
      }
    }
    const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model ?? '' }
    if (flags.output === 'json') process.stdout.write(`${JSON.stringify({ machine, rows }, null, 2)}\n`)
    else process.stdout.write(`Node ${machine.node}, ${machine.cpus} x ${machine.model}\n\n${table(rows)}\n`)
  } finally {
    await rm(tempRoot, { recursive: true })
  }
}

function progress({ what, ours, unit, failures, heldMs, topMiB, attacker, met }: Row): string {
  const attacked =
    failures === undefined
      ? ''
      : `; failures ${failures}; loop ${heldMs?.toFixed(0)} ms; ${topMiB?.toFixed(0)} MiB; ${attacker}`
  return `${what}: ${Math.round(ours.median * 10) / 10} ${unit}${attacked}${met === false ? '; missed' : ''}`
}

await main()
