/** A text of another's choice, apart from what stands beside it: of a long one the beginning, and the rest if asked. */
import { useState } from 'preact/hooks'

/** A tenant may write 64 KB into a message. */
const mostCharacters = 1000

/** For a place that holds no button: the whole is elsewhere, as in the command that shows it. */
export const beginningOf = (text: string, most = 300): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`

export function Words({ text }: { readonly text: string }) {
  const [isAll, showAll] = useState(false)
  if (isAll || text.length <= mostCharacters) return <bdi>{text}</bdi>
  return (
    <>
      <bdi>{text.slice(0, mostCharacters)}…</bdi>{' '}
      <button type="button" class="rest" onClick={() => showAll(true)}>
        Show all {text.length.toLocaleString('en')} characters
      </button>
    </>
  )
}
