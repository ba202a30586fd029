/**
 * Random histories, each of a seed of its own:
 *
 *   node test/population/enforcement-model/run.ts --from 1 --histories 500
 *   node test/population/enforcement-model/run.ts --elsewhere --histories 100     through `borough populate`
 *   node test/population/enforcement-model/run.ts --from 17 --histories 1 --reduce
 *
 * Prints each failure with its seed; `--reduce` leaves out the steps that it does not need.
 */

import { readRunnerFlags } from '../../support/runner-flags.ts'
import { tryHistories } from './random-histories.ts'
import { abreastElsewhere, modelElsewhere, modelOnBorough } from './run-model.ts'

const help = `Usage: node test/population/enforcement-model/run.ts [options]

Plays random histories of templates and tenants, each of a seed of its own, and prints each failure with its seed.

Options:
  --from N       the first seed (default 1)
  --histories N  so many (default 100)
  --minutes N    for so long (default 60)
  --abreast N    so many at once
  --elsewhere    through borough populate, on a cluster of its own
  --reduce       leaves out the steps that a failure does not need
  --help

Examples:
  node test/population/enforcement-model/run.ts --from 1 --histories 500
  node test/population/enforcement-model/run.ts --from 17 --histories 1 --reduce
`

const values = readRunnerFlags(
  help,
  {
    from: { type: 'string', default: '1' },
    histories: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '60' },
    abreast: { type: 'string' },
    elsewhere: { type: 'boolean', default: false },
    reduce: { type: 'boolean', default: false },
  },
  ['from', 'histories', 'minutes', 'abreast'],
)

const endMs = performance.now() + Number(values.minutes) * 60_000
let tried = 0
const failures = await tryHistories({
  start: values.elsewhere ? modelElsewhere : modelOnBorough,
  firstSeed: Number(values.from),
  count: Number(values.histories),
  isOver: () => performance.now() > endMs,
  abreast: Number(values.abreast ?? (values.elsewhere ? abreastElsewhere : 4)),
  isReduced: values.reduce,
  onDone(count) {
    tried = count
    if (count % 20 === 0) console.log(`${new Date().toISOString()} ${count} histories`)
  },
})
for (const failure of failures) console.log(`\n${failure}`)
console.log(`${tried} histories from seed ${values.from}, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
