/** A button that changes the cluster: pressed twice unless that is harmless, and with the server's refusal. */
import { useSignal } from '@preact/signals'
import { Refusal } from './refusal.tsx'

interface ActionButtonProps {
  readonly title: string
  /** One press is enough. */
  readonly isHarmless?: boolean
  /** It can't be taken back. */
  readonly isLasting?: boolean
  readonly act: () => Promise<unknown>
}

type Pressed =
  | { readonly at: 'rest' }
  | { readonly at: 'sure' }
  | { readonly at: 'sent' }
  | { readonly at: 'refused'; readonly error: unknown }

export function ActionButton({ title, isHarmless = false, isLasting = false, act }: ActionButtonProps) {
  const pressed = useSignal<Pressed>({ at: 'rest' })
  const { at } = pressed.value
  const press = (): void => {
    if (!isHarmless && at !== 'sure') {
      pressed.value = { at: 'sure' }
      return
    }
    pressed.value = { at: 'sent' }
    act().then(
      () => {
        pressed.value = { at: 'rest' }
      },
      (error: unknown) => {
        pressed.value = { at: 'refused', error }
      },
    )
  }
  return (
    <>
      <button
        type="button"
        class={`button ${isLasting || at === 'sure' ? 'danger' : ''}`}
        disabled={at === 'sent'}
        onClick={press}
        onBlur={() => {
          if (pressed.value.at === 'sure') pressed.value = { at: 'rest' }
        }}
      >
        {at === 'sure' ? `Yes, ${title.charAt(0).toLowerCase()}${title.slice(1)}` : title}
      </button>
      {pressed.value.at === 'refused' ? <Refusal error={pressed.value.error} /> : null}
    </>
  )
}
