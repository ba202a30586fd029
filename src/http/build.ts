/** What this build calls itself: `/version`, OpenAPI, metrics. Who packages it may say which commit it is from. */
import { readFileSync } from 'node:fs'
import type { BuildInfo } from './version.ts'

interface Package {
  readonly version: string
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Package

export const build: BuildInfo = {
  version,
  gitCommit: process.env['BOROUGH_GIT_COMMIT'] ?? '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
}
