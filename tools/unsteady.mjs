/**
 * A test that failed in the whole run, and what to think of it: nearly always a fault of the product or of the test,
 * now and then a machine that stood still. What failed is run again by itself, and only where it then passes each time
 * is it called unsteady: named with its failure at the end of the check, and not refused (docs/adr/0118).
 *
 * That is never said of a test whose failure is evidence by itself, because it draws what it does at random, kills what
 * it tries, or judges a history: passing the next time says nothing about the case that was found.
 */

/** More than so many that fail are no accident. */
const mostUnsteady = 3
/** All of them have to pass. */
export const looks = 4

const evidence = [
  /\.property\.test\.ts$/,
  /^test\/(fuzz|generated|matrix|model|replicas|simulation)\//,
  /^test\/.*\/(.*-)?(model|quotas?|random-damage|durability|kill(ed)?(-.*)?|linearizability)\.(.*\.)?test\.ts$/,
]
/** In the text of a failure: it came from a seed, which can be run again. */
const drawn = /Property failed|Counterexample|\bseed\b/i

/** `failures` as in the summary: those that may be called unsteady; undefined = the run has failed. */
export function doubtful({ failed, failures, running }) {
  if (running.length > 0 || failures.length === 0 || failures.length > mostUnsteady) return undefined
  // Each failure is one test: faults of files and of the run itself have no name to be run by.
  if (failed !== failures.length || failures.some(({ isTest }) => !isTest)) return undefined
  const isEvidence = ({ file, text }) => drawn.test(text) || evidence.some((pattern) => pattern.test(file))
  return failures.some(isEvidence) ? undefined : failures
}

/** `run(file, pattern of the full name)` → the counts of that run. True: each of these tests passed, each time. */
export async function passAlone(failures, run) {
  for (const { file, name } of failures) {
    const pattern = `^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
    for (let look = 0; look < looks; look++) {
      const { passed, failed } = await run(file, pattern)
      // Where no test has that name all are skipped, and vitest calls that a success.
      if (passed === 0 || failed > 0) return false
    }
  }
  return true
}
