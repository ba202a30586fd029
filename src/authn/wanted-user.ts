/**
 * What the `Impersonate-*` headers of a request say.
 * @see k8s.io/apiserver/pkg/endpoints/filters/impersonation/constrained_impersonation.go v0.36
 */
import { quote, quoteList } from '../kube/go-quote.ts'
import { badRequest } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'

/** An `ApiRequest` is one. */
export interface HeaderSource {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** All values of a header that may repeat. */
  headerValues(name: string): readonly string[]
}

export interface AskedResource {
  readonly verb: string
  readonly group: string
  readonly version?: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace: string
  readonly name: string
  readonly path?: undefined
}

/** What is asked of the authorizer: what must be allowed to the real user. The attributes that it takes. */
export type AskedAttributes = { readonly user: UserInfo } & (
  | AskedResource
  | { readonly verb: string; readonly path: string }
)

/** Whom the headers name, as they stand. */
export interface WantedUser {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

const extraHeader = 'impersonate-extra-'

/** undefined = nobody. @throws StatusError BadRequest for groups, uid or extra without a user. */
export function wantedUser(request: HeaderSource): WantedUser | undefined {
  const names: string[] = []
  for (const name in request.headers) if (name.startsWith('impersonate-')) names.push(name)
  if (names.length === 0) return undefined
  const username = request.headers['impersonate-user'] ?? ''
  const uid = request.headers['impersonate-uid'] ?? ''
  const groups = request.headerValues('impersonate-group')
  const extra = extraOf(request, names)
  if (username !== '') return { username, uid, groups, extra }
  if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
  throw badRequest(`requested ${printWanted({ uid, groups, extra })} without impersonating a user name`)
}

/** As Go prints what the headers say. */
function printWanted({ uid, groups, extra }: Omit<WantedUser, 'username'>): string {
  const entries = [...extra].sort(([a], [b]) => (a < b ? -1 : 1))
  const printed = entries.map(([key, values]) => `${quote(key)}:${quoteList(values)}`).join(', ')
  const groupList = groups.length === 0 ? '[]string(nil)' : quoteList(groups)
  const extraMap = `map[string][]string${entries.length === 0 ? '(nil)' : `{${printed}}`}`
  return `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${groupList}, Extra:${extraMap}}`
}

function extraOf(request: HeaderSource, names: readonly string[]): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>()
  for (const name of names) {
    if (!name.startsWith(extraHeader)) continue
    const key = decodeKey(name.slice(extraHeader.length))
    extra.set(key, [...(extra.get(key) ?? []), ...request.headerValues(name)])
  }
  return extra
}

/** Keys with characters that a header can't carry are percent-encoded; a wrong encoding is taken as it is. */
function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
