/** Of Borough, from the one place that says it: package.json. */

import { readFileSync } from 'node:fs'
import { parseJsonText } from './parse-json-text.ts'

interface Package {
  readonly version: string
}

/** `0.1.0` */
export const packageVersion: string = (
  parseJsonText(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Package
).version
