/**
 * What the `Impersonate-*` headers of a request say.
 * @see k8s.io/apiserver/pkg/endpoints/filters/impersonation/constrained_impersonation.go v0.36
 */
import { quote, quoteList } from '../kube/go-quote.ts'
import { badRequest } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'
import { extraHeaders, firstHeaderText, type HeaderSource, headerTexts } from './header-text.ts'

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

/** The identity that the headers name. */
export interface WantedUser {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/**
 * undefined = none. @throws StatusError BadRequest for groups, uid or extra without a user, and for bytes that are no
 * UTF-8.
 */
export function wantedUser(request: HeaderSource): WantedUser | undefined {
  let impersonates = false
  for (const name in request.headers) impersonates ||= name.startsWith('impersonate-')
  if (!impersonates) return undefined
  const username = firstHeaderText(request, 'impersonate-user')
  const uid = firstHeaderText(request, 'impersonate-uid')
  const groups = headerTexts(request, 'impersonate-group')
  const extra = extraHeaders(request, ['impersonate-extra-'])
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
