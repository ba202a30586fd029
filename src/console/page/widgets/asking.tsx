/** In place of what the cluster has not told yet. */
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
        <strong>{trouble.value === undefined ? 'The server does not list it.' : 'The server can’t be reached.'}</strong>
        <p>
          <Words text={why} />
        </p>
        <p>It is asked again by itself, and this page fills when it answers.</p>
      </div>
    </div>
  )
}
