/**
 * Patterns of users' schemas, in the syntax of Go and in time linear in the text. A linear engine alone is not enough:
 * each character may cost a step for each instruction of the pattern, so one validation has a budget of steps.
 */
import type { RE2JS } from 're2js'
import { loadLater } from '../../base/load-later.ts'
import { SizedCache } from '../../base/sized-cache.ts'
import { largestPatternSize, patternSize } from './pattern-size.ts'
import { type CompiledPattern, PatternTooCostly } from './validate.ts'

/** Some 0.3 s at worst. An object of 1 MiB against a pattern of 20 instructions needs as many. */
const stepsPerValidation = 20_000_000
/** Some 100 ns, however small the program is: for telling whether a match may be made on this thread. */
const leastStepsPerCharacter = 7
/** By instructions, which take some hundred bytes each: clients choose how long a pattern is. */
const compiled = new SizedCache<RE2JS>(200_000)

/** As Go says it of more than some three million. */
const tooLarge = `error parsing regexp: expression too large: more than ${largestPatternSize} instructions`

/** Loading the engine takes 40 ms, which a server without patterns need not pay. */
const loadEngine = loadLater<{ readonly RE2JS: typeof RE2JS }>('re2js')

/** @throws Error whose message says what is wrong with the pattern */
export function compilePattern(pattern: string): RE2JS {
  let found = compiled.get(pattern)
  if (found === undefined) {
    if (patternSize(pattern) > largestPatternSize) throw new Error(tooLarge)
    found = loadEngine().RE2JS.compile(pattern)
    compiled.set(pattern, found, found.programSize() + pattern.length)
  }
  return found
}

/**
 * For one validation. Its patterns throw `PatternTooCostly` when all the steps are used up. `allow` is told of the
 * steps of each match before it is made, and may end the validation by throwing something else.
 */
export function patternsOfOneValidation(
  allow: (steps: number) => void = () => {},
): (pattern: string) => CompiledPattern {
  let stepsLeft = stepsPerValidation
  return (pattern) => {
    const expression = compilePattern(pattern)
    return {
      test(text) {
        const steps = (text.length + 1) * expression.programSize()
        stepsLeft -= steps
        if (stepsLeft < 0) throw new PatternTooCostly('matching the patterns of this object would take too long')
        allow(Math.max(steps, text.length * leastStepsPerCharacter))
        return expression.test(text)
      },
    }
  }
}
