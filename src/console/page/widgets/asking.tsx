/** In place of what the cluster has not told yet. */
import { isCredentialRefused } from '../page-transport.ts'
import { useCluster } from '../use-cluster.ts'
import { WarningIcon } from './icons.tsx'
import { Words } from './words.tsx'

export function Asking({ what = 'Asking the cluster…' }: { readonly what?: string }) {
  const { trouble, failing } = useCluster()
  const why = trouble.value ?? failing.value
  if (why === undefined) {
    return (
      <p class="muted" role="status">
        {what}
      </p>
    )
  }
  return (
    <div class="notice wait" role="status">
      <WarningIcon />
      <div>
        <strong>{headOf(trouble.value)}</strong>
        <p>
          <Words text={why} />
        </p>
        <p>It is asked again by itself, and this page fills when it answers.</p>
      </div>
    </div>
  )
}

/** `trouble`: why the server was not reached; without it, it was, and refuses a list. */
function headOf(trouble: string | undefined): string {
  if (trouble === undefined) return 'The server does not list it.'
  return isCredentialRefused(trouble) ? 'The server does not let you in.' : 'The server can’t be reached.'
}
