/** What a browser sees that was not given the secret, or that outlived its console. */
import { Mark } from './widgets/icons.tsx'
import { wordsOf } from './widgets/refusal.tsx'

export function Locked({ error }: { readonly error: unknown }) {
  return (
    <main class="locked">
      <Mark />
      <h1>This browser is not let in</h1>
      <p role="alert">{wordsOf(error)}</p>
      <p class="muted">
        The address that <code>borough console</code> prints opens it once, in one browser. Its tabs share it, until
        that command ends.
      </p>
    </main>
  )
}
