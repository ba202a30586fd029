/** Packages that a start does not need: Node reads dozens of files for one. */
import { createRequire } from 'node:module'

/**
 * Loads a package when it is first asked for, there and then: for code that can't wait for an `import()`. `M` is what
 * the package exports. @throws Error if it is not installed
 */
export function loadLater<M>(name: string): () => M {
  let loaded: M | undefined
  return () => {
    loaded ??= createRequire(import.meta.url)(name) as M
    return loaded
  }
}
