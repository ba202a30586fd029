/** What the server refused, in its words. */
import { isUnreached } from '../unreached.ts'
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

/** Of a write: where no answer came, it may have been done. */
export function WriteRefusal({ error, title }: { readonly error: unknown; readonly title?: string }) {
  const lost = 'The answer was lost: what is shown says whether it was done, once the server is reached again'
  const said = isUnreached(error) ? lost : title
  return <Refusal error={error} {...(said === undefined ? {} : { title: said })} />
}
