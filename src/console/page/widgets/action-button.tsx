/** A button that changes the cluster: pressed twice unless that is harmless, and with the server's refusal. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { focusMain } from '../router.tsx'
import { WriteRefusal } from './refusal.tsx'

interface ActionButtonProps {
  readonly title: string
  /** One press is enough. */
  readonly isHarmless?: boolean
  /** It can't be taken back. */
  readonly isLasting?: boolean
  /** What is told before the second press. */
  readonly warning?: string
  readonly act: () => Promise<unknown>
}

type Pressed =
  | { readonly at: 'rest' }
  | { readonly at: 'sure' }
  | { readonly at: 'sent' }
  | { readonly at: 'refused'; readonly error: unknown }

export function ActionButton({ title, isHarmless = false, isLasting = false, warning, act }: ActionButtonProps) {
  const pressed = useSignal<Pressed>({ at: 'rest' })
  const { at } = pressed.value
  const button = useRef<HTMLButtonElement>(null)
  // Of layout: the button must still be there.
  useLayoutEffect(
    () => () => {
      // What it did has taken it away: keyboards go on at what is there instead.
      if (button.current !== null && button.current === document.activeElement) focusMain(document)
    },
    [],
  )
  const press = (): void => {
    if (at === 'sent') return
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
        aria-disabled={at === 'sent'}
        ref={button}
        onClick={press}
        onBlur={() => {
          if (pressed.value.at === 'sure') pressed.value = { at: 'rest' }
        }}
      >
        {at === 'sure' ? `Yes, ${title.charAt(0).toLowerCase()}${title.slice(1)}` : title}
      </button>
      {at === 'sure' && warning !== undefined ? <p role="status">{warning}</p> : null}
      {pressed.value.at === 'refused' ? <WriteRefusal error={pressed.value.error} /> : null}
    </>
  )
}
