import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { scratchFolder } from './test/support/scratch-folder.ts'
import { refusalsPlugin } from './tools/refusals.ts'

const source = (entry: string): string => fileURLToPath(new URL(`src/${entry}index.ts`, import.meta.url))

const refusals = process.env['BOROUGH_REFUSALS']
/** One cluster for all tests of `borough populate`: they take turns on it, and wait for what it does. */
const hasOtherCluster = process.env['BOROUGH_OTHER_CLUSTER'] !== undefined

export default defineConfig({
  cacheDir: '.cache/vitest',
  plugins: refusals === undefined ? [] : [refusalsPlugin(refusals)],
  // The examples name the package as its users do; here that is the source, as in tsconfig.json.
  resolve: {
    alias: [
      { find: /^@borough\/borough$/, replacement: source('') },
      {
        find: '@borough/borough/client/remote',
        replacement: fileURLToPath(new URL('src/client/remote.ts', import.meta.url)),
      },
      { find: /^@borough\/borough\/(client|initializer|testing)$/, replacement: source('$1/') },
    ],
  },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['test/support/generated-catalog.ts', 'test/support/scratch-folder.ts'],
    setupFiles: ['test/support/property-seed.ts', 'test/support/record-refusals.ts'],
    env: {
      TMPDIR: scratchFolder,
      // For the many processes and threads that tests start: to strip and compile the same source takes most of a
      // start.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/node-compile', import.meta.url)),
    },
    // Modules are loaded once for each worker, not for each file: nothing of ours keeps state outside of functions.
    isolate: false,
    // Guards, not measures: no test may depend on how fast the machine is.
    testTimeout: hasOtherCluster ? 300_000 : 120_000,
    hookTimeout: hasOtherCluster ? 600_000 : 120_000,
    fileParallelism: !hasOtherCluster,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    sequence: { sequencer: LongestFirst },
    // Tests that start servers and programs wait a quarter of their time: with a worker for each core as much is idle.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    // Tests make much that is soon forgotten: a young generation of 16 MB is collected four times as often.
    execArgv: ['--max-semi-space-size=64'],
  },
}) as ReturnType<typeof defineConfig>
