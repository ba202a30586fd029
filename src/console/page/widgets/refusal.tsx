/** What the server refused, in its words. */
import { WarningIcon } from './icons.tsx'
import { Words } from './words.tsx'

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function Refusal({ error, title }: { readonly error: unknown; readonly title?: string }) {
  return (
    <div class="notice bad" role="alert">
      <WarningIcon />
      <div>
        {title === undefined ? null : <strong>{title}</strong>}
        <p>
          <Words text={wordsOf(error)} />
        </p>
      </div>
    </div>
  )
}
