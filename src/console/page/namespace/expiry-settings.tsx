/** When a namespace ends, who said so, and how it is set, put off or taken off. */
import { useSignal } from '@preact/signals'
import { expiresAtMs } from '../../../apis/expiry/end.ts'
import {
  expiresAtAnnotation,
  expirySourceAnnotation,
  extendVerb,
  neverExpires,
  ttlAnnotation,
} from '../../../apis/expiry/types.ts'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { parseGoDuration } from '../../../kube/duration.ts'
import { formatTime } from '../../../kube/time.ts'
import { useMay } from '../access-review.ts'
import { expiryText } from '../namespaces/draft.ts'
import { useCluster } from '../use-cluster.ts'
import { Moment } from '../widgets/moment.tsx'
import { WriteRefusal } from '../widgets/refusal.tsx'

interface ExpirySettingsProps {
  readonly namespace: Namespace
  readonly isAllowed: boolean
}

const dayMs = 86_400_000
const extensions = [
  { title: 'a day', ms: dayMs },
  { title: '7 days', ms: 7 * dayMs },
  { title: '30 days', ms: 30 * dayMs },
] as const

export function ExpirySettings({ namespace, isAllowed }: ExpirySettingsProps) {
  const { client } = useCluster()
  const { name = '' } = namespace.metadata
  const refused = useSignal<unknown>(undefined)
  const mayExtend = useMay({ verb: extendVerb, resource: 'namespaces', namespace: name, name })
  const mayShorten = useMay({ verb: 'delete', resource: 'namespaces', namespace: name, name })
  const set = (annotations: Readonly<Record<string, string | null>>): void => {
    refused.value = undefined
    client.patch(namespaceResource, { name }, { metadata: { annotations } }).catch((error: unknown) => {
      refused.value = error
    })
  }
  if (neverExpires(name)) return null
  return (
    <div class="field">
      <span id="expiry">
        Expires: <End namespace={namespace} />
      </span>
      {isAllowed && mayExtend && Number.isFinite(expiresAtMs(namespace)) ? (
        <Extend namespace={namespace} set={set} />
      ) : null}
      {isAllowed && (mayExtend || mayShorten) ? <SetEnd set={set} /> : null}
      {refused.value === undefined ? null : <WriteRefusal error={refused.value} />}
      {isAllowed ? <Missing mayExtend={mayExtend} mayShorten={mayShorten} /> : null}
    </div>
  )
}

function End({ namespace }: { readonly namespace: Namespace }) {
  const {
    [expiresAtAnnotation]: at,
    [expirySourceAnnotation]: template,
    [ttlAnnotation]: ttl,
  } = namespace.metadata.annotations ?? {}
  if (at === undefined) return <>never</>
  return (
    <>
      <Moment at={at} ahead />
      <span class="muted">
        {template === undefined ? '' : ` by template ${template}`}
        {ttl !== undefined && endsAfter(ttl, namespace) ? `, ${ttl} after its creation` : ''}
      </span>
    </>
  )
}

/** False of a namespace whose end was put off: what it asked for at first stands in its annotation for good. */
const endsAfter = (ttl: string, namespace: Namespace): boolean =>
  Date.parse(namespace.metadata.creationTimestamp ?? '') + (parseGoDuration(ttl) ?? Number.NaN) ===
  expiresAtMs(namespace)

interface SetProps {
  readonly set: (annotations: Readonly<Record<string, string | null>>) => void
}

function Extend({ namespace, set }: SetProps & { readonly namespace: Namespace }) {
  return (
    <div class="row">
      {extensions.map(({ title, ms }) => (
        <button
          key={title}
          type="button"
          class="button"
          onClick={() => set({ [expiresAtAnnotation]: formatTime(expiresAtMs(namespace) + ms) })}
        >
          Extend by {title}
        </button>
      ))}
      {/* A time to live that stays would bring the end back. */}
      <button type="button" class="button" onClick={() => set({ [expiresAtAnnotation]: null, [ttlAnnotation]: null })}>
        Never
      </button>
    </div>
  )
}

function SetEnd({ set }: SetProps) {
  const chosen = useSignal('')
  return (
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
        onClick={() => set({ [expiresAtAnnotation]: expiryText(chosen.value) })}
      >
        Set
      </button>
    </div>
  )
}

function Missing({ mayExtend, mayShorten }: { readonly mayExtend: boolean; readonly mayShorten: boolean }) {
  if (mayExtend && mayShorten) return null
  if (mayExtend) return <small>To end it earlier takes delete on the namespace, which you do not have.</small>
  if (mayShorten) return <small>To put its end off takes {extendVerb} on the namespace, which you do not have.</small>
  return <small>To change its end takes delete or {extendVerb} on the namespace, and you have neither.</small>
}
