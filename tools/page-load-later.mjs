/** For `src/base/load-later.ts` in the console's page: what is loaded later comes with the chunk that names it. */
import * as re2js from 're2js'

/** @type {Readonly<Record<string, unknown>>} */
const packages = { re2js }

/**
 * @param {string} name
 * @returns {() => unknown}
 */
export function loadLater(name) {
  return () => {
    const found = packages[name]
    if (found === undefined) throw new Error(`the page does not bring ${name}`)
    return found
  }
}
