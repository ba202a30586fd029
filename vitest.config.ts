import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (entry: string): string => fileURLToPath(new URL(`src/${entry}index.ts`, import.meta.url))

export default defineConfig({
  cacheDir: '.cache/vitest',
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
    globalSetup: ['test/support/generated-catalog.ts'],
    testTimeout: 20_000,
  },
}) as ReturnType<typeof defineConfig>
