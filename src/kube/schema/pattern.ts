/**
 * Patterns of users' schemas, in the syntax of Go and in time linear in the text. A linear engine alone is not enough:
 * each character may cost a step for each instruction of the pattern, so one validation has a budget of steps.
 */
import type { RE2JS } from 're2js'
import { loadLater } from '../../base/load-later.ts'
import { SizedCache } from '../../base/sized-cache.ts'
import type { CompiledPattern } from './validate.ts'

/** Some 0.3 s at worst. An object of 1 MiB against a pattern of 20 instructions needs as many. */
const stepsPerValidation = 20_000_000
/** By instructions, which take some hundred bytes each: clients choose how long a pattern is. */
const compiled = new SizedCache<RE2JS>(200_000)

/** Loading the engine takes 40 ms, which a server without patterns need not pay. */
const loadEngine = loadLater<{ readonly RE2JS: typeof RE2JS }>('re2js')

/** @throws Error whose message says what is wrong with the pattern */
export function compilePattern(pattern: string): RE2JS {
  let found = compiled.get(pattern)
  if (found === undefined) {
    found = loadEngine().RE2JS.compile(pattern)
    compiled.set(pattern, found, found.programSize() + pattern.length)
  }
  return found
}

/** For one validation. Its patterns throw when all the steps are used up. */
export function patternsOfOneValidation(): (pattern: string) => CompiledPattern {
  let stepsLeft = stepsPerValidation
  return (pattern) => {
    const expression = compilePattern(pattern)
    return {
      test(text) {
        stepsLeft -= (text.length + 1) * expression.programSize()
        if (stepsLeft < 0) throw new Error('matching the patterns of this object would take too long')
        return expression.test(text)
      },
    }
  }
}
