/** What a user may set on a namespace: protection from deletion, and when it ends. */
import { useSignal } from '@preact/signals'
import { deletionProtectionAnnotation, type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { useMay } from '../access-review.ts'
import { expiryAnnotation, expiryText, rowOf } from '../namespaces/namespace-row.ts'
import { useCluster } from '../use-cluster.ts'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'

export function Settings({ namespace }: { readonly namespace: Namespace }) {
  const { client } = useCluster()
  const { name, isProtected, expires } = rowOf(namespace)
  const isAllowed = useMay({ verb: 'patch', resource: 'namespaces', namespace: name, name })
  const refused = useSignal<unknown>(undefined)
  const chosen = useSignal('')
  const annotate = (key: string, value: string | null): void => {
    refused.value = undefined
    client
      .patch(namespaceResource, { name }, { metadata: { annotations: { [key]: value } } })
      .catch((error: unknown) => {
        refused.value = error
      })
  }
  return (
    <section class="panel" aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      {refused.value === undefined ? null : <Refusal error={refused.value} />}
      <label class="check">
        <input
          type="checkbox"
          checked={isProtected}
          disabled={!isAllowed}
          onChange={({ currentTarget }) => {
            annotate(deletionProtectionAnnotation, currentTarget.checked ? 'true' : null)
            // What it shows is what the server holds.
            currentTarget.checked = isProtected
          }}
        />
        Protected from deletion
      </label>
      <div class="field">
        <span id="expiry">Expires: {expires === undefined ? 'never' : <Moment at={expires} ahead />}</span>
        {isAllowed ? (
          <div class="row">
            <input
              type="datetime-local"
              aria-labelledby="expiry"
              value={chosen.value}
              onInput={(event) => {
                chosen.value = event.currentTarget.value
              }}
            />
            <button
              type="button"
              class="button"
              disabled={chosen.value === ''}
              onClick={() => annotate(expiryAnnotation, expiryText(chosen.value))}
            >
              Set
            </button>
            {expires === undefined ? null : (
              <button type="button" class="button" onClick={() => annotate(expiryAnnotation, null)}>
                Never
              </button>
            )}
          </div>
        ) : (
          <small>You may not change this namespace.</small>
        )}
      </div>
    </section>
  )
}
