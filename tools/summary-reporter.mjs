/**
 * A vitest reporter that says which tests were skipped, and leaves the counts for `tools/check.mjs` in the file that
 * BOROUGH_TEST_SUMMARY names. Faults outside of tests (a file that does not load, an unhandled rejection) count as failed.
 */
import { writeFileSync } from 'node:fs'

export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    /** Full name of the outermost skipped thing → how many tests that is. */
    const skipped = new Map()
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state, note } = test.result()
        if (state === 'passed') counts.passed++
        else if (state === 'failed') counts.failed++
        else {
          counts.skipped++
          const name = `${module.moduleId.split('/').slice(-2).join('/')}: ${note ?? skippedName(test)}`
          skipped.set(name, (skipped.get(name) ?? 0) + 1)
        }
      }
    }
    for (const [name, count] of skipped) console.log(`skipped ${count}x ${name}`)
    const file = process.env['BOROUGH_TEST_SUMMARY']
    if (file) writeFileSync(file, JSON.stringify(counts))
  }
}

/** A suite that is skipped as a whole carries the reason in its name. */
function skippedName(test) {
  let name = test.name
  for (let at = test.parent; at && at.type === 'suite'; at = at.parent) if (at.options.mode === 'skip') name = at.name
  return name
}
