/**
 * Random histories, each of a seed of its own:
 *
 *   node test/population/enforcement-model/run.ts --from 1 --histories 500
 *   node test/population/enforcement-model/run.ts --elsewhere --histories 100     through `borough populate`
 *   node test/population/enforcement-model/run.ts --from 17 --histories 1 --reduce
 *
 * Prints each failure with its seed; `--reduce` leaves out the steps that it does not need.
 */
import { parseArgs } from 'node:util'
import { tryHistories } from './random-histories.ts'
import { abreastElsewhere, modelElsewhere, modelOnBorough } from './run-model.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    histories: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '60' },
    abreast: { type: 'string' },
    elsewhere: { type: 'boolean', default: false },
    reduce: { type: 'boolean', default: false },
  },
})

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
