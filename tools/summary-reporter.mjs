/**
 * A vitest reporter that says which tests were skipped, and leaves counts and failures for `tools/check.mjs` in the
 * file that BOROUGH_TEST_SUMMARY names. Faults outside of tests (a file that does not load, an unhandled rejection)
 * count as failed. The file is kept up to date during the run, so that a run that is stopped leaves what it knew.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Of the text of a failure: enough for what fast-check says about its seed, and for a small difference. */
const maxLines = 14
const maxWidth = 240

export default class SummaryReporter {
  #counts = { passed: 0, failed: 0, skipped: 0 }
  #failures = []
  /** Files that have begun and not ended. */
  #running = new Set()
  /** Full name of the outermost skipped thing → how many tests that is. */
  #skipped = new Map()

  onTestModuleStart(module) {
    this.#running.add(fileOf(module))
    this.#write()
  }

  onTestModuleEnd(module) {
    const file = fileOf(module)
    this.#running.delete(file)
    this.#fail(file, '(the file itself)', module.errors())
    for (const suite of module.children.allSuites()) this.#fail(file, suite.fullName, suite.errors())
    for (const test of module.children.allTests()) {
      const { state, note, errors } = test.result()
      if (state === 'passed') this.#counts.passed++
      else if (state === 'failed') {
        this.#counts.failed++
        this.#failures.push({ file, name: test.fullName, text: textOf(errors?.[0]), isTest: true })
      } else {
        this.#counts.skipped++
        const name = `${file.split('/').slice(-2).join('/')}: ${note ?? skippedName(test)}`
        this.#skipped.set(name, (this.#skipped.get(name) ?? 0) + 1)
      }
    }
    this.#write()
  }

  onTestRunEnd(_modules, unhandledErrors) {
    this.#fail('(no file)', 'unhandled error', unhandledErrors)
    for (const [name, count] of this.#skipped) console.log(`skipped ${count}x ${name}`)
    this.#write()
  }

  #fail(file, name, errors) {
    this.#counts.failed += errors.length
    for (const error of errors) this.#failures.push({ file, name, text: textOf(error) })
  }

  #write() {
    const file = process.env['BOROUGH_TEST_SUMMARY']
    const summary = { ...this.#counts, failures: this.#failures, running: [...this.#running] }
    if (file) writeFileSync(file, JSON.stringify(summary))
  }
}

function fileOf(module) {
  return relative(process.cwd(), module.moduleId)
}

/** The first lines of the message, of what caused it, and of the difference; and the line of ours where it happened. */
function textOf(error) {
  if (!error) return ''
  const lines = linesOf(error.message ?? String(error))
  for (let cause = error.cause; cause; cause = cause.cause) lines.push(...linesOf(`because ${cause.message ?? cause}`))
  if (error.diff) lines.push(...linesOf(error.diff))
  const place = error.stacks?.find(({ file }) => !file.includes('node_modules'))
  const shown = lines.slice(0, maxLines)
  if (lines.length > maxLines) shown.push(`… ${lines.length - maxLines} more lines`)
  if (place) shown.push(`at ${relative(process.cwd(), place.file)}:${place.line}`)
  return shown.join('\n')
}

function linesOf(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
  const plain = String(text).replaceAll(/\u001b\[[0-9;]*m/g, '')
  return plain.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.slice(0, maxWidth)]))
}

/** A suite that is skipped as a whole carries the reason in its name. */
function skippedName(test) {
  let name = test.name
  for (let at = test.parent; at && at.type === 'suite'; at = at.parent) if (at.options.mode === 'skip') name = at.name
  return name
}
