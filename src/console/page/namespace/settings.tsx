/** What a user may set on a namespace: protection from deletion, and when it ends. */
import { useSignal } from '@preact/signals'
import { deletionProtectionAnnotation, type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { useMay } from '../access-review.ts'
import { rowOf } from '../namespaces/namespace-row.ts'
import { useCluster } from '../use-cluster.ts'
import { WriteRefusal } from '../widgets/refusal.tsx'
import { ExpirySettings } from './expiry-settings.tsx'

export function Settings({ namespace }: { readonly namespace: Namespace }) {
  const { name = '' } = namespace.metadata
  const isAllowed = useMay({ verb: 'patch', resource: 'namespaces', namespace: name, name })
  return (
    <section class="panel" aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <Protection namespace={namespace} isAllowed={isAllowed} />
      <ExpirySettings namespace={namespace} isAllowed={isAllowed} />
      {isAllowed ? null : <small class="muted">You may not change this namespace.</small>}
    </section>
  )
}

interface PartProps {
  readonly namespace: Namespace
  readonly isAllowed: boolean
}

function Protection({ namespace, isAllowed }: PartProps) {
  const { client } = useCluster()
  const { name, isProtected } = rowOf(namespace)
  const refused = useSignal<unknown>(undefined)
  const set = (value: 'true' | null): void => {
    refused.value = undefined
    const metadata = { annotations: { [deletionProtectionAnnotation]: value } }
    client.patch(namespaceResource, { name }, { metadata }).catch((error: unknown) => {
      refused.value = error
    })
  }
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          checked={isProtected}
          disabled={!isAllowed}
          onChange={({ currentTarget }) => {
            set(currentTarget.checked ? 'true' : null)
            // What it shows is what the server holds.
            currentTarget.checked = isProtected
          }}
        />
        Protected from deletion
      </label>
      {refused.value === undefined ? null : <WriteRefusal error={refused.value} />}
    </div>
  )
}
