#!/usr/bin/env sh
':' //; export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
':' //; exec node --max-semi-space-size=32 --no-allocation-site-pretenuring "$0" "$@"
// The lines above are for the shell (`env -S` could say the same, but not everywhere). docs/performance.md tells what
// the two flags save ("What V8 is told"). glibc's one arena instead of one per thread saves 3 MB: the threads rarely
// allocate at the same time. Without all this everything works.
//
// Starts what `npm run build` made. The rest of the command line lives in src/cli/.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/cli/program.cjs', import.meta.url))

if (Number(process.versions.node.split('.')[0]) < 24) {
  fail(`Node 24 or newer is needed, this is ${process.versions.node}`)
} else if (!existsSync(program)) {
  fail("not built yet: run 'npm start' or 'npm run build' once")
} else {
  // Beside the code, not in the system's temporary folder, where others could put code of theirs.
  const compiled = fileURLToPath(new URL('../.cache/compiled', import.meta.url))
  // Not above: a Node that is too old has it not, and is to be told so.
  const { enableCompileCache } = await import('node:module')
  // For packages and threads. Where the package is read-only Node does without.
  enableCompileCache(compiled)
  const { scripts } = await import('./scripts.mjs')
  const { load, keepCompiled } = scripts(compiled)
  await load(program).run(keepCompiled)
}

function fail(reason) {
  process.stderr.write(`borough: ${reason}\n`)
  process.exitCode = 1
}
