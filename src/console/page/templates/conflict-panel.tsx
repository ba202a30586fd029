/** Another author was faster: what they changed, and the ways on, none of which loses a text unseen. */
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { Moment } from '../widgets/moment.tsx'
import { diffLines } from './line-diff.ts'
import type { SaveConflict } from './save-template.ts'

interface ConflictPanelProps {
  readonly conflict: SaveConflict
  readonly onRebase: () => void
  readonly onKeep: () => void
}

export function ConflictPanel({ conflict: { before, after, theirs }, onRebase, onKeep }: ConflictPanelProps) {
  return (
    <section class="panel" aria-labelledby="conflict">
      <div role="alert">
        <h2 id="conflict">
          {theirs === undefined
            ? 'It was deleted meanwhile'
            : before === ''
              ? 'A template of this name is there already'
              : 'Another author changed it meanwhile'}
        </h2>
        <p>
          Nothing was saved, and your text is as it was. <Author theirs={theirs} />
        </p>
      </div>
      <div class="row">
        {theirs === undefined || before === '' ? null : (
          <button type="button" class="button primary" onClick={onRebase}>
            Bring both together and plan
          </button>
        )}
        <button type="button" class="button" onClick={onKeep}>
          {theirs === undefined ? 'Plan it as a new one' : 'Plan my text in its place'}
        </button>
      </div>
      {theirs === undefined ? null : (
        <>
          <h3>{before === '' ? 'What it says' : 'What they changed'}</h3>
          <ChangedLines before={before} after={after} />
        </>
      )}
    </section>
  )
}

/** Who wrote it last, as far as the server notes it: the name that their program gave. */
function Author({ theirs }: { readonly theirs: NamespaceTemplate | undefined }) {
  const writes = (theirs?.metadata.managedFields ?? []).filter(({ subresource = '' }) => subresource === '')
  const last = writes.reduce<(typeof writes)[number] | undefined>(
    (latest, entry) => ((entry.time ?? '') >= (latest?.time ?? '') ? entry : latest),
    undefined,
  )
  if (last?.manager === undefined) return null
  return (
    <>
      It was written with <strong>{last.manager}</strong>, <Moment at={last.time} /> ago.
    </>
  )
}

/** Lines above and below a change. */
const context = 2

function ChangedLines({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = before === '' ? [] : before.split('\n')
  const hunks = diffLines(lines, after.split('\n'))
  return (
    <ol class="changed-lines">
      {hunks.map(({ from, to, by }) => (
        <li key={from}>
          <code>
            {lines.slice(Math.max(0, from - context), from).map((line, i) => (
              <span key={i}>{`  ${line}\n`}</span>
            ))}
            {lines.slice(from, to).map((line, i) => (
              <del key={i}>{`- ${line}\n`}</del>
            ))}
            {by.map((line, i) => (
              <ins key={i}>{`+ ${line}\n`}</ins>
            ))}
            {lines.slice(to, to + context).map((line, i) => (
              <span key={i}>{`  ${line}\n`}</span>
            ))}
          </code>
        </li>
      ))}
    </ol>
  )
}
