/**
 * Where the next page of a list begins: base64url of `{"v":"meta.k8s.io/v1","rv":…,"start":"<last key>\0"}`.
 * The start is relative to the listed prefix. rv -1 means 'the latest, whatever it is'.
 * @see k8s.io/apiserver/pkg/storage/continue.go v0.36
 */

import { badRequest, type StatusError } from '../kube/status-error.ts'
import { parseJson } from '../kube/strict-json.ts'
import type { Revision } from '../storage/storage.ts'

export interface ContinueToken {
  /** -1 = latest. */
  readonly revision: Revision
  /** First key of the next page. */
  readonly start: string
}

export const latest = -1

const version = 'meta.k8s.io/v1'

/** `lastKey`: relative to the listed prefix. */
export function encodeContinue(revision: Revision, lastKey: string): string {
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${lastKey}\0` })).toString('base64url')
}

const refuse = (why: string, prefix = 'continue key is not valid: '): StatusError =>
  badRequest(`invalid continue token: ${prefix}${why}`)

/** @throws StatusError BadRequest */
export function decodeContinue(text: string): ContinueToken {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw refuse('illegal base64 data')
  let token: unknown
  try {
    token = parseJson(Buffer.from(text, 'base64url').toString('utf8')).value
  } catch (e) {
    throw refuse(e instanceof Error ? e.message : String(e))
  }
  if (typeof token !== 'object' || token === null) throw refuse('not an object')
  const { v, rv, start } = token as Record<string, unknown>
  if (v !== version) throw refuse(`server does not recognize this encoded version ${String(v ?? '')}`)
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < latest) {
    throw refuse(`incorrect encoded start resourceVersion (version ${version})`)
  }
  if (typeof start !== 'string' || start === '') throw refuse(`encoded start key empty (version ${version})`)
  if (!staysBelow(start)) throw refuse(start.replaceAll('\0', ''))
  return { revision: rv, start }
}

/** No step that would lead out of the listed prefix. */
function staysBelow(start: string): boolean {
  return start.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}
