/** How much of a limit is used: a bar, and the two amounts as the server writes them. */
import { findQuantity } from '../../../kube/quantity.ts'

export interface Usage {
  /** `pods`, `requests.cpu` */
  readonly resource: string
  readonly used: string
  readonly hard: string
  /** 0 to 1, and above where the limit was lowered later. */
  readonly ratio: number
}

export function usageOf(resource: string, used: string, hard: string): Usage {
  const [a, b] = [findQuantity(used)?.nanos ?? 0n, findQuantity(hard)?.nanos ?? 0n]
  // Of nothing everything is used.
  const ratio = b === 0n ? 1 : Number((a * 1000n) / b) / 1000
  return { resource, used, hard, ratio }
}

const levelOf = (ratio: number): string => (ratio >= 1 ? 'full' : ratio >= 0.8 ? 'high' : 'some')

export function Meter({ usage, small = false }: { readonly usage: Usage; readonly small?: boolean }) {
  const { resource, used, hard, ratio } = usage
  return (
    <div class={`usage ${small ? 'small' : ''}`}>
      <span class="usage-name">{resource}</span>
      <span
        class={`bar ${levelOf(ratio)}`}
        role="meter"
        aria-label={resource}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(ratio * 100))}
        aria-valuetext={`${used} of ${hard}`}
        title={`${resource}: ${used} of ${hard}`}
      >
        <span style={{ width: `${Math.min(100, ratio * 100)}%` }} />
      </span>
      <span class="usage-amount">
        {used}
        <span class="muted">/{hard}</span>
      </span>
    </div>
  )
}
