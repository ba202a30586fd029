import { defineConfig } from 'vitest/config'

export default defineConfig({
  cacheDir: '.cache/vitest',
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/generated-catalog.ts'],
    testTimeout: 20_000,
  },
}) as ReturnType<typeof defineConfig>
