/**
 * Accounts whose namespaces opt out by themselves (pipelines that know nothing of templates and can't be taught): key
 * `optOutAccounts` of the ConfigMap `kube-system/borough-population`, one per line or separated by commas. Each is
 * `namespace/name` of a service account, or a user name; both may be globs.
 */
import type { KubeObject } from '../../kube/types.ts'
import { glob, serviceAccountPrefix } from './match.ts'
import { settingOf } from './population-config.ts'

const optOutAccountsKey = 'optOutAccounts'

/** `config` is asked at every creation of a namespace, and read anew only when it has changed. */
export function autoOptOut(config: () => KubeObject | undefined): (username: string) => boolean {
  let seen: string | undefined
  let matches: readonly ((username: string) => boolean)[] = []
  return (username) => {
    const current = config()
    if (current?.metadata.resourceVersion !== seen) {
      seen = current?.metadata.resourceVersion
      matches = accountsOf(current).map(accountMatch)
    }
    return matches.some((match) => match(username))
  }
}

function accountsOf(config: KubeObject | undefined): string[] {
  return (settingOf(config, optOutAccountsKey) ?? '')
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function accountMatch(account: string): (username: string) => boolean {
  const slash = account.indexOf('/')
  if (slash < 0) return glob(account)
  return glob(`${serviceAccountPrefix}${account.slice(0, slash)}:${account.slice(slash + 1)}`)
}
