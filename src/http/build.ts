/** What this build calls itself: `/version`, OpenAPI, metrics. Who packages it may say which commit it is from. */
import { packageVersion } from '../base/package-version.ts'
import type { BuildInfo } from './version.ts'

export const build: BuildInfo = {
  version: packageVersion,
  gitCommit: process.env['BOROUGH_GIT_COMMIT'] ?? '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
}
