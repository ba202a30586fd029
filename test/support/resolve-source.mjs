/**
 * For `node --import`: the package's own name leads to its source, as in vitest and tsconfig.json, so nothing need be
 * built.
 */
import { registerHooks } from 'node:module'

const entry = /^@borough\/borough(?:\/(.+))?$/

registerHooks({
  resolve(specifier, context, next) {
    const found = entry.exec(specifier)
    if (found === null) return next(specifier, context)
    const file = { undefined: 'index.ts', 'client/remote': 'client/remote.ts' }[found[1]] ?? `${found[1]}/index.ts`
    return next(new URL(`../../src/${file}`, import.meta.url).href, context)
  },
})
