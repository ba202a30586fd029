/** For `node --import`: the package's own name leads to its source, as in vitest and tsconfig.json, so nothing need be built. */
import { registerHooks } from 'node:module'

const source = /^@borough\/borough(?:\/(client|initializer|testing))?$/

registerHooks({
  resolve(specifier, context, next) {
    const found = source.exec(specifier)
    if (found === null) return next(specifier, context)
    const folder = found[1] === undefined ? '' : `${found[1]}/`
    return next(new URL(`../../src/${folder}index.ts`, import.meta.url).href, context)
  },
})
