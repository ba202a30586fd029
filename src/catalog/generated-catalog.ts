/**
 * The form of what `tools/generate-catalog.ts` writes, and how it is read. Compact, because it is loaded at every
 * start; each type's fields stay one string until the type is asked for.
 *
 * A type is `field:expression` or `field!:expression` (! = always printed), separated by blanks. Expressions:
 * `s` string, `y` base64 bytes, `i` int32, `l` int64, `d` double, `b` boolean, `t` time, `u` micro time,
 * `x` int or string, `*` anything, `@7` type number 7, `[` list of, `{` map to.
 */

import { readFileSync } from 'node:fs'
import { parseJsonText } from '../base/parse-json-text.ts'

export interface GeneratedSubresource {
  readonly name: string
  /** Separated by blanks, ascending. */
  readonly verbs: string
  /** Index into `types`; absent = no typed body (logs, proxies). */
  readonly type?: number
}

export interface GeneratedResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  /** Index into `types`. */
  readonly type: number
  readonly namespaced: boolean
  /** Separated by blanks, ascending. */
  readonly verbs: string
  readonly subresources: readonly GeneratedSubresource[]
}

export interface GeneratedCatalog {
  /** Full name (`io.k8s.api.core.v1.PodSpec`) and fields. */
  readonly types: readonly (readonly [name: string, fields: string])[]
  readonly resources: readonly GeneratedResource[]
}

/** Of both files this folder gets from `npm run generate`; the build puts them beside the JavaScript. */
function read(file: string): unknown {
  try {
    return parseJsonText(readFileSync(new URL(`./generated/${file}`, import.meta.url), 'utf8'))
  } catch (cause) {
    throw new Error('the generated catalogue is missing or damaged: run `npm run generate`', { cause })
  }
}

/** About a millisecond. */
export const readGeneratedCatalog = (): GeneratedCatalog => read('catalog.json') as GeneratedCatalog

/** Type → field (`''` = the type itself) → text. Half a megabyte: about 10 ms. */
export const readDescriptions = (): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  read('descriptions.json') as Record<string, Record<string, string>>
