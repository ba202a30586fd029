/** What a new namespace will be and hold, asked of the server without anything being made. */
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Words } from '../widgets/words.tsx'
import type { Awaited, DraftPreview, PreviewedObject } from './draft-preview.ts'

export type Preview =
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly preview: DraftPreview }
  | { readonly kind: 'refused'; readonly error: unknown }

interface CreatePreviewProps {
  readonly preview: Preview
  /** Of an earlier draft: the server is being asked anew. */
  readonly isAsking: boolean
  /** The user may not read templates: all that is known of them is what the server says. */
  readonly isUnread: boolean
}

export function CreatePreview({ preview, isAsking, isUnread }: CreatePreviewProps) {
  return (
    <section class="panel preview" aria-label="What will be in it" aria-live="polite" aria-busy={isAsking}>
      <h2>
        What will be in it <span class="muted">{isAsking ? 'asking the server…' : ''}</span>
      </h2>
      <PreviewBody preview={preview} isUnread={isUnread} />
    </section>
  )
}

function PreviewBody({ preview, isUnread }: Omit<CreatePreviewProps, 'isAsking'>) {
  switch (preview.kind) {
    case 'none':
      return <p class="muted">Type a name, and the server is asked without anything being made.</p>
    case 'refused':
      return <Refusal error={preview.error} title="It would be refused" />
    case 'known':
      return <Previewed preview={preview.preview} isUnread={isUnread} />
  }
}

interface PreviewedProps {
  readonly preview: DraftPreview
  readonly isUnread: boolean
}

function Previewed({ preview, isUnread }: PreviewedProps) {
  const { owner, expires, metadata, templates, skipped, awaited, warnings } = preview
  return (
    <>
      <dl class="facts">
        {owner === '' ? null : (
          <div>
            <dt>Owner</dt>
            <dd>{owner}</dd>
          </div>
        )}
        <div>
          <dt>Expires</dt>
          <dd>
            {expires === undefined ? 'never' : <Moment at={expires.at} ahead />}
            {expires?.template === undefined ? null : <span class="muted">by template {expires.template}</span>}
          </dd>
        </div>
      </dl>
      {metadata.length === 0 ? null : (
        <div>
          <h3>On the namespace itself</h3>
          <ul class="objects">
            {metadata.map(({ title, value, template }) => (
              <li key={title}>
                {title}: <code>{value}</code> <span class="muted">by template {template}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {templates.every(({ objects }) => objects.length === 0) ? (
        // Policies of `borough populate` name no objects: silence is no answer where templates are not read.
        <p>
          {isUnread
            ? 'The server names no object that a template would give it. Where borough populate works by admission ' +
              'policies it never does, and you may not read templates: there may be some all the same.'
            : 'No template gives it anything: it will hold its default ServiceAccount and ' +
              'what else every namespace has.'}
        </p>
      ) : null}
      {templates.map(({ name, objects }) =>
        objects.length === 0 ? null : (
          <div key={name}>
            <h3>{name === '' ? 'Objects, as the server names them: at most twenty' : `Template ${name}`}</h3>
            <ul class="objects">
              {objects.map((object) => (
                <li key={object.title}>
                  <Previewable previewed={object} />
                </li>
              ))}
            </ul>
          </div>
        ),
      )}
      {awaited.length === 0 ? null : <AwaitedList awaited={awaited} />}
      {skipped.map(({ title, message }) => (
        <p class="notice wait" key={title}>
          {title} would be left out: {message}
        </p>
      ))}
      {warnings.map((text) => (
        <p class="notice" key={text}>
          {text}
        </p>
      ))}
    </>
  )
}

function AwaitedList({ awaited }: { readonly awaited: readonly Awaited[] }) {
  return (
    <div>
      <h3>What it would wait for before it is ready</h3>
      <ul class="objects">
        {awaited.map(({ name, turn }) => (
          <li key={name}>
            <Words text={name} /> <span class="muted">{turn === undefined ? '' : turnText(turn)}</span>
          </li>
        ))}
      </ul>
      {awaited.some(({ turn }) => turn === undefined) ? (
        <p class="muted">How long each may take is in NamespaceInitializerConfigurations, which you may not read.</p>
      ) : null}
    </div>
  )
}

function turnText({ timeoutMs, goesOn }: NonNullable<Awaited['turn']>): string {
  if (timeoutMs === undefined) return 'for as long as it takes'
  return `at most ${timeoutMs / 1000} s, then it ${goesOn ? 'goes on without' : 'is deleted'}`
}

function Previewable({ previewed: { title, object, said = [] } }: { readonly previewed: PreviewedObject }) {
  const [kind, ...name] = title.split('/')
  const words = (
    <>
      <span class="kind">{kind}</span> {name.join('/')}
      {said.length === 0 ? null : <small class="muted"> ({said.join('; ')})</small>}
    </>
  )
  return object === undefined ? (
    words
  ) : (
    <details>
      <summary>{words}</summary>
      <pre class="content">{JSON.stringify(object, null, 2)}</pre>
    </details>
  )
}
