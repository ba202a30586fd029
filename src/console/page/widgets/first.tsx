/** The first of a list that a tenant makes as long as they like: a browser that shows all of it stands still. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

const step = 500

/** @returns how many are shown, and the button that shows more of `all` */
export function useFirst(all: number): { readonly most: number; readonly more: ComponentChildren } {
  const most = useSignal(step)
  const left = all - most.value
  const more =
    left <= 0 ? null : (
      <button
        type="button"
        class="button"
        onClick={() => {
          most.value += step
        }}
      >
        Show {Math.min(left, step)} more of {left.toLocaleString('en')}
      </button>
    )
  return { most: most.value, more }
}
