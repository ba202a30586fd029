/** In place of what the cluster has not told yet. */
import { isCredentialRefused } from '../page-transport.ts'
import { useCluster } from '../use-cluster.ts'
import { WarningIcon } from './icons.tsx'

export function Asking({ what = 'Asking the cluster…' }: { readonly what?: string }) {
  const { trouble } = useCluster()
  if (trouble.value === undefined) {
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
        <strong>
          {isCredentialRefused(trouble.value) ? 'The server does not let you in.' : 'The server can’t be reached.'}
        </strong>
        <p>{trouble.value}</p>
        <p>It is asked again by itself, and this page fills when it answers.</p>
      </div>
    </div>
  )
}
